//! What the application wrote and what is under way.
//!
//! Owns the send buffer and the chunks that subflows carry until they are acknowledged at the data
//! level (RFC 8684 section 3.3.2). Offsets count from the first byte of the stream.
//!
//! How what was written is cut into what segments carry.
//!
//! Owns where copies are made, which is where a segment would not be full otherwise.
//!
//! A piece of our stream while it is under way, and where it was put.
//!
//! Owns which subflows carried it. The order of pieces is `send_buffer`'s.
//!
//! Where the application's writes end, as far as that matters for segments.
//!
//! Owns the offsets. What follows from them is the affair of `writes`.

use std::collections::{BTreeSet, VecDeque};

use bytes::{Bytes, BytesMut};

use crate::ids::SubflowId;

/// Pieces under way that may be small, beside two for each full segment's bytes.
const MAX_SMALL_CHUNKS: u64 = 256;
/// Places for chunks that an idle connection keeps.
const MAX_IDLE_CAPACITY: usize = 4096;

/// Written data: the first `length` bytes of `buffer`.
///
/// A writer that got only a part of its buffer taken comes back with the rest. That rest is the memory
/// that follows here, so taking it means no more than counting further.
#[derive(Debug)]
struct WrittenData {
    buffer: Bytes,
    length: usize,
}

