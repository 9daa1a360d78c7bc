use super::*;

fn paced(rate: f64, srtt_ms: Option<u64>) -> (Option<f64>, u64) {
    let mut state = Path { mss: 1_000, srtt: srtt_ms.map(Duration::from_millis), ..Path::default() };
    pace(&mut state, rate);
    (state.pacing, state.quantum)
}

/// draft-ietf-ccwg-bbr section 5.6.3.
#[test]
fn bursts_last_a_millisecond_and_hold_at_least_two_short_segments() {
    assert_eq!(paced(999_999.0, Some(100)), (Some(999_999.0), 1_000));
    assert_eq!(paced(1e6, Some(100)), (Some(1e6), 2_000));
    assert_eq!(paced(2.5e6, Some(100)), (Some(2.5e6), 2_500));
    assert_eq!(paced(1e9, Some(100)), (Some(1e9), 65_536));
}

#[test]
fn pacing_rate_is_at_least_one_segment_per_rtt() {
    assert_eq!(paced(0.0, Some(100)).0, Some(10_000.0));
    assert_eq!(paced(500.0, None).0, Some(1_000.0), "an RTT of 1 s before the first sample");
    assert_eq!(paced(1_500.0, None).0, Some(1_500.0));
}
