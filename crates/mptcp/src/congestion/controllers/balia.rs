//! BALIA, the balanced linked adaptation algorithm (Peng, Walid, Hwang, Low 2016;
//! draft-walid-mptcp-congestion-control). Couples the windows of all paths.
//!
//! Owns no state of its own.

use mptcp_clock::Instant;

use crate::congestion::{Acked, CongestionControl, Path};

/// BALIA: a balance between the friendliness of LIA and the responsiveness of OLIA.
#[derive(Clone, Copy, Debug)]
pub struct Balia;

impl CongestionControl for Balia {
    fn name(&self) -> &'static str {
        "balia"
    }

    fn needs_progress(&self) -> bool {
        false
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let mut left = acked.bytes;
        if paths[path].in_slow_start() {
            left = paths[path].slow_start(left);
        }
        if left == 0 {
            return;
        }
        let (total, best) = rates(paths);
        let state = &mut paths[path];
        let mss = state.mss as f64;
        let growth = match rate(state).zip(state.srtt) {
            // x_r / rtt_r / (sum x)^2 * (1 + alpha) / 2 * (4 + alpha) / 5, alpha = max x / x_r.
            Some((own, rtt)) if own > 0.0 => {
                let alpha = best / own;
                own / rtt.as_secs_f64().max(1e-6) / (total * total) * (1.0 + alpha) / 2.0 * (4.0 + alpha)
                    / 5.0
            }
            _ => 1.0 / state.cwnd as f64,
        };
        state.grow(left as f64 * mss * growth);
    }

    fn on_loss(&mut self, paths: &mut [Path], path: usize, _now: Instant) -> u64 {
        let (_, best) = rates(paths);
        let state = &paths[path];
        let alpha = rate(state).filter(|&own| own > 0.0).map_or(1.0, |own| best / own);
        // The remaining fraction is 1 - min(alpha, 1.5) / 2.
        let kept = state.cwnd as f64 * (1.0 - alpha.clamp(1.0, 1.5) / 2.0);
        (kept as u64).max(2 * state.mss)
    }
}

fn rate(state: &Path) -> Option<f64> {
    Some(state.cwnd as f64 / state.srtt?.as_secs_f64().max(1e-6))
}

/// Sum and maximum of the rates of the active paths, bytes per second.
fn rates(paths: &[Path]) -> (f64, f64) {
    let active = paths.iter().filter(|state| state.active).filter_map(rate);
    active.fold((0.0, 0.0), |(sum, best), rate| (sum + rate, rate.max(best)))
}
