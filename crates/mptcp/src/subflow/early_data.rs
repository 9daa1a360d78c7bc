//! Data that overtakes what brings the peer's keys.
//!
//! Owns segments of a handshake that is not over. Without the keys their data sequence numbers mean nothing (RFC 8684 section
//! 3.1), and to drop them would look like congestion to the peer.

use bytes::Bytes;
use mptcp_wire::Segment;

/// Somewhat more than an initial window.
const MAX_SEGMENTS: usize = 16;
const MAX_BYTES: u64 = 65_535;

#[derive(Debug, Default)]
pub(crate) struct EarlyDataQueue {
    segments: Vec<Segment>,
}

impl EarlyDataQueue {
    /// Keeps a segment, if there is room; returns whether there was. Its payload gets memory of its own: it shall not keep a block of
    /// the driver alive.
    pub(crate) fn keep(&mut self, segment: &Segment) -> bool {
        let bytes = self.bytes() + segment.payload.len() as u64;
        let room = self.segments.len() < MAX_SEGMENTS && bytes <= MAX_BYTES;
        if room {
            let payload = Bytes::copy_from_slice(&segment.payload);
            self.segments.push(Segment { payload, ..segment.clone() });
        }
        room
    }

    /// Bytes of payload that are kept.
    pub(crate) fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.payload.len() as u64).sum()
    }

    /// What was kept, in the order in which it came.
    pub(crate) fn take(&mut self) -> Vec<Segment> {
        std::mem::take(&mut self.segments)
    }
}
