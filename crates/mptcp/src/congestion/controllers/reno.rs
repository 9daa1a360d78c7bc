//! NewReno congestion control (RFC 5681 section 3.1), uncoupled.
//!
//! Owns no state of its own. Never uses other paths.

use crate::congestion::{Acked, CongestionControl, Mark, Path};

/// Fraction of the window that remains after an ECN mark (RFC 8511 section 4.1).
const BETA_MARK: f64 = 0.8;

/// NewReno: increases the window by one segment per RTT, and halves it after a loss.
#[derive(Clone, Copy, Debug)]
pub struct Reno;

impl CongestionControl for Reno {
    fn name(&self) -> &'static str {
        "reno"
    }

    fn needs_progress(&self) -> bool {
        false
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let state = &mut paths[path];
        let mut left = acked.bytes;
        if state.in_slow_start() {
            left = state.slow_start(left);
        }
        if left > 0 {
            // RFC 5681 equation 3, for all acknowledged bytes.
            state.grow(left as f64 * state.mss as f64 / state.cwnd as f64);
        }
    }

    fn on_mark(&mut self, paths: &mut [Path], path: usize, mark: Mark) -> u64 {
        if !mark.abe {
            return self.on_loss(paths, path, mark.now);
        }
        let state = &paths[path];
        ((state.cwnd as f64 * BETA_MARK) as u64).max(2 * state.mss)
    }
}
