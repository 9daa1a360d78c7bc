//! The redundant scheduler: all data on every subflow. It has the lowest delay, and the capacity of one path.

use crate::scheduler::{Scheduler, SendView};

/// Chooses any available subflow, which sends the first data that it has not carried yet.
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
