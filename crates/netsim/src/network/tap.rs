//! Taps: a place in the network where frames are stopped for the driver, who passes on what it likes.
//!
//! Owns the frames that are stopped before a queue, and those that the driver has passed on to a node. What a
//! box does to a frame, and what it puts in its place, is the driver's business: nothing here reads one.

use mptcp_clock::Instant;

use super::{Event, Fate, Network, Source, TapSide};
use crate::frame::{DirectionId, Frame, LinkId};
use crate::topology::TopologyError;

impl<P> Network<P> {
    /// Puts a tap at the second end of a link: frames forward are stopped when they come out, frames backward
    /// before the queue. Each becomes [`Event::Tapped`], and goes on by [`Self::pass`].
    ///
    /// # Errors
    /// An unknown link.
    pub fn tap(&mut self, link: LinkId) -> Result<(), TopologyError> {
        self.topology.check_direction(link.forward())?;
        if self.tap_source.is_none() {
            self.tap_source = Some(self.add_source(Source::Taps));
        }
        let forward = &mut self.lines[link.forward().index()];
        (forward.tap, forward.stops) = (Some(TapSide::Exit), true);
        let backward = &mut self.lines[link.backward().index()];
        (backward.tap, backward.open) = (Some(TapSide::Entry), false);
        Ok(())
    }

    /// Lets a frame go on behind the tap of `direction`, at `now`: any frame, at any time. Forward it reaches
    /// the node there, as an event of this instant if it is at its destination; backward it
    /// comes to the filters and the queue.
    pub fn pass(&mut self, now: Instant, direction: DirectionId, frame: Frame<P>) -> Fate {
        debug_assert!(now >= self.now, "time runs forward");
        self.now = now;
        if self.lines[direction.index()].tap != Some(TapSide::Exit) {
            return self.offer(now, direction, frame);
        }
        if let Some(arrived) = self.reach(now, direction, frame) {
            self.hold(now, arrived);
        }
        Fate::Held
    }

    /// The first that waits.
    pub(super) fn untap(&mut self) -> Option<Event<P>> {
        let first = self.tapped.pop_front();
        if let Some(source) = self.tap_source.filter(|_| self.tapped.is_empty()) {
            self.event_queue.set(source, Instant::FAR_FUTURE);
        }
        first
    }
}
