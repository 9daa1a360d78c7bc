//! Detection of paths that share a bottleneck, so that congestion control couples only those.
//!
//! Owns the queueing delays of the paths and the evidence per pair of paths. Paths behind one queue have the
//! same delay. If the delays of two paths differ for long, their bottlenecks are separate, and coupling would
//! waste capacity. RFC 8382 groups flows by such signals; here the sender alone groups its paths. Without
//! evidence, all paths form one group, as in RFC 6356.
//!
//! A path whose window is not full is not limited by its bottleneck, and its window shows nothing about its
//! capacity (RFC 7661). Such a path is not coupled. Never changes a window.

use mptcp_clock::{Duration, Instant};

use crate::path::{Path, PerPath};

/// Delay differences below this value are ignored.
const NOISE: Duration = Duration::from_micros(500);
/// Minimum ratio of the smaller to the larger delay if two paths share a queue.
const SAME_QUEUE_RATIO: f64 = 0.5;
/// Net number of rounds with different delays after which two paths are separate.
const SEPARATE_ROUNDS: i32 = 6;
/// Maximum of that net number, so that old evidence is soon outweighed.
const MAX_ROUNDS: i32 = 12;
/// Minimum duration of a round.
const MIN_ROUND: Duration = Duration::from_millis(50);
/// Minimum number of congestion events for a loss rate.
const MIN_EVENTS: f64 = 4.0;
/// Maximum ratio of the loss rates of two paths that share a queue.
const MAX_LOSS_RATIO: f64 = 8.0;
/// Number of segments after which both counts are halved.
const HALVING_SEGMENTS: f64 = 50_000.0;
/// RTTs without a full window after which a path is unused.
const UNUSED_RTTS: u64 = 4;
/// Minimum time until a path is unused: a small window that recovers from a loss is in use.
const MIN_UNUSED_TIME: Duration = Duration::from_secs(1);
/// Maximum number of paths with this detection; further paths are coupled with all others.
const PATHS: usize = 16;

/// Sum and number of delay samples.
#[derive(Clone, Copy, Debug, Default)]
struct Delays {
    sum: Duration,
    count: u64,
}

impl Delays {
    /// Mean of the samples since `before`; `None` if there are none.
    fn mean_since(self, before: Self) -> Option<Duration> {
        let count = self.count - before.count;
        (count > 0).then(|| self.sum.abs_diff(before.sum) / count)
    }
}

/// The queue of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    /// All delay samples.
    delays: Delays,
    /// Start of the round, and the delays of all paths at that time.
    round: Instant,
    before: [Delays; PATHS],
    /// Per other path, the number of rounds that indicate separate queues.
    separate: [i32; PATHS],
    /// Paths with separate queues, one bit each.
    others: u64,
    /// Acknowledged segments and congestion events; both are halved from time to time.
    segments: f64,
    events: f64,
    /// Paths whose loss rate is too different for a shared queue, one bit each.
    dissimilar: u64,
    /// Last time that the window was full.
    full: Instant,
}

impl Queue {
    /// Time until which the window counts as used.
    fn in_use_until(&self, state: &Path) -> Instant {
        self.full + (state.srtt.unwrap_or_default() * UNUSED_RTTS).max(MIN_UNUSED_TIME)
    }

    /// Whether the other path has far fewer losses than the loss rate of this path predicts.
    fn loses_more_than(&self, other: &Self) -> bool {
        let expected = self.events / self.segments.max(1.0) * other.segments;
        self.events >= MIN_EVENTS && expected >= MAX_LOSS_RATIO && other.events * MAX_LOSS_RATIO <= expected
    }
}

/// The evidence about all pairs of paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bottlenecks {
    queues: PerPath<Queue>,
    /// Paths with unused windows, one bit each.
    unused: u64,
    /// Until this time, no further path can become unused.
    in_use_until: Instant,
}

impl Bottlenecks {
    /// A congestion event on `path`. Random losses come without queueing delay. But if one path loses far
    /// more often than another, they do not share a queue (RFC 8382 also compares losses).
    pub(crate) fn on_loss(&mut self, path: usize) {
        let Some(queue) = self.queues.get_mut(path) else { return };
        queue.events += 1.0;
        for other in (0..self.queues.len()).filter(|&other| other != path) {
            let (one, another) = (&self.queues[path], &self.queues[other]);
            let dissimilar = one.loses_more_than(another) || another.loses_more_than(one);
            for (one, another) in [(path, other), (other, path)] {
                let set = &mut self.queues[one].dissimilar;
                *set = if dissimilar { *set | 1 << another } else { *set & !(1 << another) };
            }
        }
    }

