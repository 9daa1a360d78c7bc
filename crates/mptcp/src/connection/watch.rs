//! What a connection that is observed remembers, to tell what has changed.
//!
//! Owns the observer, what it was told last of each subflow, and the clocks of what holds paths back. Looks at nothing itself.

use std::sync::Arc;

use mptcp_clock::{Duration, Instant};

use super::limits::Limit;
use super::negotiation::Mode;
use crate::event::CloseReason;
use crate::ids::{ConnectionId, SubflowId};
use crate::observe::{Event, Observer, PathClock, PathReasons, Place, Record, Wanted};
use crate::subflow::State;

/// Subflows that lost their place and are remembered.
const REMEMBERED: usize = 128;

/// What was told last of a subflow.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) place: Place,
    pub(super) state: State,
    pub(super) cwnd: u64,
    pub(super) ssthresh: u64,
    pub(super) samples: u64,
    pub(super) marked: u64,
    pub(super) recoveries: u64,
    pub(super) timeouts: u64,
    pub(super) undone: u64,
    pub(super) reductions: u64,
    pub(super) reinjected: u64,
    /// What M2 made smaller: the window before.
    pub(super) penalised: Option<u64>,
    /// The last reduction followed a loss that came without a queue.
    pub(super) by_chance: bool,
    /// The latest round-trip time before what is looked at now.
    pub(super) round_trip: Duration,
    pub(super) clock: PathClock,
    pub(super) blamed: Duration,
}

/// See the top of the file.
#[derive(Debug)]
pub(super) struct Watch {
    observer: Arc<dyn Observer>,
    wanted: Wanted,
    connection: ConnectionId,
    /// By place.
    pub(super) seen: Vec<Seen>,
    /// Those that lost their place.
    past: Vec<PathReasons>,
    pub(super) mode: Mode,
    pub(super) closed: Option<CloseReason>,
    /// New data that was told of ends here.
    pub(super) sent: u64,
    /// Bytes that M1 asked for, as told of.
    pub(super) opportunistic: u64,
    /// Why nothing more is sent, since when, and who is to blame.
    block: (Limit, Instant, Option<SubflowId>),
}

impl Watch {
    pub(super) fn new(
        now: Instant,
        connection: ConnectionId,
        observer: Arc<dyn Observer>,
        wanted: Wanted,
    ) -> Self {
        Self {
            observer,
            wanted,
            connection,
            seen: Vec::new(),
            past: Vec::new(),
            mode: Mode::Negotiating,
            closed: None,
            sent: 0,
            opportunistic: 0,
            block: (Limit::Idle, now, None),
        }
    }

    /// Tells of what happened to a subflow.
    pub(super) fn tell(&self, at: Instant, place: Place, event: Event, other: Option<Place>) {
        self.pass_on(at, place, false, event, other);
    }

    /// Tells of what happened to the connection.
    pub(super) fn tell_of_all(&self, at: Instant, event: Event, other: Option<Place>) {
        if let Some(first) = self.seen.first() {
            self.pass_on(at, first.place, true, event, other);
        }
    }

    fn pass_on(&self, at: Instant, place: Place, whole: bool, event: Event, other: Option<Place>) {
        if self.wanted.has(at, event.kind()) {
            self.observer.observe(&Record { at, connection: self.connection, place, whole, event, other });
        }
    }

    /// A subflow is in the place of another: that one is past.
    pub(super) fn replace(&mut self, now: Instant, slot: usize, seen: Seen) {
        let before = std::mem::replace(&mut self.seen[slot], seen);
        if self.past.len() < REMEMBERED {
            self.past.push(reasons(&before, now));
        }
    }

    /// Where the subflow of a place is.
    pub(super) fn place(&self, slot: usize) -> Option<Place> {
        self.seen.get(slot).map(|seen| seen.place)
    }

    /// Why nothing more is sent from now on; returns whether that is another reason, or another's fault, than before.
    pub(super) fn note_block(&mut self, now: Instant, limit: Limit, blame: Option<usize>) -> bool {
        let blame = blame.and_then(|slot| self.place(slot)).map(|place| place.subflow);
        let (before, since, whose) = self.block;
        if (before, whose) == (limit, blame) {
            return false;
        }
        self.settle(now, before, since, whose);
        self.block = (limit, now, blame);
        true
    }

    fn settle(&mut self, now: Instant, limit: Limit, since: Instant, whose: Option<SubflowId>) {
        let theirs = whose.filter(|_| limit == Limit::HeadOfLine);
        if let Some(seen) = theirs.and_then(|id| self.seen.iter_mut().find(|seen| seen.place.subflow == id)) {
            seen.blamed += now.since(since);
        }
    }

    /// What held the subflows back so far, the past ones too.
    pub(super) fn reasons(&self, now: Instant) -> Vec<PathReasons> {
        let (limit, since, whose) = self.block;
        let running = |id: SubflowId| {
            if limit == Limit::HeadOfLine && whose == Some(id) { now.since(since) } else { Duration::ZERO }
        };
        let living = self.seen.iter().map(|seen| {
            let mut reasons = reasons(seen, now);
            reasons.blamed += running(seen.place.subflow);
            reasons
        });
        self.past.iter().copied().chain(living).collect()
    }
}

fn reasons(seen: &Seen, now: Instant) -> PathReasons {
    PathReasons { place: seen.place, total: seen.clock.totals(now), blamed: seen.blamed }
}
