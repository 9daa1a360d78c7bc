//! M1 by its later rules: data goes again on another subflow where it comes sooner that way, and, where a path has nothing else to do,
//! before anybody knows whether it is late.
//!
//! Owns which data that is, and how far it was looked for. When data comes is estimated in `expected`.

use mptcp_clock::{Duration, Instant};

use super::Connection;
use super::expected::Expected;
use super::send_buffer::{Chunk, carrier};
use crate::mechanisms::OpportunisticRule;
use crate::scheduler::Candidate;
use crate::subflow::Looked;
use crate::subflow::sender::Recovery;

/// Chunks that M1 looks at in one call for each subflow that has room; it goes on from there in the next.
const LOOKED_AT_ONCE: usize = 64;
/// It does not begin anew more often.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// Nothing was found by the last look at the end of the data.
const NOTHING: u64 = u64::MAX;
/// While the application writes, by which part of a round trip M1 has to win: what is expected is not known better than that.
const WORTH: u64 = 8;
/// How many times as fast as another one a path is that has room for all of its data beside its own.
const FAR_FASTER: f64 = 6.0;
/// Segments that a path may be sent of which nothing is known yet: an initial window (RFC 6928).
const FIRST: u64 = 10;

/// The chunk that was looked for.
#[derive(Clone, Copy)]
struct Found {
    /// When it comes otherwise.
    due: Instant,
    start: u64,
    length: u64,
}

impl Found {
    fn new(due: Instant, chunk: &Chunk) -> Self {
        Self { due, start: chunk.start, length: chunk.payload.len() as u64 }
    }

    /// The later of both.
    fn or_later(self, before: Option<Self>) -> Option<Self> {
        Some(before.filter(|before| before.due >= self.due).unwrap_or(self))
    }
}

impl Connection {
    /// On any subflow that has room: which one, and the chunk that it should carry too.
    pub(super) fn rescue(&mut self, now: Instant, candidates: &[Candidate]) -> Option<(usize, u64)> {
        let mechanisms = self.config.mechanisms;
        if !mechanisms.opportunistic_retransmission
            || mechanisms.opportunistic_rule == OpportunisticRule::Original
            || candidates.len() < 2
        {
            return None;
        }
        candidates
            .iter()
            .filter(|c| c.has_room)
            .find_map(|c| Some((c.subflow, self.rescue_on(now, c.subflow)?)))
    }

    /// The first chunk that would come sooner on `fast` than by those that carry it, and that all behind it wait for: until all is
    /// written, what comes no later than something before it frees nothing by coming sooner. Where there is none it is asked again when
    /// the oldest is overdue.
    fn rescue_on(&mut self, now: Instant, fast: usize) -> Option<u64> {
        if self.subflows[fast].turn().optionless {
            return None;
        }
        let closed = self.send.writer.is_closed();
        if closed && self.send.buffer.in_flight_backwards().len() <= LOOKED_AT_ONCE {
            return self.rescue_last(now, fast);
        }
        let round = self.delay_on(fast);
        let comes = now + (round.max(self.queued_on(fast)) - self.way_back(fast));
        // What was on its way is looked at again after a part of a round trip, or when the first of it is overdue.
        let Looked { to, at, mut overdue, mut latest } = self.subflows[fast].turn().rescued;
        let again = now.since(at) >= (round / 4).max(LOOK_AGAIN) || overdue <= now;
        let (from, at) = if again { (0, now) } else { (to, at) };
        let mut looked = from.max(self.send.buffer.una());
        if again {
            (overdue, latest) = (Instant::FAR_FUTURE, now);
        }
        let worth = if closed { Duration::ZERO } else { round / WORTH };
        let spare = self.has_spare_room_for(now, fast);
        let found = self.send.buffer.in_flight_from(looked).take(LOOKED_AT_ONCE).find(|chunk| {
            let carried = chunk.carried_by(fast);
            let Expected { due, lost, mended } = self.expected(now, chunk);
            let before = if closed { comes } else { latest.max(comes) };
            let early = chunk.carriers & !spare == 0 && mended > comes;
            let late = !carried && !chunk.is_left() && (due > before + worth || lost <= now || early);
            if !late {
                (looked, latest) = (chunk.end(), latest.max(due.min(lost)));
                overdue = if carried { overdue } else { overdue.min(lost) };
            }
            late
        });
        let found = found.map(|chunk| Found::new(now, chunk));
        self.rescued(fast, Looked { to: looked, at, overdue, latest }, found)
    }

