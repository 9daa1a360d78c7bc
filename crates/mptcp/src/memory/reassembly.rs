//! The reassembly queue of a subflow or a connection: out-of-order payload sorted by offset, without
//! overlaps.
//!
//! Owns the limit on the number of pieces, because a peer could fill memory with tiny ones. At the limit,
//! adjacent pieces are joined, and other payload is refused. Never delivers data out of order. Insertion and
//! removal cost the logarithm of the number of pieces.

use bytes::{Bytes, BytesMut};

use crate::memory::CHUNK;
use crate::memory::ordered::Ordered;
use crate::memory::retained_blocks::RetainedBlocks;

/// Result of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inserted {
    /// Number of new bytes; other bytes were duplicates.
    Fresh(u64),
    /// All bytes were duplicates.
    Known,
    /// No further piece can be stored.
    Refused,
}

#[derive(Debug)]
pub(crate) struct Reassembly {
    pieces: Ordered<Bytes>,
    bytes: u64,
    /// Maximum number of pieces.
    max_pieces: usize,
    /// Insertions since the last join, over which the cost of joining is spread.
    inserted_since_join: usize,
    retained_blocks: RetainedBlocks,
    /// Offsets of pieces stored as slices of blocks, including removed ones.
    borrowed: Vec<u64>,
}

