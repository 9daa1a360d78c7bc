//! Weighted Vegas, coupled and delay-based (Cao, Xu, Fu, ICNP 2012; draft-xu-mptcp-congestion-control).
//!
//! Owns the queue share of each path: the paths divide a constant total of queued segments in proportion to
//! their rates. Reacts to losses like Reno.

use mptcp_clock::{Duration, Instant};

use crate::congestion::{Acked, CongestionControl, Path};
use crate::path::PerPath;

/// Target for the queued segments of the whole connection.
const TOTAL_ALPHA: f64 = 10.0;
/// Minimum share of a path, segments.
const MIN_ALPHA: f64 = 2.0;
/// Queued segments at which slow start ends.
const GAMMA: f64 = 1.0;
/// Minimum number of RTT samples of an epoch.
const SAMPLES: u32 = 3;

#[derive(Clone, Copy, Debug)]
struct PathMemory {
    ends: Instant,
    sum: Duration,
    samples: u32,
    alpha: f64,
    /// Rate in the last epoch, bytes per second.
    rate: f64,
    /// Minimum queueing delay since the queue was last drained.
    delay: Option<Duration>,
}

impl Default for PathMemory {
    fn default() -> Self {
        Self {
            ends: Instant::ZERO,
            sum: Duration::ZERO,
            samples: 0,
            alpha: MIN_ALPHA,
            rate: 0.0,
            delay: None,
        }
    }
}

/// wVegas, with its state per path.
#[derive(Clone, Debug, Default)]
pub struct WVegas {
    paths: PerPath<PathMemory>,
}

impl WVegas {
    fn path(&mut self, path: usize) -> &mut PathMemory {
        self.paths.at(path)
    }

    /// Adjusts the window at the end of an epoch by at most one segment, or drains the queue.
    fn adjust(&mut self, state: &mut Path, path: usize, rtt: Duration, base: Duration) {
        let total: f64 = self.paths.iter().map(|path| path.rate).sum();
        let own = &mut self.paths[path];
        let (rtt_s, base_s) = (rtt.as_secs_f64().max(1e-9), base.as_secs_f64());
        let cwnd = state.cwnd as f64 / state.mss as f64;
        let queued = cwnd * (rtt_s - base_s).max(0.0) / rtt_s;
        if state.in_slow_start() {
            if queued > GAMMA {
                let target = (cwnd * base_s / rtt_s + 1.0).min(cwnd);
                state.cwnd = ((target * state.mss as f64) as u64).max(2 * state.mss);
                state.ssthresh = state.cwnd;
            }
            return;
        }
        let weight = if total > 0.0 { own.rate / total } else { 1.0 };
        if queued >= own.alpha {
            own.alpha = (TOTAL_ALPHA * weight).max(MIN_ALPHA);
        }
        if queued > own.alpha {
            state.cwnd -= state.mss;
        } else if queued < own.alpha {
            state.cwnd += state.mss;
        }
        let delay = rtt.abs_diff(base);
        let min_delay = own.delay.map_or(delay, |min_delay| min_delay.min(delay));
        own.delay = Some(min_delay);
        // Other flows have filled the queue: it is drained once, so that the base RTT gets new samples.
        //
        // The kernel code of the authors does this for any queue length. A delay variation of 1 ms then
        // halves the window repeatedly, and a path with 10 Mb/s and 40 ms reaches a quarter of its rate.
        if queued > own.alpha && delay >= min_delay * 2 {
            state.cwnd = (state.cwnd as f64 * base_s / (2.0 * rtt_s)) as u64;
            own.delay = None;
        }
        state.cwnd = state.cwnd.max(2 * state.mss);
        state.ssthresh = state.ssthresh.min(state.cwnd);
    }
}

impl CongestionControl for WVegas {
    fn name(&self) -> &'static str {
        "wvegas"
    }

    fn on_progress(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let state = &mut paths[path];
        let (Some(rtt), Some(base)) = (state.latest_rtt, state.min_rtt) else { return };
        let own = self.path(path);
        own.sum += rtt;
        own.samples += 1;
        if acked.now < own.ends {
            return;
        }
        let mean = own.sum / u64::from(own.samples);
        let has_samples = own.samples >= SAMPLES;
        own.rate = state.cwnd as f64 / mean.as_secs_f64().max(1e-9);
        (own.sum, own.samples, own.ends) = (Duration::ZERO, 0, acked.now + rtt);
        if has_samples {
            self.adjust(state, path, mean, base);
        } else {
            // As in the mptcp.org kernel, an epoch with too few samples grows like Reno.
            state.grow(acked.bytes as f64 * state.mss as f64 / state.cwnd as f64);
        }
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        if paths[path].in_slow_start() {
            paths[path].slow_start(acked.bytes);
        }
    }

    fn on_path_change(&mut self, paths: &mut [Path], path: usize) {
        if !paths[path].active {
            *self.path(path) = PathMemory::default();
        }
    }
}
