//! The state of what happens to frames at the far end of a direction: its chance, and the batch that is open.
//!
//! Owns when a batch comes out. Never holds a frame: that is the affair of `far_end`.

use mptcp_clock::{Instant, Rng};

use crate::parameters::{Batch, Parameters};

#[derive(Debug)]
pub(super) struct Impairing {
    duplicate: Rng,
    corrupt: Rng,
    batch: Option<Batch>,
    /// How many frames wait in the open batch.
    held: u32,
    /// When it comes out at the latest.
    closes: Instant,
    /// When the last frame came to the far end.
    last: Instant,
}

impl Impairing {
    /// For a direction that does anything of that; `None` for one that does not.
    pub(super) fn of(parameters: &Parameters, stream: &Rng) -> Option<Box<Self>> {
        let Parameters { duplicate, corrupt, batch, .. } = *parameters;
        let nothing = duplicate <= 0.0 && corrupt <= 0.0 && batch.is_none();
        (!nothing).then(|| {
            let (duplicate, corrupt) = (stream.child("duplicate"), stream.child("corrupt"));
            let (held, closes, last) = (0, Instant::ZERO, Instant::ZERO);
            Box::new(Self { duplicate, corrupt, batch, held, closes, last })
        })
    }

    /// Whether frames wait for others.
    pub(super) fn gathers(&self) -> bool {
        self.batch.is_some()
    }

    /// Whether the next frame is doubled, and whether it is damaged.
    pub(super) fn draw(&mut self, parameters: &Parameters) -> (bool, bool) {
        (self.duplicate.chance(parameters.duplicate), self.corrupt.chance(parameters.corrupt))
    }

    /// A frame comes to the far end at `arrives`: when its batch comes out, and how many frames of it came before, if it
    /// completes it.
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

    /// What waited is lost.
    pub(super) fn forget(&mut self, now: Instant) {
        (self.held, self.last) = (0, now);
    }
}
