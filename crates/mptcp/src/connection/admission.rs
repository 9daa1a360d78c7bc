//! Which payload is kept, before a subflow acknowledges it; and how much a connection holds.
//!
//! Owns the sums over the subflows. What follows from them is decided by the stream that the peer sends (`recv/keeping.rs`).

use super::Connection;

impl Connection {
    /// Bytes of received payload that wait: unread, out of order at either level, for a checksum or for the peer's keys.
    #[inline]
    pub(crate) fn waiting_bytes(&self) -> u64 {
        let of_subflows = self.subflows.iter().map(|subflow| subflow.receiver().queue().bytes());
        self.recv.waiting() + of_subflows.sum::<u64>() + self.rarely_waiting()
    }

    /// What waits for a checksum or for the peer's keys.
    #[inline]
    fn rarely_waiting(&self) -> u64 {
        if self.negotiation.is_open() || self.negotiation.checksum() { self.waiting_for_checks() } else { 0 }
    }

    #[inline(never)]
    fn waiting_for_checks(&self) -> u64 {
        let waits = self
            .subflows
            .iter()
            .map(|subflow| subflow.mapper().waiting() + subflow.opening().overtaking.bytes());
        waits.sum()
    }

    /// Whether payload at an offset of a subflow is kept. What is not is not acknowledged: for the peer it is lost, and is
    /// retransmitted after a timeout of the subflow. What a subflow acknowledges and the stream drops is retransmitted by the
    /// data level alone, which Linux does one fragment at a time (net/mptcp/protocol.c, `__mptcp_retrans`).
    #[cold]
    pub(super) fn admits(&mut self, id: usize, start: u64, length: u64) -> bool {
        let held = self.waiting_bytes();
        let subflow = &self.subflows[id];
        let (next, end) = (subflow.receiver().next(), start + length);
        let first = start.max(next);
        if end <= first {
            return true;
        }
        let known = |offset| subflow.mapper().stream_offset(offset);
        let (first, last) = (known(first), known(end - 1).map(|last| last + 1));
        self.recv.admits((first, last), length, held, start <= next)
    }

    /// The endpoint has too little memory for all its connections, or enough again. Returns whether the peer is to hear of a larger
    /// window.
    pub(crate) fn set_short(&mut self, short: bool) -> bool {
        self.recv.set_short(short);
        let news = !short && self.recv.wants_update();
        if news {
            self.acknowledge_everywhere();
        }
        news
    }

    /// It waits at a listener.
    pub(crate) fn await_reader(&mut self) {
        self.recv.await_reader();
    }

    /// An application has accepted it.
    pub(crate) fn reader_came(&mut self) {
        self.recv.reader_came();
    }
}
