//! What happens to frames at the far end of a direction: some come out twice or damaged, and some wait for others.
//!
//! Owns the chance of it, and the batch that is open. What a copy or a damaged frame is, the driver knows.

use mptcp_clock::{Instant, Rng};

use super::Direction;
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
}

impl<P> Direction<P> {
    /// Whether it may double or damage frames.
    pub(crate) fn impairs(&self) -> bool {
        self.parameters.duplicate > 0.0 || self.parameters.corrupt > 0.0
    }

    /// Whether the frame that has just come out is doubled, and whether it is damaged.
    pub(crate) fn impair(&mut self) -> (bool, bool) {
        let Some(impairing) = &mut self.impairing else { return (false, false) };
        let duplicated = impairing.duplicate.chance(self.parameters.duplicate);
        let corrupted = impairing.corrupt.chance(self.parameters.corrupt);
        self.counters.duplicated_frames += u64::from(duplicated);
        self.counters.corrupted_frames += u64::from(corrupted);
        (duplicated, corrupted)
    }

    /// Whether frames wait for others.
    pub(super) fn gathers(&self) -> bool {
        self.impairing.as_ref().is_some_and(|impairing| impairing.batch.is_some())
    }

    /// The first frame that has not left yet leaves at `departs`, and comes out with its batch, which it may complete.
    #[inline(never)]
    pub(super) fn gather(&mut self, departs: Instant) {
        let delay = self.parameters.delay;
        let jitter = self.parameters.jitter;
        let delay = jitter.map_or(delay, |jitter| jitter.draw(delay, &mut self.jitter));
        let Some(Impairing { batch: Some(batch), held, closes, last, .. }) = self.impairing.as_deref_mut()
        else {
            return;
        };
        *last = (departs + delay).max(*last);
        if *held == 0 || *last > *closes {
            (*held, *closes) = (0, *last + batch.time);
        }
        *held += 1;
        let mut out = self.flying;
        if batch.frames.is_some_and(|frames| *held >= frames) {
            out = self.flying.saturating_sub(*held as usize - 1);
            (*held, *closes) = (0, *last);
        }
        for (time, _) in self.frames.range_mut(out..=self.flying) {
            *time = *closes;
        }
        self.last_arrival = *closes;
        self.flying += 1;
    }

    /// The link went down, and what waited is lost.
    pub(super) fn forget_batch(&mut self, now: Instant) {
        if let Some(impairing) = &mut self.impairing {
            (impairing.held, impairing.last) = (0, now);
        }
    }
}
