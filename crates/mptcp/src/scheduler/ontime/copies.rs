//! What a stream gets a second path for.
//!
//! Of blocks that are written at a rate the latest count. A path that loses keeps those waiting that are written until a repair is there, and
//! whether it loses often nobody knows before it has carried a lot. Where another path has room for all of the stream beside, and would
//! have a segment there before its repair, it carries a copy: one block in a hundred waits for no more than that. In the line of RAVEN
//! (Lee et al., MobiCom 2018), which sends twice for as long as it does not know. Owns when that is a burden.

use mptcp_clock::{Duration, Instant};

use super::lines::{GUESS, Lines};
use super::numbers::{larger, nanos, real, way_back};
use super::stream::Stream;
use crate::scheduler::{Candidate, SendView};

/// One block in so many may wait for a repair.
const MAY_WAIT: f64 = 100.0;
/// Nothing but a queue makes a round trip longer than the least by so large a part, and by so many nanoseconds.
const QUEUE: (f64, f64) = (0.0625, 1e6);
/// After a queue nothing has a copy for so long; each time that one comes soon for twice as long, up to the most.
const RESTS: (Duration, Duration) = (Duration::from_secs(4), Duration::from_secs(64));

/// Whether there are copies. Both paths may go through the same queue, which they fill then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copies {
    pub(super) wanted: bool,
    /// None until then.
    until: Instant,
    rest: Duration,
}

impl Default for Copies {
    fn default() -> Self {
        Self { wanted: true, until: Instant::ZERO, rest: Duration::ZERO }
    }
}

impl Copies {
    /// A queue shows where there were some, or would be.
    fn note_queue(&mut self, now: Instant) {
        let soon = now.since(self.until) < RESTS.1;
        self.rest = if soon { (self.rest * 2).clamp(RESTS.0, RESTS.1) } else { RESTS.0 };
        self.until = now + self.rest;
    }

    /// The candidate that should carry too what the one at `on` carries, where it left at `sent`; None where that one is enough, or no other
    /// would be sooner than its repair.
    #[cold]
    pub(super) fn of(
        &mut self,
        view: &SendView<'_>,
        (on, sent): (usize, Instant),
        stream: &Stream,
        lines: &mut Lines,
    ) -> Option<usize> {
        let carrier = view.candidates.get(on)?;
        if !self.wanted || view.now < self.until {
            return None;
        }
        let (_, queue) = arrival(view, carrier, lines);
        let round = nanos(carrier.min_rtt) + queue;
        let waits = stream.written_in(2.0 * round)?;
        // Without a loss so far, it may lose as often as once in what it has carried.
        let known = carrier.delivered.max(carrier.mss);
        let between = real(carrier.between_losses.map_or(known, |between| between.min(known)));
        if MAY_WAIT * waits < between {
            return None;
        }
        let repaired = way_back(carrier) + 2.0 * round - nanos(view.now.since(sent));
        let mut best: Option<(f64, usize, bool)> = None;
        for (at, other) in view.candidates.iter().enumerate().filter(|(at, _)| *at != on) {
            let (arrives, queue) = arrival(view, other, lines);
            if arrives < best.map_or(repaired, |(least, ..)| least) && stream.has_room_on(other) {
                best = Some((arrives, at, is_queue(other, queue)));
            }
        }
        let (_, at, queued) = best?;
        if queued || is_queue(carrier, queue) {
            self.note_queue(view.now);
            return None;
        }
        Some(at)
    }
}

/// Nanoseconds until a segment is there, and how many of them are a queue of others.
fn arrival(view: &SendView<'_>, candidate: &Candidate, lines: &mut Lines) -> (f64, f64) {
    lines.arrives(view.now, candidate).unwrap_or_else(|| {
        let longer = larger(nanos(candidate.calm_rtt) - nanos(candidate.min_rtt), 0.0);
        // The answer to one segment alone says how long the peer delays it.
        let queue = if candidate.in_flight < 2 * candidate.mss { 0.0 } else { longer };
        (way_back(candidate) + queue + real(candidate.mss) * 1e9 / GUESS, queue)
    })
}

/// Whether the queue of a path is one of others, or of the copies themselves.
fn is_queue(candidate: &Candidate, queue: f64) -> bool {
    queue > larger(QUEUE.0 * nanos(candidate.min_rtt), QUEUE.1)
}

#[cfg(test)]
mod tests;
