//! Linked pacing: a wrapper of any congestion control algorithm. It limits all paths together to one share of
//! their wireless media, as this project's alternative to the send-queue rule (`send_queue`).
//!
//! A wireless station gets its turns on the medium whether its queue is long or short. A window or queue
//! limit therefore does not reduce its share of a network. Coupled congestion control aims at one share over
//! all paths (RFC 6356 section 2, goal 2), which needs a rate limit. The driver reports two times that
//! determine this limit: the time of a frame at the head of the queue, and the same time on an idle medium.
//!
//! - A local queue above [`TARGET`] during a complete RTT is excess window: the excess is removed, and the
//!   window does not grow for one RTT. Bursts are allowed.
//! - On a contended medium, a path is paced at its part of one station's share. The pacing rate is the path's
//!   rate multiplied by the best rate, divided by the sum of the rates. An idle medium is fully used.
//!
//! Owns the pacing rates of all paths. Never changes the decisions of the wrapped algorithm.

use mptcp_clock::{Duration, Instant};

use crate::congestion::{Acked, CongestionControl, Echoed, Lost, Mark, Path, Sample};
use crate::path::PerPath;

/// Allowed standing delay of the local queue; RFC 8289 section 4.2 justifies the value.
const TARGET: Duration = Duration::from_millis(5);
/// Ratio of the service time to that on an idle medium above which the medium counts as contended. The flow's
/// own acknowledgements cause a smaller ratio, one other busy station a ratio of 2.
const CONTENDED: f64 = 1.6;
/// Ratio below which the medium counts as free again.
const FREE: f64 = 1.35;

#[derive(Clone, Copy, Debug)]
struct PathMemory {
    /// End of the present RTT, in which the queue is measured.
    ends: Instant,
    /// Minimum of the local queue in that RTT, bytes.
    min_queue: u64,
    /// Whether the queue was standing in the previous RTT.
    over: bool,
    contended: bool,
    /// Pacing rate of the algorithm, and the share of the medium, bytes per second. The smaller applies;
    /// `None` is no limit.
    requested: Option<f64>,
    share: Option<f64>,
}

impl Default for PathMemory {
    fn default() -> Self {
        Self {
            ends: Instant::ZERO,
            min_queue: u64::MAX,
            over: false,
            contended: false,
            requested: None,
            share: None,
        }
    }
}

/// Linked pacing around an algorithm.
#[derive(Debug)]
pub struct Linked {
    inner: Box<dyn CongestionControl>,
    paths: PerPath<PathMemory>,
}

impl Linked {
    /// Wraps `inner` with linked pacing.
    #[must_use]
    pub fn new(inner: Box<dyn CongestionControl>) -> Self {
        Self { inner, paths: PerPath::default() }
    }

    fn own(&mut self, path: usize) -> &mut PathMemory {
        self.paths.at(path)
    }

    /// Calls the algorithm with its own pacing rate, then applies the smaller of both rates.
    fn with_own_pacing(
        &mut self,
        paths: &mut [Path],
        path: usize,
        call: impl FnOnce(&mut dyn CongestionControl, &mut [Path]),
    ) {
        paths[path].pacing = self.own(path).requested;
        call(&mut *self.inner, paths);
        let own = self.own(path);
        own.requested = paths[path].pacing;
        paths[path].pacing = match (own.requested, own.share) {
            (Some(requested), Some(share)) => Some(requested.min(share)),
            (requested, share) => requested.or(share),
        };
    }
}

impl CongestionControl for Linked {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn on_progress(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let (own, state) = (self.own(path), &mut paths[path]);
        own.min_queue = own.min_queue.min(state.local.bytes);
        if let (true, Some(rtt)) = (acked.now >= own.ends, state.srtt) {
            let is_complete = own.ends != Instant::ZERO;
            if let Some(rate) = state.local.rate().filter(|_| is_complete) {
                let limit = ((rate * TARGET.as_secs_f64()) as u64).max(2 * state.mss);
                let standing = own.min_queue.saturating_sub(limit);
                own.over = standing > 0;
                if own.over {
                    state.cwnd = state.cwnd.saturating_sub(standing).max(2 * state.mss);
                    state.ssthresh = state.ssthresh.min(state.cwnd);
                }
            }
            (own.ends, own.min_queue) = (acked.now + rtt, u64::MAX);
        }
        self.with_own_pacing(paths, path, |inner, paths| inner.on_progress(paths, path, acked));
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        if !self.own(path).over {
            self.with_own_pacing(paths, path, |inner, paths| inner.on_ack(paths, path, acked));
        }
    }

    fn on_departed(&mut self, paths: &mut [Path], path: usize, now: Instant) {
        let own = self.own(path);
        own.min_queue = own.min_queue.min(paths[path].local.bytes);
        if let Some(contention) = paths[path].local.contention() {
            own.contended = contention > if own.contended { FREE } else { CONTENDED };
        }
        let rates = || paths.iter().filter(|state| state.active).filter_map(|state| state.local.rate());
        let (count, total) = rates().fold((0, 0.0), |(count, total), rate| (count + 1, total + rate));
        let best = rates().fold(0.0, f64::max);
        let contended = self.own(path).contended && count > 1;
        self.own(path).share = paths[path].local.rate().filter(|_| contended).map(|rate| rate * best / total);
        self.with_own_pacing(paths, path, |inner, paths| inner.on_departed(paths, path, now));
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
        self.with_own_pacing(paths, path, |inner, paths| inner.on_sample(paths, path, sample));
    }

    fn on_lost(&mut self, paths: &mut [Path], path: usize, lost: &Lost) {
        self.inner.on_lost(paths, path, lost);
    }

    fn on_restart(&mut self, paths: &mut [Path], path: usize, now: Instant, idle: Duration) {
        self.with_own_pacing(paths, path, |inner, paths| inner.on_restart(paths, path, now, idle));
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
        self.with_own_pacing(paths, path, |inner, paths| inner.on_path_change(paths, path));
    }
}
