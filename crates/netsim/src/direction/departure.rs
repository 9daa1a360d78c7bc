//! The departure of a frame from a queue, as reported to the driver for the queue model of an endpoint.

use mptcp_clock::{Duration, Instant};

/// A frame left the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) at: Instant,
    pub(crate) label: u32,
    pub(crate) bytes: u32,
    pub(crate) service: Service,
}

/// The service time of a departing frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Service {
    /// Time at the head of the queue.
    pub(crate) time: Duration,
    /// Mean of this time on an idle medium; on a wire equal to `time`.
    pub(crate) alone: Duration,
}
