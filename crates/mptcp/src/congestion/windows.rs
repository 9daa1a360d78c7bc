//! The windows of a connection's paths, the algorithm over them, and the penalty of M2.
//!
//! Samples of the delivery rate, losses one by one and new beginnings, for the windows of a connection.
//!
//! Owns the way to the algorithm, as `windows` does for acknowledgements. What is measured is the subflow's affair.
//!
//! Marks, for the windows of a connection (RFC 3168).
//!
//! Owns the way to the algorithm, as `windows` does for losses. When a mark counts is the subflow's affair.

use mptcp_clock::{Duration, Instant};

use crate::congestion::bottleneck::Bottlenecks;
use crate::congestion::control::{Acked, CongestionControl};
use crate::congestion::marks::{Echoed, Mark};
use crate::congestion::sample::{Lost, Sample};
use crate::congestion::send_queue::SendQueueRule;
use crate::congestion::slow_start::{Round, SlowStart, SlowStartRound};
use crate::congestion::westwood::Westwood;
use crate::path::{Arrived, Departure, Path, PerPath};

/// How M2 penalises. The rule changed between the kernel of the paper and later ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PenaltyRule {
    /// The mptcp.org kernel since 0.89: once in a round trip of the *fast* subflow, when the slow one
    /// has the longer round-trip time and is not in disorder. Slow start is not left.
    Later,
    /// The kernels of 2012 and 2013, with which the paper and the studies were run: once in a round
    /// trip of the *slow* subflow, when its rate (window over round-trip time) is the lower one. The
    /// threshold falls to the new window, so slow start ends.
    #[default]
    Original,
}

/// Which paths a coupled algorithm sees as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CouplingScope {
    /// All paths of the connection, as RFC 6356 has it.
    All,
    /// Those that may share a bottleneck: paths whose queues are not one, by their delays, are left out of each other's
    /// sums. Alone, a path under LIA, OLIA or BALIA is TCP.
    #[default]
    Shared,
}

/// The windows of a connection's paths and the algorithm over them.
#[derive(Debug)]
pub struct Congestion {
    /// One entry for each place of a subflow, in their order.
    pub paths: Vec<Path>,
    pub(crate) algorithm: Box<dyn CongestionControl>,
    /// How often the windows had their chance to be filled.
    send_opportunities: u64,
    /// The algorithm works by samples of the delivery rate.
    pub(crate) sampled: bool,
    hears_progress: bool,
    send_queue_rule: Option<SendQueueRule>,
    byte_counting: bool,
    slow_start: SlowStart,
    /// The rounds of each path, in the order of `paths`.
    rounds: PerPath<SlowStartRound>,
    penalties: u64,
    /// Marks get the factors of RFC 8511.
    pub(crate) gentle_marks: bool,
    /// What is known of bottlenecks; None where all paths count as one group.
    bottlenecks: Option<Bottlenecks>,
    pub(crate) westwood: Westwood,
}

impl Congestion {
    pub(crate) fn new(
        algorithm: Box<dyn CongestionControl>,
        rule: Option<SendQueueRule>,
        byte_counting: bool,
        scope: CouplingScope,
        slow_start: SlowStart,
    ) -> Self {
        let algorithm = with_rule(rule, algorithm);
        Self {
            paths: Vec::new(),
            send_opportunities: 0,
            sampled: algorithm.needs_samples(),
            hears_progress: algorithm.hears_progress(),
            algorithm,
            send_queue_rule: rule,
            byte_counting,
            slow_start,
            rounds: PerPath::default(),
            penalties: 0,
            gentle_marks: false,
            bottlenecks: (scope == CouplingScope::Shared).then(Bottlenecks::default),
            westwood: Westwood::default(),
        }
    }

    /// Replaces the algorithm, keeping the windows and a send-queue rule; a pace that the old one asked for ends with it.
    pub fn set_algorithm(&mut self, algorithm: Box<dyn CongestionControl>) {
        for path in &mut self.paths {
            (path.pacing, path.quantum, path.held_back) = (None, 0, false);
        }
        self.algorithm = with_rule(self.send_queue_rule, algorithm);
        self.sampled = self.algorithm.needs_samples();
        self.hears_progress = self.algorithm.hears_progress();
    }

