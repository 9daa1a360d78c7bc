//! What is left to nearer paths: a far one goes on behind it.
//!
//! Where an application writes as it goes and near paths lag behind, what it wrote last comes on a far path before they get to it. The
//! beginning of what is unsent is cut into pieces then that no subflow is given yet, and what follows goes on the far one: first come, first
//! served would give it the oldest, for which all that is behind would wait. Owns the way around these; who gets one is the
//! scheduler's choice, who sees them as unsent.

use mptcp_clock::Instant;
use mptcp_wire::Segment;

use super::Connection;
use super::send_buffer::{Chunk, Put};

/// What the subflow that was chosen is to carry.
pub(super) enum Around {
    /// What follows all that was given to subflows.
    Nothing,
    /// The piece at this offset, which was left to others.
    Piece(u64),
    /// Nothing for now: it cannot go on behind as much as it should.
    Wait,
}

impl Connection {
    /// The first pieces are forgotten that were carried otherwise, as a scheduler does that repeats all.
    #[cold]
    pub(super) fn look_at_left(&mut self) {
        while let Some((start, length)) = self.send.left.first() {
            if self.send.buffer.chunk_at(start).is_some_and(|chunk| chunk.is_left()) {
                break;
            }
            self.send.left.take(start, length);
        }
    }

    /// Whether an acknowledgement at the data level is of what nobody was given yet: the peer cannot have it (RFC 8684 section 3.3.1).
    #[cold]
    pub(super) fn is_behind_left(&mut self, offset: u64) -> bool {
        self.look_at_left();
        self.send.left.first().is_some_and(|(start, _)| start < offset)
    }

    /// What the scheduler meant for a subflow that it has just chosen.
    #[inline(always)]
    pub(super) fn around(&mut self, now: Instant, id: usize) -> Around {
        if self.send.left.is_empty() && !self.send.writer.streams(now) {
            return Around::Nothing;
        }
        self.go_around(id)
    }

    #[inline(never)]
    fn go_around(&mut self, id: usize) -> Around {
        let (leaves, mss) = (self.choice.scheduler.leaves(), self.congestion.paths[id].mss);
        if let Some((start, before)) = self.send.left.behind(leaves, mss) {
            if before > 0 {
                self.send.buffer.split(start, before);
                self.send.left.split(start, before);
            }
            return Around::Piece(start + before);
        }
        while leaves >= self.send.left.bytes() + mss {
            let size = self.send.buffer.whole(leaves - self.send.left.bytes(), mss);
            let (start, buffer) = (self.send.buffer.next(), &mut self.send.buffer);
            // What follows has to fit, too, into the peer's window, and into the pieces that are noted.
            if size == 0 || start + size + mss > buffer.edge() || buffer.is_in_crumbs(mss) {
                return Around::Wait;
            }
            let payload = buffer.cut(size, mss);
            buffer.send(Chunk::left(start, payload));
            self.send.left.push(start, size);
        }
        if self.send.buffer.unsent() == 0 { Around::Wait } else { Around::Nothing }
    }

    /// A subflow carries as much of the piece at `start` as fits into a segment there, as its first one.
    #[cold]
    pub(super) fn carry_left(
        &mut self,
        now: Instant,
        start: u64,
        id: usize,
        out: &mut Segment,
    ) -> Option<usize> {
        self.send.buffer.split(start, self.largest_payload(id));
        let (subflow, next) = (self.subflow_id(id), self.subflows[id].sender().board.next);
        let chunk = self.send.buffer.chunk_at(start)?;
        chunk.put(Put { subflow, end: next + chunk.payload.len() as u64 });
        let payload = chunk.payload.clone();
        self.send.left.take(start, payload.len() as u64);
        let sent = self.put_again(now, id, start, payload, out);
        if self.watch.is_some() {
            self.choice.sent = id;
            self.observe_new(now, id);
        }
        Some(sent)
    }
}
