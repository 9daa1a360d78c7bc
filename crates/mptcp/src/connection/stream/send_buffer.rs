//! The send buffer: written data, and chunks in flight until a DATA_ACK covers them (RFC 8684 section 3.3.2).
//!
//! A chunk is the data of one segment. It is kept because another subflow may have to reinject it. Owns the
//! cut of written data into chunks, the subflows that carried each chunk, the queue of chunks to reinject,
//! and the ends of writes. Never chooses a subflow. Offsets count from the first byte of the stream.

use std::collections::{BTreeSet, VecDeque};

use bytes::{Bytes, BytesMut};

use crate::ids::SubflowId;

/// Small chunks that may be in flight, in addition to two for each MSS in flight.
const MAX_SMALL_CHUNKS: u64 = 256;
/// The capacity for chunks that an idle connection keeps.
const MAX_IDLE_CAPACITY: usize = 4096;

/// Written data: the first `length` bytes of `buffer`.
///
/// If only part of a buffer was accepted, the writer returns with the rest, which follows in memory. The rest
/// is then accepted by increasing `length`.
#[derive(Debug)]
struct WrittenData {
    buffer: Bytes,
    length: usize,
}

#[derive(Debug, Default)]
pub(crate) struct SendBuffer {
    unsent: VecDeque<WrittenData>,
    unsent_bytes: u64,
    write_ends: WriteEnds,
    /// The next offset to send.
    next: u64,
    /// The oldest offset that no DATA_ACK covers.
    una: u64,
    flight: VecDeque<Chunk>,
    /// Offsets of chunks to reinject, in stream order, because the first one blocks all others.
    reinjections: BTreeSet<u64>,
    /// The offset after the last small segment.
    small_segment_end: u64,
    /// The offset after data that a SYN carried and the SYN/ACK did not acknowledge.
    syn_end: u64,
    /// The largest offset that the peer's window permits.
    edge: u64,
    /// The largest window that the peer has offered, bytes.
    largest_window: u64,
    /// The size that buffer autotuning (M3 of NSDI 2012) has set, bytes.
    tuned: u64,
}

impl SendBuffer {
    /// Appends the first `length` bytes of `data`.
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

    pub(crate) fn tuned(&self) -> u64 {
        self.tuned
    }

    pub(crate) fn set_tuned(&mut self, bytes: u64) {
        self.tuned = bytes;
    }

    pub(crate) fn write_ends(&self) -> &WriteEnds {
        &self.write_ends
    }

    pub(crate) fn write_ends_mut(&mut self) -> &mut WriteEnds {
        &mut self.write_ends
    }

    /// Notes that a SYN has carried `length` bytes of the data put back.
    pub(crate) fn note_sent_with_syn(&mut self, length: u64) {
        self.syn_end = self.next + length;
    }

    /// Puts data before all unsent data.
    pub(crate) fn put_back(&mut self, data: Bytes) {
        let length = data.len();
        self.unsent_bytes += length as u64;
        self.unsent.push_front(WrittenData { buffer: data, length });
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    /// Whether no data is in flight at the data level.
    pub(crate) fn nothing_in_flight(&self) -> bool {
        self.flight.is_empty()
    }

    /// The oldest chunk in flight.
    pub(crate) fn head(&self) -> Option<&Chunk> {
        self.flight.front()
    }

    pub(crate) fn head_mut(&mut self) -> Option<&mut Chunk> {
        self.flight.front_mut()
    }

    pub(crate) fn largest_window(&self) -> u64 {
        self.largest_window
    }

    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }

    /// Space in the peer's window after all sent data, bytes.
    pub(crate) fn window_space(&self) -> u64 {
        self.edge.saturating_sub(self.next)
    }

    /// Updates the edge of the window: `window` bytes from offset `from`. It moves left only with `may_shrink`. Returns
    /// whether it moved right.
    pub(crate) fn offer(&mut self, from: u64, window: u64, may_shrink: bool) -> bool {
        if may_shrink {
            self.edge = self.edge.min(from + window);
        }
        let opened = from + window > self.edge;
        self.edge = self.edge.max(from + window);
        opened
    }

    pub(crate) fn note_window(&mut self, window: u64) {
        self.largest_window = self.largest_window.max(window);
    }

    /// Whether a small segment is in flight.
    pub(crate) fn small_in_flight(&self) -> bool {
        self.small_segment_end > self.una
    }

    /// Notes that the segment cut last, from offset `start`, is small. Returns whether it is noted: retransmitted SYN
    /// data is not, as in Linux (net/ipv4/tcp_output.c, `tcp_minshall_update`).
    pub(crate) fn note_small(&mut self, start: u64) -> bool {
        let counts = start >= self.syn_end;
        if counts {
            self.small_segment_end = self.next;
        }
        counts
    }

    /// Whether too many small chunks are in flight to cut more. Without this limit, a peer that opens its window byte
    /// by byte would cause one chunk per byte.
    pub(crate) fn has_many_small_chunks(&self, mss: u64) -> bool {
        self.flight.len() as u64 > MAX_SMALL_CHUNKS + 2 * (self.next - self.una) / mss.max(1)
    }

