//! One segment in flight.

use bytes::Bytes;
use mptcp_clock::Instant;

/// A mapping that a segment is a part of: its first byte, as offsets, and all of its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OriginalMapping {
    pub start: u64,
    pub data: u64,
    pub payload: Bytes,
}

/// One segment in flight.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// Offset of its first byte.
    pub start: u64,
    /// Connection-level offset of its first byte.
    pub data: u64,
    pub payload: Bytes,
    /// What was sent as one and is in parts now: each part carries the mapping of the whole, because one
    /// that differs is invalid while the first holds (RFC 8684 section 3.3.1).
    pub whole: Option<Box<OriginalMapping>>,
    pub sent_at: Instant,
    pub first_sent_at: Instant,
    /// Carries the FIN after its payload.
    pub fin: bool,
    pub sacked: bool,
    pub lost: bool,
    /// A retransmission of it is in flight.
    pub resent: bool,
    /// Was ever retransmitted: gives no round-trip time (Karn).
    pub ever_resent: bool,
}

impl Sent {
    pub(crate) fn length(&self) -> u64 {
        self.payload.len() as u64 + u64::from(self.fin)
    }

    pub(crate) fn end(&self) -> u64 {
        self.start + self.length()
    }

    /// Remembers the mapping before a part is cut off.
    pub(super) fn keep_whole(&mut self) {
        let Self { start, data, payload, .. } = self;
        let whole = || Box::new(OriginalMapping { start: *start, data: *data, payload: payload.clone() });
        self.whole.get_or_insert_with(whole);
    }
}
