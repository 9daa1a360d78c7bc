//! Tests of [`Congestion`], the layer between a connection and its congestion control algorithm.

use super::*;
use crate::congestion::{Lia, Reno};
use mptcp_clock::Duration;

const MSS: u64 = 1000;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Paths of 100 ms and 50 ms with windows of 10 and 20 segments, in congestion avoidance.
fn congestion(
    algorithm: Box<dyn CongestionControl>,
    byte_counting: bool,
    scope: CouplingScope,
) -> Congestion {
    let mut congestion = Congestion::new(algorithm, None, byte_counting, scope, SlowStart::Standard);
    for (segments, rtt) in [(10, 100), (20, 50)] {
        let path = congestion.add_path(MSS, segments);
        congestion.paths[path].sample(Duration::from_millis(rtt));
        congestion.paths[path].ssthresh = MSS;
        congestion.set_active(path, true);
    }
    congestion
}

fn grown(congestion: &mut Congestion, path: usize, now: u64, bytes: u64) -> f64 {
    let size = |congestion: &Congestion| congestion.paths[path].cwnd as f64 + congestion.paths[path].credit;
    let before = size(congestion);
    congestion.on_ack(path, Acked { now: at(now), bytes });
    ((size(congestion) - before) * 1e3).round() / 1e3
}

/// RFC 5681 equation 2 and RFC 3465.
#[test]
fn acknowledgement_counts_one_segment_without_byte_counting() {
    let grown = |byte_counting, bytes| {
        let mut congestion = congestion(Box::new(Reno), byte_counting, CouplingScope::All);
        grown(&mut congestion, 0, 1000, bytes)
    };
    assert_eq!((grown(false, 500), grown(false, 1_000), grown(false, 4_000)), (50.0, 100.0, 100.0));
    assert_eq!((grown(true, 500), grown(true, 1_000), grown(true, 4_000)), (50.0, 100.0, 400.0));
}

/// RFC 7661: a path with an unused window is excluded from the coupling.
#[test]
fn path_is_uncoupled_from_an_unused_path() {
    for (scope, later) in [(CouplingScope::Shared, 100.0), (CouplingScope::All, 32.0)] {
        let mut congestion = congestion(Box::new(Lia), true, scope);
        grown(&mut congestion, 1, 1_000, 0);
        assert_eq!(grown(&mut congestion, 0, 1_000, MSS), 32.0, "linked");
        congestion.paths[0].cwnd = 10 * MSS;
        congestion.paths[0].credit = 0.0;
        // The other window has not been full for more than a second.
        assert_eq!(grown(&mut congestion, 0, 2_001, MSS), later, "{scope:?}");
        assert!(congestion.paths.iter().all(|path| path.active), "a path is hidden only during the call");
    }
}

/// RFC 5681 section 3.1; the partial growth (`credit`) is dropped.
#[test]
fn loss_sets_ssthresh_but_not_the_window() {
    let mut congestion = congestion(Box::new(Reno), true, CouplingScope::Shared);
    congestion.paths[1].credit = 0.75;
    assert_eq!(congestion.on_loss(1, at(1)), 10 * MSS);
    let path = &congestion.paths[1];
    assert_eq!((path.cwnd, path.ssthresh, path.credit), (20 * MSS, 10 * MSS, 0.0));
    assert_eq!(congestion.paths[0].ssthresh, MSS);
}

/// Raiciu et al. (NSDI 2012) section 4.2, with the rules of both kernel versions.
#[test]
fn penalty_halves_the_window_and_depending_on_the_rule_ssthresh() {
    let penalised = |rule, cwnd, ssthresh| {
        let mut congestion = congestion(Box::new(Reno), true, CouplingScope::All);
        (congestion.paths[0].cwnd, congestion.paths[0].ssthresh) = (cwnd, ssthresh);
        congestion.penalise(0, rule);
        assert_eq!(congestion.penalties(), 1);
        (congestion.paths[0].cwnd, congestion.paths[0].ssthresh)
    };
    assert_eq!(penalised(PenaltyRule::Original, 10_000, u64::MAX), (5_000, 5_000));
    assert_eq!(penalised(PenaltyRule::Original, 3_000, 9_000), (1_500, 2_000));
    assert_eq!(penalised(PenaltyRule::Original, 1_500, 9_000), (1_000, 2_000), "at least one segment");
    assert_eq!(penalised(PenaltyRule::Later, 10_000, u64::MAX), (5_000, u64::MAX), "slow start goes on");
    assert_eq!(penalised(PenaltyRule::Later, 10_000, 10_000), (5_000, 5_000));
    assert_eq!(penalised(PenaltyRule::Later, 10_000, 3_000), (5_000, 2_000));
    assert_eq!(penalised(PenaltyRule::Later, 10_000, 10_001), (5_000, 10_001));
}

#[test]
fn new_algorithm_keeps_the_windows_and_resets_pacing() {
    let mut congestion = congestion(Box::new(Lia), true, CouplingScope::All);
    assert_eq!(congestion.name(), "lia");
    let path = &mut congestion.paths[0];
    (path.pacing, path.quantum, path.held_back) = (Some(5.0), 7, true);
    congestion.set_algorithm(Box::new(Reno));
    let path = &congestion.paths[0];
    assert_eq!((path.cwnd, path.pacing, path.quantum, path.held_back), (10 * MSS, None, 0, false));
    assert_eq!((congestion.name(), grown(&mut congestion, 0, 1, MSS)), ("reno", 100.0));
    assert_eq!(congestion.send_opportunities(), 0);
    congestion.on_rest();
    assert_eq!(congestion.send_opportunities(), 1);
}

#[test]
fn bits_returns_the_positions_of_set_bits() {
    assert_eq!(bits(0).count(), 0);
    assert_eq!(bits(1 | 1 << 5 | 1 << 63).collect::<Vec<_>>(), [0, 5, 63]);
}
