//! When a segment is there: behind what the connection itself put on the line.
//!
//! A block of a few segments leaves at once, and so does what a window has room for at the end of a file. A line of 4 Mb/s takes 3 ms
//! for each of them, which the round trip of a handshake does not tell, nor a round trip that is over. Owns when each line has sent what
//! it was given, by the rate at which bursts arrive.

use mptcp_clock::{Duration, Instant};

use super::numbers::{larger, nanos, real, way_back};
use crate::ids::SubflowId;
use crate::scheduler::Candidate;

/// Bytes a second of a line that has not told how fast it is, while others may be known: of those from 1 to 100 Mb/s, each as likely as one of
/// twice its rate, nine in ten are faster. What counts is the latest block.
pub(super) const GUESS: f64 = 200_000.0;

/// Bytes before those of a segment: of Ethernet, IPv4, TCP with its time stamps, and a DSS.
const HEADERS: u64 = 90;

/// The narrowest line of a path.
#[derive(Clone, Copy, Debug)]
struct Line {
    whose: SubflowId,
    /// When it has sent all that it was given.
    free: Instant,
    /// The end of what was new when it was looked at last, and when that was.
    seen: (u64, Instant),
    /// The longest that a segment was to wait for those before it and itself, in this round trip and in the last one; nanoseconds.
    waits: [f64; 2],
    /// When this round trip ends.
    until: Instant,
}

/// The lines by subflow, those that carried something of a stream or of an end.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    lines: Vec<Option<Line>>,
}

impl Lines {
    /// Nanoseconds until a full segment that leaves now is there, and how many of them are a queue of others; None where no burst has told
    /// how fast the line is.
    pub(super) fn arrives(&mut self, now: Instant, candidate: &Candidate) -> Option<(f64, f64)> {
        let behind_own = self.behind_own(now, candidate)?;
        let line = self.line(now, candidate);
        // What a round trip shows beyond that is a queue of others; the answer to one segment shows how long the peer delays it.
        let longer = nanos(candidate.calm_rtt.max(candidate.min_rtt)) - nanos(candidate.min_rtt);
        let others = if candidate.in_flight < 2 * candidate.mss {
            0.0
        } else {
            larger(longer - larger(line.waits[0], line.waits[1]), 0.0)
        };
        Some((behind_own + others, others))
    }

    /// The same where nobody else uses the line: half of a round trip, what the path has before it, and itself.
    pub(super) fn behind_own(&mut self, now: Instant, candidate: &Candidate) -> Option<f64> {
        let per_byte = 1e9 / larger(candidate.burst_rate?, candidate.delivery_rate.unwrap_or_default());
        let line = self.line(now, candidate);
        line.look(now, candidate, per_byte);
        // What is not in flight any more is not before it either.
        let (own, there) = (nanos(line.free.since(now)), real(candidate.in_flight) * per_byte);
        let before = if own < there { own } else { there };
        Some(way_back(candidate) + before + real(candidate.mss) * per_byte)
    }

    fn line(&mut self, now: Instant, candidate: &Candidate) -> &mut Line {
        if self.lines.len() <= candidate.subflow {
            self.lines.resize(candidate.subflow + 1, None);
        }
        let new =
            Line { whose: candidate.id, free: now, seen: (end(candidate), now), waits: [0.0; 2], until: now };
        let line = self.lines[candidate.subflow].get_or_insert(new);
        if line.whose != candidate.id {
            *line = new;
        }
        line
    }
}

/// Behind the last byte that was given to a subflow.
fn end(candidate: &Candidate) -> u64 {
    candidate.delivered + candidate.held
}

impl Line {
    /// What is new since the last look left then: a scheduler is asked before each segment.
    fn look(&mut self, now: Instant, candidate: &Candidate, per_byte: f64) {
        let (before, at) = std::mem::replace(&mut self.seen, (end(candidate), now));
        let new = end(candidate).saturating_sub(before);
        if new > 0 {
            self.free =
                self.free.max(at) + Duration::from_nanos((on_line(new, candidate.mss) * per_byte) as u64);
            self.waits[0] = larger(self.waits[0], nanos(self.free.since(at)));
        }
        if now >= self.until {
            self.waits = [0.0, self.waits[0]];
            self.until = now + candidate.srtt;
        }
    }
}

/// How many bytes of full segments take as long as these, of which the last segment may be small.
fn on_line(bytes: u64, mss: u64) -> f64 {
    let segments = bytes.div_ceil(mss.max(1));
    real(bytes + HEADERS * segments) * real(mss) / real(mss + HEADERS)
}

#[cfg(test)]
mod tests;
