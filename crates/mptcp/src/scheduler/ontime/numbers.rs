//! Numbers of times and of bytes, as real ones.

use mptcp_clock::Duration;

use crate::scheduler::Candidate;

/// As a real number; all that is counted here is below 2^63, where that is one instruction.
pub(super) fn real(count: u64) -> f64 {
    count as i64 as f64
}

/// Nanoseconds.
pub(super) fn nanos(time: Duration) -> f64 {
    real(time.as_nanos())
}

/// The larger of two, none of which is NaN.
pub(super) fn larger(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}

/// What of a round trip is the way of the acknowledgement, nanoseconds: half of the least.
pub(super) fn way_back(candidate: &Candidate) -> f64 {
    nanos(candidate.min_rtt) / 2.0
}
