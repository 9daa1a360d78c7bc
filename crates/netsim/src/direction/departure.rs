//! What is said of a frame that left a queue. Only values.

use mptcp_clock::{Duration, Instant};

/// A frame has left the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) at: Instant,
    pub(crate) label: u32,
    pub(crate) bytes: u32,
    pub(crate) service: Service,
}

/// What the frame that leaves took at the head of the queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Service {
    /// From being first to being done.
    pub(crate) time: Duration,
    /// The same on an idle medium, on average.
    pub(crate) alone: Duration,
}