    /// Once all is written and the most of it has come: the chunk that would come last, if it would come sooner on `fast`. The end waits for
    /// it.
    #[inline(never)]
    fn rescue_last(&mut self, now: Instant, fast: usize) -> Option<u64> {
        // What was in flight when the last round trip was measured is gone: what is now counts below.
        let round = self.candidate(fast).without_own_queue();
        let Looked { to, at, overdue, .. } = self.subflows[fast].turn().rescued;
        // The same again after a part of a round trip, unless it found something.
        if to == NOTHING && now.since(at) < (round / 4).max(LOOK_AGAIN) && overdue > now {
            self.timers.pace = self.timers.pace.min(overdue);
            return None;
        }
        let comes = now + (round.max(self.queued_on(fast)) - self.way_back(fast));
        let spare = self.has_spare_room_for(now, fast);
        let mut overdue = Instant::FAR_FUTURE;
        let (mut last, mut early) = (None, None);
        for chunk in self.send.buffer.in_flight_backwards().take(LOOKED_AT_ONCE) {
            if chunk.carried_by(fast) || chunk.is_left() {
                continue;
            }
            let Expected { due, lost, mended } = self.expected(now, chunk);
            // Who counts as lost comes when that is found, and nobody knows when.
            let due = if lost <= now { Instant::FAR_FUTURE } else { due };
            if due > comes {
                last = Found::new(due, chunk).or_later(last);
                continue;
            }
            overdue = overdue.min(lost);
            if chunk.carriers & !spare == 0 && mended > comes {
                early = Found::new(mended, chunk).or_later(early);
            }
        }
        let found = last.or(early);
        let to = if found.is_some() { 0 } else { NOTHING };
        self.rescued(fast, Looked { to, at: now, overdue, latest: now }, found)
    }

    /// Notes what was found for a subflow, or when to look again; returns its first byte.
    fn rescued(&mut self, fast: usize, looked: Looked, found: Option<Found>) -> Option<u64> {
        self.subflows[fast].turn_mut().rescued = looked;
        let Some(found) = found else {
            self.timers.pace = self.timers.pace.min(looked.overdue);
            return None;
        };
        self.send.opportunistic += found.length;
        Some(found.start)
    }

    /// The subflows, one bit each, whose data `fast` may carry too before anybody knows whether it is late, for it has nothing better to do:
    /// should something be lost, the copy is there before a repair would be. A subflow that mends its own losses, or has a queue of its own,
    /// carries nothing that may not be needed. While a window is full, only for paths that are far slower: what fills the others does not
    /// fit beside what they carry once it opens. Not where an application writes as it goes, for which its scheduler chooses copies.
    fn has_spare_room_for(&self, now: Instant, fast: usize) -> u64 {
        let (sender, path) = (self.subflows[fast].sender(), &self.congestion.paths[fast]);
        let rule = self.config.mechanisms.opportunistic_rule;
        let writer = &self.send.writer;
        if rule != OpportunisticRule::Early || sender.state != Recovery::Open || writer.streams(now) {
            return 0;
        }
        let rate = self.candidate(fast).comes_at();
        let round = path.min_rtt.unwrap_or_default();
        let is_new = sender.board.una < FIRST * path.mss;
        if sender.in_flight() as f64 >= rate * round.as_secs_f64() && !is_new {
            return 0;
        }
        if writer.is_closed() && self.send.buffer.unsent() == 0 {
            return u64::MAX;
        }
        let subflows = self.subflows.iter().enumerate().filter(|(_, subflow)| subflow.can_send());
        let window = self.send.buffer.edge().saturating_sub(self.send.buffer.una());
        let slow = subflows.filter(|&(id, _)| {
            let losses = &self.congestion.paths[id].losses;
            losses.arrives_without(now) < window && FAR_FASTER * self.candidate(id).comes_at() <= rate
        });
        slow.fold(0, |bits, (id, _)| bits | carrier(id))
    }
}
