//! STTF, shortest transfer time first (Hurtig, Grinnemo, Brunstrom, Ferlin, Alay, Kuhn: "Low-Latency Scheduling in
//! MPTCP", IEEE/ACM Transactions on Networking 27(1), 2019).
//!
//! The transfer time of a segment on a subflow counts the RTTs until the window admits it. The window doubles per RTT up
//! to ssthresh, and grows by one segment per RTT above. Half an RTT is added for the segment itself. A segment that the
//! window admits now takes half an RTT. The segment is assigned to the subflow with the shortest transfer time, also if
//! that is full. The authors' kernel code uses the last RTT sample; here it is the smoothed RTT.
//!
//! The paper repeats the assignment of queued data when the situation changes. Without subflow queues, data
//! waits in the connection, which has the same effect ([`shares`](crate::scheduler::shares)).
//!
//! Owns the transfer times. Never keeps state.

use crate::scheduler::shares::{self, ArrivalModel};
use crate::scheduler::{Candidate, Scheduler, SendView};

/// Maximum number of RTTs that a transfer time counts. A window of one segment admits as many segments in this time as
/// a send buffer of 1.5 GB holds, and the loop ends.
const MAX_ROUNDS: u32 = 1440;

/// STTF.
#[derive(Clone, Copy, Debug)]
pub struct Sttf;

/// The window in future RTTs, in segments.
struct Rounds {
    window: u64,
    threshold: u64,
}

impl Rounds {
    fn of(candidate: &Candidate) -> Self {
        let mss = candidate.mss.max(1);
        Self { window: (candidate.cwnd / mss).max(1), threshold: candidate.ssthresh / mss }
    }

    /// The window of the next RTT.
    fn next(&mut self) -> u64 {
        let grown =
            if self.window <= self.threshold { self.window.saturating_mul(2) } else { self.window + 1 };
        self.window = grown;
        grown
    }
}

/// Segments that the window admits now.
fn unused(candidate: &Candidate) -> u64 {
    candidate.cwnd.saturating_sub(candidate.in_flight) / candidate.mss.max(1)
}

impl ArrivalModel for Sttf {
    fn arrival(&self, candidate: &Candidate, queued: u64) -> f64 {
        let mut segments = queued.div_ceil(candidate.mss.max(1)) + 1;
        segments = segments.saturating_sub(unused(candidate));
        let (mut windows, mut rounds) = (Rounds::of(candidate), 0);
        while segments > 0 && rounds < MAX_ROUNDS {
            segments = segments.saturating_sub(windows.next());
            rounds += 1;
        }
        (f64::from(rounds) + 0.5) * candidate.srtt.as_secs_f64()
    }

    fn bytes_before(&self, candidate: &Candidate, time: f64) -> f64 {
        let rtt = candidate.srtt.as_secs_f64().max(1e-9);
        let (mut windows, mut segments, mut rounds) = (Rounds::of(candidate), 0_u64, 0);
        while (f64::from(rounds) + 0.5) * rtt < time && rounds < MAX_ROUNDS {
            let admitted = if rounds == 0 { unused(candidate) } else { windows.next() };
            segments = segments.saturating_add(admitted);
            rounds += 1;
        }
        (segments.saturating_mul(candidate.mss) as f64 - candidate.queued as f64).max(0.0)
    }
}

impl Scheduler for Sttf {
    fn name(&self) -> &'static str {
        "sttf"
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

    fn candidate(millis: u64, window: u64, threshold: u64, in_flight: u64) -> Candidate {
        let mut candidate = Candidate::new(0, Duration::from_millis(millis), window * MSS, MSS);
        (candidate.ssthresh, candidate.in_flight) = (threshold.saturating_mul(MSS), in_flight * MSS);
        candidate.is_available = in_flight < window;
        candidate
    }

    /// Transfer time in milliseconds of a segment after `queued` others.
    fn millis(candidate: &Candidate, queued: u64) -> f64 {
        (Sttf.arrival(candidate, queued * MSS) * 1e6).round() / 1e3
    }

    #[test]
    fn transfer_time_counts_the_rtts_of_a_growing_window() {
        // Ten segments at once; then 20, 40 and 80 in slow start.
        let starting = candidate(20, 10, u64::MAX, 0);
        let expected = [(0, 10.0), (9, 10.0), (10, 30.0), (29, 30.0), (30, 50.0), (69, 50.0), (70, 70.0)];
        for (queued, time) in expected {
            assert_eq!(millis(&starting, queued), time, "after {queued} segments");
        }
        // A full window of 10; then 11, 12 and 13 in congestion avoidance.
        let steady = candidate(20, 10, 9, 10);
        for (queued, time) in [(0, 30.0), (10, 30.0), (11, 50.0), (22, 50.0), (23, 70.0)] {
            assert_eq!(millis(&steady, queued), time, "after {queued} segments");
        }
        // Slow start up to 20 segments: 20, 40, then 41.
        let mixed = candidate(20, 10, 20, 10);
        for (queued, time) in [(19, 30.0), (20, 50.0), (59, 50.0), (60, 70.0), (100, 70.0), (101, 90.0)] {
            assert_eq!(millis(&mixed, queued), time, "after {queued} segments");
        }
    }

    #[test]
    fn bytes_before_a_time_are_those_with_an_earlier_transfer_time() {
        for path in [candidate(20, 10, u64::MAX, 0), candidate(20, 10, 9, 10), candidate(20, 10, 20, 3)] {
            for time in [5.0, 10.0, 10.1, 30.0, 31.0, 50.0, 90.5] {
                let counted = (0..1000).take_while(|&queued| millis(&path, queued) < time).count();
                let bytes = Sttf.bytes_before(&path, time / 1e3);
                assert_eq!(bytes as u64, counted as u64 * MSS, "{time} ms");
            }
        }
    }

    #[test]
    fn slow_subflow_waits_while_the_fast_one_delivers_all_data_earlier() {
        // The fast subflow delivers 11, 12 and 13 segments after 15, 25 and 35 ms; the slow one needs 40 ms.
        let mut slow = candidate(80, 10, 9, 0);
        slow.subflow = 1;
        let candidates = [candidate(10, 10, 9, 10), slow];
        let choose = |unsent: u64| {
            let mut view = SendView::new(Instant::ZERO, &candidates);
            view.unsent = unsent;
            Sttf.choose(&view)
        };
        assert_eq!(choose(36 * MSS), None);
        assert_eq!(choose(36 * MSS + 1), Some(1));
    }

    #[test]
    fn time_of_an_endless_queue_is_bounded() {
        assert!(Sttf.arrival(&candidate(1, 1, 1, 1), u64::MAX / 2) < 1.5);
    }
}
