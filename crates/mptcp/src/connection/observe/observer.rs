//! The observer of a connection, and the last reported state. The difference from that state becomes events.
//!
//! Owns a snapshot of each subflow, the time that each subflow spent under each limit, and the calls of the
//! observer. Never reads the connection itself: callers pass its state.

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

/// The maximum of past subflows whose times are kept.
const MAX_REMEMBERED: usize = 128;

/// The last reported state of a subflow.
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
    /// The window reduction by penalisation (M2), and losses since then.
    penalised: Option<PenaltyRecord>,
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

/// Bytes sent: of the stream, and reinjected on one subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SentCounters {
    /// Bytes of the stream that were sent for the first time.
    pub new: u64,
    /// Bytes that opportunistic retransmission (M1) reinjected because they were late or blocked a window.
    pub opportunistic: u64,
    /// Bytes that M1 reinjected before they were late.
    pub speculative: u64,
    /// Bytes reinjected on the subflow.
    pub reinjected: u64,
}

/// A window that M2 has halved and that has not recovered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PenaltyRecord {
    /// The window before the first reduction, bytes.
    window: u64,
    /// The factor by which losses have reduced the window since.
    by_loss: f64,
}

impl PenaltyRecord {
    /// Adds a reduction by M2 of a window of `before` bytes.
    pub(crate) fn again(earlier: Option<Self>, before: u64) -> Self {
        let Self { window, by_loss } = earlier.unwrap_or(Self { window: before, by_loss: 1.0 });
        Self { window: window.max(before), by_loss }
    }

    /// Adds a loss that reduced the window from `from` to `to` bytes. `None` if losses now account for more of the
    /// reduction than M2.
    pub(crate) fn after_loss(self, from: u64, to: u64) -> Option<Self> {
        let by_loss = self.by_loss * (to as f64 / from.max(1) as f64).min(1.0);
        let total = to as f64 / self.window.max(1) as f64;
        (by_loss * by_loss > total).then_some(Self { by_loss, ..self })
    }

    /// Whether the window has its former size.
    pub(crate) fn has_recovered(self, cwnd: u64) -> bool {
        cwnd >= self.window
    }
}

/// The current limit of the connection, its start, the subflow that causes it, and whether another one waits
/// for that subflow's data.
#[derive(Clone, Copy, Debug)]
struct BlockedState {
    limit: Limit,
    since: Instant,
    blame: Option<SubflowId>,
    waits: bool,
}

/// The observer of a connection and the last reported state.
#[derive(Debug)]
pub(crate) struct ObserverState {
    observer: Arc<dyn Observer>,
    wanted: Wanted,
    connection: ConnectionId,
    /// By slot.
    subflows: Vec<SubflowSnapshot>,
    /// Subflows whose slots were reused.
    past: Vec<PathReasons>,
    mode: Mode,
    /// The connection fell back from MPTCP.
    fell_back: bool,
    closed: Option<CloseReason>,
    /// The counters of sent data at the last event.
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

    /// Emits an event of a subflow.
    pub(crate) fn tell(&self, at: Instant, place: Place, event: Event, other: Option<Place>) {
        self.emit(at, place, false, event, other);
    }

    /// Emits an event of the connection, if it has a subflow.
    pub(crate) fn tell_of_all(&self, at: Instant, event: Event, other: Option<Place>) {
        if let Some(first) = self.subflows.first() {
            self.emit(at, first.place, true, event, other);
        }
    }

