//! Opportunistic redundancy (Frömmgen, Rizk, Erbshäußer, Weller, Koldehofe, Buchmann, Steinmetz: "A Programming Model for
//! Application-defined Multipath TCP Scheduling", ACM/IFIP/USENIX Middleware 2017).
//!
//! A segment is sent on all subflows whose window is open when the segment is sent for the first time. Unlike the
//! `redundant` scheduler, which brings old data to a subflow whose window opens later, new data always has precedence.
//!
//! Owns the choice. Never keeps state.

use crate::scheduler::fastest::fastest_and_available;
use crate::scheduler::{Scheduler, SendView};

/// Sends on the available subflow with the lowest RTT, and a copy on every other available one.
#[derive(Clone, Copy, Debug)]
pub struct OpportunisticRedundant;

impl Scheduler for OpportunisticRedundant {
    fn name(&self) -> &'static str {
        "opportunistic-redundant"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        fastest_and_available(view.candidates).map(|(_, available)| available)
    }

    fn makes_copies(&self) -> bool {
        true
    }

    fn copies(&mut self, view: &SendView<'_>, chosen: usize, copies: &mut Vec<usize>) {
        let others = (0..view.candidates.len()).filter(|&at| at != chosen);
        copies.extend(others.filter(|&at| view.candidates[at].is_available));
    }
}

#[cfg(test)]
mod tests {
    use mptcp_clock::{Duration, Instant};

    use super::*;
    use crate::scheduler::Candidate;

    #[test]
    fn copies_go_to_the_other_open_windows() {
        let mut candidates =
            [30, 10, 20].map(|millis| Candidate::new(0, Duration::from_millis(millis), 10_000, 1000));
        candidates[2].is_available = false;
        let view = SendView::new(Instant::ZERO, &candidates);
        let mut copies = Vec::new();
        assert_eq!(OpportunisticRedundant.choose(&view), Some(1));
        OpportunisticRedundant.copies(&view, 1, &mut copies);
        assert_eq!(copies, [0]);
    }
}
