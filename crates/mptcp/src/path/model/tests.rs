//! Delivery rates of a path after given acknowledgements.

use super::*;

fn arrived(bytes: u64, srtt: Option<u64>) -> Arrived {
    Arrived { bytes, srtt: srtt.map(Duration::from_millis), ..Arrived::default() }
}

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

/// Delivery rate of a path of 100 ms after acknowledgements of (time in ms, bytes).
fn rate(acknowledged: &[(u64, u64)]) -> Option<f64> {
    let mut delivery = DeliveryRate::default();
    for &(at, bytes) in acknowledged {
        delivery.on_delivered(ms(at), &arrived(bytes, Some(100)));
    }
    delivery.rate()
}

#[test]
fn rate_covers_a_complete_round_without_the_first_acknowledgement() {
    assert_eq!(rate(&[(0, 9_000), (50, 1_000), (99, 1_000)]), None);
    assert_eq!(rate(&[(0, 9_000), (50, 1_000), (100, 1_000)]), Some(20_000.0));
    // The next round starts here.
    assert_eq!(rate(&[(0, 9_000), (100, 1_000), (150, 1_000), (200, 2_000)]), Some(30_000.0));
    assert_eq!(rate(&[(0, 9_000), (100, 4_000), (200, 1_000)]), Some(40_000.0), "the maximum counts");
}

#[test]
fn gap_gives_no_rate() {
    assert_eq!(rate(&[(0, 0), (199, 1_990)]), Some(10_000.0));
    assert_eq!(rate(&[(0, 0), (200, 2_000)]), None);
    assert_eq!(rate(&[(0, 0), (200, 2_000), (300, 500)]), Some(5_000.0), "the round restarts");
}

#[test]
fn rate_is_the_maximum_of_eight_rounds() {
    let mut acknowledged = vec![(0, 0), (100, 9_000)];
    for round in 2..=8 {
        acknowledged.push((100 * round, 1_000));
    }
    assert_eq!(rate(&acknowledged), Some(90_000.0));
    acknowledged.push((900, 1_000));
    assert_eq!(rate(&acknowledged), Some(10_000.0));
}

#[test]
fn round_lasts_at_least_ten_milliseconds() {
    let mut delivery = DeliveryRate::default();
    for (at, rtt) in [(0, None), (9, None), (9, Some(1))] {
        delivery.on_delivered(ms(at), &arrived(100, rtt));
        assert_eq!(delivery.rate(), None);
    }
    delivery.on_delivered(ms(10), &arrived(100, Some(1)));
    assert_eq!(delivery.rate(), Some(30_000.0));
}

/// Train rate of a path of 100 ms after acknowledgements of (time in ms, bytes).
fn burst_rate(acknowledged: &[(u64, u64)]) -> Option<f64> {
    let mut delivery = DeliveryRate::default();
    for &(at, bytes) in acknowledged {
        delivery.on_delivered(ms(1_000 + at), &arrived(bytes, Some(100)));
    }
    delivery.burst_rate()
}

#[test]
fn ack_train_gives_the_link_rate() {
    // The time of the data of the first acknowledgement is unknown.
    assert_eq!(burst_rate(&[(0, 9_000), (10, 1_000)]), None, "one gap");
    assert_eq!(burst_rate(&[(0, 9_000), (10, 1_000), (20, 3_000)]), Some(200_000.0));
    assert_eq!(burst_rate(&[(0, 9_000), (25, 1_000), (50, 1_000)]), Some(40_000.0), "a quarter of the RTT");
    assert_eq!(burst_rate(&[(0, 9_000), (26, 1_000), (51, 1_000)]), None, "another burst");
    // Acknowledgements at the same time give no rate.
    assert_eq!(burst_rate(&[(0, 0), (0, 1_000), (0, 1_000)]), None);
    assert_eq!(burst_rate(&[(0, 0), (0, 1_000), (10, 1_000)]), Some(200_000.0));
}

#[test]
fn maximum_train_rate_decays_slowly() {
    let fast = [(0, 0), (1, 1_000), (2, 1_000)];
    assert_eq!(burst_rate(&fast), Some(1e6));
    let slow: Vec<_> = fast.into_iter().chain([(12, 1_000), (22, 1_000)]).collect();
    assert_eq!(burst_rate(&slow), Some(0.98e6));
    let faster: Vec<_> = slow.into_iter().chain([(23, 2_000), (24, 2_000)]).collect();
    assert_eq!(burst_rate(&faster), Some(2e6));
}

/// Train rate of a path of 100 ms with ten pairs of 2000 bytes, sent every `left` ms and acknowledged every `came` ms.
fn rate_of_pairs(first: f64, left: u64, came: u64, queued: bool) -> Option<f64> {
    let mut delivery = DeliveryRate::default();
    delivery.train.rate = first;
    for pair in 0..10 {
        let (sent, now) = (ms(1_000 + left * pair), ms(1_100 + came * pair));
        let rtt = now.since(sent);
        let min_rtt = if queued { rtt / 2 } else { rtt };
        let (rtt, min_rtt) = (Some(rtt), Some(min_rtt));
        delivery.on_delivered(now, &Arrived { rtt, min_rtt, ..arrived(2_000, Some(100)) });
    }
    delivery.burst_rate()
}