    /// Takes the first snapshot of the subflow in a slot. An earlier subflow in the slot becomes a past
    /// subflow.
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
        let snapshot = &mut self.subflows[slot];
        let before = snapshot.clone();
        snapshot.state = subflow.state();
        (snapshot.cwnd, snapshot.ssthresh) = (path.cwnd, path.ssthresh);
        (snapshot.samples, snapshot.marked) = (path.samples, board.marked);
        (snapshot.recoveries, snapshot.timeouts) = (sender.recoveries, sender.timeouts);
        (snapshot.undone, snapshot.reductions) = (sender.spurious.undone, sender.marks.reductions);
        let (timed_out, entered_recovery) =
            (sender.timeouts > before.timeouts, sender.recoveries > before.recoveries);
        if entered_recovery || timed_out {
            snapshot.penalised =
                snapshot.penalised.and_then(|cut| cut.after_loss(before.cwnd, path.ssthresh));
        }
        // During recovery, the window changes for other reasons, so it does not show the end of the penalty.
        snapshot.penalised =
            snapshot.penalised.filter(|cut| sender.state != Recovery::Open || !cut.has_recovered(path.cwnd));
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
            } else if entered_recovery {
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

    pub(crate) fn on_fallback(&mut self) {
        self.fell_back = true;
    }

    /// Notes that M2 has halved the window of a subflow from `before`.
    pub(crate) fn on_penalty(&mut self, slot: usize, before: u64, path: &Path) {
        if let Some(snapshot) = self.subflows.get_mut(slot) {
            snapshot.penalised = Some(PenaltyRecord::again(snapshot.penalised, before));
            (snapshot.cwnd, snapshot.ssthresh) = (path.cwnd, path.ssthresh);
        }
    }

    /// Whether the window of a subflow is still reduced by M2. `None` if the subflow is unknown.
    pub(crate) fn is_penalised(&self, slot: usize) -> Option<bool> {
        self.subflows.get(slot).map(|snapshot| snapshot.penalised.is_some())
    }

    /// Notes the limit of a subflow. Returns the subflow's place (identifier and addresses) if the limit
    /// changed.
    pub(crate) fn note_limit(&mut self, now: Instant, slot: usize, limit: PathLimit) -> Option<Place> {
        let snapshot = self.subflows.get_mut(slot)?;
        snapshot.clock.set(now, limit).then_some(snapshot.place)
    }

    /// Updates the counters of sent data. Returns their increase.
    pub(crate) fn count_sent(&mut self, slot: usize, sent: SentCounters) -> SentCounters {
        let before = SentCounters {
            new: std::mem::replace(&mut self.sent.new, sent.new),
            opportunistic: std::mem::replace(&mut self.sent.opportunistic, sent.opportunistic),
            speculative: std::mem::replace(&mut self.sent.speculative, sent.speculative),
            reinjected: self
                .subflows
                .get_mut(slot)
                .map_or(0, |snapshot| std::mem::replace(&mut snapshot.reinjected, sent.reinjected)),
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

    /// Replaces the snapshot in a slot, and keeps the times of the past subflow.
    pub(crate) fn replace(&mut self, now: Instant, slot: usize, snapshot: SubflowSnapshot) {
        let before = std::mem::replace(&mut self.subflows[slot], snapshot);
        if self.past.len() < MAX_REMEMBERED {
            self.past.push(reasons(&before, now));
        }
    }

    /// The place of the subflow in a slot. `None` before its first snapshot.
    pub(crate) fn place(&self, slot: usize) -> Option<Place> {
        self.subflows.get(slot).map(|snapshot| snapshot.place)
    }

    /// Notes the limit of the connection. `blame` is the slot of the subflow that causes it, and `waits`
    /// means that another subflow waits for the data of that subflow. Returns whether the limit or its cause
    /// changed.
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

    /// The time per limit of all subflows, including past ones.
    pub(crate) fn reasons(&self, now: Instant) -> Vec<PathReasons> {
        let BlockedState { since, blame, waits, .. } = self.blocked;
        let running = |id: SubflowId| {
            if waits && blame == Some(id) { now.since(since) } else { Duration::ZERO }
        };
        let living = self.subflows.iter().map(|snapshot| {
            let mut reasons = reasons(snapshot, now);
            reasons.blamed += running(snapshot.place.subflow);
            reasons
        });
        self.past.iter().copied().chain(living).collect()
    }

    /// The current limit of each subflow.
    pub(crate) fn limits_now(&self) -> Vec<(SubflowId, PathLimit)> {
        self.subflows.iter().map(|snapshot| (snapshot.place.subflow, snapshot.clock.current())).collect()
    }
}

fn reasons(snapshot: &SubflowSnapshot, now: Instant) -> PathReasons {
    let clock = &snapshot.clock;
    PathReasons {
        place: snapshot.place,
        began: clock.began(),
        total: clock.totals(now),
        blamed: snapshot.blamed,
    }
}

fn place_of(subflow: &Subflow) -> Place {
    let addresses = subflow.addresses();
    Place { subflow: subflow.record().id, local: addresses.local, remote: addresses.remote }
}

pub(crate) fn threshold(path: &Path) -> Option<u64> {
    (path.ssthresh < u64::MAX).then_some(path.ssthresh)
}
