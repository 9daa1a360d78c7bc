//! Everything on every subflow: the lowest delay, at the price of all capacity but one path's.

use crate::scheduler::{Scheduler, SendView};

/// Any subflow with room gets the first data that it has not carried yet.
#[derive(Clone, Copy, Debug)]
pub struct Redundant;

impl Scheduler for Redundant {
    fn name(&self) -> &'static str {
        "redundant"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        view.candidates.iter().position(|c| c.is_available)
    }

    fn duplicates(&self) -> bool {
        true
    }
}
