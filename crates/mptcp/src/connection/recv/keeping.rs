//! Which payload a stream keeps. It is decided before the subflow acknowledges it, so that what was acknowledged there is
//! never dropped for want of space.

use super::RecvStream;

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

    /// An application has accepted the connection.
    pub(crate) fn reader_came(&mut self) {
        self.allowance.waits = false;
        self.apply();
    }

    /// The endpoint has too little memory for all its connections, or enough again.
    pub(crate) fn set_short(&mut self, short: bool) {
        self.allowance.set_short(short);
        self.apply();
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
        start + length <= self.edge
            && !self.allowance.is_short()
            && (start <= self.next || self.early.has_place())
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
        let continues = start.is_none_or(|start| start <= self.next);
        if self.is_short() && !self.admits_in_shortage(continues, length, held, is_next) {
            return false;
        }
        if self.linux.is_some() {
            // Linux acknowledges on the subflow what it drops here (net/mptcp/protocol.c, `mptcp_data_queue_ofo`).
            return true;
        }
        match end {
            Some(end) if continues => self.excess(end) == 0,
            Some(end) => end <= self.farthest() && self.early.has_room(),
            None => true,
        }
    }

    /// What continues the stream is taken as long as little is unread, so that each accepted connection goes on. Where what is
    /// missing waits on a subflow behind what is refused, the pieces out of order make space: the peer keeps them until their
    /// DATA_ACK (RFC 8684 section 3.3.2).
    fn admits_in_shortage(&mut self, continues: bool, length: u64, held: u64, is_next: bool) -> bool {
        let used = if continues { self.ready.bytes() } else { held };
        if self.allowance.has_space(continues, used + length) {
            return true;
        }
        let stuck = is_next && !continues && !self.early.is_empty() && self.allowance.note_refusal();
        if stuck {
            self.early.clear();
        }
        stuck
    }
}
