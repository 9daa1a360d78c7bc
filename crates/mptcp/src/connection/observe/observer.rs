//! What a connection that is observed remembers, to tell what has changed.
//!
//! Owns the observer, what it was told last of each subflow, and the clocks of what holds paths back. Looks at nothing itself.

use std::sync::Arc;

use mptcp_clock::{Duration, Instant};

use crate::congestion::Path;
use crate::connection::handshake::negotiation::Mode;
use crate::connection::observe::limits::Limit;
use crate::event::CloseReason;
use crate::ids::{ConnectionId, SubflowId};
use crate::observe::{
    Event, Observer, PathClock, PathLimit, PathReasons, Place, Record, Wanted, WindowChange,
};
use crate::subflow::sender::Recovery;
use crate::subflow::{State, Subflow};

/// Subflows that lost their place and are remembered.
const MAX_REMEMBERED: usize = 128;

/// What was told last of a subflow.
#[derive(Clone, Debug)]
pub(crate) struct SubflowSnapshot {
    place: Place,
    state: State,
    cwnd: u64,
    ssthresh: u64,
    samples: u64,
    marked: u64,
    recoveries: u64,
    timeouts: u64,
    undone: u64,
    reductions: u64,
    reinjected: u64,
    /// What M2 made smaller, and losses since.
    penalised: Option<PenaltyRecord>,
    /// The last reduction followed a loss that came without a queue.
    clock: PathClock,
    blamed: Duration,
}

impl SubflowSnapshot {
    fn first(now: Instant, place: Place, subflow: &Subflow, path: &Path) -> Self {
        Self {
            place,
            state: subflow.state(),
            cwnd: 0,
            ssthresh: path.ssthresh,
            samples: 0,
            marked: 0,
            recoveries: 0,
            timeouts: 0,
            undone: 0,
            reductions: 0,
            reinjected: 0,
            penalised: None,
            clock: PathClock::new(now),
            blamed: Duration::ZERO,
        }
    }
}

/// Bytes sent: of the whole stream, and reinjected on one subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SentCounters {
    /// Stream bytes that were sent for the first time.
    pub new: u64,
    /// Bytes that M1 reinjected because they were late or blocked a window.
    pub opportunistic: u64,
    /// Bytes that M1 reinjected before they were late.
    pub speculative: u64,
    /// Bytes reinjected on the subflow.
    pub reinjected: u64,
}

/// A window that M2 halved and that has not grown back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PenaltyRecord {
    /// What it was before the first halving.
    window: u64,
    /// What losses since have left of it: a factor.
    by_loss: f64,
}

impl PenaltyRecord {
    /// M2 halved a window of `before`, once more perhaps.
    pub(crate) fn again(earlier: Option<Self>, before: u64) -> Self {
        let Self { window, by_loss } = earlier.unwrap_or(Self { window: before, by_loss: 1.0 });
        Self { window: window.max(before), by_loss }
    }

    /// A loss made a window of `from` into one of `to`: what is left of this, if M2 has more of the whole than losses have.
    pub(crate) fn after_loss(self, from: u64, to: u64) -> Option<Self> {
        let by_loss = self.by_loss * (to as f64 / from.max(1) as f64).min(1.0);
        let whole = to as f64 / self.window.max(1) as f64;
        (by_loss * by_loss > whole).then_some(Self { by_loss, ..self })
    }

    /// Whether a window is what it was.
    pub(crate) fn has_recovered(self, cwnd: u64) -> bool {
        cwnd >= self.window
    }
}

/// Why nothing more is sent, since when, who is to blame, and whether another subflow waits for that one.
#[derive(Clone, Copy, Debug)]
struct BlockedState {
    limit: Limit,
    since: Instant,
    blame: Option<SubflowId>,
    waits: bool,
}

/// See the top of the file.
#[derive(Debug)]
pub(crate) struct ObserverState {
    observer: Arc<dyn Observer>,
    wanted: Wanted,
    connection: ConnectionId,
    /// By place.
    subflows: Vec<SubflowSnapshot>,
    /// Those that lost their place.
    past: Vec<PathReasons>,
    mode: Mode,
    /// Multipath TCP was given up, and not merely never offered.
    fell_back: bool,
    closed: Option<CloseReason>,
    /// Counters of sent data as of the last event.
    sent: SentCounters,
    blocked: BlockedState,
}

impl ObserverState {
    pub(crate) fn new(
        now: Instant,
        connection: ConnectionId,
        observer: Arc<dyn Observer>,
        wanted: Wanted,
    ) -> Self {
        Self {
            observer,
            wanted,
            connection,
            subflows: Vec::new(),
            past: Vec::new(),
            mode: Mode::Negotiating,
            fell_back: false,
            closed: None,
            sent: SentCounters::default(),
            blocked: BlockedState { limit: Limit::Idle, since: now, blame: None, waits: false },
        }
    }