#[test]
fn slowly_sent_data_gives_no_link_rate() {
    assert_eq!(rate_of_pairs(1e6, 10, 10, false), Some(1e6));
    assert_eq!(rate_of_pairs(0.0, 10, 10, false), None, "nor without a known rate");
    assert_eq!(rate_of_pairs(0.0, 10, 10, true), Some(2e5), "a queue existed");
    assert_eq!(rate_of_pairs(1e5, 10, 10, false), Some(2e5), "the link is at least as fast");
    let forgets = |rate: Option<f64>| rate.is_some_and(|rate| rate < 0.95e6);
    assert!(forgets(rate_of_pairs(1e6, 10, 10, true)), "a queue shows a slower link");
    assert!(forgets(rate_of_pairs(1e6, 5, 10, false)), "sent twice as fast as it arrived");
    assert!(!forgets(rate_of_pairs(1e6, 6, 10, false)));
}

#[test]
fn single_ack_of_several_segments_counts_until_a_train_is_seen() {
    let mut delivery = DeliveryRate::default();
    assert!(delivery.wants_single_ack());
    delivery.on_single_ack(3_000, Duration::ZERO);
    assert_eq!(delivery.burst_rate(), None, "equal to the minimum RTT");
    delivery.on_single_ack(3_000, Duration::from_millis(20));
    assert_eq!(delivery.burst_rate(), Some(150_000.0));
    delivery.on_single_ack(3_000, Duration::from_millis(30));
    assert_eq!(delivery.burst_rate(), Some(147_000.0), "a slower one only decays the rate");
    for (at, bytes) in [(1_000, 0), (1_010, 1_000), (1_020, 1_000)] {
        assert!(delivery.wants_single_ack());
        delivery.on_delivered(ms(at), &arrived(bytes, Some(100)));
    }
    assert!(!delivery.wants_single_ack());
    assert_eq!(delivery.burst_rate(), Some(100_000.0), "a train replaces the estimate");
}

#[test]
fn rate_grows_while_rounds_get_faster() {
    let after = |rounds: &[u64]| {
        let mut delivery = DeliveryRate::default();
        delivery.on_delivered(ms(0), &arrived(0, Some(100)));
        for (round, &bytes) in (0_u64..).zip(rounds) {
            for time in 0..3 {
                delivery.on_delivered(ms(100 * round + 50 + time), &arrived(2_000, Some(100)));
            }
            delivery.on_delivered(ms(100 * round + 100), &arrived(bytes, Some(100)));
        }
        delivery.grows()
    };
    assert!(after(&[]) && after(&[4_000]), "nothing to compare it with");
    assert!(after(&[4_000, 14_000]), "twice as much");
    assert!(!after(&[14_000, 18_000]), "the link limits the rate");
}

#[test]
fn drain_rate_covers_only_time_with_a_queue() {
    let mut delivery = DeliveryRate::default();
    let mut come = |at: u64, rtt: Option<u64>| {
        let rtt = rtt.map(Duration::from_millis);
        let min_rtt = Some(Duration::from_millis(100));
        delivery.on_delivered(ms(at), &Arrived { bytes: 1_000, rtt, min_rtt, srtt: min_rtt, empty: false });
        delivery
    };
    come(0, Some(100));
    // 80 ms without a queue are ignored, and so is data without an RTT.
    assert_eq!(come(80, Some(112)).drained(0), None);
    assert_eq!(come(81, Some(130)).drained(1_000), Some(1e6));
    come(82, Some(150));
    come(90, None);
    let known = come(92, Some(150));
    assert_eq!((known.drained(3_000), known.drained(3_001)), (Some(750_000.0), None));
    assert_eq!(come(93, Some(100)).drained(0), None, "the queue is gone");
}

/// Jitter compresses acknowledgements, so the drain rate of a queue after an initial window limits the train rate. The limit
/// ends once nothing is in flight.
#[test]
fn drain_rate_limits_the_train_rate() {
    let of = |empty: bool| {
        let mut delivery = DeliveryRate::default();
        let (min_rtt, rtt) = (Duration::from_millis(100), Duration::from_millis(150));
        for at in 0..40_u64 {
            // 4 kB every 8 ms, in acknowledgements 0.2 ms apart.
            for part in 0..4 {
                let time = Instant::ZERO + Duration::from_micros(1_000_000 + 8_000 * at + 200 * part);
                let arrived =
                    Arrived { bytes: 1_000, rtt: Some(rtt), min_rtt: Some(min_rtt), srtt: Some(rtt), empty };
                delivery.on_delivered(time, &arrived);
            }
        }
        delivery.bottleneck().expect("bursts")
    };
    assert!(of(true) > 2e6, "{}", of(true));
    assert!((of(false) / 500_000.0 - 1.0).abs() < 0.05, "{}", of(false));
}
