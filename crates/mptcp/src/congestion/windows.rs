//! The congestion state of a connection: the windows of its paths, the algorithm, and penalisation (M2). M2
//! halves the window of a subflow that delays the others.
//!
//! Owns the calls of the algorithm for acknowledgements, losses, ECN marks and samples, which the subflows
//! report. Never detects a loss or a mark: the subflow does.

use mptcp_clock::{Duration, Instant};

use crate::congestion::bottleneck::Bottlenecks;
use crate::congestion::control::{Acked, CongestionControl};
use crate::congestion::marks::{Echoed, Mark};
use crate::congestion::sample::{Lost, Sample};
use crate::congestion::send_queue::SendQueueRule;
use crate::congestion::slow_start::{Round, SlowStart, SlowStartRound};
use crate::congestion::westwood::Westwood;
use crate::path::{Arrived, Departure, Path, PerPath};

/// Variant of penalisation (M2): the rule of the mptcp.org kernels before or after its change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PenaltyRule {
    /// mptcp.org kernels since 0.89: at most once per RTT of the *fast* subflow, if the slow subflow has the
    /// longer RTT and is not in disorder. Slow start continues.
    Later,
    /// Kernels of 2012 and 2013, used for the paper and its studies. At most once per RTT of the *slow*
    /// subflow, if its rate (window divided by RTT) is lower. ssthresh is set to the new window, which ends
    /// slow start.
    #[default]
    Original,
}

/// Which paths a coupled algorithm couples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CouplingScope {
    /// All paths of the connection (RFC 6356).
    All,
    /// Only paths that may share a bottleneck. Paths whose queueing delays differ are not coupled. A single
    /// path under LIA, OLIA or BALIA behaves like TCP.
    #[default]
    Shared,
}

/// The paths of a connection and their congestion control algorithm.
#[derive(Debug)]
pub struct Congestion {
    /// One entry per subflow slot.
    pub paths: Vec<Path>,
    pub(crate) algorithm: Box<dyn CongestionControl>,
    /// Number of times that the connection sent until nothing more could be sent.
    send_opportunities: u64,
    /// Whether the algorithm needs delivery rate samples.
    pub(crate) sampled: bool,
    needs_progress: bool,
    send_queue_rule: Option<SendQueueRule>,
    byte_counting: bool,
    slow_start: SlowStart,
    /// Round of slow start per path.
    rounds: PerPath<SlowStartRound>,
    penalties: u64,
    /// Whether ECN marks use the factors of RFC 8511.
    pub(crate) abe: bool,
    /// Bottleneck detection; `None` if all paths are coupled.
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
            needs_progress: algorithm.needs_progress(),
            algorithm,
            send_queue_rule: rule,
            byte_counting,
            slow_start,
            rounds: PerPath::default(),
            penalties: 0,
            abe: false,
            bottlenecks: (scope == CouplingScope::Shared).then(Bottlenecks::default),
            westwood: Westwood::default(),
        }
    }

    /// Replaces the algorithm. Keeps the windows and the send-queue rule, and resets the pacing rates.
    pub fn set_algorithm(&mut self, algorithm: Box<dyn CongestionControl>) {
        for path in &mut self.paths {
            (path.pacing, path.quantum, path.held_back) = (None, 0, false);
        }
        self.algorithm = with_rule(self.send_queue_rule, algorithm);
        self.sampled = self.algorithm.needs_samples();
        self.needs_progress = self.algorithm.needs_progress();
    }

    /// Notes that nothing more can be sent now. Later acknowledgements find the windows as full as possible.
    pub(crate) fn on_rest(&mut self) {
        self.send_opportunities += 1;
    }

    pub(crate) fn send_opportunities(&self) -> u64 {
        self.send_opportunities
    }

    /// Name of the algorithm.
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
            self.westwood.end(path);
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
            self.slow_start.on_ack(self.rounds.at(path), state, round);
        }
        if let Some(bottlenecks) = self.bottlenecks.as_mut().filter(|_| self.paths.len() > 1) {
            bottlenecks.on_sample(&self.paths, path, acked.now, acked.bytes);
        }
        if self.needs_progress {
            self.ask(path, |algorithm, paths| algorithm.on_progress(paths, path, acked));
        }
    }

    /// Calls the algorithm with only those paths active that may share a bottleneck with `path`.
    pub(crate) fn ask<T>(
        &mut self,
        path: usize,
        call: impl FnOnce(&mut dyn CongestionControl, &mut [Path]) -> T,
    ) -> T {
        let separate = self.bottlenecks.as_ref().map_or(0, |bottlenecks| bottlenecks.separate_from(path));
        if separate == 0 {
            return call(&mut *self.algorithm, &mut self.paths);
        }
        let mut hidden = 0_u64;
        for at in bits(separate) {
            if let Some(state) = self.paths.get_mut(at) {
                hidden |= u64::from(state.active) << at;
                state.active = false;
            }
        }
        let answer = call(&mut *self.algorithm, &mut self.paths);
        bits(hidden).for_each(|at| self.paths[at].active = true);
        answer
    }

    /// Records delivered bytes, in order or not, and the RTT of the latest of them, if known.
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
        acked.bytes = self.slow_start.countable_bytes(&self.paths[path], acked.bytes);
        self.ask(path, |algorithm, paths| algorithm.on_ack(paths, path, acked));
    }

    /// Reduces `ssthresh` after a congestion event and returns it. The caller sets the window.
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
        self.westwood.end(path);
        self.ask(path, |algorithm, paths| algorithm.on_timeout(paths, path));
    }

    /// Halves the window of a slow subflow: penalisation (M2; Raiciu et al., NSDI 2012, section 4.2). With
    /// `Original`, ssthresh becomes the new window. With `Later`, ssthresh is halved, but not in slow start.
    pub(crate) fn penalise(&mut self, path: usize, rule: PenaltyRule) {
        self.westwood.end(path);
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

    /// Number of penalties.
    pub(crate) fn penalties(&self) -> u64 {
        self.penalties
    }
}

/// Positions of the set bits.
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
    /// Whether the algorithm sets the windows from delivery rate samples.
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

    /// New data is sent after a time of `idle` with nothing in flight.
    pub(crate) fn on_restart(&mut self, path: usize, now: Instant, idle: Duration) {
        self.ask(path, |algorithm, paths| algorithm.on_restart(paths, path, now, idle));
    }

    /// The last reduction was undone.
    pub(crate) fn on_undo(&mut self, path: usize, delivered: u64) {
        self.paths[path].model.losses.on_undo();
        self.ask(path, |algorithm, paths| algorithm.on_undo(paths, path, delivered));
    }
}

impl Congestion {
    /// Sets whether ECN marks use the factors of RFC 8511.
    pub(crate) fn with_abe(mut self, abe: bool) -> Self {
        self.abe = abe;
        self
    }

    /// Whether the algorithm needs ECN with a report of each mark (RFC 8257).
    pub(crate) fn needs_marks(&self) -> bool {
        self.algorithm.needs_marks()
    }

    /// Reduces `ssthresh` after ECN marks. The caller sets the window.
    pub(crate) fn on_mark(&mut self, path: usize, now: Instant) {
        let mark = Mark { now, abe: self.abe };
        let ssthresh = self.ask(path, |algorithm, paths| algorithm.on_mark(paths, path, mark));
        self.westwood.end(path);
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
