//! Linked pacing: what we propose in place of the send-queue rule, around any algorithm.
//!
//! A station of a wireless network gets its turns whether its queue is long or short, so no window and no
//! queue limit takes less than a full share of each network. What coupled control wants, at most one share
//! over all paths (RFC 6356 section 2, goal 2), must be asked for as a rate. Two things that a driver
//! knows make it: how long a frame was the first in line, and how long it would have been alone.
//!
//! - What stood in the local queue for a whole round trip, beyond [`TARGET`] of work, is more window than the
//!   path needs: it is taken off, and the window does not grow for a round trip. Bursts pass.
//! - While a medium is contended, a path is paced at its share of one turn: its rate times the best
//!   rate over the sum of the rates. An idle medium is used in full.

use mptcp_clock::{Duration, Instant};

use crate::congestion::{Acked, CongestionControl, Echoed, Lost, Mark, Path, Sample};
use crate::path::PerPath;

/// Work that may wait in the local queue; RFC 8289 section 4.2 argues for this value.
const TARGET: Duration = Duration::from_millis(5);
/// A frame that waits this much longer than alone meets others: acknowledgements of its own flow cost
/// less, one other busy station costs as much again.
const CONTENDED: f64 = 1.6;
/// The medium is free again below this.
const FREE: f64 = 1.35;

#[derive(Clone, Copy, Debug)]
struct PathMemory {
    /// When the round trip that is watched ends.
    ends: Instant,
    /// The shortest local queue in it, bytes.
    shortest: u64,
    /// The queue stood in the round trip before.
    over: bool,
    contended: bool,
    /// The pace that the algorithm asks for, and the share of the medium: the lesser of both counts.
    asked: Option<f64>,
    share: Option<f64>,
}

impl Default for PathMemory {
    fn default() -> Self {
        Self {
            ends: Instant::ZERO,
            shortest: u64::MAX,
            over: false,
            contended: false,
            asked: None,
            share: None,
        }
    }
}

/// The rule around an algorithm.
#[derive(Debug)]
pub struct Linked {
    inner: Box<dyn CongestionControl>,
    paths: PerPath<PathMemory>,
}

impl Linked {
    /// Puts the rule around `inner`.
    #[must_use]
    pub fn new(inner: Box<dyn CongestionControl>) -> Self {
        Self { inner, paths: PerPath::default() }
    }

    fn own(&mut self, path: usize) -> &mut PathMemory {
        self.paths.at(path)
    }

    /// Lets the algorithm see and set its own pace, and leaves the lesser one.
    fn ask(
        &mut self,
        paths: &mut [Path],
        path: usize,
        receipt_query: impl FnOnce(&mut dyn CongestionControl, &mut [Path]),
    ) {
        paths[path].pacing = self.own(path).asked;
        receipt_query(&mut *self.inner, paths);
        let own = self.own(path);
        own.asked = paths[path].pacing;
        paths[path].pacing = match (own.asked, own.share) {
            (Some(asked), Some(share)) => Some(asked.min(share)),
            (asked, share) => asked.or(share),
        };
    }
}

impl CongestionControl for Linked {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn on_progress(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let (own, state) = (self.own(path), &mut paths[path]);
        own.shortest = own.shortest.min(state.local.bytes);
        if let (true, Some(rtt)) = (acked.now >= own.ends, state.srtt) {
            let whole = own.ends != Instant::ZERO;
            if let Some(rate) = state.local.rate().filter(|_| whole) {
                let limit = ((rate * TARGET.as_secs_f64()) as u64).max(2 * state.mss);
                let standing = own.shortest.saturating_sub(limit);
                own.over = standing > 0;
                if own.over {
                    state.cwnd = state.cwnd.saturating_sub(standing).max(2 * state.mss);
                    state.ssthresh = state.ssthresh.min(state.cwnd);
                }
            }
            (own.ends, own.shortest) = (acked.now + rtt, u64::MAX);
        }
        self.ask(paths, path, |inner, paths| inner.on_progress(paths, path, acked));
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        if !self.own(path).over {
            self.ask(paths, path, |inner, paths| inner.on_ack(paths, path, acked));
        }
    }

    fn on_departed(&mut self, paths: &mut [Path], path: usize, now: Instant) {
        let own = self.own(path);
        own.shortest = own.shortest.min(paths[path].local.bytes);
        if let Some(contention) = paths[path].local.contention() {
            own.contended = contention > if own.contended { FREE } else { CONTENDED };
        }
        let rates = || paths.iter().filter(|state| state.active).filter_map(|state| state.local.rate());
        let (count, total) = rates().fold((0, 0.0), |(count, total), rate| (count + 1, total + rate));
        let best = rates().fold(0.0, f64::max);
        let contended = self.own(path).contended && count > 1;
        self.own(path).share = paths[path].local.rate().filter(|_| contended).map(|rate| rate * best / total);
        self.ask(paths, path, |inner, paths| inner.on_departed(paths, path, now));
    }

    fn on_loss(&mut self, paths: &mut [Path], path: usize, now: Instant) -> u64 {
        self.inner.on_loss(paths, path, now)
    }

    fn on_mark(&mut self, paths: &mut [Path], path: usize, mark: Mark) -> u64 {
        self.inner.on_mark(paths, path, mark)
    }

    fn on_echo(&mut self, paths: &mut [Path], path: usize, echoed: Echoed) {
        self.inner.on_echo(paths, path, echoed);
    }

    fn needs_marks(&self) -> bool {
        self.inner.needs_marks()
    }

    fn needs_samples(&self) -> bool {
        self.inner.needs_samples()
    }

    fn on_sample(&mut self, paths: &mut [Path], path: usize, sample: &Sample) {
        self.ask(paths, path, |inner, paths| inner.on_sample(paths, path, sample));
    }

    fn on_lost(&mut self, paths: &mut [Path], path: usize, lost: &Lost) {
        self.inner.on_lost(paths, path, lost);
    }

    fn on_restart(&mut self, paths: &mut [Path], path: usize, now: Instant, idle: Duration) {
        self.ask(paths, path, |inner, paths| inner.on_restart(paths, path, now, idle));
    }

    fn on_undo(&mut self, paths: &mut [Path], path: usize, delivered: u64) {
        self.inner.on_undo(paths, path, delivered);
    }

    fn on_timeout(&mut self, paths: &mut [Path], path: usize) {
        self.inner.on_timeout(paths, path);
    }

    fn on_path_change(&mut self, paths: &mut [Path], path: usize) {
        if !paths[path].active {
            *self.own(path) = PathMemory::default();
        }
        self.ask(paths, path, |inner, paths| inner.on_path_change(paths, path));
    }
}
