//! The time that the host at the far end takes for a frame before anything hears of it: interrupts, caches, other work.
//!
//! Draws one time at a time; frames stay in order, which is the direction's business.

use mptcp_clock::{Duration, Rng};

/// Uniform between nothing and the most.
#[derive(Debug)]
pub(super) struct Processing {
    most: Duration,
    stream: Rng,
    /// The line takes no time, as an ideal one: then the host takes none either, and who sends in circles there stands still.
    pub(super) ideal: bool,
}

impl Processing {
    /// Up to `most` for each frame; `None` where that is nothing.
    pub(super) fn of(most: Duration, stream: &Rng) -> Option<Self> {
        (!most.is_zero()).then(|| Self { most, stream: stream.child("processing"), ideal: false })
    }

    pub(super) fn draw(&mut self) -> Duration {
        if self.ideal {
            return Duration::ZERO;
        }
        Duration::from_nanos(self.stream.below(self.most.as_nanos().saturating_add(1)))
    }
}
