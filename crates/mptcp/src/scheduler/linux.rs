//! The default scheduler of Linux (net/mptcp/protocol.c, `mptcp_subflow_get_send`, 5.16 to 6.18).
//!
//! Owns what it remembers of each subflow's pace. Made for queues by subflow ([`crate::LinuxStack::subflow_queues`]); without, it
//! chooses by what is in flight.

use crate::ids::SubflowId;
use crate::linux_stack::BURST;
use crate::path::PerPath;
use crate::scheduler::{Candidate, Scheduler, SendView};

/// The subflow that would have sent first what it holds: bytes over pace. When that one's buffer is full, nobody gets more.
#[derive(Clone, Debug, Default)]
pub struct Linux {
    /// Bytes a second, smoothed over what a subflow was given: `avg_pacing_rate`.
    paces: PerPath<Option<(SubflowId, u64)>>,
    burst: u64,
}

/// Bytes a second: `tcp_update_pacing_rate` (net/ipv4/tcp_input.c), twice the window in a round trip below half of the threshold,
/// 1.2 times above. None before the first round trip.
pub(crate) fn pace(candidate: &Candidate) -> Option<u64> {
    if let Some(pace) = candidate.pacing {
        return Some(pace as u64);
    }
    let round_trip = u128::from(candidate.srtt.as_nanos());
    let percent = if candidate.cwnd < candidate.ssthresh / 2 { 200 } else { 120 };
    let window = u128::from(candidate.cwnd.max(candidate.in_flight));
    let rate = (window * percent * 10_000_000).checked_div(round_trip)?;
    Some(u64::try_from(rate).unwrap_or(u64::MAX))
}

impl Linux {
    /// The pace of a candidate, which begins as what it is now.
    fn pace(&mut self, candidate: &Candidate) -> Option<&mut u64> {
        let (place, id) = (candidate.subflow, candidate.id);
        let known = self.paces.at(place);
        if known.is_none_or(|(whose, rate)| whose != id || rate == 0) {
            *known = pace(candidate).filter(|&rate| rate > 0).map(|rate| (id, rate));
        }
        known.as_mut().map(|(_, rate)| rate)
    }
}

impl Scheduler for Linux {
    fn name(&self) -> &'static str {
        "linux"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        let mut best: Option<(u128, usize)> = None;
        for (at, candidate) in view.candidates.iter().enumerate() {
            // Before the first round trip `sk_pacing_rate` is the largest number there is.
            let rate = self.pace(candidate).map_or(u64::MAX, |rate| *rate);
            let linger = (u128::from(candidate.held) << 32) / u128::from(rate);
            if best.is_none_or(|(least, _)| linger < least) {
                best = Some((linger, at));
            }
        }
        let (_, at) = best?;
        let chosen = &view.candidates[at];
        if !chosen.is_available {
            return None;
        }
        self.burst = BURST.min(view.window_space);
        let (held, burst) = (u128::from(chosen.held), u128::from(self.burst));
        if burst > 0
            && let Some(now) = pace(chosen)
            && let Some(rate) = self.pace(chosen)
        {
            let smoothed = (u128::from(*rate) * held + u128::from(now) * burst) / (burst + held);
            *rate = u64::try_from(smoothed).unwrap_or(u64::MAX);
        }
        Some(at)
    }

    fn burst(&self) -> u64 {
        self.burst
    }
}

#[cfg(test)]
mod tests {
    use mptcp_clock::{Duration, Instant};

    use super::*;

    fn candidate(subflow: usize, held: u64, millis: u64, window: u64) -> Candidate {
        let mut candidate = Candidate::new(subflow, Duration::from_millis(millis), window, 1428);
        // Slow start.
        (candidate.held, candidate.ssthresh) = (held, u64::MAX);
        candidate
    }

    #[test]
    fn who_would_have_sent_first_gets_the_burst() {
        let mut linux = Linux::default();
        // 100 kB at 10 times the pace are less than 50 kB.
        let candidates = [candidate(0, 50_000, 100, 20_000), candidate(1, 100_000, 10, 20_000)];
        assert_eq!(linux.choose(&SendView::new(Instant::ZERO, &candidates)), Some(1));
        assert_eq!(linux.burst(), 65_428);
    }

    #[test]
    fn nobody_gets_more_while_the_best_has_no_room() {
        let mut full = candidate(0, 1000, 10, 20_000);
        full.is_available = false;
        let candidates = [full, candidate(1, 100_000, 10, 20_000)];
        assert_eq!(Linux::default().choose(&SendView::new(Instant::ZERO, &candidates)), None);
    }

    #[test]
    fn a_pace_moves_by_the_part_that_the_burst_has_of_what_is_held() {
        let mut linux = Linux::default();
        let slow = [candidate(0, 0, 100, 10_000)];
        // 2 * 10 kB in 100 ms.
        assert_eq!(linux.choose(&SendView::new(Instant::ZERO, &slow)), Some(0));
        assert_eq!(linux.paces[0].map(|(_, rate)| rate), Some(200_000));
        // Three times that, where as much is held as a burst has.
        let fast = [candidate(0, BURST, 100, 30_000)];
        assert_eq!(linux.choose(&SendView::new(Instant::ZERO, &fast)), Some(0));
        assert_eq!(linux.paces[0].map(|(_, rate)| rate), Some(400_000));
    }
}
