//! CUBIC with the integer arithmetic of Linux (net/ipv4/tcp_cubic.c, 6.18), uncoupled.
//!
//! Like the kernel, this controller counts windows in whole segments and time in ticks. It updates the curve
//! only a few times per RTT. [`crate::congestion::Cubic`] implements RFC 9438. Comparing the two shows the
//! effect of Linux's arithmetic. Never implements HyStart: see [`crate::congestion::SlowStart`].

use mptcp_clock::{Duration, Instant};

use crate::congestion::{Acked, CongestionControl, Path};
use crate::path::PerPath;

/// `beta` in units of `BICTCP_BETA_SCALE`: the fraction of the window that remains after a loss.
const BETA: u64 = 717;
const BETA_SCALE: u64 = 1024;
/// `cube_rtt_scale`: C in units of 1/1024, so C = 410/1024 = 0.4. Linux's `bic_scale` is 41.
const CUBE_SCALE: u64 = 41 * 10;
/// Times on the curve are in units of 1/1024 s.
const SHIFT: u32 = 10;
/// Bits by which the cube of such a time, multiplied by C, must be shifted.
const CUBE_SHIFT: u32 = 10 + 3 * SHIFT;
/// `beta_scale`: Reno's window grows by one segment per (window * `RENO_SCALE` / 8) acknowledged segments.
const RENO_SCALE: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);
/// Maximum of `every` before the first loss.
const MAX_BEFORE_LOSS: u64 = 20;
/// With an unchanged window, the curve is recomputed at most this many times per second.
const REFRESH: u64 = 32;

/// Linux's state of one connection, here of one path.
#[derive(Clone, Copy, Debug, Default)]
struct PathMemory {
    /// Acknowledged bytes that do not yet form a segment.
    partial: u64,
    /// Segments acknowledged since the window last grew (`snd_cwnd_cnt`).
    count: u64,
    /// Acknowledged segments per increase of the window by one (`cnt`).
    every: u64,
    /// Window before the last reduction, reduced by fast convergence (`last_max_cwnd`).
    last_max: u64,
    /// Window and tick at which `every` was last computed.
    window: u64,
    at: u64,
    /// Plateau of the curve, segments, and its time after the start of the epoch, in 1/1024 s.
    origin: u64,
    k: u64,
    /// Minimum RTT.
    min_rtt: Option<Duration>,
    /// Tick at which the epoch started.
    epoch: Option<u64>,
    /// Acknowledged segments not yet counted in Reno's window, and that window.
    acked: u64,
    reno_window: u64,
}

/// Linux's CUBIC, with its state per path.
#[derive(Clone, Debug)]
pub struct LinuxCubic {
    /// Ticks per second: the kernel's `CONFIG_HZ`.
    hertz: u64,
    paths: PerPath<PathMemory>,
}

impl Default for LinuxCubic {
    fn default() -> Self {
        Self::new(1000)
    }
}

impl LinuxCubic {
    /// CUBIC of a kernel with this many ticks per second.
    #[must_use]
    pub fn new(hertz: u32) -> Self {
        Self { hertz: u64::from(hertz.clamp(1, 1_000_000)), paths: PerPath::default() }
    }

    fn path(&mut self, path: usize) -> &mut PathMemory {
        self.paths.at(path)
    }

    fn tick(&self, now: Instant) -> u64 {
        ticks(now.since(Instant::ZERO), self.hertz)
    }
}

fn ticks(time: Duration, hertz: u64) -> u64 {
    (u128::from(time.as_nanos()) * u128::from(hertz) / 1_000_000_000) as u64
}

fn ticks_begun(time: Duration, hertz: u64) -> u64 {
    (u128::from(time.as_nanos()) * u128::from(hertz)).div_ceil(1_000_000_000) as u64
}

impl PathMemory {
    /// `bictcp_update`: recomputes the acknowledged segments per increase of the window.
    fn update(&mut self, cwnd: u64, acked: u64, tick: u64, hertz: u64) {
        self.acked += acked;
        if self.window == cwnd && tick.saturating_sub(self.at) <= hertz / REFRESH {
            return;
        }
        if self.epoch.is_none() || tick != self.at {
            (self.window, self.at) = (cwnd, tick);
            self.every = self.cubic(cwnd, acked, tick, hertz);
            if self.last_max == 0 {
                self.every = self.every.min(MAX_BEFORE_LOSS);
            }
        }
        // The Reno-friendly window. Unlike RFC 9438 section 4.3, the increase stays the same above the
        // previous window.
        let step = ((cwnd * RENO_SCALE) >> 3).max(1);
        let growth = self.acked.saturating_sub(1) / step;
        self.acked -= growth * step;
        self.reno_window += growth;
        if self.reno_window > cwnd {
            self.every = self.every.min(cwnd / (self.reno_window - cwnd));
        }
        // Limits the growth to half of the window per RTT.
        self.every = self.every.max(2);
    }

