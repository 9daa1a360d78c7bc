//! The first segments of a run as hosts send and receive them, for sequence diagrams.
//!
//! Owns their copies, at most as many as asked for. Captures contain all segments.

use std::collections::HashMap;

use mptcp_clock::Instant;
use mptcp_wire::Segment;

/// A segment at a host.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenSegment {
    /// Equal at the sender and at the receiver, if no middlebox replaced the segment.
    pub id: u32,
    /// Time.
    pub at: Instant,
    /// Index into [`super::World::host_names`].
    pub host: usize,
    /// Index into [`super::World::path_names`]: the link of the host that opened the connection. `None` if unknown.
    pub path: Option<usize>,
    /// The flow; `None` if unknown.
    pub flow: Option<usize>,
    /// Whether the host sent the segment; else it received it.
    pub sent: bool,
    /// The segment.
    pub segment: Segment,
}

/// The first segments of a run.
#[derive(Debug)]
pub(super) struct SegmentLog {
    most: usize,
    seen: Vec<SeenSegment>,
    /// By position in the pool: the identity of the segment in flight.
    in_flight: HashMap<u32, u32>,
    sent: u32,
}

impl SegmentLog {
    pub(super) fn new(most: usize) -> Self {
        Self { most, seen: Vec::new(), in_flight: HashMap::new(), sent: 0 }
    }

    pub(super) fn is_full(&self) -> bool {
        self.seen.len() >= self.most
    }

    pub(super) fn seen(&self) -> &[SeenSegment] {
        &self.seen
    }

    pub(super) fn keep(&mut self, seen: SeenSegment) {
        self.seen.push(seen);
    }

    /// The identity of the segment at a position in the pool, which a host sends (`sent`) or has received. A segment
    /// that no host sent, but a middlebox, gets a new one.
    pub(super) fn identify(&mut self, payload: u32, sent: bool) -> u32 {
        let known = if sent { None } else { self.in_flight.remove(&payload) };
        known.unwrap_or_else(|| {
            self.sent += 1;
            if sent {
                self.in_flight.insert(payload, self.sent);
            }
            self.sent
        })
    }
}
