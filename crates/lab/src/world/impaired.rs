//! Frames that come out of a link twice, or with a wrong bit.
//!
//! Owns what that is. One wrong bit is found by any checksum of the Internet (RFC 1071 section 1: a sum of words that changed in one bit
//! is another one), so that a damaged segment goes all the way, uses the links and queues as a whole one does, and is dropped where it is
//! read: at its host by the checksum of TCP or UDP, or by a middlebox. No DSS checksum ever sees it, for TCP's comes first. A copy
//! is made at the far end, of what was not lost, and is whole; netem's has chances of its own there.

use mptcp_clock::Instant;
use netsim::{DirectionId, Event, Frame};

use super::datagrams::{self, is_damaged, is_datagram};
use super::{World, pool::Pool};

impl World {
    /// Lets a frame go on, and its copy, if there is one: what happens at once.
    #[cold]
    pub(super) fn impaired(
        &mut self,
        now: Instant,
        direction: DirectionId,
        mut frame: Frame<u32>,
        (duplicated, corrupted): (bool, bool),
    ) -> [Option<Event<u32>>; 2] {
        let copy =
            duplicated.then(|| Frame { payload: copied(&mut self.pool, frame.payload), ..frame.clone() });
        if corrupted {
            frame.payload = damaged(&mut self.pool, frame.payload);
        }
        [Some(frame), copy].map(|frame| self.network.go_on(now, direction, frame?))
    }

    /// Drops a frame that has a wrong bit, if it has.
    #[inline]
    pub(super) fn refuses(&mut self, payload: u32) -> bool {
        if is_datagram(payload) { is_damaged(payload) } else { self.pool.refuses(payload) }
    }
}

fn copied(pool: &mut Pool, payload: u32) -> u32 {
    if is_datagram(payload) { payload } else { pool.copy(payload) }
}

fn damaged(pool: &mut Pool, payload: u32) -> u32 {
    if is_datagram(payload) {
        return datagrams::damaged(payload);
    }
    pool.damage(payload);
    payload
}
