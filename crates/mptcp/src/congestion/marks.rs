//! What controllers are told of marks (RFC 3168, RFC 8511). Only values.

use mptcp_clock::Instant;

/// Congestion that was told by marks, not by losses.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// When it was told.
    pub now: Instant,
    /// Whether a controller that halves for a loss may give less way to a mark (Alternative Backoff with ECN, RFC 8511): queues
    /// that mark are short ones.
    pub gentle: bool,
}

/// What an acknowledgement said of marks. Offsets are those of the subflow.
#[derive(Clone, Copy, Debug)]
pub struct Echoed {
    /// When it came.
    pub now: Instant,
    /// Bytes that have arrived by it, in order or not.
    pub bytes: u64,
    /// Whether it spoke of marks.
    pub marked: bool,
    /// All before is acknowledged.
    pub una: u64,
    /// All before was sent.
    pub next: u64,
}
