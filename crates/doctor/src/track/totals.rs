//! Counters and losses of one direction of a subflow.

use crate::capture::PacketRef;

/// Several losses within one round trip: TCP reduces its window once.
#[derive(Clone, Debug)]
pub(crate) struct LossEpisode {
    /// Time of the first detected loss, ns.
    pub(crate) time: u64,
    /// RTT above the base RTT just before the loss, s.
    pub(crate) queueing: f64,
    /// Data in flight before it, bytes.
    pub(crate) flight: u64,
    /// Lost segments.
    pub(crate) segments: u64,
    /// It was found by a retransmission timer.
    pub(crate) by_timer: bool,
    /// The packet that shows the loss: a retransmission, or the acknowledgement of later data.
    pub(crate) packet: PacketRef,
}

/// Counters of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Segments with payload.
    pub(crate) segments: u64,
    /// Payload sent for the first time, bytes.
    pub(crate) new_bytes: u64,
    /// Retransmitted segments, and their payload.
    pub(crate) retransmissions: u64,
    pub(crate) retransmitted_bytes: u64,
    /// Retransmitted data that had arrived already.
    pub(crate) needless_bytes: u64,
    /// Retransmissions after a timeout.
    pub(crate) timeouts: u64,
    /// Segments that were presumed lost.
    pub(crate) lost: u64,
    /// Payload acknowledged, bytes.
    pub(crate) delivered: u64,
    /// Segments that arrived late, but not as a retransmission.
    pub(crate) reordered: u64,
    /// Bytes that were acknowledged, but not captured.
    pub(crate) uncaptured: u64,
    /// Segments smaller than the largest, with the flag PSH: the application had no more data.
    pub(crate) short_segments: u64,
}
