//! Errors that end a run before its duration, with the messages that users read.

use mptcp_clock::Instant;
use netsim::TopologyError;

use super::capture::CaptureError;

/// The reason why a run ended before its duration.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Too many events at one instant.
    #[error(
        "the simulation makes no progress at {at}: {events} events at one instant; look for a path without rate and \
         delay, or a timeout of 0s"
    )]
    NoProgress {
        /// The instant.
        at: Instant,
        /// Number of events at that instant.
        events: u64,
    },
    /// The run reached one of its limits.
    #[error("the run reached limits.{limit} = {most} at {at} of {end}; raise the limit, or shorten the run")]
    Limit {
        /// The key of the limit.
        limit: &'static str,
        /// The value of the limit.
        most: u64,
        /// The virtual time at which the run stopped.
        at: Instant,
        /// The virtual time at which the run would have ended.
        end: Instant,
    },
    /// The topology is invalid. A resolved scenario never causes this.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A capture could not be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
}
