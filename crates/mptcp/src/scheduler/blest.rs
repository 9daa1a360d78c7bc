//! BLEST, the blocking estimation scheduler (Ferlin, Alay, Mehani, Boreli: IFIP Networking 2016, section III).
//!
//! A segment on a slow subflow occupies the send window until it is acknowledged. BLEST sends it only if the window
//! still has space for the data that the fastest subflow can send until then.
//!
//! Owns the estimate and its correction factor. Never changes windows.

use mptcp_clock::Instant;

use crate::scheduler::fastest::fastest_and_available;
use crate::scheduler::{Candidate, Scheduler, SendView};

/// Lower bound of the correction factor. The paper specifies none. Without a bound, the factor would take too long
/// to rise after a long time without blocking.
const MIN_CORRECTION: f64 = 0.5;

/// BLEST with its correction factor.
#[derive(Clone, Debug)]
pub struct Blest {
    /// Step of the correction factor, one per RTT of the slow subflow.
    delta: f64,
    /// Correction factor of the estimate (lambda of the paper).
    correction: f64,
    /// Whether the window was full in this RTT of the slow subflow.
    was_blocked: bool,
    /// Start of this RTT.
    since: Option<Instant>,
}

impl Blest {
    /// Creates a scheduler whose correction factor changes by `delta` per RTT; the paper uses 0.001 to 0.02.
    #[must_use]
    pub const fn new(delta: f64) -> Self {
        Self { delta, correction: 1.0, was_blocked: false, since: None }
    }

    /// Changes the correction factor by one step per RTT of the slow subflow.
    fn correct(&mut self, now: Instant, slow: &Candidate) {
        let since = *self.since.get_or_insert(now);
        if now < since + slow.srtt {
            return;
        }
        let step = if self.was_blocked { self.delta } else { -self.delta };
        self.correction = (self.correction + step).max(MIN_CORRECTION);
        self.was_blocked = false;
        self.since = Some(now);
    }

    /// Whether a segment on `slow` leaves less of `window`, in bytes, than `fast` sends in one RTT of `slow`.
    fn waits(&self, window: u64, fast: &Candidate, slow: &Candidate) -> bool {
        let ratio = slow.srtt.as_secs_f64() / fast.srtt.as_secs_f64();
        let [fast_mss, slow_mss] = [fast, slow].map(|candidate| candidate.mss.max(1) as f64);
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
        let (fastest, available) = fastest_and_available(view.candidates)?;
        if fastest == available {
            return Some(fastest);
        }
        let [fast, slow] = [fastest, available].map(|at| &view.candidates[at]);
        self.was_blocked |= view.window_space < slow.mss;
        self.correct(view.now, slow);
        (!self.waits(view.window(), fast, slow)).then_some(available)
    }
}

#[cfg(test)]
mod tests {
    use mptcp_clock::Duration;

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
    fn waits_exactly_while_the_window_is_too_small() {
        let mut candidates = pair();
        let mut blest = Blest::new(0.01);
        // The window must hold the (10 + 4/2) * 5 segments that the fast subflow sends in 5 of its RTTs, and
        // the segment in question on the slow subflow.
        assert_eq!(choose(&mut blest, &candidates, 61 * MSS), Some(1));
        assert_eq!(choose(&mut blest, &candidates, 61 * MSS - 1), None);
        candidates[1].in_flight = 7 * MSS;
        assert_eq!(choose(&mut blest, &candidates, 68 * MSS), Some(1));
        assert_eq!(choose(&mut blest, &candidates, 68 * MSS - 1), None);
        candidates[0].is_available = true;
        assert_eq!(choose(&mut blest, &candidates, 30 * MSS), Some(0));
        assert_eq!(SendView::new(Instant::ZERO, &pair()).window(), u64::MAX);
        let wide = pair();
        assert_eq!(blest.choose(&SendView::new(Instant::ZERO, &wide)), Some(1), "there is no limit");
    }

    #[test]
    fn correction_changes_by_one_step_per_rtt_of_the_slow_subflow() {
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
        assert_eq!(at(&mut blest, 49, true), (Some(1), 1000), "less than an RTT has passed");
        assert_eq!(at(&mut blest, 50, false), (None, 1010), "the window was full in the RTT before");
        assert_eq!(at(&mut blest, 99, false), (None, 1010));
        assert_eq!(at(&mut blest, 100, false), (Some(1), 1000));
        assert_eq!(at(&mut blest, 150, false), (Some(1), 990));
        for round in 4..200 {
            at(&mut blest, round * 50, false);
        }
        assert_eq!(at(&mut blest, 10_000, false), (Some(1), 500), "the lower bound");
    }

    #[test]
    fn subflow_without_rtt_sample_is_used_but_not_waited_for() {
        let mut candidates = pair();
        candidates[0].srtt = Duration::ZERO;
        assert_eq!(choose(&mut Blest::new(0.01), &candidates, 30 * MSS), Some(1));
        candidates[0].is_available = true;
        assert_eq!(choose(&mut Blest::new(0.01), &candidates, 30 * MSS), Some(0));
    }
}
