//! Earliest completion first (Lim, Nahum, Towsley and Gibbens: ECF, CoNEXT 2017).
//!
//! Owns one question: while the fast subflow is blocked, does waiting for it complete the unsent data earlier?
//! Never changes windows.

use mptcp_lab::mptcp::policy::{Factory, ParameterError, Parameters};
use mptcp_lab::mptcp::scheduler::{Candidate, Scheduler, SendView};

pub(crate) const ABOUT: &str =
    "Earliest completion first (Lim et al., CoNEXT 2017); `beta` (0 to 1, default 0.25) holds on to waiting";

/// Parses `scheduler = { kind = "ecf", ... }`.
pub(crate) fn make(values: &mut Parameters) -> Result<Factory<dyn Scheduler>, ParameterError> {
    Ok(Ecf::new(values.number("beta", 0.25, 0.0..=1.0)?).into())
}

#[derive(Clone, Debug)]
pub(crate) struct Ecf {
    /// Hysteresis of the decision to wait.
    beta: f64,
    waiting: bool,
}

impl Ecf {
    fn new(beta: f64) -> Self {
        Self { beta, waiting: false }
    }

    /// Whether the unsent data completes earlier if it waits for `fast` instead of using `slow`.
    fn waits(&mut self, unsent: u64, fast: &Candidate, slow: &Candidate) -> bool {
        let unsent = unsent as f64;
        // In nanoseconds, which compare exactly.
        let [fast_rtt, slow_rtt] = [fast, slow].map(|one| one.srtt.as_nanos() as f64);
        let margin = fast.path.rttvar.max(slow.path.rttvar).as_nanos() as f64;
        let rounds = 1.0 + unsent / window(fast);
        let hold = if self.waiting { 1.0 + self.beta } else { 1.0 };
        if rounds * fast_rtt >= hold * (slow_rtt + margin) {
            self.waiting = false;
            return false;
        }
        // With little data left, the slow subflow would complete it before the fast one is available and gets
        // its acknowledgement.
        if unsent / window(slow) * slow_rtt < 2.0 * fast_rtt + margin {
            return false;
        }
        self.waiting = true;
        true
    }
}

impl Scheduler for Ecf {
    fn name(&self) -> &'static str {
        "ecf"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        let (fast, with_room) = fast_and_open(view.candidates)?;
        if fast == with_room {
            return Some(fast);
        }
        let wait = self.waits(view.unsent, &view.candidates[fast], &view.candidates[with_room]);
        (!wait).then_some(with_room)
    }
}

/// The fastest subflow, and the fastest available one; `None` if none is available. A subflow without RTT
/// sample counts as the fastest while it is available, and is ignored otherwise.
pub(crate) fn fast_and_open(candidates: &[Candidate]) -> Option<(usize, usize)> {
    let fastest = |counts: &dyn Fn(&Candidate) -> bool| {
        (0..candidates.len()).filter(|&at| counts(&candidates[at])).min_by_key(|&at| candidates[at].srtt)
    };
    let open = fastest(&|one| one.is_available)?;
    Some((fastest(&|one| one.is_available || !one.srtt.is_zero())?, open))
}

fn window(candidate: &Candidate) -> f64 {
    candidate.cwnd.max(1) as f64
}

#[cfg(test)]
mod tests {
    use mptcp_lab::{Duration, Instant};

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
    fn the_fast_subflow_goes_first() {
        let mut candidates = pair(100);
        candidates[0].is_available = true;
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 50 * MSS), Some(0));
        candidates.iter_mut().for_each(|one| one.is_available = false);
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 50 * MSS), None);
    }

    #[test]
    fn it_waits_exactly_while_the_fast_one_is_done_first() {
        let candidates = pair(100);
        // 1 + 89/10 rounds of 10 ms are below 100 ms, 1 + 90/10 are not.
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 89 * MSS), None);
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 90 * MSS), Some(1));
        // 2/10 of 100 ms are two RTTs of the fast subflow; for less, waiting does not pay off.
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 2 * MSS), None);
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 2 * MSS - 1), Some(1));
    }

    #[test]
    fn doubt_about_round_trips_counts_for_both_sides() {
        let mut candidates = pair(100);
        candidates[0].path.rttvar = Duration::from_millis(5);
        candidates[1].path.rttvar = Duration::from_millis(20);
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 109 * MSS), None);
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 110 * MSS), Some(1));
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 4 * MSS), None);
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 4 * MSS - 1), Some(1));
    }

    #[test]
    fn who_waits_holds_on_to_it() {
        let candidates = pair(100);
        let mut ecf = Ecf::new(0.25);
        assert_eq!(choose(&mut ecf, &candidates, 100 * MSS), Some(1), "it does not wait yet");
        assert_eq!(choose(&mut ecf, &candidates, 80 * MSS), None);
        assert_eq!(choose(&mut ecf, &candidates, 114 * MSS), None, "12.4 rounds are below 1.25 * 100 ms");
        assert_eq!(choose(&mut ecf, &candidates, MSS), Some(1), "little is left, and it goes on waiting");
        assert_eq!(choose(&mut ecf, &candidates, 114 * MSS), None);
        assert_eq!(choose(&mut ecf, &candidates, 115 * MSS), Some(1));
        assert_eq!(choose(&mut ecf, &candidates, 100 * MSS), Some(1), "it waits no more");
        let mut eager = Ecf::new(0.0);
        assert_eq!(choose(&mut eager, &candidates, 80 * MSS), None);
        assert_eq!(choose(&mut eager, &candidates, 90 * MSS), Some(1), "nothing holds on without beta");
    }

    #[test]
    fn a_subflow_without_a_sample_is_used_and_not_waited_for() {
        let mut candidates = pair(100);
        candidates[0].srtt = Duration::ZERO;
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 50 * MSS), Some(1));
        candidates[0].is_available = true;
        assert_eq!(choose(&mut Ecf::new(0.25), &candidates, 50 * MSS), Some(0));
    }
}
