//! ECF, the earliest completion first scheduler (Lim, Nahum, Towsley, Gibbens: CoNEXT 2017, section 4, algorithm 1).
//!
//! While the fastest subflow is full, ECF uses a slower one only if the unsent data does not complete earlier by
//! waiting for the fastest subflow.
//!
//! Owns the hysteresis of this decision. Never changes windows.

use crate::scheduler::fastest::fastest_and_available;
use crate::scheduler::{Candidate, Scheduler, SendView};

/// ECF with its hysteresis.
#[derive(Clone, Debug)]
pub struct Ecf {
    /// Hysteresis of the decision to wait, 0 or more.
    beta: f64,
    is_waiting: bool,
}

impl Ecf {
    /// Creates a scheduler with the hysteresis `beta`; the paper uses 0.25.
    #[must_use]
    pub const fn new(beta: f64) -> Self {
        Self { beta, is_waiting: false }
    }

    /// Whether `unsent` bytes complete earlier by waiting for `fast` than on `slow`.
    fn waits(&mut self, unsent: u64, fast: &Candidate, slow: &Candidate) -> bool {
        let unsent = unsent as f64;
        // In nanoseconds, which compare exactly.
        let [fast_rtt, slow_rtt] = [fast, slow].map(|candidate| candidate.srtt.as_nanos() as f64);
        let margin = fast.path.rttvar.max(slow.path.rttvar).as_nanos() as f64;
        let rounds = 1.0 + unsent / window(fast);
        let hysteresis = if self.is_waiting { 1.0 + self.beta } else { 1.0 };
        if rounds * fast_rtt >= hysteresis * (slow_rtt + margin) {
            self.is_waiting = false;
            return false;
        }
        // With little data left, the slow subflow would complete it before the fast one is available and gets its
        // acknowledgement.
        if unsent / window(slow) * slow_rtt < 2.0 * fast_rtt + margin {
            return false;
        }
        self.is_waiting = true;
        true
    }
}

impl Scheduler for Ecf {
    fn name(&self) -> &'static str {
        "ecf"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        let (fastest, available) = fastest_and_available(view.candidates)?;
        if fastest == available {
            return Some(fastest);
        }
        let waits = self.waits(view.unsent, &view.candidates[fastest], &view.candidates[available]);
        (!waits).then_some(available)
    }
}

fn window(candidate: &Candidate) -> f64 {
    candidate.cwnd.max(1) as f64
}

#[cfg(test)]
mod tests {
    use mptcp_clock::{Duration, Instant};

    use super::*;

    const MSS: u64 = 1000;

    /// A blocked fast subflow and an available slow one: ten segments each, 10 ms and `slow` ms.
    fn pair(slow: u64) -> [Candidate; 2] {
        let mut fast = Candidate::new(0, Duration::from_millis(10), 10 * MSS, MSS);
        fast.is_available = false;
        [fast, Candidate::new(1, Duration::from_millis(slow), 10 * MSS, MSS)]
    }

    fn choose(ecf: &mut Ecf, candidates: &[Candidate], unsent: u64) -> Option<usize> {
        let mut view = SendView::new(Instant::ZERO, candidates);
        view.unsent = unsent;
        ecf.choose(&view)
    }

    #[test]
    fn fastest_subflow_is_used_while_its_window_is_open() {
        let mut candidates = pair(100);
        candidates[0].is_available = true;
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 50 * MSS), Some(0));
        candidates.iter_mut().for_each(|candidate| candidate.is_available = false);
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 50 * MSS), None);
    }

    #[test]
    fn waits_exactly_while_the_fastest_subflow_completes_first() {
        let candidates = pair(100);
        // 1 + 89/10 rounds of 10 ms are below 100 ms, 1 + 90/10 are not.
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 89 * MSS), None);
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 90 * MSS), Some(1));
        // 2/10 of 100 ms are two RTTs of the fast subflow; for less, waiting does not pay off.
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 2 * MSS), None);
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 2 * MSS - 1), Some(1));
    }

    #[test]
    fn rtt_variation_is_added_to_both_inequalities() {
        let mut candidates = pair(100);
        candidates[0].path.rttvar = Duration::from_millis(5);
        candidates[1].path.rttvar = Duration::from_millis(20);
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 109 * MSS), None);
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 110 * MSS), Some(1));
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 4 * MSS), None);
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 4 * MSS - 1), Some(1));
    }

    #[test]
    fn waiting_has_a_hysteresis_of_beta() {
        let candidates = pair(100);
        let mut ecf = Ecf::new(0.25);
        assert_eq!(choose(&mut ecf, &candidates, 100 * MSS), Some(1), "no wait has begun");
        assert_eq!(choose(&mut ecf, &candidates, 80 * MSS), None);
        assert_eq!(choose(&mut ecf, &candidates, 114 * MSS), None, "12.4 rounds are below 1.25 * 100 ms");
        assert_eq!(choose(&mut ecf, &candidates, MSS), Some(1), "little data is left; the hysteresis stays");
        assert_eq!(choose(&mut ecf, &candidates, 114 * MSS), None);
        assert_eq!(choose(&mut ecf, &candidates, 115 * MSS), Some(1));
        assert_eq!(choose(&mut ecf, &candidates, 100 * MSS), Some(1), "the wait has ended");
        let mut eager = Ecf::new(0.0);
        assert_eq!(choose(&mut eager, &candidates, 80 * MSS), None);
        assert_eq!(choose(&mut eager, &candidates, 90 * MSS), Some(1), "there is no hysteresis without beta");
    }

    #[test]
    fn subflow_without_rtt_sample_is_used_but_not_waited_for() {
        let mut candidates = pair(100);
        candidates[0].srtt = Duration::ZERO;
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 50 * MSS), Some(1));
        candidates[0].is_available = true;
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 50 * MSS), Some(0));
    }
}
