//! OTIAS, out-of-order transmission for in-order arrival (Yang, Wang, Amer: IEEE GLOBECOM 2014).
//!
//! The arrival time of a segment on subflow j is `T_j = (RTT_to_wait_j + 0.5) * srtt_j`, where `RTT_to_wait_j` is
//! `(not_yet_sent_j - pkt_can_be_sent_j) / cwnd_j`, and `pkt_can_be_sent_j` is the unused window. The segment is
//! assigned to the subflow with the smallest time. The module [`shares`](crate::scheduler::shares) describes how, without
//! subflow queues.
//!
//! Two public implementations differ in the quotient: one for ns-3 uses a real number, one for Linux's Multipath DCCP
//! the integer part, at least 0. Here it is a real number and at least 0, because data that the window admits arrives
//! after half an RTT.
//!
//! Owns the arrival model. Never keeps state.

use crate::scheduler::shares::{self, ArrivalModel};
use crate::scheduler::{Candidate, Scheduler, SendView};

/// OTIAS.
#[derive(Clone, Copy, Debug)]
pub struct Otias;

/// Unused part of the congestion window, bytes.
fn unused(candidate: &Candidate) -> f64 {
    candidate.cwnd.saturating_sub(candidate.in_flight) as f64
}

impl ArrivalModel for Otias {
    fn arrival(&self, candidate: &Candidate, queued: u64) -> f64 {
        let rounds = (queued as f64 - unused(candidate)) / candidate.cwnd.max(1) as f64;
        (rounds.max(0.0) + 0.5) * candidate.srtt.as_secs_f64()
    }

    fn bytes_before(&self, candidate: &Candidate, time: f64) -> f64 {
        let rounds = time / candidate.srtt.as_secs_f64().max(1e-9) - 0.5;
        if rounds <= 0.0 {
            return 0.0;
        }
        (unused(candidate) + rounds * candidate.cwnd as f64 - candidate.queued as f64).max(0.0)
    }
}

impl Scheduler for Otias {
    fn name(&self) -> &'static str {
        "otias"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        shares::choose(view, self)
    }
}

#[cfg(test)]
mod tests {
    use mptcp_clock::{Duration, Instant};

    use super::*;

    const MSS: u64 = 1000;

    /// A full subflow with 10 ms and an available one with 100 ms, ten segments each.
    fn pair() -> [Candidate; 2] {
        let mut fast = Candidate::new(0, Duration::from_millis(10), 10 * MSS, MSS);
        (fast.is_available, fast.in_flight) = (false, 10 * MSS);
        [fast, Candidate::new(1, Duration::from_millis(100), 10 * MSS, MSS)]
    }

    fn choose(candidates: &[Candidate], unsent: u64, has_subflow_queues: bool) -> Option<usize> {
        let mut view = SendView::new(Instant::ZERO, candidates);
        (view.unsent, view.has_subflow_queues) = (unsent, has_subflow_queues);
        Otias.choose(&view)
    }

    #[test]
    fn arrival_time_is_half_an_rtt_plus_the_windows_to_wait() {
        let [full, open] = pair();
        let millis = |candidate: &Candidate, segments: u64| {
            (Otias.arrival(candidate, segments * MSS) * 1e6).round() / 1e3
        };
        // (20 - 0) / 10 windows and a half, of 10 ms.
        assert_eq!(millis(&full, 20), 25.0);
        assert_eq!(millis(&full, 5), 10.0);
        // Up to ten segments are sent at once; five more wait for half a window.
        assert_eq!((millis(&open, 10), millis(&open, 15)), (50.0, 100.0));
    }

    #[test]
    fn with_subflow_queues_the_smallest_arrival_time_decides() {
        let mut candidates = pair();
        candidates.iter_mut().for_each(|candidate| candidate.is_available = true);
        // 45 segments in the fast queue arrive after (4.5 + 0.5) * 10 ms = 50 ms: as late as on the slow subflow.
        candidates[0].queued = 44 * MSS;
        assert_eq!(choose(&candidates, MSS, true), Some(0));
        candidates[0].queued = 46 * MSS;
        assert_eq!(choose(&candidates, MSS, true), Some(1));
        candidates[0].is_available = false;
        candidates[0].queued = 44 * MSS;
        assert_eq!(choose(&candidates, MSS, true), None, "the best queue has no space");
    }

    #[test]
    fn without_queues_the_slow_subflow_sends_if_more_is_left_than_arrives_earlier() {
        let candidates = pair();
        // 45 segments arrive on the fast subflow before 50 ms.
        assert_eq!(choose(&candidates, 45 * MSS, false), None);
        assert_eq!(choose(&candidates, 46 * MSS, false), Some(1));
        let mut open = pair();
        (open[0].is_available, open[0].in_flight) = (true, 0);
        assert_eq!(choose(&open, MSS, false), Some(0));
    }
}
