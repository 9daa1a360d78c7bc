//! Processing time per received frame of the host at the far end: interrupts, caches, other work.
//!
//! Small random times make runs with different seeds differ. Owns the random stream. The direction keeps
//! frames in order.

use mptcp_clock::{Duration, Rng};

/// Uniform distribution from zero to a maximum.
#[derive(Debug)]
pub(super) struct Processing {
    most: Duration,
    stream: Rng,
    /// Whether the link has neither transmission time nor delay. Processing is then zero too, so an endless
    /// exchange stays at one instant and exceeds [`crate::Budget::at_once`].
    pub(super) ideal: bool,
}

impl Processing {
    /// Processing of up to `most` per frame; `None` if `most` is zero.
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
