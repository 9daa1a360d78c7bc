//! LIA, the linked increases algorithm (RFC 6356): in a shared bottleneck, all subflows together take at most
//! the rate of one TCP on the best path.
//!
//! Owns no state of its own.

use crate::congestion::{Acked, CongestionControl, Path};

/// LIA (RFC 6356). Only the increase is coupled; slow start and the decrease are those of Reno.
#[derive(Clone, Copy, Debug)]
pub struct Lia;

impl CongestionControl for Lia {
    fn name(&self) -> &'static str {
        "lia"
    }

    fn needs_progress(&self) -> bool {
        false
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        coupled_increase(paths, path, acked, 1.0);
    }
}

/// The increase of RFC 6356, with alpha multiplied by `scale`.
pub(crate) fn coupled_increase(paths: &mut [Path], path: usize, acked: Acked, scale: f64) {
    let mut unused = acked.bytes;
    if paths[path].in_slow_start() {
        unused = paths[path].slow_start(unused);
    }
    if unused == 0 {
        return;
    }
    let coupled = aggressiveness(paths);
    let state = &mut paths[path];
    // RFC 6356 section 3: min(alpha * acked * MSS_i / cwnd_total, acked * MSS_i / cwnd_i).
    let alone = 1.0 / state.cwnd as f64;
    state.grow(unused as f64 * state.mss as f64 * coupled.map_or(alone, |c| (scale * c).min(alone)));
}

/// alpha / cwnd_total per byte: max(cwnd_i / rtt_i^2) / (sum of cwnd_i / rtt_i)^2 (RFC 6356 section 4,
/// equation 1). `None` before the first RTT sample.
fn aggressiveness(paths: &[Path]) -> Option<f64> {
    let mut best = 0.0_f64;
    let mut sum = 0.0_f64;
    for state in paths.iter().filter(|state| state.active) {
        let Some(rtt) = state.srtt else { continue };
        let rtt = rtt.as_secs_f64().max(1e-6);
        let rate = state.cwnd as f64 / rtt;
        best = best.max(rate / rtt);
        sum += rate;
    }
    (sum > 0.0).then(|| best / (sum * sum))
}
