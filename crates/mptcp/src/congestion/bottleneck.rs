//! Which paths of a connection may share a bottleneck.
//!
//! Owns the delays of their queues, as round trips tell them, and the evidence for each pair. Paths behind one queue see one
//! delay: where the delays of two paths differ for long, each has a bottleneck of its own, and coupling their windows would
//! give away what nobody else wants. RFC 8382 finds groups from signals of this kind; here the sender alone does. Until
//! there is evidence all paths count as one group, as RFC 6356 does.

use mptcp_clock::{Duration, Instant};

use super::control::PathState;

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
/// Paths of which this is kept; later ones share with all.
const PATHS: usize = 16;

/// The queue of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    /// Samples of this round: their sum and number.
    sum: Duration,
    count: u32,
    round: Instant,
    /// The mean delay in the last whole round.
    delay: Option<Duration>,
    /// Rounds that say of another path, by its index, that it is behind another queue.
    apart: [i32; PATHS],
    /// Those that are, one bit each.
    others: u64,
}

/// The evidence.
#[derive(Clone, Debug, Default)]
pub(super) struct Bottlenecks {
    queues: Vec<Queue>,
}

impl Bottlenecks {
    /// An acknowledgement came on `path`.
    pub(super) fn on_sample(&mut self, paths: &[PathState], path: usize, now: Instant) {
        let state = &paths[path];
        let (Some(latest), Some(least), Some(srtt)) = (state.latest_rtt, state.min_rtt, state.srtt) else {
            return;
        };
        if path >= PATHS {
            return;
        }
        if self.queues.len() <= path {
            self.queues.resize(path + 1, Queue::default());
        }
        let queue = &mut self.queues[path];
        queue.sum += latest.abs_diff(least);
        queue.count += 1;
        if now.since(queue.round) < srtt.max(SHORTEST_ROUND) {
            return;
        }
        let delay = queue.sum / u64::from(queue.count);
        *queue = Queue { delay: Some(delay), sum: Duration::ZERO, count: 0, round: now, ..*queue };
        for other in (0..self.queues.len()).filter(|&other| other != path && paths[other].active) {
            let Some(theirs) = self.queues[other].delay else { continue };
            let (short, long) = (delay.min(theirs), delay.max(theirs));
            let apart = long.abs_diff(short) > NOISE && short.as_secs_f64() < ALIKE * long.as_secs_f64();
            let evidence = &mut self.queues[path].apart[other];
            *evidence = (*evidence + if apart { 1 } else { -1 }).clamp(0, MOST);
            let both = self.queues[path].apart[other] + self.queues[other].apart[path];
            for (one, another) in [(path, other), (other, path)] {
                let others = &mut self.queues[one].others;
                *others = if both >= 2 * APART { *others | 1 << another } else { *others & !(1 << another) };
            }
        }
    }

    /// The paths with bottlenecks of their own beside that of `path`, one bit each.
    pub(super) fn apart_from(&self, path: usize) -> u64 {
        self.queues.get(path).map_or(0, |queue| queue.others)
    }

    /// A path begins or ends: nothing is known of it.
    pub(super) fn forget(&mut self, path: usize) {
        if let Some(queue) = self.queues.get_mut(path) {
            *queue = Queue::default();
        }
        for queue in &mut self.queues {
            if let Some(evidence) = queue.apart.get_mut(path) {
                *evidence = 0;
                queue.others &= !(1 << path);
            }
        }
    }
}