#[derive(Debug, Default)]
pub(crate) struct SendBuffer {
    unsent: VecDeque<WrittenData>,
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
    small_segment_end: u64,
    /// Offset behind the data that a SYN carried in vain.
    syn_end: u64,
    /// Largest offset that the peer's window allows.
    edge: u64,
    /// The largest window the peer ever offered, bytes.
    largest_window: u64,
    /// The size that autotuning (M3) gave the buffer last, bytes.
    tuned: u64,
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
        self.unsent.push_back(WrittenData { buffer: data.clone(), length });
    }

    /// The size that autotuning (M3) gave the buffer last, bytes; 0 before.
    pub(crate) fn tuned(&self) -> u64 {
        self.tuned
    }

    pub(crate) fn set_tuned(&mut self, bytes: u64) {
        self.tuned = bytes;
    }

    /// Where writes end.
    pub(crate) fn write_ends(&self) -> &WriteEnds {
        &self.ends
    }

    pub(crate) fn write_ends_mut(&mut self) -> &mut WriteEnds {
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
        self.unsent.push_front(WrittenData { buffer: data, length });
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
    pub(crate) fn window_space(&self) -> u64 {
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
        self.small_segment_end > self.una
    }

    /// The segment that was cut last, which begins at an offset, was not full. Returns whether that counts: a retransmission of a SYN's
    /// data does not, as in Linux (net/ipv4/tcp_output.c, `tcp_minshall_update`).
    pub(crate) fn note_small(&mut self, start: u64) -> bool {
        let counts = start >= self.syn_end;
        if counts {
            self.small_segment_end = self.next;
        }
        counts
    }

    /// Whether what is under way is in so many pieces that no more small ones are cut: a peer that opens its window byte by byte would
    /// have a piece noted for each.
    pub(crate) fn has_many_small_chunks(&self, mss: u64) -> bool {
        self.flight.len() as u64 > MAX_SMALL_CHUNKS + 2 * (self.next - self.una) / mss.max(1)
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
    pub(crate) fn request_reinjection_of(&mut self, stalled: u64, working: u64) {
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
    pub(crate) fn first_reinjection(&self) -> Option<u64> {
        self.again.first().copied()
    }

    /// It is carried again, or need not be.
    pub(crate) fn pop_reinjection(&mut self) {
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
            self.flight.shrink_to(MAX_IDLE_CAPACITY);
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
    pub(crate) fn request_reinjection(&mut self, start: u64) {
        if let Some(chunk) = self.chunk_at(start)
            && !std::mem::replace(&mut chunk.queued, true)
        {
            let start = chunk.start;
            self.again.insert(start);
        }
    }
}

impl SendBuffer {
    /// Cuts the next chunk of at most `size` bytes. Within one written buffer it is a slice; across
    /// two it is copied together, so that segments stay full. A large one (more than `mss`) rather ends
    /// with the buffer than be copied, unless little is left of that.
    #[inline(always)]
    pub(crate) fn cut(&mut self, size: u64, mss: u64) -> Bytes {
        let size = size.min(self.unsent_bytes) as usize;
        if let Some(front) = self.unsent.front_mut().filter(|front| size < front.length) {
            front.length -= size;
            self.unsent_bytes -= size as u64;
            self.next += size as u64;
            return front.buffer.split_to(size);
        }
        self.cut_last(size, mss)
    }

    /// The same where no more than that is left of what was written at once.
    #[inline(never)]
    fn cut_last(&mut self, mut size: usize, mss: u64) -> Bytes {
        let Some(front) = self.unsent.front_mut() else { return Bytes::new() };
        if size as u64 > mss && front.length >= size / 4 {
            size = size.min(front.length);
        }
        let chunk = if front.length >= size {
            front.length -= size;
            front.buffer.split_to(size)
        } else {
            self.join(size)
        };
        // One that was taken in part is kept for its writer, who comes back with what follows in it.
        let last = self.unsent.len() == 1;
        let over = |front: &WrittenData| front.length == 0 && (!last || front.buffer.is_empty());
        if self.unsent.front().is_some_and(over) {
            self.unsent.pop_front();
        }
        self.unsent_bytes -= chunk.len() as u64;
        self.next += chunk.len() as u64;
        chunk
    }

    /// Copies the next `size` bytes together.
    #[inline(never)]
    fn join(&mut self, size: usize) -> Bytes {
        let mut joined = BytesMut::with_capacity(size);
        while joined.len() < size {
            let Some(front) = self.unsent.front_mut() else { break };
            let length = front.length.min(size - joined.len());
            joined.extend_from_slice(&front.buffer.split_to(length));
            front.length -= length;
            if front.length == 0 {
                self.unsent.pop_front();
            }
        }
        joined.freeze()
    }

    /// Makes two chunks of the one at `start` when it is longer than `most` bytes. The second waits to be
    /// carried again if the first does.
    pub(crate) fn split(&mut self, start: u64, most: u64) {
        let at = self.flight.partition_point(|chunk| chunk.end() <= start);
        let Some(chunk) = self.flight.get_mut(at).filter(|chunk| chunk.payload.len() as u64 > most) else {
            return;
        };
        let mut rest = chunk.clone();
        chunk.shorten(rest.payload.len() as u64 - most);
        chunk.payload.truncate(most as usize);
        rest.payload = rest.payload.slice(most as usize..);
        rest.start += most;
        if rest.queued {
            self.again.insert(rest.start);
        }
        self.flight.insert(at + 1, rest);
    }
}

/// Data given to at least one subflow and not yet acknowledged at the data level.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    start: u64,
    payload: Bytes,
    /// The subflows that carried it, one bit each.
    carriers: u64,
    /// Queued to be carried by another subflow.
    queued: bool,
    /// Where it was put first.
    first_mapping: SubflowMapping,
    /// Where it was put after that.
    later_mappings: Vec<SubflowMapping>,
}

/// A place in a subflow's stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubflowMapping {
    pub subflow: SubflowId,
    /// Subflow offset behind its last byte.
    pub end: u64,
}

impl Chunk {
    /// Data that is given to a first subflow.
    pub(crate) fn new(start: u64, payload: Bytes, first_mapping: SubflowMapping) -> Self {
        let carriers = carrier(first_mapping.subflow.slot());
        Self { start, payload, carriers, queued: false, first_mapping, later_mappings: Vec::new() }
    }

    /// Stream offset of its first byte.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    pub(crate) fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// The subflows that carried it, one bit for each slot.
    pub(crate) fn carriers(&self) -> u64 {
        self.carriers
    }

    pub(crate) fn set_carriers(&mut self, carriers: u64) {
        self.carriers = carriers;
    }

    /// Whether another subflow is to carry it.
    pub(crate) fn is_queued(&self) -> bool {
        self.queued
    }

    pub(crate) fn set_queued(&mut self, queued: bool) {
        self.queued = queued;
    }

    /// It is given to a further subflow.
    pub(crate) fn map_to(&mut self, mapping: SubflowMapping) {
        self.queued = false;
        self.carriers |= carrier(mapping.subflow.slot());
        self.later_mappings.retain(|other| other.subflow != mapping.subflow);
        self.later_mappings.push(mapping);
    }

    /// The subflow that it was given to first.
    pub(crate) fn first_subflow(&self) -> SubflowId {
        self.first_mapping.subflow
    }

    /// Subflow offset behind its last byte, where it was put last on a subflow.
    pub(crate) fn end_on(&self, subflow: SubflowId) -> Option<u64> {
        let first = Some(&self.first_mapping);
        if self.later_mappings.is_empty() {
            return first.filter(|mapping| mapping.subflow == subflow).map(|mapping| mapping.end);
        }
        let mut all = self.later_mappings.iter().chain(first);
        all.find(|mapping| mapping.subflow == subflow).map(|mapping| mapping.end)
    }

    /// A part of `length` bytes was cut off behind it.
    pub(crate) fn shorten(&mut self, length: u64) {
        let all = self.later_mappings.iter_mut().chain(std::iter::once(&mut self.first_mapping));
        all.for_each(|mapping| mapping.end = mapping.end.saturating_sub(length));
    }

    pub(crate) fn end(&self) -> u64 {
        self.start + self.payload.len() as u64
    }

    pub(crate) fn carried_by(&self, subflow: usize) -> bool {
        self.carriers & carrier(subflow) != 0
    }
}

/// The bit of a subflow's slot.
pub(crate) fn carrier(slot: usize) -> u64 {
    1 << (slot % SubflowId::SLOTS)
}

/// An end that matters.
#[derive(Clone, Copy, Debug)]
struct End {
    at: u64,
    record: bool,
}

/// Ends of writes that are not acknowledged: no more of them than bytes in the send buffer.
#[derive(Debug, Default)]
pub(crate) struct WriteEnds {
    ends: VecDeque<End>,
    /// The last one that was noted.
    pushed: u64,
}

impl WriteEnds {
    /// A write from `start` to `at` is here, and all before `next` was sent.
    pub(crate) fn note(&mut self, start: u64, at: u64, next: u64, record: bool) {
        // What is unsent goes in the same segments as what follows it: Linux takes the flag back from there.
        self.ends.pop_back_if(|last| !last.record && last.at == start && start > next);
        self.ends.push_back(End { at, record });
        self.pushed = at;
    }

    /// So many bytes were put before all others.
    pub(crate) fn shift(&mut self, length: u64) {
        self.ends.iter_mut().for_each(|end| end.at += length);
        self.pushed += length;
    }

    /// The last end that was noted.
    pub(crate) fn pushed(&self) -> u64 {
        self.pushed
    }

    /// Whether a write ended at an offset.
    #[inline]
    pub(crate) fn has(&self, at: u64) -> bool {
        !self.ends.is_empty() && self.ends.binary_search_by_key(&at, |end| end.at).is_ok()
    }

    /// The first end of a record behind an offset.
    #[inline(always)]
    pub(crate) fn record_behind(&self, offset: u64) -> Option<u64> {
        if self.ends.is_empty() {
            return None;
        }
        let from = self.ends.partition_point(|end| end.at <= offset);
        self.ends.range(from..).find(|end| end.record).map(|end| end.at)
    }

    /// All up to an offset is acknowledged.
    #[inline]
    pub(crate) fn forget(&mut self, offset: u64) {
        while self.ends.pop_front_if(|end| end.at <= offset).is_some() {}
    }
}

#[cfg(test)]
mod tests;
