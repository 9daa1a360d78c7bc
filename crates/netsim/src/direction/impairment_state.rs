//! State of impairments at the far end of a direction: random streams, and the open batch.
//!
//! A batch is a group of frames that are delivered together. Owns its delivery time, never its frames: the
//! direction has these.

use mptcp_clock::{Instant, Rng};

use crate::parameters::{Batch, Parameters};

#[derive(Debug)]
pub(super) struct ImpairmentState {
    duplicate: Rng,
    corrupt: Rng,
    batch: Option<Batch>,
    /// Number of frames in the open batch.
    held: u32,
    /// Latest delivery time of the open batch.
    closes: Instant,
    /// Time at which the last frame reached the far end.
    last: Instant,
}

impl ImpairmentState {
    /// The state for a direction with impairments; `None` for other directions.
    pub(super) fn of(parameters: &Parameters, stream: &Rng) -> Option<Box<Self>> {
        let Parameters { duplicate, corrupt, batch, .. } = *parameters;
        let nothing = duplicate <= 0.0 && corrupt <= 0.0 && batch.is_none();
        (!nothing).then(|| {
            let (duplicate, corrupt) = (stream.child("duplicate"), stream.child("corrupt"));
            let (held, closes, last) = (0, Instant::ZERO, Instant::ZERO);
            Box::new(Self { duplicate, corrupt, batch, held, closes, last })
        })
    }

    /// Whether the direction delivers in batches.
    pub(super) fn gathers(&self) -> bool {
        self.batch.is_some()
    }

    /// Whether the next frame is duplicated, and whether it is corrupted.
    pub(super) fn draw(&mut self, parameters: &Parameters) -> (bool, bool) {
        (self.duplicate.chance(parameters.duplicate), self.corrupt.chance(parameters.corrupt))
    }

    /// Adds a frame that reaches the far end at `arrives`. Returns the delivery time of its batch, and the
    /// number of earlier frames that it releases by completing the batch.
    pub(super) fn join(&mut self, arrives: Instant) -> (Instant, usize) {
        let Some(batch) = self.batch else { return (arrives, 0) };
        self.last = arrives.max(self.last);
        if self.held == 0 || self.last > self.closes {
            (self.held, self.closes) = (0, self.last + batch.time);
        }
        self.held += 1;
        if batch.frames.is_none_or(|frames| self.held < frames) {
            return (self.closes, 0);
        }
        let before = std::mem::take(&mut self.held) as usize - 1;
        self.closes = self.last;
        (self.closes, before)
    }

    /// Forgets the open batch, whose frames are lost.
    pub(super) fn forget(&mut self, now: Instant) {
        (self.held, self.last) = (0, now);
    }
}
