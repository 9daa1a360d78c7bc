//! Blocking estimation (Ferlin, Alay, Mehani and Boreli: BLEST, IFIP Networking 2016).
//!
//! Owns one question: would data on the slow subflow fill the receive window while the fast one could use it?
//! Never changes windows.

use mptcp_lab::Instant;
use mptcp_lab::mptcp::policy::{Factory, ParameterError, Parameters};
use mptcp_lab::mptcp::scheduler::{Candidate, Scheduler, SendView};

use crate::ecf::fast_and_open;

pub(crate) const ABOUT: &str = "Blocking estimation (Ferlin et al., IFIP Networking 2016); `delta` (0.001 to 0.02, default \
     0.01) is a step of its correction";

/// Lower bound of the correction: half of the expected data of the fast subflow. The paper has no bound.
/// Without one, the correction would take too long to rise after a long time without blocking.
const LEAST: f64 = 0.5;

/// Parses `scheduler = { kind = "blest", ... }`.
pub(crate) fn make(values: &mut Parameters) -> Result<Factory<dyn Scheduler>, ParameterError> {
    Ok(Blest::new(values.number("delta", 0.01, 0.001..=0.02)?).into())
}

#[derive(Clone, Debug)]
pub(crate) struct Blest {
    delta: f64,
    /// Correction factor of the estimate (λ).
    correction: f64,
    /// Whether the window was full in this RTT of the slow subflow.
    blocked: bool,
    /// Start of this RTT.
    since: Option<Instant>,
}

impl Blest {
    fn new(delta: f64) -> Self {
        Self { delta, correction: 1.0, blocked: false, since: None }
    }

    /// One step per RTT of the slow subflow.
    fn correct(&mut self, now: Instant, slow: &Candidate) {
        let since = *self.since.get_or_insert(now);
        if now < since + slow.srtt {
            return;
        }
        let step = if self.blocked { self.delta } else { -self.delta };
        self.correction = (self.correction + step).max(LEAST);
        self.blocked = false;
        self.since = Some(now);
    }

    /// Whether a segment on `slow` leaves less of `window` than `fast` sends in one RTT of `slow`.
    fn waits(&self, window: u64, fast: &Candidate, slow: &Candidate) -> bool {
        let ratio = slow.srtt.as_secs_f64() / fast.srtt.as_secs_f64();
        let [fast_mss, slow_mss] = [fast, slow].map(|one| one.mss.max(1) as f64);
        // The window of the fast subflow grows by one segment in each of its RTTs.
        let expected = fast_mss * (fast.cwnd as f64 / fast_mss + (ratio - 1.0) / 2.0) * ratio;
        let left = window as f64 - slow_mss * (slow.in_flight as f64 / slow_mss + 1.0);
        expected * self.correction > left
    }
}

impl Scheduler for Blest {
    fn name(&self) -> &'static str {
        "blest"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        let (fast, with_room) = fast_and_open(view.candidates)?;
        if fast == with_room {
            return Some(fast);
        }
        let [fast, slow] = [fast, with_room].map(|at| &view.candidates[at]);
        self.blocked |= view.window_space < slow.mss;
        self.correct(view.now, slow);
        (!self.waits(view.window(), fast, slow)).then_some(with_room)
    }
}

#[cfg(test)]
mod tests {
    use mptcp_lab::Duration;

    use super::*;

    const MSS: u64 = 1000;

    /// A blocked fast subflow and an available slow one: ten segments each, 10 ms and 50 ms.
    fn pair() -> [Candidate; 2] {
        let mut fast = Candidate::new(0, Duration::from_millis(10), 10 * MSS, MSS);
        fast.is_available = false;
        [fast, Candidate::new(1, Duration::from_millis(50), 10 * MSS, MSS)]
    }

    /// A view with a window of `window`.
    fn view(candidates: &[Candidate], at: u64, window: u64) -> SendView<'_> {
        let mut view = SendView::new(Instant::ZERO + Duration::from_millis(at), candidates);
        view.in_flight = 20 * MSS;
        view.window_space = window - view.in_flight;
        view
    }

    fn choose(blest: &mut Blest, candidates: &[Candidate], window: u64) -> Option<usize> {
        blest.choose(&view(candidates, 0, window))
    }

    #[test]
    fn it_waits_exactly_while_the_window_is_short() {
        let mut candidates = pair();
        let mut blest = Blest::new(0.01);
        // In 5 RTTs the fast subflow sends (10 + 4/2) * 5 segments, plus the segment in question.
        assert_eq!(choose(&mut blest, &candidates, 61 * MSS), Some(1));
        assert_eq!(choose(&mut blest, &candidates, 61 * MSS - 1), None);
        candidates[1].in_flight = 7 * MSS;
        assert_eq!(choose(&mut blest, &candidates, 68 * MSS), Some(1));
        assert_eq!(choose(&mut blest, &candidates, 68 * MSS - 1), None);
        candidates[0].is_available = true;
        assert_eq!(choose(&mut blest, &candidates, 30 * MSS), Some(0));
        assert_eq!(SendView::new(Instant::ZERO, &pair()).window(), u64::MAX);
        let wide = pair();
        assert_eq!(blest.choose(&SendView::new(Instant::ZERO, &wide)), Some(1), "no limit at all");
    }

    #[test]
    fn the_correction_follows_what_happens_a_step_in_a_round_trip() {
        let candidates = pair();
        let mut blest = Blest::new(0.01);
        let at = |blest: &mut Blest, ms: u64, full: bool| {
            let mut view = view(&candidates, ms, 61 * MSS);
            if full {
                view.window_space = 0;
                blest.choose(&view);
                view.window_space = 41 * MSS;
            }
            let chosen = blest.choose(&view);
            (chosen, (blest.correction * 1000.0).round() as u32)
        };
        assert_eq!(at(&mut blest, 0, true), (Some(1), 1000));
        assert_eq!(at(&mut blest, 49, true), (Some(1), 1000), "not a whole round trip");
        assert_eq!(at(&mut blest, 50, false), (None, 1010), "it was blocked before");
        assert_eq!(at(&mut blest, 99, false), (None, 1010));
        assert_eq!(at(&mut blest, 100, false), (Some(1), 1000));
        assert_eq!(at(&mut blest, 150, false), (Some(1), 990));
        for round in 4..200 {
            at(&mut blest, round * 50, false);
        }
        assert_eq!(at(&mut blest, 10_000, false), (Some(1), 500), "there is a floor");
    }

    #[test]
    fn a_subflow_without_a_sample_is_used_and_not_waited_for() {
        let mut candidates = pair();
        candidates[0].srtt = Duration::ZERO;
        assert_eq!(choose(&mut Blest::new(0.01), &candidates, 30 * MSS), Some(1));
        candidates[0].is_available = true;
        assert_eq!(choose(&mut Blest::new(0.01), &candidates, 30 * MSS), Some(0));
    }
}
