//! Which payload is kept, before a subflow acknowledges it; and how much a connection holds.
//!
//! Owns the sums over the subflows. What follows from them is decided by the stream that the peer sends (`recv/keeping.rs`).

use mptcp_clock::Instant;

use crate::connection::Connection;

/// What becomes of payload before a subflow acknowledges it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Kept,
    /// It is not acknowledged, and counts as lost.
    Refused,
    /// The subflow acknowledges it, and the stream does not keep it: "a receiver has the freedom to drop segments after acknowledgment
    /// at the subflow level, for example, due to memory constraints" (RFC 8684 section 3.3.2). The peer keeps it until a DATA_ACK
    /// covers it, and retransmits it at the data level.
    Dropped,
}

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
            .map(|subflow| subflow.mapper().waiting() + subflow.handshake().early_data.bytes());
        waits.sum()
    }

    /// Whether payload at an offset of a subflow is kept. What is not is not acknowledged: for the peer it is lost, and is
    /// retransmitted after a timeout of the subflow. What a subflow acknowledges and the stream drops is retransmitted by the
    /// data level alone, which Linux does one fragment at a time (net/mptcp/protocol.c, `__mptcp_retrans`).
    #[cold]
    pub(crate) fn admits(&mut self, now: Instant, id: usize, start: u64, length: u64) -> Admission {
        let held = self.waiting_bytes();
        let subflow = &mut self.subflows[id];
        let (next, end) = (subflow.receiver().next(), start + length);
        let first = start.max(next);
        if end <= first {
            return Admission::Kept;
        }
        let known = |offset| subflow.mapper().stream_offset(offset);
        let (first, last) = (known(first), known(end - 1).map(|last| last + 1));
        let is_next = start <= next;
        if self.recv.admits((first, last), length, held, is_next) {
            return Admission::Kept;
        }
        // In TCP the acknowledgement of the subflow is the stream's, and what it covers is kept.
        let behind = self.negotiation.is_multipath() && first.is_some_and(|first| first > self.recv.next());
        if is_next && behind && self.recv.may_be_stuck() {
            let subflow = &mut self.subflows[id];
            if subflow.receiver_mut().note_refusal(now, self.recv.next()) {
                return Admission::Dropped;
            }
        }
        Admission::Refused
    }

    /// The endpoint has too little memory for all its connections, or enough again. Returns whether the peer is to hear of a larger
    /// window.
    pub(crate) fn set_memory_pressure(&mut self, short: bool) -> bool {
        let news = self.recv.set_memory_pressure(short);
        if news {
            self.acknowledge_everywhere();
        }
        news
    }

    /// It waits at a listener.
    pub(crate) fn await_reader(&mut self) {
        self.recv.await_reader();
    }

    /// An application has accepted it. Returns whether the peer is to hear of a larger window.
    pub(crate) fn reader_came(&mut self) -> bool {
        let news = self.recv.reader_came();
        if news {
            self.acknowledge_everywhere();
        }
        news
    }
}
