//! Strict priority: the first subflow of an order that has space, or only the first one that works.
//!
//! RFC 8684 section 3.3.8 describes backup paths, which carry data only if no other path can. The connection already
//! excludes subflows with the backup flag while a regular one works; these schedulers order the others. The Multipath
//! schedulers draft (draft-bonaventure-iccrg-schedulers-02, section 3) calls the first form strict priority.
//!
//! Owns the order. Never keeps other state.

use crate::scheduler::{Candidate, Scheduler, SendView};

/// Strict priority by the order of the subflows.
#[derive(Clone, Debug)]
pub struct Priority {
    /// Slots by decreasing priority; further slots follow in their own order.
    order: Vec<u64>,
    /// Whether the next subflow is used while the window of the first is full.
    overflows: bool,
}

impl Priority {
    /// Strict priority: the first subflow with an open window sends.
    #[must_use]
    pub const fn strict(order: Vec<u64>) -> Self {
        Self { order, overflows: true }
    }

    /// Backups: the first subflow that works sends everything.
    #[must_use]
    pub const fn backup(order: Vec<u64>) -> Self {
        Self { order, overflows: false }
    }

    fn rank(&self, candidate: &Candidate) -> usize {
        let place = self.order.iter().position(|&slot| slot == candidate.subflow as u64);
        place.unwrap_or(self.order.len() + candidate.subflow)
    }
}

impl Scheduler for Priority {
    fn name(&self) -> &'static str {
        if self.overflows { "priority" } else { "backup" }
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        let usable = |at: &usize| !self.overflows || view.candidates[*at].is_available;
        let first =
            (0..view.candidates.len()).filter(usable).min_by_key(|&at| self.rank(&view.candidates[at]))?;
        view.candidates[first].is_available.then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use mptcp_clock::{Duration, Instant};

    use super::*;

    fn choose(mut scheduler: Priority, available: [bool; 3]) -> Option<usize> {
        let candidates: Vec<Candidate> = (0..3)
            .map(|slot| {
                let mut candidate =
                    Candidate::new(slot, Duration::from_millis(30 - slot as u64), 10_000, 1000);
                candidate.is_available = available[slot];
                candidate
            })
            .collect();
        scheduler.choose(&SendView::new(Instant::ZERO, &candidates))
    }

    #[test]
    fn first_subflow_with_an_open_window_sends() {
        assert_eq!(choose(Priority::strict(vec![]), [true, true, true]), Some(0));
        assert_eq!(choose(Priority::strict(vec![]), [false, true, true]), Some(1));
        assert_eq!(choose(Priority::strict(vec![]), [false, false, false]), None);
    }

    #[test]
    fn order_lists_the_slots_by_priority() {
        assert_eq!(choose(Priority::strict(vec![2]), [true, true, true]), Some(2));
        assert_eq!(choose(Priority::strict(vec![2]), [true, true, false]), Some(0));
        assert_eq!(choose(Priority::strict(vec![2, 1]), [true, true, false]), Some(1));
    }

    #[test]
    fn backup_waits_while_the_first_subflow_works() {
        assert_eq!(choose(Priority::backup(vec![]), [true, true, true]), Some(0));
        assert_eq!(choose(Priority::backup(vec![]), [false, true, true]), None);
        assert_eq!(choose(Priority::backup(vec![1]), [true, true, true]), Some(1));
    }
}
