//! CUBIC congestion control (RFC 9438), uncoupled.
//!
//! Owns the cubic epoch of each path. Never uses other paths.

use mptcp_clock::Instant;

use crate::congestion::{Acked, CongestionControl, Mark, Path};
use crate::path::PerPath;

/// Fraction of the window that remains after a loss (RFC 9438 section 4.6).
const BETA: f64 = 0.7;
/// Fraction of the window that remains after an ECN mark (RFC 8511 section 4.1).
const BETA_MARK: f64 = 0.85;
/// Aggressiveness C, segments per cubic second (RFC 9438 section 5.1).
const C: f64 = 0.4;

#[derive(Clone, Copy, Debug, Default)]
struct Epoch {
    start: Option<Instant>,
    /// W_max, segments.
    w_max: f64,
    /// K, seconds.
    k: f64,
    /// W_est, segments: the estimated window of Reno.
    w_est: f64,
    /// cwnd_prior, segments: the window before the last reduction.
    prior: f64,
    /// Whether a timeout caused the last reduction.
    timed_out: bool,
}

/// CUBIC, with its state per path.
#[derive(Clone, Debug, Default)]
pub struct Cubic {
    epochs: PerPath<Epoch>,
}

impl Cubic {
    fn epoch(&mut self, path: usize) -> &mut Epoch {
        self.epochs.at(path)
    }
}

impl CongestionControl for Cubic {
    fn name(&self) -> &'static str {
        "cubic"
    }

    fn on_path_change(&mut self, paths: &mut [Path], path: usize) {
        if !paths[path].active {
            *self.epoch(path) = Epoch::default();
        }
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
        if left == 0 {
            return;
        }
        let mss = state.mss as f64;
        let cwnd = state.cwnd as f64 / mss;
        let segments = left as f64 / mss;
        let rtt = state.srtt.map_or(0.0, |rtt| rtt.as_secs_f64());
        let epoch = self.epoch(path);
        let start = *epoch.start.get_or_insert_with(|| {
            // RFC 9438 section 4.8: after a timeout, W_max is the window at the end of slow start.
            let plateau = if std::mem::take(&mut epoch.timed_out) { 0.0 } else { epoch.w_max };
            epoch.w_max = plateau.max(cwnd);
            // RFC 9438 section 4.2, equation 2.
            epoch.k = cube_root((epoch.w_max - cwnd) / C);
            epoch.w_est = cwnd;
            acked.now
        });
        // RFC 9438 section 4.3: the Reno-friendly window. alpha becomes 1 when W_est reaches cwnd_prior,
        // the window before the last reduction.
        let alpha = if epoch.w_est < epoch.prior { 3.0 * (1.0 - BETA) / (1.0 + BETA) } else { 1.0 };
        epoch.w_est += alpha * segments / cwnd;
        // RFC 9438 section 4.2, equation 1: for the present time and for one RTT later.
        let window = |t: f64| C * t * t * t + epoch.w_max;
        let t = acked.now.since(start).as_secs_f64() - epoch.k;
        let growth = if window(t) < epoch.w_est {
            epoch.w_est - cwnd
        } else {
            // RFC 9438 section 4.4.
            (window(t + rtt).clamp(cwnd, 1.5 * cwnd) - cwnd) / cwnd * segments
        };
        if growth > 0.0 {
            state.grow(growth * mss);
        }
    }

    fn on_loss(&mut self, paths: &mut [Path], path: usize, _now: Instant) -> u64 {
        let state = &paths[path];
        let cwnd = state.cwnd as f64 / state.mss as f64;
        let epoch = self.epoch(path);
        epoch.start = None;
        epoch.prior = cwnd;
        // RFC 9438 section 4.7: fast convergence releases bandwidth to new flows.
        epoch.w_max = if cwnd < epoch.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        ((state.cwnd as f64 * BETA) as u64).max(2 * state.mss)
    }

    fn on_mark(&mut self, paths: &mut [Path], path: usize, mark: Mark) -> u64 {
        let ssthresh = self.on_loss(paths, path, mark.now);
        if !mark.abe {
            return ssthresh;
        }
        let state = &paths[path];
        ((state.cwnd as f64 * BETA_MARK) as u64).max(2 * state.mss)
    }

    fn on_timeout(&mut self, _paths: &mut [Path], path: usize) {
        let epoch = self.epoch(path);
        (epoch.start, epoch.timed_out) = (None, true);
    }
}

/// Cube root by Newton's method. Unlike libm, it gives the same bits on every machine.
fn cube_root(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let mut root = if value > 1.0 { value } else { 1.0 };
    for _ in 0..200 {
        let next = (2.0 * root + value / (root * root)) / 3.0;
        if next >= root {
            break;
        }
        root = next;
    }
    root
}
