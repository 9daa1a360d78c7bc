//! The default scheduler of Linux (net/mptcp/protocol.c, `mptcp_subflow_get_send`, 5.16 to 6.18).
//!
//! Simulations that are compared with Linux use it, with [`crate::LinuxStack::subflow_queues`]. Without these
//! queues, the scheduler decides by the bytes in flight. Owns the average pacing rate per subflow.

use crate::ids::SubflowId;
use crate::linux_stack::BURST;
use crate::path::PerPath;
use crate::scheduler::{Candidate, Scheduler, SendView};

/// Chooses the subflow that would empty its queue first: outstanding bytes divided by the pacing rate. If
/// that subflow's buffer is full, nothing is sent.
#[derive(Clone, Debug, Default)]
pub struct Linux {
    /// Average pacing rate per subflow, bytes per second: `avg_pacing_rate`.
    average_rates: PerPath<Option<(SubflowId, u64)>>,
    burst: u64,
}

/// Pacing rate, bytes per second: `tcp_update_pacing_rate` (net/ipv4/tcp_input.c). The controller's rate if
/// there is one. Otherwise twice the window per RTT if the window is below half of ssthresh, and 1.2 times
/// above. `None` before the first RTT sample.
pub(crate) fn pacing_rate(candidate: &Candidate) -> Option<u64> {
    if let Some(pacing_rate) = candidate.pacing {
        return Some(pacing_rate as u64);
    }
    let srtt = u128::from(candidate.srtt.as_nanos());
    let percent = if candidate.cwnd < candidate.ssthresh / 2 { 200 } else { 120 };
    let window = u128::from(candidate.cwnd.max(candidate.in_flight));
    let rate = (window * percent * 10_000_000).checked_div(srtt)?;
    Some(u64::try_from(rate).unwrap_or(u64::MAX))
}

impl Linux {
    /// The average pacing rate of a candidate, which starts with the present one. `None` before the first RTT
    /// sample.
    fn pacing_rate(&mut self, candidate: &Candidate) -> Option<&mut u64> {
        let (slot, id) = (candidate.subflow, candidate.id);
        let known = self.average_rates.at(slot);
        if known.is_none_or(|(owner, rate)| owner != id || rate == 0) {
            *known = pacing_rate(candidate).filter(|&rate| rate > 0).map(|rate| (id, rate));
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
            // Before the first RTT sample, `sk_pacing_rate` is the maximum value.
            let rate = self.pacing_rate(candidate).map_or(u64::MAX, |rate| *rate);
            let queue_time = (u128::from(candidate.held) << 32) / u128::from(rate);
            if best.is_none_or(|(shortest, _)| queue_time < shortest) {
                best = Some((queue_time, at));
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
            && let Some(now) = pacing_rate(chosen)
            && let Some(rate) = self.pacing_rate(chosen)
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
    fn subflow_with_the_shortest_queue_time_gets_the_burst() {
        let mut linux = Linux::default();
        // 100 kB at ten times the rate take less time than 50 kB.
        let candidates = [candidate(0, 50_000, 100, 20_000), candidate(1, 100_000, 10, 20_000)];
        assert_eq!(linux.choose(&SendView::new(Instant::ZERO, &candidates)), Some(1));
        assert_eq!(linux.burst(), 65_428);
    }

    #[test]
    fn nothing_is_sent_while_the_best_subflow_is_full() {
        let mut full = candidate(0, 1000, 10, 20_000);
        full.is_available = false;
        let candidates = [full, candidate(1, 100_000, 10, 20_000)];
        assert_eq!(Linux::default().choose(&SendView::new(Instant::ZERO, &candidates)), None);
    }

    #[test]
    fn average_rate_is_weighted_by_burst_and_outstanding_bytes() {
        let mut linux = Linux::default();
        let slow = [candidate(0, 0, 100, 10_000)];
        // 2 * 10 kB in 100 ms.
        assert_eq!(linux.choose(&SendView::new(Instant::ZERO, &slow)), Some(0));
        assert_eq!(linux.average_rates[0].map(|(_, rate)| rate), Some(200_000));
        // Three times that rate, with as many bytes outstanding as the burst has.
        let fast = [candidate(0, BURST, 100, 30_000)];
        assert_eq!(linux.choose(&SendView::new(Instant::ZERO, &fast)), Some(0));
        assert_eq!(linux.average_rates[0].map(|(_, rate)| rate), Some(400_000));
    }
}
