//! Sets the pacing rate and burst size of a path for the rate-based controllers, BBR and BBRv3.
//!
//! Owns the size of a burst and the minimum pacing rate. Never estimates the bandwidth: the controllers do.

use mptcp_clock::Duration;

use crate::path::Path;

/// RTT assumed before the first sample.
const NO_SAMPLE: Duration = Duration::from_secs(1);

/// Sets the pacing rate to `rate` bytes per second, and the burst to 1 ms (draft-ietf-ccwg-bbr section
/// 5.6.3). The burst is at least two segments if a segment takes less than 1 ms. The rate is at least one
/// segment per RTT: a lower rate would stall a path without a rate sample.
pub(crate) fn pace(state: &mut Path, rate: f64) {
    let rtt = state.srtt.unwrap_or(NO_SAMPLE).as_secs_f64().max(1e-6);
    let rate = rate.max(state.mss as f64 / rtt);
    state.pacing = Some(rate.max(1.0));
    let burst = ((rate / 1000.0) as u64).min(64 * 1024);
    state.quantum = if burst < state.mss { state.mss } else { burst.max(2 * state.mss) };
}

#[cfg(test)]
mod tests;
