//! Why a run ended before its time, in words.

use mptcp_clock::Instant;
use netsim::TopologyError;

use super::capture::CaptureError;

/// Why a run could not go on to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Time stood still.
    #[error(
        "the run stands still at {at}: {events} events at one instant, and time does not go on; look for a path \
         without rate and delay, or a timeout of 0s"
    )]
    StandsStill {
        /// The instant that has no end.
        at: Instant,
        /// How many events there were at that instant.
        events: u64,
    },
    /// It asked for more than its limits allow.
    #[error("the run reached limits.{limit} = {most} at {at} of {end}; raise the limit, or ask for less")]
    Limit {
        /// The key of the limit.
        limit: &'static str,
        /// Its value.
        most: u64,
        /// How far the run came.
        at: Instant,
        /// When the run would have ended.
        end: Instant,
    },
    /// The topology is impossible; a checked scenario's never is.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A capture could not be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
}
