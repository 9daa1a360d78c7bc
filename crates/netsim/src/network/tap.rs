//! Taps: points on a link at which frames stop for the driver, which is the program that runs the network.
//!
//! A tap lets the driver run a middlebox, which may change, delay or drop frames. Owns the frames held before
//! a queue, and those that the driver passed on to a node. The middlebox belongs to the driver; this module
//! never reads a payload.

use mptcp_clock::Instant;

use super::{Event, Network, SendOutcome, Source, TapSide};
use crate::frame::{DirectionId, Frame, LinkId};
use crate::topology::TopologyError;

impl<P> Network<P> {
    /// Adds a tap at the second end of a link. Forward frames stop after delivery, backward frames before the
    /// queue. Each becomes [`Event::Tapped`], and continues with [`Self::pass`].
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

    /// Continues a frame behind the tap of `direction` at `now`. A forward frame at its destination is
    /// reported by an event at this instant, or else forwarded. A backward frame enters the filters and the
    /// queue.
    pub fn pass(&mut self, now: Instant, direction: DirectionId, frame: Frame<P>) -> SendOutcome {
        debug_assert!(now >= self.now, "time runs forward");
        self.now = now;
        if self.lines[direction.index()].tap != Some(TapSide::Exit) {
            return self.offer(now, direction, frame);
        }
        if let Some(arrived) = self.reach(now, direction, frame) {
            self.hold(now, arrived);
        }
        SendOutcome::Held
    }

    /// The event of the first held frame; `None` if no frame is held.
    pub(super) fn untap(&mut self) -> Option<Event<P>> {
        let first = self.tapped.pop_front();
        if let Some(source) = self.tap_source.filter(|_| self.tapped.is_empty()) {
            self.event_queue.set(source, Instant::FAR_FUTURE);
        }
        first
    }
}
