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
    /// What M2 made smaller, and losses since.
    pub(super) penalised: Option<Cut>,
    /// The last reduction followed a loss that came without a queue.
    pub(super) clock: PathClock,
    pub(super) blamed: Duration,
}

/// A window that M2 halved and that has not grown back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// What it was before the first halving.
    window: u64,
    /// What losses since have left of it: a factor.
    by_loss: f64,
}

impl Cut {
    /// M2 halved a window of `before`, once more perhaps.
    pub(super) fn again(earlier: Option<Self>, before: u64) -> Self {
        let Self { window, by_loss } = earlier.unwrap_or(Self { window: before, by_loss: 1.0 });
        Self { window: window.max(before), by_loss }
    }

    /// A loss made a window of `from` into one of `to`: what is left of this, if M2 has more of the whole than losses have.
    pub(super) fn after_loss(self, from: u64, to: u64) -> Option<Self> {
        let by_loss = self.by_loss * (to as f64 / from.max(1) as f64).min(1.0);
        let whole = to as f64 / self.window.max(1) as f64;
        (by_loss * by_loss > whole).then_some(Self { by_loss, ..self })
    }

    /// Whether a window is what it was.
    pub(super) fn is_over(self, cwnd: u64) -> bool {
        cwnd >= self.window
    }
}

/// Why nothing more is sent, since when, who is to blame, and whether another subflow waits for that one.
#[derive(Clone, Copy, Debug)]
struct Block {
    limit: Limit,
    since: Instant,
    blame: Option<SubflowId>,
    waits: bool,
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
    /// Multipath TCP was given up, and not merely never offered.
    pub(super) fell_back: bool,
    pub(super) closed: Option<CloseReason>,
    /// New data that was told of ends here.
    pub(super) sent: u64,
    /// Bytes that M1 asked for, as told of.
    pub(super) opportunistic: u64,
    /// The same of what a scheduler had copied.
    pub(super) copied: u64,
    block: Block,
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
            fell_back: false,
            closed: None,
            sent: 0,
            opportunistic: 0,
            copied: 0,
            block: Block { limit: Limit::Idle, since: now, blame: None, waits: false },
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

    /// Why nothing more is sent from now on, who is to blame, and whether another subflow `waits` for that one; returns whether
    /// it is another reason, or another's fault, than before.
    pub(super) fn note_block(
        &mut self,
        now: Instant,
        limit: Limit,
        blame: Option<usize>,
        waits: bool,
    ) -> bool {
        let blame = blame.and_then(|slot| self.place(slot)).map(|place| place.subflow);
        let Block { limit: before, since, blame: whose, waits: waited } = self.block;
        if (before, whose, waited) == (limit, blame, waits) {
            return false;
        }
        if waited && let Some(seen) = self.seen.iter_mut().find(|seen| Some(seen.place.subflow) == whose) {
            seen.blamed += now.since(since);
        }
        self.block = Block { limit, since: now, blame, waits };
        (before, whose) != (limit, blame)
    }

    /// What held the subflows back so far, the past ones too.
    pub(super) fn reasons(&self, now: Instant) -> Vec<PathReasons> {
        let Block { since, blame, waits, .. } = self.block;
        let running = |id: SubflowId| {
            if waits && blame == Some(id) { now.since(since) } else { Duration::ZERO }
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
    let clock = &seen.clock;
    PathReasons { place: seen.place, began: clock.began(), total: clock.totals(now), blamed: seen.blamed }
}
