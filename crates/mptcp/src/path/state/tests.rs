//! The RTT estimator, the growth of the window and the estimates of a path, by the RFCs.

use super::*;

const MSS: u64 = 1000;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// RFC 6298 sections 2.2 and 2.3: RTTVAR starts with R/2; the gains are 1/4 and 1/8.
#[test]
fn rtt_samples_are_smoothed() {
    let mut state = Path::new(MSS, 10);
    assert_eq!((state.cwnd, state.in_slow_start(), state.srtt), (10 * MSS, true, None));
    state.sample(ms(100));
    assert_eq!((state.srtt, state.rttvar), (Some(ms(100)), ms(50)));
    // RTTVAR with the old SRTT: 3/4 * 50 + 1/4 * 80; SRTT: 7/8 * 100 + 1/8 * 180.
    state.sample(ms(180));
    assert_eq!((state.srtt, state.rttvar), (Some(ms(110)), Duration::from_micros(57_500)));
    // 3/4 * 57.5 + 1/4 * 80; 7/8 * 110 + 1/8 * 30.
    state.sample(ms(30));
    assert_eq!((state.srtt, state.rttvar), (Some(ms(100)), Duration::from_micros(63_125)));
    assert_eq!((state.min_rtt, state.latest_rtt, state.samples), (Some(ms(30)), Some(ms(30)), 3));
    state.sample(ms(90));
    assert_eq!((state.min_rtt, state.latest_rtt, state.samples), (Some(ms(30)), Some(ms(90)), 4));
    assert_eq!(state.recent_min_rtt(), ms(30), "the minimum of the last four");
    (0..3).for_each(|_| state.sample(ms(80)));
    assert_eq!(state.recent_min_rtt(), ms(80));
}

/// RFC 5681 section 3.1 and RFC 3465; a quarter of the growth in RFC 9406 section 4.2.
#[test]
fn slow_start_grows_by_acknowledged_bytes_up_to_ssthresh() {
    let grown = |cwnd, ssthresh, conservative, bytes| {
        let mut state = Path { cwnd, ssthresh, mss: MSS, conservative, ..Path::default() };
        let left = state.slow_start(bytes);
        (state.cwnd, left)
    };
    assert_eq!(grown(10_000, u64::MAX, false, 3_000), (13_000, 0));
    assert_eq!(grown(10_000, 12_000, false, 3_000), (12_000, 1_000));
    assert_eq!(grown(10_000, 13_000, false, 3_000), (13_000, 0));
    assert_eq!(grown(10_000, 9_000, false, 3_000), (10_000, 3_000), "a lower threshold reduces nothing");
    assert_eq!(grown(10_000, u64::MAX, true, 4_000), (11_000, 0));
    assert_eq!(grown(10_000, 10_500, true, 4_000), (10_500, 500));
    let at = |cwnd| Path { cwnd, ssthresh: 10, ..Path::default() }.in_slow_start();
    assert_eq!([9, 10, 11].map(at), [true, false, false]);
}

#[test]
fn fraction_of_a_byte_is_carried_over() {
    let mut state = Path { cwnd: 10_000, mss: MSS, ..Path::default() };
    let mut grow = |bytes: f64| {
        state.grow(bytes);
        (state.cwnd, state.credit)
    };
    assert_eq!(grow(0.5), (10_000, 0.5));
    assert_eq!(grow(0.5), (10_001, 0.0));
    assert_eq!(grow(7.75), (10_008, 0.75));
    assert_eq!(grow(-0.75), (10_008, 0.0));
    assert_eq!(grow(-0.75), (10_008, -0.75));
    assert_eq!(grow(-0.25), (10_007, 0.0));
    assert_eq!(grow(-2.5), (10_005, -0.5));
    // A reduction stops at two segments; a smaller window stays.
    assert_eq!(grow(-8_500.0), (2_000, -0.5));
    state.cwnd = 1_500;
    state.grow(-10.0);
    assert_eq!(state.cwnd, 1_500);
}

/// A single segment gives no cross queue, because its acknowledgement may be delayed. Otherwise the RTT beyond the own
/// queue is the cross queue.
#[test]
fn estimate_separates_own_queue_and_cross_queue() {
    let mut state = Path::new(MSS, 10);
    state.sample(ms(100));
    assert_eq!(state.rate(), PRIOR_RATE, "nothing was measured");
    // Ten segments take 80 ms at the prior rate.
    let start = Instant::ZERO + ms(1_000);
    (0..10).for_each(|_| state.on_sent(start, MSS));
    let known = state.estimate(start, 10 * MSS, Some(start));
    assert_eq!((known.own_queue, known.cross_queue, known.overdue), (ms(80), Duration::ZERO, Duration::ZERO));
    assert_eq!(state.estimate(start + ms(50), 10 * MSS, Some(start)).own_queue, ms(30));
    assert_eq!(state.estimate(start, MSS, Some(start)).own_queue, ms(8), "at most the data in flight");
    (0..4).for_each(|_| state.sample(ms(200)));
    let known = state.estimate(start, 10 * MSS, Some(start));
    assert_eq!(known.cross_queue, ms(20), "100 ms more, 80 ms in its own queue");
    assert_eq!(
        state.estimate(start, MSS, Some(start)).cross_queue,
        Duration::ZERO,
        "a delayed acknowledgement"
    );
}

#[test]
fn unacknowledged_data_becomes_overdue() {
    let mut state = Path::new(MSS, 10);
    (0..100).for_each(|_| state.sample(ms(100)));
    let sent = Instant::ZERO + ms(1_000);
    let overdue = |after| state.estimate(sent + ms(after), 10 * MSS, Some(sent)).overdue;
    // A quarter of the RTT is the reordering window; RTTVAR is almost zero.
    assert_eq!((overdue(125), overdue(135)), (Duration::ZERO, ms(10)));
}

#[test]
fn path_probes_above_the_window_after_its_last_congestion_loss() {
    let mut state = Path::new(MSS, 10);
    assert!(!state.is_probing(9 * MSS), "no loss so far");
    state.ssthresh = 5 * MSS;
    state.model.losses.on_loss(Instant::ZERO, false);
    assert!(!state.is_probing(4 * MSS) && state.is_probing(5 * MSS));
    state.model.losses.on_loss(Instant::ZERO, true);
    assert!(!state.is_probing(5 * MSS), "no queue was full");
}
