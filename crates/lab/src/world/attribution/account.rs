//! The account of one subflow: its time by cause, from use of the link to reasons for not using it.
//!
//! Attribution divides the capacity of a path among the causes that used it or left it unused. It adds up the
//! accounts of the subflows of a path, and divides the time of each cause by their total.
//!
//! Owns the totals. A sender reports which limit, such as the congestion window, keeps a subflow from
//! sending. Between two reports, only the network changes. The account therefore settles each interval at its
//! end: it assigns the time to causes. Data counts as offered when the sender passes its frame to the first
//! link.

use mptcp::observe::PathLimit;
use mptcp_clock::{Duration, Instant};
use netsim::Network;

use super::acks::Acks;
use super::cause::Cause;
use super::notes::{Drops, Hold, Note};
use super::reduced::{Circumstances, Reduced};
use super::route::{Route, State};

/// Time for which the window of a path counts as constant, s.
const EPOCH: f64 = 0.5;

/// The current epoch of an account, with an approximately constant window. Times in seconds.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    watched: f64,
    served: f64,
    /// Integral of the propagation delay.
    delay: f64,
    /// Idle time by cause, for causes that end with an acknowledgement.
    idle: [f64; Cause::ALL.len()],
    /// Queueing delays of acknowledgements before the epoch: sum and number.
    acks: (f64, u64),
}

impl Epoch {
    fn new(acks: (f64, u64)) -> Self {
        Self { watched: 0.0, served: 0.0, delay: 0.0, idle: [0.0; Cause::ALL.len()], acks }
    }
}

/// The current round of an account. At the end of a round, the account knows whether a lower rate limited the
/// application. Times in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    watched: f64,
    /// Time attributed to a lower rate.
    lower_rate: f64,
    /// Idle time of the link because the application had nothing to send.
    caught_up: f64,
}

/// Minimum idle fraction of a round in which the link carried all data of the application.
const CAUGHT_UP: f64 = 0.05;

/// The account of one subflow. Times in seconds.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) path: u16,
    pub(super) began: Instant,
    hold: Hold,
    since: Instant,
    /// At `since`: busy time of each hop.
    busy: Vec<Duration>,
    /// Service time of each hop beyond the elapsed time, which counts in later intervals.
    ahead: Vec<f64>,
    state: State,
    /// The latest window reduction, if any.
    reduced: Option<Reduced>,
    /// The latest reduction that was caused by drops, undone or not.
    dropped: Option<Reduced>,
    /// Latest change of the path delay.
    changed: Option<Instant>,
    /// Whether the delay has grown since the latest reduction.
    has_grown: bool,
    /// Drops up to the latest reduction.
    drops: Drops,
    epoch: Epoch,
    round: Round,
    /// Mean queueing delay of acknowledgements, in the latest epoch with arrivals.
    wait: f64,
    /// Service time of each hop.
    pub(super) served: Vec<f64>,
    /// Time attributed to a lower rate of each hop.
    pub(super) slowed: Vec<f64>,
    totals: [f64; Cause::ALL.len()],
    /// Duration of the account.
    pub(super) watched: f64,
    /// Integral of the mean propagation RTT.
    pub(super) delay: f64,
    /// Bytes of data frames that the sender sent.
    pub(super) offered: u64,
    /// Bytes of payload in these frames.
    pub(super) payload: u64,
    /// Bytes dropped before transmission, until the start of the measured time.
    pub(super) unsent_before: u64,
}

impl Account {
    pub(super) fn open(now: Instant, path: u16, route: &Route, network: &mut Network<u32>) -> Self {
        Self {
            path,
            began: now,
            hold: Hold::Sender(PathLimit::Joining),
            since: now,
            busy: route.busy(network),
            ahead: vec![0.0; route.forth.len()],
            served: vec![0.0; route.forth.len()],
            slowed: vec![0.0; route.forth.len()],
            state: route.state(network),
            reduced: None,
            dropped: None,
            changed: None,
            has_grown: false,
            drops: Drops::default(),
            epoch: Epoch::new((0.0, 0)),
            round: Round::default(),
            wait: 0.0,
            totals: [0.0; Cause::ALL.len()],
            watched: 0.0,
            delay: 0.0,
            offered: 0,
            payload: 0,
            unsent_before: 0,
        }
    }

    /// Settles the account up to now. Call it at every report of the sender, and at every change of a link.
    /// `acks` are those of the path.
    pub(super) fn settle(
        &mut self,
        now: Instant,
        route: &Route,
        acks: Option<&Acks>,
        network: &mut Network<u32>,
    ) {
        let (busy, state) = (route.busy(network), route.state(network));
        let span = now.since(self.since).as_secs_f64();
        let mut served = 0.0_f64;
        for (at, (now, then)) in busy.iter().zip(&self.busy).enumerate() {
            // A policer passes a burst with tokens earned earlier. The burst counts as busy time until these
            // tokens would be earned again.
            let due = now.as_secs_f64() - then.as_secs_f64() + self.ahead[at];
            let more = due.min(span);
            self.ahead[at] = due - more;
            self.served[at] += more;
            served = served.max(more);
        }
        if let Some(slowed) = self.state.slowed.and_then(|at| self.slowed.get_mut(at)) {
            *slowed += span * (1.0 - self.state.share);
        }
        self.spend(span, served);
        self.end_round(span);
        self.watched += span;
        self.delay += span * self.state.mean_delay.as_secs_f64();
        self.epoch.watched += span;
        self.epoch.served += served;
        self.epoch.delay += span * self.state.delay.as_secs_f64();
        if let Some(acks) = acks {
            self.wait = acks.mean_since(self.epoch.acks).unwrap_or(self.wait);
            if self.epoch.watched >= EPOCH {
                self.totals = self.totals();
                self.epoch = Epoch::new(acks.sums());
            }
        }
        self.has_grown |= state.delay > self.state.delay;
        if state.delay != self.state.delay {
            self.changed = Some(now);
        }
        (self.since, self.busy, self.state) = (now, busy, state);
    }

