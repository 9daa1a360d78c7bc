//! Linked increases (RFC 6356): the total takes no more than one TCP would on the best path.

use crate::congestion::{Acked, CongestionControl, Path};

/// RFC 6356. Slow start and the decrease are Reno's; only the increase is coupled.
#[derive(Clone, Copy, Debug)]
pub struct Lia;

impl CongestionControl for Lia {
    fn name(&self) -> &'static str {
        "lia"
    }

    fn hears_progress(&self) -> bool {
        false
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        coupled_increase(paths, path, acked, 1.0);
    }
}

/// The increase of RFC 6356, with alpha times `scale`.
pub(crate) fn coupled_increase(paths: &mut [Path], path: usize, acked: Acked, scale: f64) {
    let mut left = acked.bytes;
    if paths[path].in_slow_start() {
        left = paths[path].slow_start(left);
    }
    if left == 0 {
        return;
    }
    let coupled = aggressiveness(paths);
    let state = &mut paths[path];
    // RFC 6356 section 3: min(alpha * acked * MSS_i / cwnd_total, acked * MSS_i / cwnd_i).
    let alone = 1.0 / state.cwnd as f64;
    state.grow(left as f64 * state.mss as f64 * coupled.map_or(alone, |c| (scale * c).min(alone)));
}

/// alpha / cwnd_total, per byte (RFC 6356 section 4, equation 1 divided by cwnd_total):
/// max(cwnd_i / rtt_i^2) / (sum of cwnd_i / rtt_i)^2. None while no path has a round-trip time.
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
