//! Duplicated and corrupted frames.
//!
//! The network cannot read payloads, so the driver, which is the program that runs the network, copies or
//! corrupts them. Owns the handover of frames to the driver, and their continuation afterwards. The direction
//! owns the random streams, and the driver the payloads.

use mptcp_clock::Instant;

use super::{Event, Network, TapSide};
use crate::frame::{Cause, DirectionId, Frame};

impl<P> Network<P> {
    /// Handles a frame from a direction with impairments or a tap.
    #[inline(never)]
    pub(super) fn stop_behind(&mut self, now: Instant, by: DirectionId, frame: Frame<P>) -> Option<Event<P>> {
        let (duplicated, corrupted) = self.lines[by.index()].direction.impair();
        if corrupted {
            self.drops.damaged(now, by, &frame);
        }
        if duplicated || corrupted {
            return Some(Event::Impaired { direction: by, frame, duplicated, corrupted });
        }
        self.go_on(now, by, frame)
    }

    /// Continues a frame behind `direction` at `now`, after [`Event::Impaired`]. Returns an event if the frame
    /// is at its destination or at a tap.
    pub fn go_on(&mut self, now: Instant, direction: DirectionId, frame: Frame<P>) -> Option<Event<P>> {
        debug_assert!(now >= self.now, "time runs forward");
        self.now = now;
        if self.lines[direction.index()].tap == Some(TapSide::Exit) {
            return Some(Event::Tapped { direction, frame });
        }
        self.reach(now, direction, frame)
    }
}

impl<P> crate::direction::DropLog<P> {
    /// Reports a corrupted frame, which continues but fails the receiver's checksum.
    fn damaged(&self, at: Instant, direction: DirectionId, frame: &Frame<P>) {
        self.tell(at, direction, frame, crate::observer::FrameEventType::Dropped(Cause::Corrupted));
    }
}