    /// Time by cause, s. Idle time that ends with an acknowledgement is partly due to the queueing delay of
    /// acknowledgements: without it, the same window would have taken less time.
    pub(super) fn totals(&self) -> [f64; Cause::ALL.len()] {
        let (epoch, mut totals) = (&self.epoch, self.totals);
        let idle: f64 = epoch.idle.iter().sum();
        if self.wait <= 0.0 || idle <= 0.0 {
            return totals;
        }
        let delay = (epoch.delay / epoch.watched).max(1e-6);
        let part = (epoch.served * self.wait / delay / idle).min(1.0);
        for (total, idle) in totals.iter_mut().zip(epoch.idle) {
            *total -= idle * part;
        }
        totals[Cause::AckQueue as usize] += idle * part;
        totals
    }

    fn spend(&mut self, span: f64, served: f64) {
        let mut add = |cause: Cause, time: f64| self.totals[cause as usize] += time;
        match self.hold {
            Hold::Sender(PathLimit::Joining) if self.state.up => add(Cause::Joining, span),
            // Another subflow may have replaced this one. Time without any subflow of the path is computed at
            // the end.
            Hold::Sender(PathLimit::Idle | PathLimit::Closed) => {}
            Hold::Sender(PathLimit::Application) => {
                // The sender has sent all data. The link serves the part that is still in its queue.
                let share = self.state.share;
                add(Cause::LowerRate, served * (1.0 - share));
                add(Cause::Capacity, served * share);
                add(Cause::Application, span - served);
                self.round.lower_rate += served * (1.0 - share);
                self.round.caught_up += span - served;
            }
            _ if !self.state.up => add(Cause::Down, span),
            hold => {
                let share = self.state.share;
                add(Cause::LowerRate, span * (1.0 - share));
                self.round.lower_rate += span * (1.0 - share);
                add(Cause::Capacity, served * share);
                let idle = Cause::of(hold).unwrap_or(match self.reduced {
                    _ if self.has_grown => Cause::DelayChange,
                    None => Cause::Window,
                    Some(reduced) => reduced.cause,
                });
                add(idle, (span - served) * share);
                if idle.ends_with_an_acknowledgement() {
                    self.epoch.idle[idle as usize] += (span - served) * share;
                }
            }
        }
    }

    /// Ends a round. A lower link rate costs nothing if the link still carried all data of the application.
    /// At its highest rate, the link would only have been idle for longer.
    fn end_round(&mut self, span: f64) {
        self.round.watched += span;
        if self.round.watched < EPOCH {
            return;
        }
        let Round { watched, lower_rate, caught_up } = std::mem::take(&mut self.round);
        if caught_up > CAUGHT_UP * watched {
            self.totals[Cause::LowerRate as usize] -= lower_rate;
            self.totals[Cause::Application as usize] += lower_rate;
        }
    }

    /// Handles a report of the sender. Call [`Self::settle`] first. `drops` counts the drops of the subflow,
    /// and those of acknowledgements on its path.
    pub(super) fn hear(&mut self, note: Note, drops: Drops) {
        match note {
            Note::Limit(hold) => self.hold = hold,
            Note::Reduced { by_timeout } => {
                let circumstances = Circumstances {
                    now: self.since,
                    by_timeout,
                    since: drops.since(self.drops),
                    before: self.dropped,
                    changed: self.changed,
                    has_late_acknowledgements: self.wait > self.state.delay.as_secs_f64(),
                    state: self.state,
                };
                let reduced = Reduced { at: self.since, cause: circumstances.cause() };
                self.reduced = Some(reduced);
                self.dropped = Some(reduced).filter(Reduced::has_drops).or(self.dropped);
                (self.drops, self.has_grown) = (drops, false);
            }
            // With reordering, the next reduction follows soon after an undone one. The window stays small,
            // and reordering is the cause.
            Note::Undone => {
                self.reduced = self.reduced.filter(|_| self.state.reorders).map(Reduced::by_reordering)
            }
        }
    }

    /// [`Cause::PathMtu`] if drops of packets that were too long ended the subflow; otherwise `None`.
    pub(super) fn ended_by(&self) -> Option<Cause> {
        let is_gone = self.hold == Hold::Sender(PathLimit::Closed);
        self.reduced.map(|reduced| reduced.cause).filter(|cause| is_gone && *cause == Cause::PathMtu)
    }

    /// Resets the totals at the end of the warm-up. `acks` are the queueing delays of acknowledgements so far.
    pub(super) fn forget(&mut self, unsent: u64, acks: (f64, u64)) {
        (self.epoch, self.round) = (Epoch::new(acks), Round::default());
        (self.totals, self.delay, self.watched) = ([0.0; Cause::ALL.len()], 0.0, 0.0);
        self.served.fill(0.0);
        self.slowed.fill(0.0);
        (self.offered, self.payload, self.unsent_before) = (0, 0, unsent);
    }
}