    /// Nothing more is sent now: acknowledgements that come from here on find the windows as full as they get.
    pub(crate) fn on_rest(&mut self) {
        self.send_opportunities += 1;
    }

    pub(crate) fn send_opportunities(&self) -> u64 {
        self.send_opportunities
    }

    /// The algorithm's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    /// Adds a path with an initial window of `segments` segments; returns its index.
    pub(crate) fn add_path(&mut self, mss: u64, segments: u32) -> usize {
        self.paths.push(Path::new(mss, segments));
        self.paths.len() - 1
    }

    pub(crate) fn set_active(&mut self, path: usize, active: bool) {
        if self.paths[path].active != active {
            self.paths[path].active = active;
            *self.rounds.at(path) = SlowStartRound::default();
            if let Some(bottlenecks) = &mut self.bottlenecks {
                bottlenecks.forget(path);
            }
            self.westwood.forget(path);
            self.algorithm.on_path_change(&mut self.paths, path);
        }
    }

    pub(crate) fn on_departed(&mut self, path: usize, now: Instant, departure: Departure) {
        let state = &mut self.paths[path];
        state.local.leave(departure, state.mss);
        self.algorithm.on_departed(&mut self.paths, path, now);
    }

    pub(crate) fn on_progress(&mut self, path: usize, acked: Acked, round: Round) {
        let state = &mut self.paths[path];
        if !matches!(self.slow_start, SlowStart::Standard) && state.in_slow_start() {
            self.slow_start.watch(self.rounds.at(path), state, round);
        }
        if let Some(bottlenecks) = self.bottlenecks.as_mut().filter(|_| self.paths.len() > 1) {
            bottlenecks.on_sample(&self.paths, path, acked.now, acked.bytes);
        }
        if self.hears_progress {
            self.ask(path, |algorithm, paths| algorithm.on_progress(paths, path, acked));
        }
    }

    /// Lets the algorithm see the paths that may share a bottleneck with `path` as active, and no others.
    pub(crate) fn ask<T>(
        &mut self,
        path: usize,
        receipt_query: impl FnOnce(&mut dyn CongestionControl, &mut [Path]) -> T,
    ) -> T {
        let separate = self.bottlenecks.as_ref().map_or(0, |bottlenecks| bottlenecks.separate_from(path));
        if separate == 0 {
            return receipt_query(&mut *self.algorithm, &mut self.paths);
        }
        let mut hidden = 0_u64;
        for at in bits(separate) {
            if let Some(state) = self.paths.get_mut(at) {
                hidden |= u64::from(state.active) << at;
                state.active = false;
            }
        }
        let answer = receipt_query(&mut *self.algorithm, &mut self.paths);
        bits(hidden).for_each(|at| self.paths[at].active = true);
        answer
    }

    /// Bytes have arrived, in order or not; the latest of them took `rtt`, if that is known.
    pub(crate) fn on_delivered(&mut self, path: usize, now: Instant, arrived: Arrived) {
        let (bytes, rtt) = (arrived.bytes, arrived.rtt);
        let state = &mut self.paths[path];
        let (min_rtt, srtt) = (state.min_rtt, state.srtt);
        if let Some(rtt) = rtt {
            state.model.standing.on_sample(now, rtt, srtt.unwrap_or(rtt));
        }
        state.model.delivery.on_delivered(now, &Arrived { min_rtt, srtt, ..arrived });
        state.model.losses.on_delivered(bytes);
        self.westwood.raise(path, state, now);
    }

    pub(crate) fn on_ack(&mut self, path: usize, mut acked: Acked) {
        if let Some(bottlenecks) = self.bottlenecks.as_mut().filter(|_| self.paths.len() > 1) {
            bottlenecks.on_full(&self.paths, path, acked.now);
        }
        if !self.byte_counting {
            // RFC 5681 equation 2: at most one segment's worth for each acknowledgement.
            acked.bytes = acked.bytes.min(self.paths[path].mss);
        }
        acked.bytes = self.slow_start.counted(&self.paths[path], acked.bytes);
        self.ask(path, |algorithm, paths| algorithm.on_ack(paths, path, acked));
    }