    /// Tells of what happened to a subflow.
    pub(crate) fn tell(&self, at: Instant, place: Place, event: Event, other: Option<Place>) {
        self.emit(at, place, false, event, other);
    }

    /// Tells of what happened to the connection.
    pub(crate) fn tell_of_all(&self, at: Instant, event: Event, other: Option<Place>) {
        if let Some(first) = self.subflows.first() {
            self.emit(at, first.place, true, event, other);
        }
    }

    /// Takes the first snapshot of the subflow in a slot; a subflow that had the slot before is past.
    fn begin(&mut self, now: Instant, slot: usize, subflow: &Subflow, path: &Path) {
        let place = place_of(subflow);
        match self.subflows.get(slot) {
            None => self.subflows.push(SubflowSnapshot::first(now, place, subflow, path)),
            Some(known) if known.place.subflow != place.subflow => {
                self.replace(now, slot, SubflowSnapshot::first(now, place, subflow, path));
            }
            Some(_) => return,
        }
        self.tell(now, place, Event::Subflow { state: subflow.state() }, None);
    }

    /// Reports the changes of one subflow since its last snapshot, and takes a new one.
    pub(crate) fn update_subflow(&mut self, now: Instant, slot: usize, subflow: &Subflow, path: &Path) {
        self.begin(now, slot, subflow, path);
        let sender = subflow.sender();
        let (board, in_flight) = (&sender.board, sender.in_flight());
        let seen = &mut self.subflows[slot];
        let before = seen.clone();
        seen.state = subflow.state();
        (seen.cwnd, seen.ssthresh) = (path.cwnd, path.ssthresh);
        (seen.samples, seen.marked) = (path.samples, board.marked);
        (seen.recoveries, seen.timeouts) = (sender.recoveries, sender.timeouts);
        (seen.undone, seen.reductions) = (sender.spurious.undone, sender.marks.reductions);
        let (timed_out, found) = (sender.timeouts > before.timeouts, sender.recoveries > before.recoveries);
        if found || timed_out {
            seen.penalised = seen.penalised.and_then(|cut| cut.after_loss(before.cwnd, path.ssthresh));
        }
        // While losses are repaired, the window is what lets them be, and no measure.
        seen.penalised =
            seen.penalised.filter(|cut| sender.state != Recovery::Open || !cut.has_recovered(path.cwnd));
        let place = before.place;
        if subflow.state() != before.state {
            self.tell(now, place, Event::Subflow { state: subflow.state() }, None);
        }
        if path.samples > before.samples {
            let (latest, srtt) = (path.latest_rtt.unwrap_or_default(), path.srtt.unwrap_or_default());
            self.tell(now, place, Event::RoundTrip { latest, srtt, rttvar: path.rttvar }, None);
        }
        if timed_out {
            let (rto, consecutive) = (sender.timeout.after(path), sender.timeout.consecutive());
            self.tell(now, place, Event::Timeout { rto, consecutive, in_flight }, None);
        }
        if board.marked > before.marked {
            let (seq, bytes) = (board.last_marked, board.marked - before.marked);
            let event = Event::Loss { by: sender.detection(timed_out), seq, bytes, in_flight };
            self.tell(now, place, event, None);
        }
        let undone = sender.spurious.undone > before.undone;
        if undone {
            self.tell(now, place, Event::Spurious { cwnd: path.cwnd, ssthresh: threshold(path) }, None);
        }
        if (path.cwnd, path.ssthresh) != (before.cwnd, before.ssthresh) {
            let grown = path.cwnd > before.cwnd;
            let why = if before.cwnd == 0 {
                WindowChange::Initial
            } else if timed_out {
                WindowChange::Timeout
            } else if found {
                WindowChange::Loss
            } else if undone {
                WindowChange::Undone
            } else if sender.marks.reductions > before.reductions {
                WindowChange::Marks
            } else if matches!(sender.state, Recovery::Recovery { .. })
                || (sender.state == Recovery::Open && path.cwnd == path.ssthresh && !grown)
            {
                WindowChange::Recovery
            } else if grown && path.cwnd <= path.ssthresh {
                WindowChange::SlowStart
            } else if grown {
                WindowChange::Avoidance
            } else {
                WindowChange::Reduced
            };
            let event = Event::Window { why, cwnd: path.cwnd, ssthresh: threshold(path), in_flight };
            self.tell(now, place, event, None);
        }
    }

    /// Reports a change of the connection's mode, and its end.
    pub(crate) fn update_connection(&mut self, now: Instant, mode: Mode, closed: Option<CloseReason>) {
        if mode != self.mode {
            self.mode = mode;
            let what = match mode {
                Mode::Negotiating => "negotiating",
                Mode::Multipath => "multipath",
                Mode::Plain if self.fell_back => "fell_back",
                Mode::Plain => "tcp",
            };
            self.tell_of_all(now, Event::Connection { what }, None);
        }
        if self.closed.is_none() && closed.is_some() {
            self.closed = closed;
            self.tell_of_all(now, Event::Connection { what: "closed" }, None);
        }
    }

