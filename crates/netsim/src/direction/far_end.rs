//! What happens to frames at the far end of a direction: some come out twice or damaged, and some wait for others.
//!
//! Owns the frames meanwhile. What a copy or a damaged frame is, the driver knows.

use mptcp_clock::{Duration, Instant};

use super::Direction;
use super::processing::Processing;

impl<P> Direction<P> {
    /// Whether it may double or damage frames.
    pub(crate) fn impairs(&self) -> bool {
        self.parameters.duplicate > 0.0 || self.parameters.corrupt > 0.0
    }

    /// Whether the frame that has just come out is doubled, and whether it is damaged.
    pub(crate) fn impair(&mut self) -> (bool, bool) {
        let Some(impairing) = &mut self.impairing else { return (false, false) };
        let (duplicated, corrupted) = impairing.draw(&self.parameters);
        self.counters.duplicated_frames += u64::from(duplicated);
        self.counters.corrupted_frames += u64::from(corrupted);
        (duplicated, corrupted)
    }

    /// The first frame that has not left yet leaves at `departs`, and comes out with its batch, which it may complete.
    #[inline(never)]
    pub(super) fn gather(&mut self, departs: Instant) {
        let (delay, jitter) = (self.parameters.delay, self.parameters.jitter);
        let delay = jitter.map_or(delay, |jitter| jitter.draw(delay, &mut self.jitter));
        let delay = delay + self.processing.as_mut().map_or(Duration::ZERO, Processing::draw);
        let Some(impairing) = &mut self.impairing else { return };
        let (comes_out, before) = impairing.join(departs + delay);
        for (time, _) in self.frames.range_mut(self.flying.saturating_sub(before)..=self.flying) {
            *time = comes_out;
        }
        self.last_arrival = comes_out;
        self.flying += 1;
    }

    /// The link went down, and what waited is lost.
    pub(super) fn forget_batch(&mut self, now: Instant) {
        if let Some(impairing) = &mut self.impairing {
            impairing.forget(now);
        }
    }
}
