//! The pace of a controller that knows at which rate it wants to send.
//!
//! Owns the length of rows, and what no pace falls below. Never knows how the rate was found.

use mptcp_clock::Duration;

use crate::path::Path;

/// The round trip of a path that has not said any.
const NO_SAMPLE: Duration = Duration::from_secs(1);

/// Sends at `rate`, in rows of a millisecond (draft-ietf-ccwg-bbr section 5.6.3), of two segments at the least, where a segment
/// takes less than that. The smallest window is four segments a round trip: a pace of less than one would only make a path that gave no
/// sample stand still.
pub(crate) fn pace(state: &mut Path, rate: f64) {
    let rtt = state.srtt.unwrap_or(NO_SAMPLE).as_secs_f64().max(1e-6);
    let rate = rate.max(state.mss as f64 / rtt);
    state.pacing = Some(rate.max(1.0));
    let row = ((rate / 1000.0) as u64).min(64 * 1024);
    state.quantum = if row < state.mss { state.mss } else { row.max(2 * state.mss) };
}

#[cfg(test)]
mod tests;