impl Reassembly {
    /// Creates a queue of at most `max_pieces` pieces. `block` is the size of the blocks into which the
    /// driver reads packets, bytes; 0 for payload with its own memory.
    pub(crate) fn new(max_pieces: usize, block: u64) -> Self {
        Self {
            pieces: Ordered::default(),
            bytes: 0,
            max_pieces,
            inserted_since_join: 0,
            retained_blocks: RetainedBlocks::new(block),
            borrowed: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Stored bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Upper bound of the memory in use, bytes: the payload, or the blocks of which it is a slice.
    pub(crate) fn held(&self) -> u64 {
        self.bytes.max(self.retained_blocks.retained())
    }

    /// Offset after the last stored byte; `None` if the queue is empty.
    pub(crate) fn end(&self) -> Option<u64> {
        self.pieces.last().map(|(start, data)| start + data.len() as u64)
    }

    /// Stores the new bytes of `data`, which starts at offset `start`.
    #[inline(always)]
    pub(crate) fn insert(&mut self, start: u64, data: Bytes) -> Inserted {
        if !data.is_empty() && self.end().is_none_or(|last| last <= start) {
            // The usual case: `data` follows all stored bytes.
            return if self.is_available() { self.keep_last(start, data) } else { Inserted::Refused };
        }
        self.insert_between(start, data)
    }

    #[inline(never)]
    fn insert_between(&mut self, mut start: u64, mut data: Bytes) -> Inserted {
        let mut end = start + data.len() as u64;
        if let Some((before, known)) = self.pieces.at_or_before(start) {
            let known_end = before + known.len() as u64;
            if known_end >= end {
                return Inserted::Known;
            }
            if known_end > start {
                data = data.slice((known_end - start) as usize..);
                start = known_end;
            }
        }
        // The new payload replaces the pieces that it contains, which keeps the number of pieces low.
        let mut known = 0;
        while let Some((after, piece)) = self.pieces.first_within(start, end) {
            let (length, piece_end) = (piece.len() as u64, after + piece.len() as u64);
            if piece_end > end {
                data.truncate((after - start) as usize);
                end = after;
                break;
            }
            known += length;
            self.pieces.remove(after);
        }
        self.bytes -= known;
        let length = end - start;
        if length == 0 {
            return Inserted::Known;
        }
        if length == known {
            // The new payload only replaced adjacent pieces.
            self.put(start, data);
            return Inserted::Known;
        }
        if !self.is_available() {
            return Inserted::Refused;
        }
        self.put(start, data);
        Inserted::Fresh(length - known)
    }

    /// Stores new payload after all stored bytes.
    #[inline(always)]
    fn keep_last(&mut self, start: u64, data: Bytes) -> Inserted {
        let length = data.len() as u64;
        self.put_by(start, data, Ordered::push);
        Inserted::Fresh(length)
    }

    fn put(&mut self, start: u64, data: Bytes) {
        self.put_by(start, data, Ordered::insert);
    }

    #[inline(always)]
    fn put_by(&mut self, start: u64, data: Bytes, insert: impl FnOnce(&mut Ordered<Bytes>, u64, Bytes)) {
        self.bytes += data.len() as u64;
        self.inserted_since_join += 1;
        if self.retained_blocks.shares_blocks() {
            return self.put_slice(start, data, insert);
        }
        insert(&mut self.pieces, start, data);
    }

    /// Stores a slice of a block.
    #[inline(never)]
    fn put_slice(&mut self, start: u64, data: Bytes, insert: impl FnOnce(&mut Ordered<Bytes>, u64, Bytes)) {
        let (data, shared) = self.retained_blocks.copy_if_small(data);
        if shared {
            self.retained_blocks.enter(&data);
            self.borrowed.push(start);
        }
        insert(&mut self.pieces, start, data);
        if shared
            && (self.retained_blocks.is_wasteful(self.bytes) || self.borrowed.len() > 2 * self.max_pieces)
        {
            self.copy_slices();
        }
    }

    /// Whether a further piece can be stored without joining.
    #[inline]
    pub(crate) fn has_space(&self) -> bool {
        self.pieces.len() < self.max_pieces
    }

    /// Whether a further piece can be stored; joins pieces if necessary.
    #[inline]
    pub(crate) fn is_available(&mut self) -> bool {
        self.pieces.len() < self.max_pieces || self.join_if_worthwhile()
    }

    #[cold]
    fn join_if_worthwhile(&mut self) -> bool {
        if self.inserted_since_join < self.max_pieces / 4 {
            return false;
        }
        self.join();
        self.pieces.len() < self.max_pieces
    }

    /// Removes the first piece if it starts at or before `next`. Repeated calls return all data in order.
    #[inline(always)]
    pub(crate) fn take(&mut self, next: u64) -> Option<(u64, Bytes)> {
        let (start, data) = self.pieces.pop_up_to(next)?;
        self.bytes -= data.len() as u64;
        self.retained_blocks.leave(&data);
        if self.pieces.is_empty() {
            self.retained_blocks.reset();
            self.borrowed.clear();
        }
        Some((start, data))
    }

    pub(crate) fn clear(&mut self) {
        self.pieces = Ordered::default();
        self.bytes = 0;
        self.retained_blocks.reset();
        self.borrowed = Vec::new();
    }

    /// Copies all slices of blocks to their own memory.
    #[cold]
    fn copy_slices(&mut self) {
        for start in self.borrowed.drain(..) {
            if let Some(piece) = self.pieces.get_mut(start) {
                *piece = Bytes::copy_from_slice(piece);
            }
        }
        self.retained_blocks.reset();
    }

    /// Joins small adjacent pieces. Pieces of at least half a chunk stay, so that each byte is copied at most
    /// about twice.
    #[cold]
    fn join(&mut self) {
        self.inserted_since_join = 0;
        let mut joined: Vec<(u64, Bytes)> = Vec::new();
        let mut growing: Option<(u64, BytesMut)> = None;
        for (start, data) in self.pieces.take() {
            if let Some((before, grown)) = &mut growing {
                if *before + grown.len() as u64 == start && grown.len() + data.len() <= CHUNK {
                    grown.extend_from_slice(&data);
                    continue;
                }
                joined.extend(growing.take().map(|(start, grown)| (start, Bytes::copy_from_slice(&grown))));
            }
            if data.len() >= CHUNK / 2 {
                joined.push((start, data));
            } else {
                growing = Some((start, BytesMut::from(&data[..])));
            }
        }
        // Trims the unused capacity of the buffer.
        joined.extend(growing.map(|(start, grown)| (start, Bytes::copy_from_slice(&grown))));
        self.pieces = joined.into_iter().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Inserted, Reassembly};

    fn bytes(from: u64, to: u64) -> Bytes {
        (from..to).map(|at| at as u8).collect()
    }

    /// Returns all data from `next` on.
    fn drain(store: &mut Reassembly, mut next: u64) -> Vec<u8> {
        let mut out = Vec::new();
        while let Some((start, data)) = store.take(next) {
            assert!(start >= next || start + data.len() as u64 > next, "no piece repeats another");
            out.extend_from_slice(&data[(next - start) as usize..]);
            next = start + data.len() as u64;
        }
        out
    }

    #[test]
    fn shifted_segments_hold_each_byte_once() {
        let mut store = Reassembly::new(1024, 0);
        for start in 10..1000 {
            assert_eq!(
                store.insert(start, bytes(start, start + 100)),
                Inserted::Fresh(if start == 10 { 100 } else { 1 })
            );
        }
        assert_eq!(store.bytes(), 1089);
        assert_eq!(drain(&mut store, 10), bytes(10, 1099));
        assert_eq!((store.bytes(), store.pieces()), (0, 0));
    }

    #[test]
    fn a_payload_over_many_pieces_replaces_them() {
        let mut store = Reassembly::new(1024, 0);
        for start in (11..500).step_by(2) {
            store.insert(start, bytes(start, start + 1));
        }
        assert_eq!(store.insert(10, bytes(10, 500)), Inserted::Fresh(490 - 245));
        assert_eq!((store.bytes(), store.pieces()), (490, 1));
        assert_eq!(store.insert(20, bytes(20, 30)), Inserted::Known);
        assert_eq!(drain(&mut store, 10), bytes(10, 500));
    }

    #[test]
    fn single_bytes_side_by_side_are_joined_and_holes_are_refused() {
        let mut store = Reassembly::new(1024, 0);
        for start in 10..100_000 {
            assert_eq!(store.insert(start, bytes(start, start + 1)), Inserted::Fresh(1));
            assert!(store.pieces() <= 1024);
        }
        store.clear();
        let placed = |at: &u64| (10 + 2 * at, bytes(10 + 2 * at, 11 + 2 * at));
        let results: Vec<Inserted> =
            (0..5000).map(|at| placed(&at)).map(|(start, data)| store.insert(start, data)).collect();
        assert_eq!(results.iter().filter(|result| **result == Inserted::Fresh(1)).count(), 1024);
        assert!(results[1024..].iter().all(|result| *result == Inserted::Refused));
        // Data that closes gaps is still accepted.
        assert_eq!(store.insert(10, bytes(10, 2000)), Inserted::Fresh(995));
    }

    #[test]
    fn slices_of_blocks_do_not_keep_them() {
        let mut store = Reassembly::new(1024, 4096);
        for at in 0..1000 {
            let block = Bytes::from(vec![7; 4096]);
            let length = if at % 2 == 0 { 1 } else { 300 };
            store.insert(10 + 400 * at, block.slice(100..100 + length));
            assert!(store.held() <= 2 * store.bytes() + 2 * 4096, "{} bytes held", store.held());
        }
        assert_eq!(store.bytes(), 500 * 301);
    }
}
