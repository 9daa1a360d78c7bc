//! Which paths of a connection may share a bottleneck.
//!
//! Owns the delays of their queues, as round trips tell them, and the evidence for each pair. Paths behind one queue see one
//! delay: where the delays of two paths differ for long, each has a bottleneck of its own, and coupling their windows would
//! give away what nobody else wants. RFC 8382 finds groups from signals of this kind; here the sender alone does. Until
//! there is evidence all paths count as one group, as RFC 6356 does. A path whose window is not full is held by no bottleneck at
//! all, and a window that is not used says nothing of what its path could carry (RFC 7661): it is left out while that lasts.

use mptcp_clock::{Duration, Instant};

use crate::path::{Path, PerPath};

/// Delays that differ by less than this say nothing.
const NOISE: Duration = Duration::from_micros(500);
/// Of the delays of one queue, as two paths see it, the smaller is at least this part of the larger.
const ALIKE: f64 = 0.5;
/// Rounds that speak for it, less those against it, before two paths count as apart.
const APART: i32 = 6;
/// The most such rounds that are remembered.
const MOST: i32 = 12;
/// A round is at least so long.
const SHORTEST_ROUND: Duration = Duration::from_millis(50);
/// Events that are a rate of loss.
const MIN_EVENTS: f64 = 4.0;
/// A queue may drop more of one path's segments than of another's, but not so many times more.
const UNLIKE: f64 = 8.0;
/// After so many segments both counts are halved.
const FADE: f64 = 50_000.0;
/// Round trips after which a window that was not full counts as unused.
const UNUSED: u64 = 4;
/// It is so long at least: a small window that recovers from a loss is in use.
const MIN_UNUSED: Duration = Duration::from_secs(1);
/// Paths of which this is kept; later ones share with all.
const PATHS: usize = 16;

/// Delays that were seen: their sum and number.
#[derive(Clone, Copy, Debug, Default)]
struct Delays {
    sum: Duration,
    count: u64,
}

impl Delays {
    /// The mean of those seen since `before`, if there was one.
    fn mean_since(self, before: Self) -> Option<Duration> {
        let count = self.count - before.count;
        (count > 0).then(|| self.sum.abs_diff(before.sum) / count)
    }
}

/// The queue of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    /// All its delays.
    delays: Delays,
    /// When its round began, and what each path's delays were then, its own too.
    round: Instant,
    before: [Delays; PATHS],
    /// Rounds that say of another path, by its index, that it is behind another queue.
    separate: [i32; PATHS],
    /// Those that are, one bit each.
    others: u64,
    /// Segments that were acknowledged, and congestion events among them; both fade.
    segments: f64,
    events: f64,
    /// Paths whose rates of loss are not of one queue, one bit each.
    dissimilar: u64,
    /// When its window was full last.
    full: Instant,
}

impl Queue {
    /// Until when its window counts as used.
    fn in_use_until(&self, state: &Path) -> Instant {
        self.full + (state.srtt.unwrap_or_default() * UNUSED).max(MIN_UNUSED)
    }

    /// Whether by the losses of this path another one would have had many, and had hardly any.
    fn loses_more_than(&self, other: &Self) -> bool {
        let expected = self.events / self.segments.max(1.0) * other.segments;
        self.events >= MIN_EVENTS && expected >= UNLIKE && other.events * UNLIKE <= expected
    }
}

/// The evidence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bottlenecks {
    queues: PerPath<Queue>,
    /// Those whose windows are not used, one bit each.
    unused: u64,
    /// Until then no other one can be.
    in_use_until: Instant,
}

impl Bottlenecks {
    /// A congestion event on `path`. Random losses have no queue that would tell whose they are; but where one path loses many
    /// times more than another, it is not in a queue that they share (RFC 8382 compares losses, too).
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

    /// The window of `path` was full when what is acknowledged now was sent.
    #[inline]
    pub(crate) fn on_full(&mut self, paths: &[Path], path: usize, now: Instant) {
        let Some(queue) = self.queue(path) else { return };
        queue.full = now;
        if self.unused != 0 || now > self.in_use_until {
            self.find_unused(paths, now);
        }
    }

    /// Which windows are not used, and until when that is sure of those that are.
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

    /// An acknowledgement of `bytes` came on `path`.
    pub(crate) fn on_sample(&mut self, paths: &[Path], path: usize, now: Instant, bytes: u64) {
        let state = &paths[path];
        let (Some(latest), Some(least), Some(srtt)) = (state.latest_rtt, state.min_rtt, state.srtt) else {
            return;
        };
        let Some(queue) = self.queue(path) else { return };
        queue.delays.sum += latest.abs_diff(least);
        queue.delays.count += 1;
        queue.segments += bytes as f64 / state.mss.max(1) as f64;
        if queue.segments > FADE {
            (queue.segments, queue.events) = (queue.segments / 2.0, queue.events / 2.0);
        }
        if now.since(queue.round) < srtt.max(SHORTEST_ROUND) {
            return;
        }
        queue.round = now;
        let after =
            std::array::from_fn(|at| self.queues.get(at).map_or_else(Delays::default, |queue| queue.delays));
        let before = std::mem::replace(&mut self.queues[path].before, after);
        // A queue swings within a round trip: both are of the same time, or one queue would be two.
        let seen = |at: usize| after[at].mean_since(before[at]);
        let Some(delay) = seen(path) else { return };
        for other in (0..self.queues.len()).filter(|&other| other != path && paths[other].active) {
            let Some(theirs) = seen(other) else { continue };
            let (short, long) = (delay.min(theirs), delay.max(theirs));
            let separate = long.abs_diff(short) > NOISE && short.as_secs_f64() < ALIKE * long.as_secs_f64();
            let evidence = &mut self.queues[path].separate[other];
            *evidence = (*evidence + if separate { 1 } else { -1 }).clamp(0, MOST);
            let both = self.queues[path].separate[other] + self.queues[other].separate[path];
            for (one, another) in [(path, other), (other, path)] {
                let others = &mut self.queues[one].others;
                *others = if both >= 2 * APART { *others | 1 << another } else { *others & !(1 << another) };
            }
        }
    }

    /// The paths with bottlenecks of their own beside that of `path`, or none, one bit each.
    pub(crate) fn separate_from(&self, path: usize) -> u64 {
        self.queues.get(path).map_or(0, |queue| queue.others | queue.dissimilar | self.unused & !(1 << path))
    }

    /// A path begins or ends: nothing is known of it.
    pub(crate) fn forget(&mut self, path: usize) {
        if let Some(queue) = self.queues.get_mut(path) {
            *queue = Queue::default();
        }
        // It is looked at anew when a window is full next.
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
