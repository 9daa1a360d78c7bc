//! The far end of a direction: duplication, corruption and batching.
//!
//! A batch is a group of frames that are delivered together, as with interrupt coalescing. The driver creates
//! the copies and bit errors, because the network cannot read payloads.

use mptcp_clock::{Duration, Instant};

use super::Direction;
use super::processing::Processing;

impl<P> Direction<P> {
    /// Whether the direction may duplicate or corrupt frames.
    pub(crate) fn impairs(&self) -> bool {
        self.parameters.duplicate > 0.0 || self.parameters.corrupt > 0.0
    }

    /// Whether the delivered frame is duplicated, and whether it is corrupted.
    pub(crate) fn impair(&mut self) -> (bool, bool) {
        let Some(impairing) = &mut self.impairing else { return (false, false) };
        let (duplicated, corrupted) = impairing.draw(&self.parameters);
        self.counters.duplicated_frames += u64::from(duplicated);
        self.counters.corrupted_frames += u64::from(corrupted);
        (duplicated, corrupted)
    }

    /// Assigns the first queued frame, which departs at `departs`, to a batch, which it may complete.
    #[inline(never)]
    pub(super) fn gather(&mut self, departs: Instant) {
        let (delay, jitter) = (self.parameters.delay, self.parameters.jitter);
        let delay = jitter.map_or(delay, |jitter| jitter.draw(delay, &mut self.jitter));
        let delay = delay + self.processing.as_mut().map_or(Duration::ZERO, Processing::draw);
        let Some(impairing) = &mut self.impairing else { return };
        let (comes_out, before) = impairing.join(departs + delay);
        for (time, _) in self.frames.range_mut(self.in_flight.saturating_sub(before)..=self.in_flight) {
            *time = comes_out;
        }
        self.last_arrival = comes_out;
        self.in_flight += 1;
    }

    /// Discards the open batch, because the link went down.
    pub(super) fn forget_batch(&mut self, now: Instant) {
        if let Some(impairing) = &mut self.impairing {
            impairing.forget(now);
        }
    }
}
