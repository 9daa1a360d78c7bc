//! Counters of a link direction, from which measurements take throughput, drops, marks and the backlog.

/// Totals of a link direction since the start of the run, and its current queue.
///
/// Every frame is counted once: `offered = filtered + (held by filters) + too long + dropped + flushed + lost
/// + retry_drops + delivered + backlog + (in flight)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames offered to the link.
    pub offered_frames: u64,
    /// Bytes of these frames.
    pub offered_bytes: u64,
    /// Transmitted frames.
    pub sent_frames: u64,
    /// Bytes of these frames.
    pub sent_bytes: u64,
    /// Frames dropped by a full queue or by the queue discipline.
    pub dropped_frames: u64,
    /// Frames longer than the maximum of the link.
    pub too_long_frames: u64,
    /// Frames marked by the queue.
    pub marked_frames: u64,
    /// Frames lost because the link was down or went down.
    pub flushed_frames: u64,
    /// Transmitted frames lost at random.
    pub lost_frames: u64,
    /// Frames dropped by a wireless MAC after the last retry.
    pub retry_drops: u64,
    /// Frames dropped by a filter before the queue.
    pub filtered_frames: u64,
    /// Frames delivered at the far end.
    pub delivered_frames: u64,
    /// Bytes of these frames.
    pub delivered_bytes: u64,
    /// Frames delivered with a bit error.
    pub corrupted_frames: u64,
    /// Frames delivered twice. No other counter includes the copies.
    pub duplicated_frames: u64,
    /// Frames queued or in service.
    pub backlog_frames: u64,
    /// Bytes of these frames, including all of the frame in service.
    pub backlog_bytes: u64,
    /// The largest backlog in frames.
    pub max_backlog_frames: u64,
    /// The largest backlog in bytes.
    pub max_backlog_bytes: u64,
}
