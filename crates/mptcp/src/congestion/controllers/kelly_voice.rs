//! Multipath control of Kelly and Voice, in the form of Scalable TCP.
//!
//! Source: "Stability of end-to-end algorithms for joint routing and rate control", ACM Computer Communication Review
//! 35(2), 2005, section 2.
//!
//! The window of a subflow `r` grows by a constant `a` per acknowledgement, and shrinks by `b y T_r` after a loss. Here
//! `y` is the total rate of all subflows. With a loss probability `p`, the fixed point is `y T_r = a (1 - p) / (b p)`: the
//! total window is inversely proportional to `p`, and subflows with a higher `p T_r` carry no data. Scalable TCP has the
//! values `a = 0.01` and `b = 0.125`.
//!
//! Owns the two constants. Never keeps state per path.

use mptcp_clock::Instant;

use crate::congestion::{Acked, CongestionControl, Path};

/// The algorithm of Kelly and Voice. Slow start is that of Reno.
#[derive(Clone, Copy, Debug)]
pub struct KellyVoice {
    /// Growth per acknowledged segment, segments.
    increase: f64,
    /// Reduction per loss, as a fraction of the total rate times the RTT.
    decrease: f64,
}

impl KellyVoice {
    /// Growth of Scalable TCP, segments per acknowledged segment.
    pub const INCREASE: f64 = 0.01;
    /// Reduction of Scalable TCP, a fraction.
    pub const DECREASE: f64 = 0.125;

    /// Creates a controller with a growth of `increase` segments per acknowledged segment, and a reduction by the
    /// fraction `decrease`.
    #[must_use]
    pub const fn new(increase: f64, decrease: f64) -> Self {
        Self { increase, decrease }
    }
}

impl Default for KellyVoice {
    fn default() -> Self {
        Self::new(Self::INCREASE, Self::DECREASE)
    }
}

/// The total rate of the active paths times the RTT of `path`, bytes. Before its first RTT sample, its window.
fn total(paths: &[Path], path: usize) -> f64 {
    let rtt = |state: &Path| state.srtt.map(|srtt| srtt.as_secs_f64().max(1e-6));
    let Some(own) = rtt(&paths[path]) else { return paths[path].cwnd as f64 };
    let active = paths.iter().filter(|state| state.active);
    active.filter_map(|state| Some(state.cwnd as f64 / rtt(state)?)).sum::<f64>() * own
}

impl CongestionControl for KellyVoice {
    fn name(&self) -> &'static str {
        "kelly-voice"
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
        state.grow(self.increase * left as f64);
    }

    fn on_loss(&mut self, paths: &mut [Path], path: usize, _now: Instant) -> u64 {
        let reduced = paths[path].cwnd as f64 - self.decrease * total(paths, path);
        (reduced.max(0.0) as u64).max(2 * paths[path].mss)
    }
}
