//! Lowest round-trip time first: the default of the mptcp.org kernel and of the NSDI 2012 paper.

use super::{Scheduler, SendView};

/// Among the subflows with room in their congestion window, the one with the smallest srtt.
#[derive(Clone, Copy, Debug)]
pub struct MinRtt;

impl Scheduler for MinRtt {
    fn name(&self) -> &'static str {
        "minrtt"
    }

    fn takes_the_only_one(&mut self) -> bool {
        true
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        let candidates = view.candidates;
        (0..candidates.len()).filter(|&i| candidates[i].has_room).min_by_key(|&i| candidates[i].srtt)
    }
}
