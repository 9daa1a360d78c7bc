//! Frames that a direction refuses before any queue: too long, or offered while the link is down.
//! Rare, so kept out of the path of ordinary frames.

use mptcp_clock::Instant;

use super::{Direction, DropLog};
use crate::frame::{Cause, Frame};

impl<P> Direction<P> {
    #[cold]
    pub(super) fn refuse_long(&mut self, now: Instant, frame: Frame<P>, drops: &mut DropLog<P>) -> Cause {
        self.counters.too_long_frames += 1;
        drops.record(now, self.id, Cause::TooLong, frame);
        Cause::TooLong
    }

    #[cold]
    pub(super) fn refuse_down(&mut self, now: Instant, frame: Frame<P>, drops: &mut DropLog<P>) -> Cause {
        self.counters.flushed_frames += 1;
        drops.record(now, self.id, Cause::Down, frame);
        Cause::Down
    }
}
