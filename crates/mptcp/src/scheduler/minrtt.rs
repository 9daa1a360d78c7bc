//! The minimum RTT scheduler: the default of the mptcp.org kernel and of Raiciu et al. (NSDI 2012).

use crate::scheduler::{Candidate, Scheduler, SendView};

/// Chooses the subflow with the smallest smoothed RTT among those with space in their congestion window.
#[derive(Clone, Copy, Debug)]
pub struct MinRtt;

impl Scheduler for MinRtt {
    fn name(&self) -> &'static str {
        "minrtt"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        fastest(view.candidates)
    }
}

/// Chooses the subflow with the largest smoothed RTT among those with space: the opposite of [`MinRtt`], for
/// experiments on the effect of the order.
#[derive(Clone, Copy, Debug)]
pub struct MaxRtt;

impl Scheduler for MaxRtt {
    fn name(&self) -> &'static str {
        "maxrtt"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        slowest(view.candidates)
    }
}

fn slowest(candidates: &[Candidate]) -> Option<usize> {
    (0..candidates.len()).filter(|&i| candidates[i].is_available).max_by_key(|&i| candidates[i].srtt)
}

fn fastest(candidates: &[Candidate]) -> Option<usize> {
    (0..candidates.len()).filter(|&i| candidates[i].is_available).min_by_key(|&i| candidates[i].srtt)
}
