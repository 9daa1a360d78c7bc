//! What the application wrote and what is under way.
//!
//! Owns the send buffer and the chunks that subflows carry until they are acknowledged at the data
//! level (RFC 8684 section 3.3.2). Offsets count from the first byte of the stream.

mod cut;

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;

pub(crate) use super::chunk::{Chunk, Put, carrier};
use super::write_ends::WriteEnds;

/// Pieces under way that may be small, beside two for each full segment's bytes.
const MOST_CRUMBS: u64 = 256;
/// Places for chunks that an idle connection keeps.
const MOST_IDLE: usize = 4096;

/// Written data: the first `length` bytes of `buffer`.
///
/// A writer that got only a part of its buffer taken comes back with the rest. That rest is the memory
/// that follows here, so taking it means no more than counting further.
#[derive(Debug)]
struct Written {
    buffer: Bytes,
    length: usize,
}

#[derive(Debug, Default)]
pub(crate) struct SendBuffer {
    unsent: VecDeque<Written>,
    unsent_bytes: u64,
    ends: WriteEnds,
    /// Next offset to give to a subflow.
    next: u64,
    /// Oldest offset not acknowledged at the data level.
    una: u64,
    flight: VecDeque<Chunk>,
    /// Offsets of chunks to be carried again, in order of the stream: the first holds all others up.
    again: BTreeSet<u64>,
    /// Offset behind the last segment that was not full.
    small_end: u64,
    /// Offset behind the data that a SYN carried in vain.
    syn_end: u64,
    /// Largest offset that the peer's window allows.
    edge: u64,
    /// The largest window the peer ever offered, bytes.
    largest_window: u64,
}

impl SendBuffer {
    /// Takes the first `length` bytes of `data`.
    pub(crate) fn write(&mut self, data: &Bytes, length: usize) {
        self.unsent_bytes += length as u64;
        if let Some(last) = self.unsent.back_mut() {
            let following = &last.buffer[last.length..];
            if following.len() >= length && std::ptr::eq(following.as_ptr(), data.as_ptr()) {
                last.length += length;
                return;
            }
        }
        self.unsent.push_back(Written { buffer: data.clone(), length });
    }

    /// Where writes end.
    pub(crate) fn ends(&self) -> &WriteEnds {
        &self.ends
    }

    pub(crate) fn ends_mut(&mut self) -> &mut WriteEnds {
        &mut self.ends
    }

    /// Of what was put back, `length` bytes were sent with a SYN before.
    pub(crate) fn note_sent_with_syn(&mut self, length: u64) {
        self.syn_end = self.next + length;
    }

    /// Puts data before all that is unsent.
    pub(crate) fn put_back(&mut self, data: Bytes) {
        let length = data.len();
        self.unsent_bytes += length as u64;
        self.unsent.push_front(Written { buffer: data, length });
    }

    /// Next offset to give to a subflow.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Oldest offset not acknowledged at the data level.
    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    /// Whether nothing is under way at the data level.
    pub(crate) fn nothing_in_flight(&self) -> bool {
        self.flight.is_empty()
    }

    /// The oldest data under way.
    pub(crate) fn head(&self) -> Option<&Chunk> {
        self.flight.front()
    }

    pub(crate) fn head_mut(&mut self) -> Option<&mut Chunk> {
        self.flight.front_mut()
    }

    /// The largest window the peer ever offered, bytes.
    pub(crate) fn largest_window(&self) -> u64 {
        self.largest_window
    }