    /// Adds a chunk that was sent on a subflow.
    #[inline(always)]
    pub(crate) fn send(&mut self, chunk: Chunk) {
        self.flight.push_back(chunk);
    }

    /// Forgets chunks after fallback to TCP, where the subflow alone retransmits.
    pub(crate) fn leave_to_subflow(&mut self) {
        self.flight.clear();
        self.reinjections.clear();
    }

    /// Requests reinjection of chunks that a subflow in `stalled` and none in `working` carried. Both are bit sets of
    /// slots.
    pub(crate) fn request_reinjection_of(&mut self, stalled: u64, working: u64) {
        for chunk in &mut self.flight {
            if chunk.carriers & stalled != 0 && chunk.carriers & working == 0 && !chunk.queued {
                chunk.queued = true;
                self.reinjections.insert(chunk.start);
            }
        }
    }

    /// Removes a closed subflow from the carriers of all chunks.
    pub(crate) fn forget_carrier(&mut self, subflow: usize) {
        self.flight.iter_mut().for_each(|chunk| chunk.carriers &= !carrier(subflow));
    }

    /// Removes a closed subflow from all chunks, and requests reinjection of those without another carrier.
    pub(crate) fn abandon(&mut self, subflow: usize) {
        for chunk in &mut self.flight {
            chunk.carriers &= !carrier(subflow);
            if chunk.carriers == 0 && !chunk.queued {
                chunk.queued = true;
                self.reinjections.insert(chunk.start);
            }
        }
    }

    /// The offset of the first chunk to reinject.
    pub(crate) fn first_reinjection(&self) -> Option<u64> {
        self.reinjections.first().copied()
    }

    /// Removes the first chunk from the queue for reinjection.
    pub(crate) fn pop_reinjection(&mut self) {
        self.reinjections.pop_first();
    }

    pub(crate) fn unsent(&self) -> u64 {
        self.unsent_bytes
    }

    /// The offset after all written data.
    pub(crate) fn written(&self) -> u64 {
        self.next + self.unsent_bytes
    }

    /// Bytes that are written and not acknowledged at the data level.
    pub(crate) fn held(&self) -> u64 {
        self.written() - self.una
    }

    /// Drops all data at the end of the connection.
    pub(crate) fn give_up(&mut self) {
        self.unsent.clear();
        self.flight.clear();
        self.reinjections.clear();
    }

    /// Processes a DATA_ACK up to `offset`. Returns the bytes that it freed.
    pub(crate) fn acknowledge(&mut self, offset: u64) -> u64 {
        // A DATA_ACK beyond the data sent is invalid.
        if offset <= self.una || offset > self.next {
            return 0;
        }
        let freed = offset - self.una;
        self.write_ends.forget(offset);
        self.una = offset;
        while self.flight.pop_front_if(|chunk| chunk.end() <= offset).is_some() {}
        if self.flight.is_empty() {
            self.flight.shrink_to(MAX_IDLE_CAPACITY);
        }
        freed
    }

    /// The chunk that contains `start`.
    pub(crate) fn chunk_at(&mut self, start: u64) -> Option<&mut Chunk> {
        let at = self.flight.partition_point(|chunk| chunk.end() <= start);
        self.flight.get_mut(at).filter(|chunk| chunk.start <= start)
    }

    /// The chunks in flight from the one that contains `offset`.
    pub(crate) fn in_flight_from(&self, offset: u64) -> impl Iterator<Item = &Chunk> {
        let at = self.flight.partition_point(|chunk| chunk.end() <= offset);
        self.flight.range(at..)
    }

    /// The offset of the first chunk in flight that a subflow has not carried. `from` caches where the search starts,
    /// and advances.
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

    /// Requests reinjection of the chunk that contains `start`.
    pub(crate) fn request_reinjection(&mut self, start: u64) {
        if let Some(chunk) = self.chunk_at(start)
            && !std::mem::replace(&mut chunk.queued, true)
        {
            let start = chunk.start;
            self.reinjections.insert(start);
        }
    }
}

impl SendBuffer {
    /// Cuts the next chunk of at most `size` bytes. Within one written buffer it is a slice. Across two
    /// buffers it is copied, so that segments stay full. A chunk above `mss` ends with the buffer instead,
    /// unless the buffer has less than a quarter of `size` left.
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

    /// Cuts a chunk that takes the rest of the first written buffer.
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
        // A buffer that was accepted in part stays for its writer, who returns with the rest.
        let last = self.unsent.len() == 1;
        let over = |front: &WrittenData| front.length == 0 && (!last || front.buffer.is_empty());
        if self.unsent.front().is_some_and(over) {
            self.unsent.pop_front();
        }
        self.unsent_bytes -= chunk.len() as u64;
        self.next += chunk.len() as u64;
        chunk
    }

    /// Copies the next `size` bytes into one buffer.
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

    /// Splits the chunk at `start` after `most` bytes, if it is longer. If the chunk waits for reinjection, so does the
    /// second part.
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
            self.reinjections.insert(rest.start);
        }
        self.flight.insert(at + 1, rest);
    }
}

