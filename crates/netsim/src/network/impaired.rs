//! Frames that come out of a direction doubled or damaged.
//!
//! Owns where they stop for the driver, and how they go on. Chance is the affair of the direction, payloads that of the driver.

use mptcp_clock::Instant;

use super::{Event, Network, TapSide};
use crate::frame::{Cause, DirectionId, Frame};

impl<P> Network<P> {
    /// A frame has come out of a direction that doubles or damages some, or has a tap there.
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

    /// Lets a frame go on behind `direction`, at `now`, after [`Event::Impaired`]. The event, if it is at its destination or at a
    /// tap; without one it is on its way.
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
    /// A frame is damaged: it goes on, and nobody will take it.
    fn damaged(&self, at: Instant, direction: DirectionId, frame: &Frame<P>) {
        self.tell(at, direction, frame, crate::observer::Happening::Dropped(Cause::Corrupted));
    }
}
