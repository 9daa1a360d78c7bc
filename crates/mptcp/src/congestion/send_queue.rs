//! The send-queue rule (Barlow-Bignell, da Silva, Gjengset, Oliha, UCL 2013, section 4.4): a local queue
//! longer than QL = rttvar * cwnd / RTT indicates congestion, and reduces the window.
//!
//! Owns the published rule as a wrapper of any algorithm, so that studies can evaluate it. Never includes
//! improvements: `linked_pacing` has the alternative of this project.

use mptcp_clock::{Duration, Instant};

use crate::congestion::{Acked, CongestionControl, Echoed, Lost, Mark, Path, Sample};
use crate::path::PerPath;

/// Definition of "the send queue". The report's text means packets waiting in this host. The report's
/// measurements use `ss`, which also counts packets in flight (section 4.7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueueDefinition {
    Local,
    Unacked,
}

/// Variants of the rule; each wraps any algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendQueueRule {
    /// The published rule; the queue is the data in the local interface.
    Published,
    /// The published rule; the queue is all unacknowledged data.
    Unacked,
    /// Linked pacing ([`crate::congestion::Linked`]).
    Linked,
}

impl SendQueueRule {
    /// Wraps `inner` with the rule.
    #[must_use]
    pub fn around(self, inner: Box<dyn CongestionControl>) -> Box<dyn CongestionControl> {
        let published =
            |inner, definition| Box::new(Published { inner, definition, paths: PerPath::default() });
        match self {
            Self::Published => published(inner, QueueDefinition::Local),
            Self::Unacked => published(inner, QueueDefinition::Unacked),
            Self::Linked => Box::new(crate::congestion::Linked::new(inner)),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct PathMemory {
    /// `cwnd_i`: the window when the queue was last below the limit.
    latched: u64,
    over: bool,
}

#[derive(Debug)]
struct Published {
    inner: Box<dyn CongestionControl>,
    definition: QueueDefinition,
    paths: PerPath<PathMemory>,
}

impl CongestionControl for Published {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn on_progress(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let (own, state) = (self.paths.at(path), &mut paths[path]);
        let queue = match self.definition {
            QueueDefinition::Local => state.local.bytes,
            QueueDefinition::Unacked => state.unacked,
        };
        // Equation 3.
        let limit = state
            .srtt
            .map(|rtt| state.rttvar.as_secs_f64() * state.cwnd as f64 / rtt.as_secs_f64().max(1e-9));
        own.over = limit.is_some_and(|limit| queue as f64 > limit);
        if own.over {
            // Equation 4. The step grows as the window shrinks: after n acknowledgements, the window is
            // sqrt(cwnd_i^2 - cwnd_i n MSS). Without delayed acknowledgements, one RTT leaves almost nothing.
            let latched = own.latched.max(state.mss) as f64;
            let step = state.mss as f64 / 2.0 * latched / state.cwnd as f64;
            state.grow(-step);
            state.ssthresh = state.ssthresh.min(state.cwnd);
        } else {
            own.latched = state.cwnd;
        }
        self.inner.on_progress(paths, path, acked);
    }

    /// An acknowledgement that reduced the window does not also increase it.
    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        if !self.paths.get(path).is_some_and(|own| own.over) {
            self.inner.on_ack(paths, path, acked);
        }
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
        self.inner.on_sample(paths, path, sample);
    }

    fn on_lost(&mut self, paths: &mut [Path], path: usize, lost: &Lost) {
        self.inner.on_lost(paths, path, lost);
    }

    fn on_restart(&mut self, paths: &mut [Path], path: usize, now: Instant, idle: Duration) {
        self.inner.on_restart(paths, path, now, idle);
    }

    fn on_undo(&mut self, paths: &mut [Path], path: usize, delivered: u64) {
        self.inner.on_undo(paths, path, delivered);
    }

    fn on_timeout(&mut self, paths: &mut [Path], path: usize) {
        self.inner.on_timeout(paths, path);
    }

    fn on_path_change(&mut self, paths: &mut [Path], path: usize) {
        if let Some(own) = self.paths.get_mut(path).filter(|_| !paths[path].active) {
            *own = PathMemory::default();
        }
        self.inner.on_path_change(paths, path);
    }
}
