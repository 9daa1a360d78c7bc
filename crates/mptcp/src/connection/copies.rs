//! Copies of what an application writes as it goes, which its scheduler wants on a second path before anything is late.
//!
//! Owns how far the scheduler was asked. Which data needs a copy, and who carries it, is its choice ([`crate::Scheduler::second`]).

use mptcp_clock::Instant;

use super::Connection;
use super::send_buffer::Chunk;
use crate::scheduler::Candidate;

/// Chunks that are looked at in one call; it goes on from there in the next.
const LOOKED_AT_ONCE: usize = 64;

impl Connection {
    /// A subflow with room, and the chunk that it should carry too. Each is asked for once, or until the subflow has room.
    #[cold]
    pub(super) fn next_copy(&mut self, now: Instant, candidates: &[Candidate]) -> Option<(usize, u64)> {
        if candidates.len() < 2 || !self.send.left.is_empty() || self.send.writer.is_closed() {
            return None;
        }
        let view = self.view(now, candidates);
        let mut asked = self.send.asked.max(self.send.buffer.una());
        let mut found = None;
        for chunk in self.send.buffer.in_flight_from(asked).take(LOOKED_AT_ONCE) {
            let alone = self.alone_on(chunk, candidates);
            if let Some(at) = alone.and_then(|(on, sent)| self.choice.scheduler.second(&view, on, sent))
                && let Some(&Candidate { subflow, has_room, .. }) = candidates.get(at)
                && !chunk.carried_by(subflow)
                && !self.subflows[subflow].turn().optionless
            {
                // What the subflow has no room for now is asked for again, as a chunk of its own.
                found = has_room.then_some((subflow, chunk.start));
                break;
            }
            asked = chunk.end();
        }
        if let Some((subflow, start)) = found {
            let length = self.send.buffer.chunk_at(start).map_or(0, |chunk| chunk.payload.len() as u64);
            self.send.copied += length.min(self.largest_payload(subflow));
        }
        self.send.asked = asked;
        found
    }

    /// The position of the only candidate that carries a chunk, and when it left there; None where others carry it too, or where it has
    /// arrived.
    fn alone_on(&self, chunk: &Chunk, candidates: &[Candidate]) -> Option<(usize, Instant)> {
        if chunk.carriers.count_ones() != 1 || chunk.queued {
            return None;
        }
        let on = candidates.iter().position(|c| chunk.carried_by(c.subflow))?;
        let end = chunk.end_on(candidates[on].id)?;
        let sent = self.subflows[candidates[on].subflow].sender().board.outstanding(end)?;
        (!sent.sacked).then_some((on, sent.sent_at))
    }
}
