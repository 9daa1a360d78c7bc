//! XMP, explicit multipath congestion control for data centres (Cao, Xu, Fu, Dong: CoNEXT 2013, section 2, algorithm 1).
//!
//! BOS (buffer occupancy suppression) grows the window by `delta` segments per RTT without ECN marks. After marks, at
//! most once per RTT, it reduces the window by `1 / beta`. The window `w` is at its fixed point if a fraction
//! `p = 1 / (1 + w / (delta beta))` of the RTTs has marks. A link stays busy if it marks above a queue of
//! `K >= BDP / (beta - 1)`.
//!
//! TraSh (traffic shifting) couples the subflows: `delta_r = w_r / (y T)`, where `y` is the total rate and `T` the lowest
//! RTT. The total window is then that of one BOS flow on the least marked path, and subflows with more marks shrink.
//!
//! Owns beta. Losses halve the window. Queues must mark, and the peer must report each mark, as for DCTCP.

use crate::congestion::{Acked, CongestionControl, Mark, Path};

/// XMP. Slow start is that of Reno.
#[derive(Clone, Copy, Debug)]
pub struct Xmp {
    /// Inverse of the reduction after marks, at least 2.
    beta: f64,
}

impl Xmp {
    /// Value of the paper's experiments.
    pub const BETA: f64 = 4.0;

    /// Creates a controller that reduces a window by `1 / beta` after marks.
    #[must_use]
    pub const fn new(beta: f64) -> Self {
        Self { beta }
    }
}

impl Default for Xmp {
    fn default() -> Self {
        Self::new(Self::BETA)
    }
}

/// `delta` of `path`: its growth in segments per RTT, 0 to 1. 1 before the first RTT sample.
fn delta(paths: &[Path], path: usize) -> f64 {
    let (mut rate, mut lowest) = (0.0, f64::INFINITY);
    for state in paths.iter().filter(|state| state.active) {
        let Some(srtt) = state.srtt else { continue };
        let rtt = srtt.as_secs_f64().max(1e-6);
        rate += state.cwnd as f64 / rtt;
        lowest = f64::min(lowest, rtt);
    }
    if rate > 0.0 { (paths[path].cwnd as f64 / (rate * lowest)).min(1.0) } else { 1.0 }
}

impl CongestionControl for Xmp {
    fn name(&self) -> &'static str {
        "xmp"
    }

    fn needs_progress(&self) -> bool {
        false
    }

    fn needs_marks(&self) -> bool {
        true
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let mut left = acked.bytes;
        if paths[path].in_slow_start() {
            left = paths[path].slow_start(left);
        }
        if left > 0 {
            let delta = delta(paths, path);
            let state = &mut paths[path];
            state.grow(delta * left as f64 * state.mss as f64 / state.cwnd as f64);
        }
    }

    fn on_mark(&mut self, paths: &mut [Path], path: usize, _mark: Mark) -> u64 {
        let state = &paths[path];
        let reduction = (state.cwnd as f64 / self.beta).max(state.mss as f64);
        state.cwnd.saturating_sub(reduction as u64).max(2 * state.mss)
    }
}
