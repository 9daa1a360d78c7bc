//! Linked pacing: what we propose in place of the send-queue rule, around any algorithm.
//!
//! A station of a wireless network gets its turns whether its queue is long or short, so no window and no
//! queue limit takes less than a full share of each network. What coupled control wants, at most one share
//! over all paths (RFC 6356 section 2, goal 2), must be asked for as a rate. Two things that a driver
//! knows make it: how long a frame was the first in line, and how long it would have been alone.
//!
//! - The window stops growing, and shrinks by half a segment for each segment acknowledged, while more than
//!   [`TARGET`] of work waits in the local queue: the window goes back to what the path needs.
//! - While a medium is contended, a path is paced at its share of one turn: its rate times the best
//!   rate over the sum of the rates. An idle medium is used in full.

use mptcp_clock::{Duration, Instant};

use super::{Acked, CongestionControl, PathState};

/// Work that may wait in the local queue; RFC 8289 section 4.2 argues for this value.
const TARGET: Duration = Duration::from_millis(5);
/// A frame that waits this much longer than alone meets others: acknowledgements of its own flow cost
/// less, one other busy station costs as much again.
const CONTENDED: f64 = 2.2;
/// The medium is free again below this.
const FREE: f64 = 1.9;

#[derive(Clone, Copy, Debug, Default)]
struct Path {
    over: bool,
    contended: bool,
}

/// The rule around an algorithm.
#[derive(Debug)]
pub struct Linked {
    inner: Box<dyn CongestionControl>,
    paths: Vec<Path>,
}

impl Linked {
    /// Puts the rule around `inner`.
    #[must_use]
    pub fn new(inner: Box<dyn CongestionControl>) -> Self {
        Self { inner, paths: Vec::new() }
    }

    fn own(&mut self, path: usize) -> &mut Path {
        if self.paths.len() <= path {
            self.paths.resize(path + 1, Path::default());
        }
        &mut self.paths[path]
    }
}

impl CongestionControl for Linked {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn on_progress(&mut self, paths: &mut [PathState], path: usize, acked: Acked) {
        let state = &mut paths[path];
        let limit = state.local.rate().map(|rate| (rate * TARGET.as_secs_f64()).max(2.0 * state.mss as f64));
        let over = limit.is_some_and(|limit| state.local.bytes as f64 > limit);
        self.own(path).over = over;
        if over {
            state.grow(-(acked.bytes as f64) / 2.0);
            state.ssthresh = state.ssthresh.min(state.cwnd);
        }
        self.inner.on_progress(paths, path, acked);
    }

    fn on_ack(&mut self, paths: &mut [PathState], path: usize, acked: Acked) {
        if !self.own(path).over {
            self.inner.on_ack(paths, path, acked);
        }
    }

    fn on_departed(&mut self, paths: &mut [PathState], path: usize, now: Instant) {
        if let Some(contention) = paths[path].local.contention() {
            let own = self.own(path);
            own.contended = contention > if own.contended { FREE } else { CONTENDED };
        }
        let rates = || paths.iter().filter(|state| state.active).filter_map(|state| state.local.rate());
        let (count, total) = rates().fold((0, 0.0), |(count, total), rate| (count + 1, total + rate));
        let best = rates().fold(0.0, f64::max);
        let contended = self.own(path).contended && count > 1;
        paths[path].pacing = paths[path].local.rate().filter(|_| contended).map(|rate| rate * best / total);
        self.inner.on_departed(paths, path, now);
    }

    fn on_loss(&mut self, paths: &mut [PathState], path: usize, now: Instant) -> u64 {
        self.inner.on_loss(paths, path, now)
    }

    fn on_timeout(&mut self, paths: &mut [PathState], path: usize) {
        self.inner.on_timeout(paths, path);
    }

    fn on_path_change(&mut self, paths: &mut [PathState], path: usize) {
        self.inner.on_path_change(paths, path);
    }
}
