//! A scheduler: the subflow with the largest unused fraction of its congestion window.
//!
//! Owns the choice. Never changes windows.

use mptcp_lab::mptcp::policy::{Factory, ParameterError, Parameters};
use mptcp_lab::mptcp::scheduler::{Candidate, Scheduler, SendView};

pub(crate) const ABOUT: &str = "Subflow with the largest unused fraction of its window; `reserve` (0 to 0.9, default 0) of each window stays free";

/// Parses `scheduler = { kind = "least-filled", ... }`.
pub(crate) fn make(values: &mut Parameters) -> Result<Factory<dyn Scheduler>, ParameterError> {
    Ok(LeastFilled { reserve: values.number("reserve", 0.0, 0.0..=0.9)? }.into())
}

#[derive(Clone, Debug)]
struct LeastFilled {
    /// Fraction of each window that stays free, 0 to 0.9.
    reserve: f64,
}

fn unused(candidate: &Candidate) -> f64 {
    1.0 - candidate.in_flight as f64 / candidate.cwnd.max(1) as f64
}

impl Scheduler for LeastFilled {
    fn name(&self) -> &'static str {
        "least-filled"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        let open = |at: &usize| {
            let candidate = &view.candidates[*at];
            candidate.is_available && unused(candidate) > self.reserve
        };
        let fill = |at: &usize| unused(&view.candidates[*at]);
        (0..view.candidates.len()).filter(open).max_by(|a, b| fill(a).total_cmp(&fill(b)))
    }
}

#[cfg(test)]
mod tests {
    use mptcp_lab::{Duration, Instant};

    use super::*;

    fn choose(reserve: f64, in_flight: [u64; 2]) -> Option<usize> {
        let candidates = [(0, 20_000), (1, 10_000)].map(|(subflow, window)| {
            let mut candidate = Candidate::new(subflow, Duration::from_millis(10), window, 1000);
            candidate.in_flight = in_flight[subflow];
            candidate
        });
        LeastFilled { reserve }.choose(&SendView::new(Instant::ZERO, &candidates))
    }

    #[test]
    fn largest_unused_fraction_wins() {
        assert_eq!(choose(0.0, [11_000, 5_000]), Some(1));
        assert_eq!(choose(0.0, [9_000, 5_000]), Some(0));
    }

    #[test]
    fn reserve_of_a_window_is_not_used() {
        assert_eq!(choose(0.5, [10_000, 4_000]), Some(1));
        assert_eq!(choose(0.5, [10_000, 5_000]), None);
    }
}
