//! Which payload a stream keeps. It is decided before the subflow acknowledges it, so that what was acknowledged there is
//! never dropped for want of space.

use super::RecvStream;
use crate::connection::allowance::LEAST;

impl RecvStream {
    /// Nobody reads before [`Self::reader_came`]: until then a first window is enough.
    pub(crate) fn await_reader(&mut self) {
        self.allowance.waits = true;
        self.apply();
        if self.said == 0 && self.linux.is_none() {
            // Nothing was offered yet.
            self.edge = self.next + self.buffer;
        }
    }

    /// An application has accepted the connection. Returns whether the peer is to be told of a larger window, because the one it knows
    /// is a shortage's.
    pub(crate) fn reader_came(&mut self) -> bool {
        let waited = std::mem::take(&mut self.allowance.waits);
        self.apply();
        waited && self.told().saturating_sub(self.next) < LEAST / 2 && self.wants_update()
    }

    /// The endpoint has too little memory for all its connections, or enough again. Returns whether the peer is to be told of a larger
    /// window.
    pub(crate) fn set_short(&mut self, short: bool) -> bool {
        if short {
            self.shrunk.get_or_insert(self.edge);
        }
        self.allowance.set_short(short);
        self.apply();
        !short && self.wants_update()
    }

    fn apply(&mut self) {
        if self.linux.is_none() {
            self.buffer = self.allowance.buffer();
        }
    }

    /// The largest window that may have been offered, bytes.
    #[inline]
    pub(crate) fn largest_window(&self) -> u64 {
        self.buffer.max(self.allowance.wanted())
    }

    /// Bytes that wait in order or out of order.
    #[inline]
    pub(crate) fn waiting(&self) -> u64 {
        self.ready.bytes() + self.early.bytes()
    }

    /// Whether the endpoint is short of memory.
    pub(crate) fn is_short(&self) -> bool {
        self.allowance.is_short()
    }

    /// Whether data at `start` was offered and has a place, as nearly all has.
    #[inline(always)]
    pub(crate) fn takes(&self, start: u64, length: u64) -> bool {
        start + length <= self.edge && self.shrunk.is_none() && (start <= self.next || self.early.has_place())
    }

    /// Whether payload is kept that begins at offset `start` of the stream and ends before `end`, as far as its mappings are known;
    /// its `length` and what the connection `held` before are in bytes; `is_next` says that nothing is missing before it on its
    /// subflow.
    #[cold]
    pub(crate) fn admits(
        &mut self,
        (start, end): (Option<u64>, Option<u64>),
        length: u64,
        held: u64,
        is_next: bool,
    ) -> bool {
        if end.is_some_and(|end| end <= self.next) || self.finished() {
            // It takes no memory.
            return true;
        }
        if self.is_short() && !self.admits_in_shortage(end, length, held, is_next) {
            return false;
        }
        if self.linux.is_some() {
            // Linux acknowledges on the subflow what it drops here (net/mptcp/protocol.c, `mptcp_data_queue_ofo`).
            return true;
        }
        match end {
            Some(end) if start.is_none_or(|start| start <= self.next) => self.excess(end) == 0,
            Some(end) => end <= self.farthest() && self.early.has_room(),
            None => true,
        }
    }

    /// Payload inside the window that is advertised meanwhile is kept, so that each accepted connection makes progress. Several subflows
    /// may hold the same data behind a hole. Payload without a known mapping counts with everything that the connection holds.
    fn admits_in_shortage(&self, end: Option<u64>, length: u64, held: u64, is_next: bool) -> bool {
        let edge = self.shortage_edge();
        match end {
            Some(end) => end <= edge && (is_next || held + length <= 2 * LEAST),
            None if is_next => self.next + length <= edge,
            None => self.next + length <= edge && held + length <= LEAST,
        }
    }

    /// Whether the missing data may be behind payload that a subflow refuses for want of memory. While no application reads, the peer
    /// waits for a window instead.
    pub(crate) fn may_be_stuck(&self) -> bool {
        self.is_short() && !self.allowance.waits
    }
}
