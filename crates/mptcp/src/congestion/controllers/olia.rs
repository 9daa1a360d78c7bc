//! OLIA, the opportunistic linked increases algorithm (Khalili, Gast, Popovic, Upadhyay, Le Boudec, CoNEXT
//! 2012).
//!
//! Couples the windows of all paths, and shifts window to the best paths. Owns the acknowledged bytes between
//! the losses of each path. Never reacts to delay.

use mptcp_clock::Instant;

use crate::congestion::{Acked, CongestionControl, Path};
use crate::path::PerPath;

/// Bytes acknowledged between losses on one path.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    /// Bytes since the last loss.
    current: u64,
    /// Bytes between the last two losses.
    previous: u64,
}

/// OLIA: Pareto-optimal resource pooling; shifts window from the largest paths to the best paths.
#[derive(Clone, Debug, Default)]
pub struct Olia {
    intervals: PerPath<Interval>,
}

impl Olia {
    fn interval(&mut self, path: usize) -> &mut Interval {
        self.intervals.at(path)
    }

    /// Square of the rate that TCP would reach on a path, up to a constant factor (section IV of the paper).
    /// It is the longer interval divided by the squared RTT. `None` before the first RTT sample.
    fn quality(&self, paths: &[Path], path: usize) -> Option<f64> {
        let interval = self.intervals.get(path).copied().unwrap_or_default();
        let rtt = paths[path].srtt?.as_secs_f64().max(1e-6);
        Some(interval.current.max(interval.previous) as f64 / (rtt * rtt))
    }

    /// The term `alpha_r`: positive for best paths that do not have the largest window. If such paths exist,
    /// negative for the paths with the largest window; otherwise 0.
    fn shift(&self, paths: &[Path], path: usize) -> f64 {
        let window = |at: usize| paths[at].cwnd / paths[at].mss.max(1);
        let active = || (0..paths.len()).filter(|&at| paths[at].active && paths[at].srtt.is_some());
        let largest = active().map(window).max().unwrap_or(0);
        let best = active().filter_map(|at| self.quality(paths, at)).fold(0.0, f64::max);
        let is_largest = |at: usize| window(at) == largest;
        let is_collected = |at: usize| !is_largest(at) && self.quality(paths, at) == Some(best);
        let collected = active().filter(|&at| is_collected(at)).count();
        if collected == 0 {
            return 0.0;
        }
        let all = active().count() as f64;
        if is_collected(path) {
            1.0 / (all * collected as f64)
        } else if is_largest(path) {
            -1.0 / (all * active().filter(|&at| is_largest(at)).count() as f64)
        } else {
            0.0
        }
    }
}

impl CongestionControl for Olia {
    fn name(&self) -> &'static str {
        "olia"
    }

    fn on_path_change(&mut self, paths: &mut [Path], path: usize) {
        if !paths[path].active {
            *self.interval(path) = Interval::default();
        }
    }

    fn on_progress(&mut self, _paths: &mut [Path], path: usize, acked: Acked) {
        self.interval(path).current += acked.bytes;
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let mut unused = acked.bytes;
        if paths[path].in_slow_start() {
            unused = paths[path].slow_start(unused);
        }
        if unused == 0 {
            return;
        }
        let sum: f64 = paths
            .iter()
            .filter(|state| state.active)
            .filter_map(|state| Some(state.cwnd as f64 / state.srtt?.as_secs_f64().max(1e-6)))
            .sum();
        let shift = self.shift(paths, path);
        let state = &mut paths[path];
        let (mss, cwnd) = (state.mss as f64, state.cwnd as f64);
        let growth = match state.srtt {
            // (w_r / rtt_r^2) / (sum w_p / rtt_p)^2 + alpha_r / w_r, per acknowledged segment.
            Some(rtt) if sum > 0.0 => {
                let rtt = rtt.as_secs_f64().max(1e-6);
                cwnd / (rtt * rtt) / (sum * sum) + shift / cwnd
            }
            _ => 1.0 / cwnd,
        };
        state.grow(unused as f64 * mss * growth);
    }

    fn on_loss(&mut self, paths: &mut [Path], path: usize, _now: Instant) -> u64 {
        let interval = self.interval(path);
        *interval = Interval { current: 0, previous: interval.current };
        (paths[path].cwnd / 2).max(2 * paths[path].mss)
    }
}