/// Data that at least one subflow has sent and no DATA_ACK covers.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    start: u64,
    payload: Bytes,
    /// The subflows that carried the chunk, one bit per slot.
    carriers: u64,
    /// The chunk waits for reinjection.
    queued: bool,
    /// The position in the stream of the subflow that sent the chunk first.
    first_mapping: SubflowMapping,
    /// The mappings of reinjections.
    later_mappings: Vec<SubflowMapping>,
}

/// A position in a subflow's stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubflowMapping {
    pub subflow: SubflowId,
    /// The subflow offset after the last byte.
    pub end: u64,
}

impl Chunk {
    pub(crate) fn new(start: u64, payload: Bytes, first_mapping: SubflowMapping) -> Self {
        let carriers = carrier(first_mapping.subflow.slot());
        Self { start, payload, carriers, queued: false, first_mapping, later_mappings: Vec::new() }
    }

    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    pub(crate) fn payload(&self) -> &Bytes {
        &self.payload
    }

    pub(crate) fn carriers(&self) -> u64 {
        self.carriers
    }

    pub(crate) fn set_carriers(&mut self, carriers: u64) {
        self.carriers = carriers;
    }

    pub(crate) fn is_queued(&self) -> bool {
        self.queued
    }

    pub(crate) fn set_queued(&mut self, queued: bool) {
        self.queued = queued;
    }

    /// Adds a mapping to another subflow.
    pub(crate) fn map_to(&mut self, mapping: SubflowMapping) {
        self.queued = false;
        self.carriers |= carrier(mapping.subflow.slot());
        self.later_mappings.retain(|other| other.subflow != mapping.subflow);
        self.later_mappings.push(mapping);
    }

    /// The subflow that carried the chunk first.
    pub(crate) fn first_subflow(&self) -> SubflowId {
        self.first_mapping.subflow
    }

    /// The end offset of the latest mapping on a subflow. `None` if the subflow has not carried the chunk.
    pub(crate) fn end_on(&self, subflow: SubflowId) -> Option<u64> {
        let first = Some(&self.first_mapping);
        if self.later_mappings.is_empty() {
            return first.filter(|mapping| mapping.subflow == subflow).map(|mapping| mapping.end);
        }
        let mut all = self.later_mappings.iter().chain(first);
        all.find(|mapping| mapping.subflow == subflow).map(|mapping| mapping.end)
    }

    /// Shortens the mappings by `length` bytes at the end.
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

/// The bit of a slot in a set of carriers.
pub(crate) fn carrier(slot: usize) -> u64 {
    1 << (slot % SubflowId::SLOTS)
}

/// The end of a write: a segment that ends there gets PSH.
#[derive(Clone, Copy, Debug)]
struct End {
    at: u64,
    /// The write is a record, as with MSG_EOR: its last byte ends a segment.
    record: bool,
}

/// The ends of unacknowledged writes: at most as many as bytes in the send buffer.
#[derive(Debug, Default)]
pub(crate) struct WriteEnds {
    ends: VecDeque<End>,
    /// The offset of the last end.
    pushed: u64,
}

impl WriteEnds {
    /// Adds the end of a write from `start` to `at`. All data before `next` was sent.
    pub(crate) fn note(&mut self, start: u64, at: u64, next: u64, record: bool) {
        // Unsent data shares segments with the data after it, so Linux removes PSH from its end.
        self.ends.pop_back_if(|last| !last.record && last.at == start && start > next);
        self.ends.push_back(End { at, record });
        self.pushed = at;
    }

    /// Moves all ends by `length` bytes that were put before the unsent data.
    pub(crate) fn shift(&mut self, length: u64) {
        self.ends.iter_mut().for_each(|end| end.at += length);
        self.pushed += length;
    }

    pub(crate) fn pushed(&self) -> u64 {
        self.pushed
    }

    /// Whether a write ended at an offset.
    #[inline]
    pub(crate) fn has(&self, at: u64) -> bool {
        !self.ends.is_empty() && self.ends.binary_search_by_key(&at, |end| end.at).is_ok()
    }

    /// The first offset after `offset` at which a write with MSG_EOR ended.
    #[inline(always)]
    pub(crate) fn next_record_end(&self, offset: u64) -> Option<u64> {
        if self.ends.is_empty() {
            return None;
        }
        let from = self.ends.partition_point(|end| end.at <= offset);
        self.ends.range(from..).find(|end| end.record).map(|end| end.at)
    }

    /// Removes the ends up to an acknowledged offset.
    #[inline]
    pub(crate) fn forget(&mut self, offset: u64) {
        while self.ends.pop_front_if(|end| end.at <= offset).is_some() {}
    }
}

#[cfg(test)]
mod tests;
