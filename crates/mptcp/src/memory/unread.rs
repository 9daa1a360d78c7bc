//! A queue of in-order payload that waits for the application to read it, or for the rest of a checksummed
//! mapping.
//!
//! Owns the limit on the memory overhead of the queue. Small payloads are copied together, and slices of
//! blocks are copied if the blocks use much more memory than the payload. Never reorders data.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::memory::retained_blocks::RetainedBlocks;

/// Payload below this size is copied if the queue is not empty, because its overhead exceeds its bytes.
const SMALL: usize = 512;
/// Size of a piece made of small payloads, bytes.
const PIECE: usize = 16_384;

#[derive(Debug, Default)]
pub(crate) struct Unread {
    pieces: VecDeque<Bytes>,
    /// Small payloads at the end of the queue.
    tail: Vec<u8>,
    bytes: u64,
    retained_blocks: RetainedBlocks,
    /// Whether the queue waits for the peer, not for the application. Small slices are then copied at once.
    waits_for_peer: bool,
    /// Number of pieces at the front that are not slices of blocks.
    copied: usize,
}

impl Unread {
    /// Creates a queue for payload that waits until the peer sends more.
    pub(crate) fn waiting_for_peer(block: u64) -> Self {
        Self { waits_for_peer: true, ..Self::new(block) }
    }

    /// Creates a queue for payload in blocks of `block` bytes; 0 for payload with its own memory.
    pub(crate) fn new(block: u64) -> Self {
        Self { retained_blocks: RetainedBlocks::new(block), ..Self::default() }
    }

    /// Queued bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Upper bound of the memory in use, bytes.
    pub(crate) fn held(&self) -> u64 {
        self.bytes.max(self.retained_blocks.retained())
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, data: Bytes) {
        self.bytes += data.len() as u64;
        if data.len() < SMALL && self.copy_small(&data) {
            return;
        }
        self.end_tail();
        if self.retained_blocks.shares_blocks() {
            return self.push_slice(data);
        }
        self.pieces.push_back(data);
    }

    /// Appends a slice of a block.
    #[inline(never)]
    fn push_slice(&mut self, data: Bytes) {
        let (data, shared) =
            if self.waits_for_peer { self.retained_blocks.copy_if_small(data) } else { (data, true) };
        if shared {
            self.retained_blocks.enter(&data);
        }
        self.pieces.push_back(data);
        if self.retained_blocks.is_wasteful(self.bytes) {
            self.copy_slices();
        }
    }

    /// Copies a small payload if necessary; returns whether it did.
    #[inline(never)]
    fn copy_small(&mut self, data: &[u8]) -> bool {
        let waits = !self.pieces.is_empty() || !self.tail.is_empty();
        if !waits && self.retained_blocks.shares_blocks() {
            // A single payload may stay in the queue for long, and would retain its whole block.
            self.pieces.push_back(Bytes::copy_from_slice(data));
            return true;
        }
        if waits {
            self.tail.extend_from_slice(data);
            if self.tail.len() >= PIECE {
                self.end_tail();
            }
        }
        waits
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Bytes> {
        if self.pieces.is_empty() {
            self.end_tail();
        }
        let data = self.pieces.pop_front()?;
        self.copied = self.copied.saturating_sub(1);
        self.bytes -= data.len() as u64;
        self.retained_blocks.leave(&data);
        if self.pieces.is_empty() {
            self.retained_blocks.reset();
        }
        Some(data)
    }

    pub(crate) fn clear(&mut self) {
        let (retained_blocks, waits_for_peer) =
            (std::mem::take(&mut self.retained_blocks), self.waits_for_peer);
        *self = Self { retained_blocks, waits_for_peer, ..Self::default() };
        self.retained_blocks.reset();
    }

    #[inline]
    fn end_tail(&mut self) {
        if !self.tail.is_empty() {
            self.take_tail();
        }
    }

    #[inline(never)]
    fn take_tail(&mut self) {
        self.pieces.push_back(Bytes::copy_from_slice(&self.tail));
        self.tail.clear();
        self.tail.shrink_to(PIECE + SMALL);
    }

    /// Copies all slices of blocks to their own memory.
    #[cold]
    fn copy_slices(&mut self) {
        for piece in self.pieces.range_mut(self.copied..) {
            *piece = Bytes::copy_from_slice(piece);
        }
        self.copied = self.pieces.len();
        self.retained_blocks.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Unread};

    #[test]
    fn single_bytes_are_returned_in_large_pieces() {
        let mut unread = Unread::new(0);
        (0..100_000_u32).for_each(|at| unread.push(Bytes::from(vec![at as u8])));
        assert_eq!(unread.bytes(), 100_000);
        let mut pieces = 0;
        let mut all = Vec::new();
        while let Some(data) = unread.pop() {
            all.extend_from_slice(&data);
            pieces += 1;
        }
        assert_eq!(all, (0..100_000_u32).map(|at| at as u8).collect::<Vec<u8>>());
        assert!(pieces < 10, "{pieces} pieces");
        assert_eq!(unread.bytes(), 0);
    }

    #[test]
    fn single_payload_is_not_copied() {
        let mut unread = Unread::new(0);
        let data = Bytes::from(vec![1, 2, 3]);
        unread.push(data.clone());
        let back = unread.pop().unwrap_or_default();
        assert!(std::ptr::eq(back.as_ptr(), data.as_ptr()));
    }

    #[test]
    fn slices_do_not_retain_their_blocks() {
        let mut unread = Unread::new(4096);
        for _ in 0..1000 {
            let block = Bytes::from(vec![7; 4096]);
            unread.push(block.slice(100..700));
            assert!(unread.held() <= 2 * unread.bytes() + 2 * 4096, "{} bytes held", unread.held());
        }
        let mut total = 0;
        while let Some(data) = unread.pop() {
            assert!(data.iter().all(|&byte| byte == 7));
            total += data.len();
        }
        assert_eq!(total, 600_000);
    }
}