    /// Acknowledged segments per increase according to the curve.
    fn cubic(&mut self, cwnd: u64, acked: u64, tick: u64, hertz: u64) -> u64 {
        let epoch = *self.epoch.get_or_insert_with(|| {
            (self.acked, self.reno_window) = (acked, cwnd);
            self.origin = self.last_max.max(cwnd);
            self.k = cube_root((1_u64 << CUBE_SHIFT) / CUBE_SCALE * (self.origin - cwnd).min(1 << 31));
            tick
        });
        // One RTT ahead; a partial tick counts as a whole tick, because `usecs_to_jiffies` rounds up.
        let ahead = self.min_rtt.map_or(0, |min_rtt| ticks_begun(min_rtt, hertz));
        let time = (tick.saturating_sub(epoch) + ahead).saturating_mul(1 << SHIFT) / hertz;
        let offset = u128::from(time.abs_diff(self.k).min(1 << 24));
        let delta = ((u128::from(CUBE_SCALE) * offset * offset * offset) >> CUBE_SHIFT) as u64;
        let target = if time < self.k { self.origin.saturating_sub(delta) } else { self.origin + delta };
        if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd }
    }

    /// `tcp_cong_avoid_ai`: growth of the window in segments.
    fn growth(&mut self, acked: u64) -> u64 {
        let mut growth = 0;
        if self.count >= self.every {
            (self.count, growth) = (0, 1);
        }
        self.count += acked;
        growth += self.count / self.every.max(1);
        self.count %= self.every.max(1);
        growth
    }
}

impl CongestionControl for LinuxCubic {
    fn name(&self) -> &'static str {
        "cubic"
    }

    fn on_path_change(&mut self, paths: &mut [Path], path: usize) {
        if !paths[path].active {
            *self.path(path) = PathMemory::default();
        }
    }

    /// `cubictcp_acked`: RTT samples in the first second after a reduction are ignored.
    fn on_progress(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let (tick, hertz) = (self.tick(acked.now), self.hertz);
        let own = self.path(path);
        if own.epoch.is_some_and(|epoch| tick.saturating_sub(epoch) < hertz) {
            return;
        }
        let latest = paths[path].latest_rtt;
        own.min_rtt = own.min_rtt.map_or(latest, |min_rtt| latest.map(|latest| latest.min(min_rtt)));
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let (tick, hertz) = (self.tick(acked.now), self.hertz);
        let state = &mut paths[path];
        let mss = state.mss.max(1);
        let own = self.path(path);
        let bytes = own.partial + acked.bytes;
        let mut segments = bytes / mss;
        own.partial = bytes % mss;
        if state.in_slow_start() {
            segments = state.slow_start(segments * mss) / mss;
        }
        if segments == 0 {
            return;
        }
        own.update(state.cwnd / mss, segments, tick, hertz);
        state.cwnd += own.growth(segments) * mss;
    }

    /// `cubictcp_recalc_ssthresh`.
    fn on_loss(&mut self, paths: &mut [Path], path: usize, _now: Instant) -> u64 {
        let mss = paths[path].mss.max(1);
        let cwnd = paths[path].cwnd / mss;
        let own = self.path(path);
        // The partial growth is discarded (`tcp_init_cwnd_reduction`).
        (own.epoch, own.count) = (None, 0);
        // Fast convergence releases bandwidth to new flows.
        own.last_max = if cwnd < own.last_max { cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE) } else { cwnd };
        (cwnd * BETA / BETA_SCALE).max(2) * mss
    }

    /// `cubictcp_state`: a timeout resets the state.
    fn on_timeout(&mut self, _paths: &mut [Path], path: usize) {
        let own = self.path(path);
        *own = PathMemory { partial: own.partial, ..PathMemory::default() };
    }

    /// `cubictcp_cwnd_event`: idle time does not count on the curve.
    fn on_restart(&mut self, _paths: &mut [Path], path: usize, now: Instant, idle: Duration) {
        let (tick, hertz) = (self.tick(now), self.hertz);
        let own = self.path(path);
        own.epoch = own.epoch.map(|epoch| (epoch + ticks(idle, hertz)).min(tick));
    }
}

/// Cube root, rounded down. The kernel's, from a table and one Newton step, has a mean error of 0.2%.
fn cube_root(value: u64) -> u64 {
    let (mut low, mut high) = (0_u64, 2_642_245_u64);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if middle * middle * middle <= value {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

#[cfg(test)]
mod tests;
