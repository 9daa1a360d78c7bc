//! Duplicated and corrupted frames.
//!
//! Owns their handling, because the network sees only lengths of frames. Every Internet checksum detects a
//! single bit error (RFC 1071 section 1). A corrupted segment therefore uses links and queues like any other,
//! and its reader drops it: the host by the checksum of TCP or UDP, or a middlebox. The DSS checksum never
//! sees it, because the checksum of TCP comes first. Copies are made at the far end of the link, after loss,
//! and are intact. Netem, in contrast, draws duplication before loss.

use mptcp_clock::Instant;
use netsim::{DirectionId, Event, Frame};

use super::datagrams::{self, is_damaged, is_datagram};
use super::{World, pool::Pool};

impl World {
    /// Continues a frame, and its copy, if any. Returns the event at this instant, if any.
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

    /// Drops a frame if it has a bit error. Returns whether the frame was dropped.
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