    /// Largest offset that the peer's window allows.
    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }

    /// Room in the peer's window beyond all that was sent, bytes.
    pub(crate) fn window_room(&self) -> u64 {
        self.edge.saturating_sub(self.next)
    }

    /// The peer offers `window` bytes from the offset `from`; returns whether its edge moved right. It moves left only where it
    /// `may_shrink`.
    pub(crate) fn offer(&mut self, from: u64, window: u64, may_shrink: bool) -> bool {
        if may_shrink {
            self.edge = self.edge.min(from + window);
        }
        let opened = from + window > self.edge;
        self.edge = self.edge.max(from + window);
        opened
    }

    /// A window that the peer offered, however old.
    pub(crate) fn note_window(&mut self, window: u64) {
        self.largest_window = self.largest_window.max(window);
    }

    /// Whether a segment that was not full is under way.
    pub(crate) fn small_in_flight(&self) -> bool {
        self.small_end > self.una
    }

    /// The segment that was cut last, which begins at an offset, was not full. Returns whether that counts: a retransmission of a SYN's
    /// data does not, as in Linux (net/ipv4/tcp_output.c, `tcp_minshall_update`).
    pub(crate) fn note_small(&mut self, start: u64) -> bool {
        let counts = start >= self.syn_end;
        if counts {
            self.small_end = self.next;
        }
        counts
    }

    /// Whether what is under way is in so many pieces that no more small ones are cut: a peer that opens its window byte by byte would
    /// have a piece noted for each.
    pub(crate) fn is_in_crumbs(&self, mss: u64) -> bool {
        self.flight.len() as u64 > MOST_CRUMBS + 2 * (self.next - self.una) / mss.max(1)
    }

    /// Data that was cut is under way on a subflow.
    #[inline(always)]
    pub(crate) fn send(&mut self, chunk: Chunk) {
        self.flight.push_back(chunk);
    }

    /// The stream goes on as TCP's: what is under way is its subflow's affair alone.
    pub(crate) fn leave_to_subflow(&mut self) {
        self.flight.clear();
        self.again.clear();
    }

    /// What some of the subflows `stalled` carry, and none of those that are `working`, is to be carried again.
    pub(crate) fn give_to_others(&mut self, stalled: u64, working: u64) {
        for chunk in &mut self.flight {
            if chunk.carriers & stalled != 0 && chunk.carriers & working == 0 && !chunk.queued {
                chunk.queued = true;
                self.again.insert(chunk.start);
            }
        }
    }

    /// A subflow is dead: it carries nothing any more.
    pub(crate) fn forget_carrier(&mut self, subflow: usize) {
        self.flight.iter_mut().for_each(|chunk| chunk.carriers &= !carrier(subflow));
    }

    /// A subflow is dead: what no other one carries is to be carried again.
    pub(crate) fn abandon(&mut self, subflow: usize) {
        for chunk in &mut self.flight {
            chunk.carriers &= !carrier(subflow);
            if chunk.carriers == 0 && !chunk.queued {
                chunk.queued = true;
                self.again.insert(chunk.start);
            }
        }
    }

    /// Offset of the first chunk that is to be carried again.
    pub(crate) fn first_again(&self) -> Option<u64> {
        self.again.first().copied()
    }

    /// It is carried again, or need not be.
    pub(crate) fn pop_again(&mut self) {
        self.again.pop_first();
    }

    pub(crate) fn unsent(&self) -> u64 {
        self.unsent_bytes
    }

    /// Everything the application has written.
    pub(crate) fn written(&self) -> u64 {
        self.next + self.unsent_bytes
    }

    /// Bytes held: written and not acknowledged at the data level.
    pub(crate) fn held(&self) -> u64 {
        self.written() - self.una
    }

    /// Over: nothing is sent any more, nor sent again.
    pub(crate) fn give_up(&mut self) {
        self.unsent.clear();
        self.flight.clear();
        self.again.clear();
    }

    /// A data-level acknowledgement up to `offset`; returns the bytes it freed.
    pub(crate) fn acknowledge(&mut self, offset: u64) -> u64 {
        // One beyond what was sent is ignored: the peer cannot have it.
        if offset <= self.una || offset > self.next {
            return 0;
        }
        let freed = offset - self.una;
        self.ends.forget(offset);
        self.una = offset;
        while self.flight.pop_front_if(|chunk| chunk.end() <= offset).is_some() {}
        if self.flight.is_empty() {
            self.flight.shrink_to(MOST_IDLE);
        }
        freed
    }

    /// The chunk that begins at `start` or holds it.
    pub(crate) fn chunk_at(&mut self, start: u64) -> Option<&mut Chunk> {
        let at = self.flight.partition_point(|chunk| chunk.end() <= start);
        self.flight.get_mut(at).filter(|chunk| chunk.start <= start)
    }

    /// The chunks in flight from the one that holds `offset`.
    pub(crate) fn in_flight_from(&self, offset: u64) -> impl Iterator<Item = &Chunk> {
        let at = self.flight.partition_point(|chunk| chunk.end() <= offset);
        self.flight.range(at..)
    }

    /// The first chunk in flight that a subflow has not carried; all before the offset `from` it has, and that moves on.
    pub(crate) fn first_not_on(&self, subflow: usize, from: &mut u64) -> Option<u64> {
        let at = self.flight.partition_point(|chunk| chunk.end() <= *from);
        for chunk in self.flight.range(at..) {
            if !chunk.carried_by(subflow) {
                return Some(chunk.start);
            }
            *from = chunk.end();
        }
        None
    }

    /// Asks for the chunk that holds `start` to be carried again.
    pub(crate) fn request_again(&mut self, start: u64) {
        if let Some(chunk) = self.chunk_at(start)
            && !std::mem::replace(&mut chunk.queued, true)
        {
            let start = chunk.start;
            self.again.insert(start);
        }
    }
}

#[cfg(test)]
mod tests;