    fn queue(&mut self, path: usize) -> Option<&mut Queue> {
        if path >= PATHS {
            return None;
        }
        Some(self.queues.at(path))
    }

    /// The window of `path` was full when the newly acknowledged data was sent.
    #[inline]
    pub(crate) fn on_full(&mut self, paths: &[Path], path: usize, now: Instant) {
        let Some(queue) = self.queue(path) else { return };
        queue.full = now;
        if self.unused != 0 || now > self.in_use_until {
            self.find_unused(paths, now);
        }
    }

    /// Updates the set of unused paths, and the time until which the others are certainly in use.
    #[inline(never)]
    fn find_unused(&mut self, paths: &[Path], now: Instant) {
        (self.unused, self.in_use_until) = (0, Instant::FAR_FUTURE);
        for (at, (queue, state)) in self.queues.iter().zip(paths).enumerate() {
            let until = queue.in_use_until(state);
            if now > until && state.active {
                self.unused |= 1 << at;
            } else {
                self.in_use_until = self.in_use_until.min(until);
            }
        }
    }

    /// An acknowledgement of `bytes` on `path`.
    pub(crate) fn on_sample(&mut self, paths: &[Path], path: usize, now: Instant, bytes: u64) {
        let state = &paths[path];
        let (Some(latest), Some(min_rtt), Some(srtt)) = (state.latest_rtt, state.min_rtt, state.srtt) else {
            return;
        };
        let Some(queue) = self.queue(path) else { return };
        queue.delays.sum += latest.abs_diff(min_rtt);
        queue.delays.count += 1;
        queue.segments += bytes as f64 / state.mss.max(1) as f64;
        if queue.segments > HALVING_SEGMENTS {
            (queue.segments, queue.events) = (queue.segments / 2.0, queue.events / 2.0);
        }
        if now.since(queue.round) < srtt.max(MIN_ROUND) {
            return;
        }
        queue.round = now;
        let after =
            std::array::from_fn(|at| self.queues.get(at).map_or_else(Delays::default, |queue| queue.delays));
        let before = std::mem::replace(&mut self.queues[path].before, after);
        // A queue varies within an RTT: both delays must be from the same interval.
        let seen = |at: usize| after[at].mean_since(before[at]);
        let Some(delay) = seen(path) else { return };
        for other in (0..self.queues.len()).filter(|&other| other != path && paths[other].active) {
            let Some(other_delay) = seen(other) else { continue };
            let (short, long) = (delay.min(other_delay), delay.max(other_delay));
            let separate =
                long.abs_diff(short) > NOISE && short.as_secs_f64() < SAME_QUEUE_RATIO * long.as_secs_f64();
            let evidence = &mut self.queues[path].separate[other];
            *evidence = (*evidence + if separate { 1 } else { -1 }).clamp(0, MAX_ROUNDS);
            let both = self.queues[path].separate[other] + self.queues[other].separate[path];
            for (one, another) in [(path, other), (other, path)] {
                let others = &mut self.queues[one].others;
                *others = if both >= 2 * SEPARATE_ROUNDS {
                    *others | 1 << another
                } else {
                    *others & !(1 << another)
                };
            }
        }
    }

    /// Paths with other bottlenecks than `path`, or with unused windows, one bit each.
    pub(crate) fn separate_from(&self, path: usize) -> u64 {
        self.queues.get(path).map_or(0, |queue| queue.others | queue.dissimilar | self.unused & !(1 << path))
    }

    /// Resets a path that was opened or closed.
    pub(crate) fn forget(&mut self, path: usize) {
        if let Some(queue) = self.queues.get_mut(path) {
            *queue = Queue::default();
        }
        // The unused paths are recomputed when a window is next full.
        self.unused &= !(1_u64.checked_shl(path as u32).unwrap_or(0));
        self.in_use_until = Instant::ZERO;
        for queue in self.queues.iter_mut() {
            if let Some(evidence) = queue.separate.get_mut(path) {
                *evidence = 0;
                queue.before[path] = Delays::default();
                queue.others &= !(1 << path);
                queue.dissimilar &= !(1 << path);
            }
        }
    }
}

#[cfg(test)]
mod tests;
