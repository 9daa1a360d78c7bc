//! What a link direction has done so far. Only numbers.

/// Totals of a link direction since the start of the run, and its queue now.
///
/// Every frame is in one place: `offered = filtered + (held by filters) + too long + dropped + flushed + lost +
/// retry_drops + delivered + backlog + (in flight)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames given to the link.
    pub offered_frames: u64,
    /// Their bytes.
    pub offered_bytes: u64,
    /// Frames that left the queue onto the line.
    pub sent_frames: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Frames that found the queue full, or that its discipline dropped.
    pub dropped_frames: u64,
    /// Frames that were longer than the link carries.
    pub too_long_frames: u64,
    /// Frames that the queue marked.
    pub marked_frames: u64,
    /// Frames lost because the link was or went down.
    pub flushed_frames: u64,
    /// Sent frames that random loss took.
    pub lost_frames: u64,
    /// Frames that a wireless MAC gave up.
    pub retry_drops: u64,
    /// Frames that a filter took before the queue.
    pub filtered_frames: u64,
    /// Frames that reached the far end.
    pub delivered_frames: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Delivered frames that came out damaged.
    pub corrupted_frames: u64,
    /// Delivered frames that came out twice; the copies count nowhere else.
    pub duplicated_frames: u64,
    /// Frames queued or in service.
    pub backlog_frames: u64,
    /// Their bytes; the frame in service counts in full.
    pub backlog_bytes: u64,
    /// The largest backlog in frames.
    pub max_backlog_frames: u64,
    /// The largest backlog in bytes.
    pub max_backlog_bytes: u64,
}
