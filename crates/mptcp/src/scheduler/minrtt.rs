//! Lowest round-trip time first: the default of the mptcp.org kernel and of the NSDI 2012 paper.

use crate::scheduler::{Candidate, Scheduler, SendView};

/// Among the subflows with room in their congestion window, the one with the smallest srtt.
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

/// Among the subflows with room in their congestion window, the one with the largest srtt: the opposite of [`MinRtt`], for experiments on
/// how much depends on that order.
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