    /// Lowers `ssthresh` for a congestion event and returns it; the caller moves the window.
    pub(crate) fn on_loss(&mut self, path: usize, now: Instant) -> u64 {
        if let Some(bottlenecks) = &mut self.bottlenecks {
            bottlenecks.on_loss(path);
        }
        let ssthresh = self.ask(path, |algorithm, paths| algorithm.on_loss(paths, path, now));
        if self.paths[path].ssthresh == u64::MAX && self.bottlenecks.is_some() && self.paths.len() > 1 {
            self.westwood.begin(path, &self.paths[path], now);
        }
        let state = &mut self.paths[path];
        let random = !state.model.standing.may_be_full(state.in_slow_start());
        state.model.losses.on_loss(now, random);
        state.ssthresh = ssthresh;
        state.credit = 0.0;
        ssthresh
    }

    pub(crate) fn on_timeout(&mut self, path: usize) {
        self.westwood.forget(path);
        self.ask(path, |algorithm, paths| algorithm.on_timeout(paths, path));
    }

    /// Mechanism M2, penalising a slow subflow (Raiciu et al., NSDI 2012, section 4.2): halves the
    /// window. The threshold follows the window, or is halved where slow start is over already.
    pub(crate) fn penalise(&mut self, path: usize, rule: PenaltyRule) {
        self.westwood.forget(path);
        let state = &mut self.paths[path];
        let halved = (state.cwnd / 2).max(state.mss);
        match rule {
            PenaltyRule::Original => state.ssthresh = halved.max(2 * state.mss),
            PenaltyRule::Later if state.cwnd >= state.ssthresh => {
                state.ssthresh = (state.ssthresh / 2).max(2 * state.mss);
            }
            PenaltyRule::Later => {}
        }
        state.cwnd = halved;
        self.penalties += 1;
    }

    /// How often M2 has penalised a path.
    pub(crate) fn penalties(&self) -> u64 {
        self.penalties
    }
}

/// The places of the bits that are set.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(at)
    })
}

fn with_rule(
    rule: Option<SendQueueRule>,
    algorithm: Box<dyn CongestionControl>,
) -> Box<dyn CongestionControl> {
    match rule {
        Some(rule) => rule.around(algorithm),
        None => algorithm,
    }
}

impl Congestion {
    /// Whether the controller works by samples: the windows are its own then.
    #[inline]
    pub(crate) fn needs_samples(&self) -> bool {
        self.sampled
    }

    pub(crate) fn on_sample(&mut self, path: usize, sample: &Sample) {
        self.ask(path, |algorithm, paths| algorithm.on_sample(paths, path, sample));
    }

    pub(crate) fn on_lost(&mut self, path: usize, lost: &Lost) {
        self.ask(path, |algorithm, paths| algorithm.on_lost(paths, path, lost));
    }

    /// New data leaves where nothing was under way.
    pub(crate) fn on_restart(&mut self, path: usize, now: Instant, idle: Duration) {
        self.ask(path, |algorithm, paths| algorithm.on_restart(paths, path, now, idle));
    }

    /// The last reduction was taken back.
    pub(crate) fn on_undo(&mut self, path: usize, delivered: u64) {
        self.paths[path].model.losses.on_undo();
        self.ask(path, |algorithm, paths| algorithm.on_undo(paths, path, delivered));
    }
}

impl Congestion {
    /// Whether marks get the factors of RFC 8511.
    pub(crate) fn with_gentle_marks(mut self, gentle: bool) -> Self {
        self.gentle_marks = gentle;
        self
    }

    /// Whether the controller works by marks: they are asked for then, and told one by one (RFC 8257).
    pub(crate) fn needs_marks(&self) -> bool {
        self.algorithm.needs_marks()
    }

    /// Lowers `ssthresh` because of marks; the caller moves the window.
    pub(crate) fn on_mark(&mut self, path: usize, now: Instant) {
        let mark = Mark { now, gentle: self.gentle_marks };
        let ssthresh = self.ask(path, |algorithm, paths| algorithm.on_mark(paths, path, mark));
        self.westwood.forget(path);
        let state = &mut self.paths[path];
        state.ssthresh = ssthresh;
        state.credit = 0.0;
    }

    pub(crate) fn on_echo(&mut self, path: usize, echoed: Echoed) {
        self.ask(path, |algorithm, paths| algorithm.on_echo(paths, path, echoed));
    }
}

#[cfg(test)]
mod tests;
