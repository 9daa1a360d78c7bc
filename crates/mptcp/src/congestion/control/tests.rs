//! What a path's state does by itself, by the RFCs that say it.

use super::*;

const MSS: u64 = 1000;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// RFC 6298 sections 2.2 and 2.3: R/2 at first, then a quarter and an eighth.
#[test]
fn round_trips_are_smoothed() {
    let mut state = PathState::new(MSS, 10);
    assert_eq!((state.cwnd, state.in_slow_start(), state.srtt), (10 * MSS, true, None));
    assert_eq!(state.undelayed_rtt(), None);
    state.sample(ms(100));
    assert_eq!(state.undelayed_rtt(), Some(ms(100)));
    assert_eq!((state.srtt, state.rttvar), (Some(ms(100)), ms(50)));
    // RTTVAR by the old SRTT: 3/4 * 50 + 1/4 * 80; SRTT: 7/8 * 100 + 1/8 * 180.
    state.sample(ms(180));
    assert_eq!((state.srtt, state.rttvar), (Some(ms(110)), Duration::from_micros(57_500)));
    // 3/4 * 57.5 + 1/4 * 80; 7/8 * 110 + 1/8 * 30.
    state.sample(ms(30));
    assert_eq!((state.srtt, state.rttvar), (Some(ms(100)), Duration::from_micros(63_125)));
    assert_eq!((state.min_rtt, state.latest_rtt, state.samples), (Some(ms(30)), Some(ms(30)), 3));
    state.sample(ms(90));
    assert_eq!((state.min_rtt, state.latest_rtt, state.samples), (Some(ms(30)), Some(ms(90)), 4));
    assert_eq!(state.undelayed_rtt(), Some(ms(30)));
    state.sample(ms(80));
    assert_eq!(state.undelayed_rtt(), Some(ms(80)), "two in a row are no delayed acknowledgement");
}

/// RFC 5681 section 3.1 and RFC 3465; RFC 9406 section 4.2 for a quarter of it.
#[test]
fn slow_start_grows_by_what_was_acknowledged_up_to_the_threshold() {
    let grown = |cwnd, ssthresh, conservative, bytes| {
        let mut state = PathState { cwnd, ssthresh, mss: MSS, conservative, ..PathState::default() };
        let left = state.slow_start(bytes);
        (state.cwnd, left)
    };
    assert_eq!(grown(10_000, u64::MAX, false, 3_000), (13_000, 0));
    assert_eq!(grown(10_000, 12_000, false, 3_000), (12_000, 1_000));
    assert_eq!(grown(10_000, 13_000, false, 3_000), (13_000, 0));
    assert_eq!(grown(10_000, 9_000, false, 3_000), (10_000, 3_000), "a threshold below takes nothing away");
    assert_eq!(grown(10_000, u64::MAX, true, 4_000), (11_000, 0));
    assert_eq!(grown(10_000, 10_500, true, 4_000), (10_500, 500));
    let at = |cwnd| PathState { cwnd, ssthresh: 10, ..PathState::default() }.in_slow_start();
    assert_eq!([9, 10, 11].map(at), [true, false, false]);
}

#[test]
fn growth_is_whole_bytes_and_the_rest_is_kept() {
    let mut state = PathState { cwnd: 10_000, mss: MSS, ..PathState::default() };
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
    // No further down than two segments, and where it is less, it stays.
    assert_eq!(grow(-8_500.0), (2_000, -0.5));
    state.cwnd = 1_500;
    state.grow(-10.0);
    assert_eq!(state.cwnd, 1_500);
}
