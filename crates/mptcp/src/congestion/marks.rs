//! ECN input of congestion controllers (RFC 3168, RFC 8511).
//!
//! Owns only value types.

use mptcp_clock::Instant;

/// A congestion event reported by ECN marks.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// Time of the report.
    pub now: Instant,
    /// Whether a controller may reduce its window less than after a loss, because queues with marking are
    /// short: Alternative Backoff with ECN (RFC 8511).
    pub abe: bool,
}

/// ECN feedback of an acknowledgement, with offsets in the subflow's stream.
#[derive(Clone, Copy, Debug)]
pub struct Echoed {
    /// Arrival time of the acknowledgement.
    pub now: Instant,
    /// Newly delivered bytes, in order or not.
    pub bytes: u64,
    /// Whether the acknowledgement reports marks.
    pub marked: bool,
    /// Offset of the first unacknowledged byte.
    pub una: u64,
    /// Offset of the next new byte.
    pub next: u64,
}