    /// The connection fell back to TCP after Multipath TCP was agreed.
    pub(crate) fn on_fallback(&mut self) {
        self.fell_back = true;
    }

    /// M2 halved the window of the subflow in a slot, which was `before`.
    pub(crate) fn on_penalty(&mut self, slot: usize, before: u64, path: &Path) {
        if let Some(seen) = self.subflows.get_mut(slot) {
            seen.penalised = Some(PenaltyRecord::again(seen.penalised, before));
            (seen.cwnd, seen.ssthresh) = (path.cwnd, path.ssthresh);
        }
    }

    /// Whether the window of a subflow has not grown back since M2 halved it; `None` if the subflow is unknown.
    pub(crate) fn is_penalised(&self, slot: usize) -> Option<bool> {
        self.subflows.get(slot).map(|seen| seen.penalised.is_some())
    }

    /// Notes what holds a subflow back from now on. Returns its place if that changed.
    pub(crate) fn note_limit(&mut self, now: Instant, slot: usize, limit: PathLimit) -> Option<Place> {
        let seen = self.subflows.get_mut(slot)?;
        seen.clock.set(now, limit).then_some(seen.place)
    }

    /// Takes the counters of sent data. Returns their increase since the last call.
    pub(crate) fn count_sent(&mut self, slot: usize, sent: SentCounters) -> SentCounters {
        let before = SentCounters {
            new: std::mem::replace(&mut self.sent.new, sent.new),
            opportunistic: std::mem::replace(&mut self.sent.opportunistic, sent.opportunistic),
            speculative: std::mem::replace(&mut self.sent.speculative, sent.speculative),
            reinjected: self
                .subflows
                .get_mut(slot)
                .map_or(0, |seen| std::mem::replace(&mut seen.reinjected, sent.reinjected)),
        };
        SentCounters {
            new: sent.new.saturating_sub(before.new),
            opportunistic: sent.opportunistic.saturating_sub(before.opportunistic),
            speculative: sent.speculative.saturating_sub(before.speculative),
            reinjected: sent.reinjected.saturating_sub(before.reinjected),
        }
    }

    fn emit(&self, at: Instant, place: Place, whole: bool, event: Event, other: Option<Place>) {
        if self.wanted.has(at, event.kind()) {
            self.observer.observe(&Record { at, connection: self.connection, place, whole, event, other });
        }
    }

    /// A subflow is in the place of another: that one is past.
    pub(crate) fn replace(&mut self, now: Instant, slot: usize, snapshot: SubflowSnapshot) {
        let before = std::mem::replace(&mut self.subflows[slot], snapshot);
        if self.past.len() < MAX_REMEMBERED {
            self.past.push(reasons(&before, now));
        }
    }

    /// Where the subflow of a place is.
    pub(crate) fn place(&self, slot: usize) -> Option<Place> {
        self.subflows.get(slot).map(|seen| seen.place)
    }

    /// Why nothing more is sent from now on, who is to blame, and whether another subflow `waits` for that one; returns whether
    /// it is another reason, or another's fault, than before.
    pub(crate) fn note_block(
        &mut self,
        now: Instant,
        limit: Limit,
        blame: Option<usize>,
        waits: bool,
    ) -> bool {
        let blame = blame.and_then(|slot| self.place(slot)).map(|place| place.subflow);
        let BlockedState { limit: before, since, blame: whose, waits: waited } = self.blocked;
        if (before, whose, waited) == (limit, blame, waits) {
            return false;
        }
        if waited && let Some(seen) = self.subflows.iter_mut().find(|seen| Some(seen.place.subflow) == whose)
        {
            seen.blamed += now.since(since);
        }
        self.blocked = BlockedState { limit, since: now, blame, waits };
        (before, whose) != (limit, blame)
    }

    /// What held the subflows back so far, the past ones too.
    pub(crate) fn reasons(&self, now: Instant) -> Vec<PathReasons> {
        let BlockedState { since, blame, waits, .. } = self.blocked;
        let running = |id: SubflowId| {
            if waits && blame == Some(id) { now.since(since) } else { Duration::ZERO }
        };
        let living = self.subflows.iter().map(|seen| {
            let mut reasons = reasons(seen, now);
            reasons.blamed += running(seen.place.subflow);
            reasons
        });
        self.past.iter().copied().chain(living).collect()
    }
}

fn reasons(seen: &SubflowSnapshot, now: Instant) -> PathReasons {
    let clock = &seen.clock;
    PathReasons { place: seen.place, began: clock.began(), total: clock.totals(now), blamed: seen.blamed }
}

fn place_of(subflow: &Subflow) -> Place {
    let addresses = subflow.addresses();
    Place { subflow: subflow.record().id, local: addresses.local, remote: addresses.remote }
}

pub(crate) fn threshold(path: &Path) -> Option<u64> {
    (path.ssthresh < u64::MAX).then_some(path.ssthresh)
}
