//! Payload that came before its turn, in the order of its offsets, without overlaps.
//!
//! Owns the bound on the number of pieces: adjacent ones are joined when there are too many, and what cannot be
//! joined is refused. Inserting and taking cost the logarithm of the pieces.

use bytes::{Bytes, BytesMut};

use crate::memory::CHUNK;
use crate::memory::ordered::Ordered;
use crate::memory::retained_blocks::RetainedBlocks;

/// What became of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inserted {
    /// It added this many bytes; the rest was known.
    Fresh(u64),
    /// All of it was known.
    Known,
    /// There is no place for a further piece.
    Refused,
}

#[derive(Debug)]
pub(crate) struct Reassembly {
    pieces: Ordered<Bytes>,
    bytes: u64,
    /// Most pieces.
    most: usize,
    /// Insertions since pieces were joined: what joining costs is spread over them.
    since: usize,
    retained_blocks: RetainedBlocks,
    /// Pieces that are slices of a driver's block, those that left among them.
    borrowed: Vec<u64>,
}

impl Reassembly {
    /// Keeps up to `most` pieces of payload that comes in blocks of `block` bytes (0: in memory of its own).
    pub(crate) fn new(most: usize, block: u64) -> Self {
        Self {
            pieces: Ordered::default(),
            bytes: 0,
            most,
            since: 0,
            retained_blocks: RetainedBlocks::new(block),
            borrowed: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Bytes that wait.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Pieces that wait.
    pub(crate) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Bytes of memory that they hold alive, at most: their own, or the blocks that they are slices of.
    pub(crate) fn held(&self) -> u64 {
        self.bytes.max(self.retained_blocks.pinned())
    }

    /// Offset behind the last byte that waits.
    pub(crate) fn end(&self) -> Option<u64> {
        self.pieces.last().map(|(start, data)| start + data.len() as u64)
    }

    /// Keeps `data` at `start`, as far as it is not known.
    #[inline(always)]
    pub(crate) fn insert(&mut self, start: u64, data: Bytes) -> Inserted {
        if !data.is_empty() && self.end().is_none_or(|last| last <= start) {
            // Behind all that waits, as nearly everything is.
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
        // What lies within the new payload gives way to it: one piece instead of many.
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
            // Only pieces that touched each other were replaced.
            self.put(start, data);
            return Inserted::Known;
        }
        if !self.is_available() {
            return Inserted::Refused;
        }
        self.put(start, data);
        Inserted::Fresh(length - known)
    }

    /// Keeps what is all new, and behind all that waits.
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
    fn put_by(&mut self, start: u64, data: Bytes, place: impl FnOnce(&mut Ordered<Bytes>, u64, Bytes)) {
        self.bytes += data.len() as u64;
        self.since += 1;
        if self.retained_blocks.shares_blocks() {
            return self.put_slice(start, data, place);
        }
        place(&mut self.pieces, start, data);
    }

    /// Keeps what is a slice of a block.
    #[inline(never)]
    fn put_slice(&mut self, start: u64, data: Bytes, place: impl FnOnce(&mut Ordered<Bytes>, u64, Bytes)) {
        let (data, shared) = self.retained_blocks.settle(data);
        if shared {
            self.retained_blocks.enter(&data);
            self.borrowed.push(start);
        }
        place(&mut self.pieces, start, data);
        if shared && (self.retained_blocks.wasteful(self.bytes) || self.borrowed.len() > 2 * self.most) {
            self.own();
        }
    }

    /// Whether a further piece has a place, without joining any.
    #[inline]
    pub(crate) fn has_place(&self) -> bool {
        self.pieces.len() < self.most
    }

    /// Whether a further piece has a place; joins pieces where that makes one.
    #[inline]
    pub(crate) fn is_available(&mut self) -> bool {
        self.pieces.len() < self.most || self.makes_room()
    }

    #[cold]
    fn makes_room(&mut self) -> bool {
        if self.since < self.most / 4 {
            return false;
        }
        self.join();
        self.pieces.len() < self.most
    }

    /// The piece that holds `next` or ends before it; what is taken again and again brings all that is in order.
    #[inline(always)]
    pub(crate) fn take(&mut self, next: u64) -> Option<(u64, Bytes)> {
        let (start, data) = self.pieces.pop_up_to(next)?;
        self.bytes -= data.len() as u64;
        if self.pieces.is_empty() {
            self.retained_blocks.forget();
            self.borrowed.clear();
        }
        Some((start, data))
    }

    /// Lets go of everything.
    pub(crate) fn clear(&mut self) {
        self.pieces = Ordered::default();
        self.bytes = 0;
        self.retained_blocks.forget();
        self.borrowed = Vec::new();
    }

    /// Copies what is still a slice of a block into memory of its own.
    #[cold]
    fn own(&mut self) {
        for start in self.borrowed.drain(..) {
            if let Some(piece) = self.pieces.get_mut(start) {
                *piece = Bytes::copy_from_slice(piece);
            }
        }
        self.retained_blocks.forget();
    }

    /// Makes one piece of small ones that touch each other. Large ones stay as they are, so that each byte is copied once or
    /// twice.
    #[cold]
    fn join(&mut self) {
        self.since = 0;
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
        // What was made by growing has room behind it that nobody needs.
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

    /// All that `store` gives out from `next` on.
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
        // What closes gaps finds its way all the same.
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
