//! What a connection that is observed remembers, to tell what has changed.
//!
//! Owns the observer, what it was told last of each subflow, and the clocks of what holds paths back. Looks at nothing itself.

use std::sync::Arc;

use mptcp_clock::{Duration, Instant};

use crate::connection::handshake::negotiation::Mode;
use crate::connection::observe::limits::Limit;
use crate::event::CloseReason;
use crate::ids::{ConnectionId, SubflowId};
use crate::observe::{Event, Observer, PathClock, PathReasons, Place, Record, Wanted};
use crate::subflow::State;

/// Subflows that lost their place and are remembered.
const MAX_REMEMBERED: usize = 128;

/// What was told last of a subflow.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) place: Place,
    pub(crate) state: State,
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: u64,
    pub(crate) samples: u64,
    pub(crate) marked: u64,
    pub(crate) recoveries: u64,
    pub(crate) timeouts: u64,
    pub(crate) undone: u64,
    pub(crate) reductions: u64,
    pub(crate) reinjected: u64,
    /// What M2 made smaller, and losses since.
    pub(crate) penalised: Option<PenaltyRecord>,
    /// The last reduction followed a loss that came without a queue.
    pub(crate) clock: PathClock,
    pub(crate) blamed: Duration,
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
    pub(crate) fn is_over(self, cwnd: u64) -> bool {
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
pub(crate) struct Watch {
    observer: Arc<dyn Observer>,
    wanted: Wanted,
    connection: ConnectionId,
    /// By place.
    pub(crate) seen: Vec<Seen>,
    /// Those that lost their place.
    past: Vec<PathReasons>,
    pub(crate) mode: Mode,
    /// Multipath TCP was given up, and not merely never offered.
    pub(crate) fell_back: bool,
    pub(crate) closed: Option<CloseReason>,
    /// New data that was told of ends here.
    pub(crate) sent: u64,
    /// Bytes that M1 asked for, as told of.
    pub(crate) opportunistic: u64,
    /// The same of what a scheduler had copied.
    pub(crate) copied: u64,
    block: Block,
}

impl Watch {
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
    pub(crate) fn tell(&self, at: Instant, place: Place, event: Event, other: Option<Place>) {
        self.pass_on(at, place, false, event, other);
    }

    /// Tells of what happened to the connection.
    pub(crate) fn tell_of_all(&self, at: Instant, event: Event, other: Option<Place>) {
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
    pub(crate) fn replace(&mut self, now: Instant, slot: usize, seen: Seen) {
        let before = std::mem::replace(&mut self.seen[slot], seen);
        if self.past.len() < MAX_REMEMBERED {
            self.past.push(reasons(&before, now));
        }
    }

    /// Where the subflow of a place is.
    pub(crate) fn place(&self, slot: usize) -> Option<Place> {
        self.seen.get(slot).map(|seen| seen.place)
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
    pub(crate) fn reasons(&self, now: Instant) -> Vec<PathReasons> {
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
