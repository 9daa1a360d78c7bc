//! COUPLED, the fully coupled algorithm (Wischik, Raiciu, Greenhalgh, Handley: NSDI 2011, section 2.2).
//!
//! The window of a subflow grows by `1 / w_total` per acknowledgement, and shrinks by `w_total / 2` after a loss. With a
//! loss probability `p`, the fixed point is `w_total = sqrt(2 / p)`, as for one TCP, and only subflows with the lowest
//! loss probability carry data. The others keep the minimum window of two segments; the paper's minimum is one.
//!
//! Owns no state of its own.

use mptcp_clock::Instant;

use crate::congestion::{Acked, CongestionControl, Path};

/// COUPLED. Slow start is that of Reno.
#[derive(Clone, Copy, Debug)]
pub struct Coupled;

/// Sum of the windows of the active paths, bytes.
fn total(paths: &[Path]) -> u64 {
    paths.iter().filter(|state| state.active).map(|state| state.cwnd).sum()
}

impl CongestionControl for Coupled {
    fn name(&self) -> &'static str {
        "coupled"
    }

    fn needs_progress(&self) -> bool {
        false
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let mut left = acked.bytes;
        if paths[path].in_slow_start() {
            left = paths[path].slow_start(left);
        }
        if left > 0 {
            let total = total(paths).max(1) as f64;
            let state = &mut paths[path];
            state.grow(left as f64 * state.mss as f64 / total);
        }
    }

    fn on_loss(&mut self, paths: &mut [Path], path: usize, _now: Instant) -> u64 {
        let half = total(paths) / 2;
        paths[path].cwnd.saturating_sub(half).max(2 * paths[path].mss)
    }
}
