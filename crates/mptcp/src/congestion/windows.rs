//! The windows of a connection's paths, the algorithm over them, and the penalty of M2.

use mptcp_clock::{Duration, Instant};

use super::beside::Beside;
use super::bottleneck::Bottlenecks;
use super::control::{Acked, CongestionControl, PathState};
use super::delivery::Arrived;
use super::demand::Demand;
use super::goal::Goal;
use super::local::Departure;
use super::losses::USUAL;
use super::overshoot::{Found, Overshoot};
use super::send_queue::SendQueueRule;
use super::slow_start::{Round, SlowStart, Watch};

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
    pub paths: Vec<PathState>,
    pub(super) algorithm: Box<dyn CongestionControl>,
    /// How often the windows had their chance to be filled.
    polls: u64,
    demand: Demand,
    /// The algorithm works by samples of the delivery rate.
    pub(super) sampled: bool,
    hears_progress: bool,
    send_queue_rule: Option<SendQueueRule>,
    byte_counting: bool,
    slow_start: SlowStart,
    /// The rounds of each path, in the order of `paths`.
    rounds: Vec<Watch>,
    penalties: u64,
    /// Marks get the factors of RFC 8511.
    pub(super) gentle_marks: bool,
    /// What is known of bottlenecks; None where all paths count as one group.
    bottlenecks: Option<Bottlenecks>,
    pub(super) overshoot: Overshoot,
    beside: Beside,
    /// Where the algorithm has one, and bottlenecks are told apart.
    pub(super) goal: Option<Goal>,
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
            polls: 0,
            demand: Demand::default(),
            sampled: algorithm.needs_samples(),
            hears_progress: algorithm.hears_progress(),
            goal: goal_of(&*algorithm, scope),
            algorithm,
            send_queue_rule: rule,
            byte_counting,
            slow_start,
            rounds: Vec::new(),
            penalties: 0,
            gentle_marks: false,
            bottlenecks: (scope == CouplingScope::Shared).then(Bottlenecks::default),
            overshoot: Overshoot::default(),
            beside: Beside::default(),
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
        let scope = if self.bottlenecks.is_some() { CouplingScope::Shared } else { CouplingScope::All };
        self.goal = goal_of(&*self.algorithm, scope);
    }

    /// Nothing more is sent now: acknowledgements that come from here on find the windows as full as they get. `streams` where an
    /// application writes as it goes, and not as much as there is room for.
    pub(crate) fn on_rest(&mut self, streams: bool) {
        self.polls += 1;
        self.demand.streams = streams;
    }

    pub(crate) fn polls(&self) -> u64 {
        self.polls
    }

    /// The algorithm's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    /// Adds a path with an initial window of `segments` segments; returns its index.
    pub(crate) fn add_path(&mut self, mss: u64, segments: u32) -> usize {
        self.paths.push(PathState::new(mss, segments));
        self.rounds.push(Watch::default());
        self.paths.len() - 1
    }

    pub(crate) fn set_active(&mut self, path: usize, active: bool) {
        if self.paths[path].active != active {
            self.paths[path].active = active;
            self.rounds[path] = Watch::default();
            if let Some(bottlenecks) = &mut self.bottlenecks {
                bottlenecks.forget(path);
            }
            self.overshoot.forget(path);
            self.beside.forget(path);
            if let Some(goal) = &mut self.goal {
                goal.forget(path);
            }
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
        if self.slow_start != SlowStart::Standard && state.in_slow_start() {
            self.slow_start.watch(&mut self.rounds[path], state, round);
        }
        if let Some(bottlenecks) = self.bottlenecks.as_mut().filter(|_| self.paths.len() > 1) {
            bottlenecks.on_sample(&self.paths, path, acked.now, acked.bytes);
            if let Some(goal) = &mut self.goal {
                goal.on_sample(path, &self.paths[path], acked.now);
            }
        }
        if self.hears_progress {
            self.ask(path, |algorithm, paths| algorithm.on_progress(paths, path, acked));
        }
    }

    /// Lets the algorithm see the paths that may share a bottleneck with `path` as active, and no others.
    pub(super) fn ask<T>(
        &mut self,
        path: usize,
        question: impl FnOnce(&mut dyn CongestionControl, &mut [PathState]) -> T,
    ) -> T {
        let apart = self.bottlenecks.as_ref().map_or(0, |bottlenecks| bottlenecks.apart_from(path));
        self.ask_without(apart, question)
    }

    /// Lets the algorithm see the paths of `apart`, one bit each, as inactive.
    fn ask_without<T>(
        &mut self,
        apart: u64,
        question: impl FnOnce(&mut dyn CongestionControl, &mut [PathState]) -> T,
    ) -> T {
        if apart == 0 {
            return question(&mut *self.algorithm, &mut self.paths);
        }
        let mut hidden = 0_u64;
        for at in bits(apart) {
            if let Some(state) = self.paths.get_mut(at) {
                hidden |= u64::from(state.active) << at;
                state.active = false;
            }
        }
        let answer = question(&mut *self.algorithm, &mut self.paths);
        bits(hidden).for_each(|at| self.paths[at].active = true);
        answer
    }

    /// Bytes have arrived, in order or not; the latest of them took `rtt`, if that is known.
    pub(crate) fn on_delivered(&mut self, path: usize, now: Instant, bytes: u64, rtt: Option<Duration>) {
        let state = &mut self.paths[path];
        let (min_rtt, srtt) = (state.min_rtt, state.srtt);
        state.delivery.on_delivered(now, &Arrived { bytes, rtt, min_rtt, srtt });
        state.losses.on_delivered(bytes);
        self.demand.on_delivered(now, bytes);
        self.overshoot.raise(path, state, now);
    }

    pub(crate) fn on_ack(&mut self, path: usize, mut acked: Acked) {
        if let Some(bottlenecks) = self.bottlenecks.as_mut().filter(|_| self.paths.len() > 1) {
            bottlenecks.on_full(&self.paths, path, acked.now);
        }
        let first = self.paths[path].ssthresh == u64::MAX && self.paths.len() > 1;
        if first && self.bottlenecks.is_some() && self.beside.waits(&mut self.paths, path, acked.now) {
            return;
        }
        if !self.byte_counting {
            // RFC 5681 equation 2: at most one segment's worth for each acknowledgement.
            acked.bytes = acked.bytes.min(self.paths[path].mss);
        }
        acked.bytes = self.slow_start.counted(&self.paths[path], acked.bytes);
        if self.bottlenecks.is_some() && self.demand.is_carried_by(&self.paths[path]) {
            let own = 1_u64.checked_shl(path as u32).unwrap_or(0);
            let others = u64::MAX.checked_shr(64 - self.paths.len().min(64) as u32).unwrap_or(0) & !own;
            return self.ask_without(others, |algorithm, paths| algorithm.on_ack(paths, path, acked));
        }
        if self.goal.as_ref().is_some_and(Goal::is_missed) && !self.paths[path].in_slow_start() {
            return self.on_ack_beyond(path, acked);
        }
        self.ask(path, |algorithm, paths| algorithm.on_ack(paths, path, acked));
    }

    /// The same where coupled windows may miss RFC 6356's first goal.
    #[cold]
    fn on_ack_beyond(&mut self, path: usize, mut acked: Acked) {
        let mut goal = self.goal.take();
        self.ask(path, |algorithm, paths| {
            acked.bytes += goal.as_mut().map_or(0, |goal| goal.more(paths, acked.bytes));
            algorithm.on_ack(paths, path, acked);
        });
        self.goal = goal;
    }

    /// Lowers `ssthresh` for a congestion event and returns it; the caller moves the window.
    pub(crate) fn on_loss(&mut self, path: usize, now: Instant) -> u64 {
        if let Some(bottlenecks) = &mut self.bottlenecks {
            bottlenecks.on_loss(path);
        }
        if let Some(goal) = &mut self.goal {
            goal.on_loss(path, &self.paths[path]);
        }
        let full = self.bottlenecks.as_ref().is_none_or(|known| !known.is_unused(&self.paths, path, now));
        let mut ssthresh = self.ask(path, |algorithm, paths| algorithm.on_loss(paths, path, now));
        if self.paths[path].ssthresh == u64::MAX && self.bottlenecks.is_some() && self.paths.len() > 1 {
            let found = Found { ssthresh, streams: self.demand.streams };
            ssthresh = self.overshoot.begin(path, &self.paths[path], now, found);
        }
        let state = &mut self.paths[path];
        state.losses.on_loss(now, (!full).then_some(USUAL * state.mss));
        state.ssthresh = ssthresh;
        state.credit = 0.0;
        ssthresh
    }

    pub(crate) fn on_timeout(&mut self, path: usize) {
        self.overshoot.forget(path);
        self.ask(path, |algorithm, paths| algorithm.on_timeout(paths, path));
    }

    /// Mechanism M2, penalising a slow subflow (Raiciu et al., NSDI 2012, section 4.2): halves the
    /// window. The threshold follows the window, or is halved where slow start is over already.
    pub(crate) fn penalise(&mut self, path: usize, rule: PenaltyRule) {
        self.overshoot.forget(path);
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

fn goal_of(algorithm: &dyn CongestionControl, scope: CouplingScope) -> Option<Goal> {
    (scope == CouplingScope::Shared && algorithm.has_goal()).then(Goal::default)
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

#[cfg(test)]
mod tests;
