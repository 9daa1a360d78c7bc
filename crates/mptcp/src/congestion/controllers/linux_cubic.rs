//! CUBIC as Linux computes it (net/ipv4/tcp_cubic.c of 6.18), on each path by itself.
//!
//! Owns the arithmetic of whole segments: a window counts segments and grows by one for so many acknowledged ones, time is
//! counted in the kernel's ticks, and the curve is looked at a few times in a round trip. What that costs or gains against
//! RFC 9438, which [`super::Cubic`] computes, is the reason to have both. HyStart is not here but in [`super::SlowStart`].

use mptcp_clock::{Duration, Instant};

use crate::congestion::{Acked, CongestionControl, Path};
use crate::path::PerPath;

/// `beta` over `BICTCP_BETA_SCALE`: what a loss leaves of the window.
const BETA: u64 = 717;
const BETA_SCALE: u64 = 1024;
/// `bic_scale`, C: 41 / 1024 for a round trip of 100 ms, of which a second has ten.
const CUBE_SCALE: u64 = 41 * 10;
/// Times of the curve are in 1/1024 of a second.
const SHIFT: u32 = 10;
/// Bits by which the cube of such a time, times C, is too large.
const CUBE_SHIFT: u32 = 10 + 3 * SHIFT;
/// `beta_scale`: acknowledged segments for which Reno's window grows by one are the window times this, over eight.
const RENO_SCALE: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);
/// Nothing lost yet: at most so many acknowledged segments for one more.
const MAX_BEFORE_LOSS: u64 = 20;
/// While the window is unchanged the curve is looked at again after this part of a second at the earliest.
const REFRESH: u64 = 32;

/// What Linux keeps of one connection, here of one path.
#[derive(Clone, Copy, Debug, Default)]
struct PathMemory {
    /// Bytes acknowledged beyond whole segments.
    part: u64,
    /// Segments acknowledged since the window grew (`snd_cwnd_cnt`).
    count: u64,
    /// Acknowledged segments for which the window grows by one (`cnt`).
    every: u64,
    /// The window before the last reduction, less what fast convergence takes (`last_max_cwnd`).
    highest: u64,
    /// The window, and the tick, when `every` was computed last.
    window: u64,
    at: u64,
    /// Where the curve is flat, segments, and how long after the epoch's beginning, in 1/1024 s.
    origin: u64,
    k: u64,
    /// The shortest round trip.
    shortest: Option<Duration>,
    /// The tick when the epoch began.
    epoch: Option<u64>,
    /// Segments acknowledged that Reno's window has not grown for yet, and that window.
    acked: u64,
    reno: u64,
}

/// Linux's CUBIC: its memory of each path.
#[derive(Clone, Debug)]
pub struct LinuxCubic {
    /// Ticks a second: the kernel's `CONFIG_HZ`.
    hertz: u64,
    paths: PerPath<PathMemory>,
}

impl Default for LinuxCubic {
    fn default() -> Self {
        Self::new(1000)
    }
}

impl LinuxCubic {
    /// As a kernel computes it whose clock ticks so many times a second.
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
    /// `bictcp_update`: after how many acknowledged segments the window grows by one.
    fn update(&mut self, cwnd: u64, acked: u64, tick: u64, hertz: u64) {
        self.acked += acked;
        if self.window == cwnd && tick.saturating_sub(self.at) <= hertz / REFRESH {
            return;
        }
        if self.epoch.is_none() || tick != self.at {
            (self.window, self.at) = (cwnd, tick);
            self.every = self.cubic(cwnd, acked, tick, hertz);
            if self.highest == 0 {
                self.every = self.every.min(MAX_BEFORE_LOSS);
            }
        }
        // The Reno-friendly window: unlike RFC 9438 section 4.3 the increase stays the same above the window before.
        let step = ((cwnd * RENO_SCALE) >> 3).max(1);
        let grown = self.acked.saturating_sub(1) / step;
        self.acked -= grown * step;
        self.reno += grown;
        if self.reno > cwnd {
            self.every = self.every.min(cwnd / (self.reno - cwnd));
        }
        // Never more than half as much again in a round trip.
        self.every = self.every.max(2);
    }

    /// What the curve asks for.
    fn cubic(&mut self, cwnd: u64, acked: u64, tick: u64, hertz: u64) -> u64 {
        let epoch = *self.epoch.get_or_insert_with(|| {
            (self.acked, self.reno) = (acked, cwnd);
            self.origin = self.highest.max(cwnd);
            self.k = cube_root((1_u64 << CUBE_SHIFT) / CUBE_SCALE * (self.origin - cwnd).min(1 << 31));
            tick
        });
        // One round trip ahead, and a part of a tick is one: `usecs_to_jiffies` rounds up.
        let ahead = self.shortest.map_or(0, |shortest| ticks_begun(shortest, hertz));
        let time = (tick.saturating_sub(epoch) + ahead).saturating_mul(1 << SHIFT) / hertz;
        let off = u128::from(time.abs_diff(self.k).min(1 << 24));
        let delta = ((u128::from(CUBE_SCALE) * off * off * off) >> CUBE_SHIFT) as u64;
        let target = if time < self.k { self.origin.saturating_sub(delta) } else { self.origin + delta };
        if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd }
    }

    /// `tcp_cong_avoid_ai`: by how many segments the window grows.
    fn growth(&mut self, acked: u64) -> u64 {
        let mut grown = 0;
        if self.count >= self.every {
            (self.count, grown) = (0, 1);
        }
        self.count += acked;
        grown += self.count / self.every.max(1);
        self.count %= self.every.max(1);
        grown
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

    /// `cubictcp_acked`: round trips of the first second after a reduction say nothing of the path's shortest.
    fn on_progress(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let (tick, hertz) = (self.tick(acked.now), self.hertz);
        let own = self.path(path);
        if own.epoch.is_some_and(|epoch| tick.saturating_sub(epoch) < hertz) {
            return;
        }
        let latest = paths[path].latest_rtt;
        own.shortest = own.shortest.map_or(latest, |least| latest.map(|latest| latest.min(least)));
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let (tick, hertz) = (self.tick(acked.now), self.hertz);
        let state = &mut paths[path];
        let mss = state.mss.max(1);
        let own = self.path(path);
        let bytes = own.part + acked.bytes;
        let mut segments = bytes / mss;
        own.part = bytes % mss;
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
        // The window's fraction goes with the reduction (`tcp_init_cwnd_reduction`).
        (own.epoch, own.count) = (None, 0);
        // Fast convergence: room for newcomers.
        own.highest = if cwnd < own.highest { cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE) } else { cwnd };
        (cwnd * BETA / BETA_SCALE).max(2) * mss
    }

    /// `cubictcp_state`: after a timeout nothing is remembered.
    fn on_timeout(&mut self, _paths: &mut [Path], path: usize) {
        let own = self.path(path);
        *own = PathMemory { part: own.part, ..PathMemory::default() };
    }

    /// `cubictcp_cwnd_event`: time without data does not count on the curve.
    fn on_restart(&mut self, _paths: &mut [Path], path: usize, now: Instant, idle: Duration) {
        let (tick, hertz) = (self.tick(now), self.hertz);
        let own = self.path(path);
        own.epoch = own.epoch.map(|epoch| (epoch + ticks(idle, hertz)).min(tick));
    }
}

/// The cube root, rounded down. The kernel's, by a table and one step of Newton's method, is off by 0.2 % on average.
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
