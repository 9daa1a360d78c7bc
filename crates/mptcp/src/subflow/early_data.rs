//! Data that arrives on the first subflow before the peer's keys.
//!
//! Without the keys, data sequence numbers have no meaning (RFC 8684 section 3.1). Dropped segments would
//! look like congestion to the peer, so this queue keeps them until the handshake is complete. Never
//! processes them.

use bytes::Bytes;
use mptcp_wire::Segment;

/// Limits slightly above an initial window.
const MAX_SEGMENTS: usize = 16;
const MAX_BYTES: u64 = 65_535;

#[derive(Debug, Default)]
pub(crate) struct EarlyDataQueue {
    segments: Vec<Segment>,
}

impl EarlyDataQueue {
    /// Stores a segment if there is space. Returns whether it did. The payload is copied, so that no block of the
    /// driver stays allocated.
    pub(crate) fn keep(&mut self, segment: &Segment) -> bool {
        let bytes = self.bytes() + segment.payload.len() as u64;
        let has_space = self.segments.len() < MAX_SEGMENTS && bytes <= MAX_BYTES;
        if has_space {
            let payload = Bytes::copy_from_slice(&segment.payload);
            self.segments.push(Segment { payload, ..segment.clone() });
        }
        has_space
    }

    /// Bytes of stored payload.
    pub(crate) fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.payload.len() as u64).sum()
    }

    /// Takes all segments in order of arrival.
    pub(crate) fn take(&mut self) -> Vec<Segment> {
        std::mem::take(&mut self.segments)
    }
}
