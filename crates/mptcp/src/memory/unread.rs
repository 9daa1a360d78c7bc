//! Bytes in order that wait to be taken.
//!
//! Owns the bound on what they hold beside themselves: small payloads behind others are copied together, and
//! slices of large blocks are copied when the blocks would weigh more than the bytes.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::memory::retained_blocks::RetainedBlocks;

/// Payload below this size costs more than its bytes, and is copied where something waits before it.
const SMALL: usize = 512;
/// A piece made of small ones.
const PIECE: usize = 16_384;

#[derive(Debug, Default)]
pub(crate) struct Unread {
    pieces: VecDeque<Bytes>,
    /// Small payloads at the end.
    tail: Vec<u8>,
    bytes: u64,
    retained_blocks: RetainedBlocks,
    /// What waits here waits for more of the peer's, not for the application: small slices are copied at once.
    patient: bool,
    /// Pieces at the front that are no slices of blocks.
    owned: usize,
}

impl Unread {
    /// As [`Self::new`], for payload that waits until the peer sends more.
    pub(crate) fn patient(block: u64) -> Self {
        Self { patient: true, ..Self::new(block) }
    }

    /// For payload that comes in blocks of `block` bytes; 0 for payload in memory of its own.
    pub(crate) fn new(block: u64) -> Self {
        Self { retained_blocks: RetainedBlocks::new(block), ..Self::default() }
    }

    /// Bytes that wait.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of memory that they hold alive, at most.
    pub(crate) fn held(&self) -> u64 {
        self.bytes.max(self.retained_blocks.pinned())
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

    /// Keeps a slice of a block.
    #[inline(never)]
    fn push_slice(&mut self, data: Bytes) {
        let (data, shared) = if self.patient { self.retained_blocks.settle(data) } else { (data, true) };
        if shared {
            self.retained_blocks.enter(&data);
        }
        self.pieces.push_back(data);
        if self.retained_blocks.wasteful(self.bytes) {
            self.own();
        }
    }

    /// Copies a small payload where it has to be; says whether it did.
    #[inline(never)]
    fn copy_small(&mut self, data: &[u8]) -> bool {
        let waits = !self.pieces.is_empty() || !self.tail.is_empty();
        if !waits && self.retained_blocks.shares_blocks() {
            // Alone it may wait for long, and would keep a block.
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
        self.owned = self.owned.saturating_sub(1);
        self.bytes -= data.len() as u64;
        if self.pieces.is_empty() {
            self.retained_blocks.forget();
        }
        Some(data)
    }

    pub(crate) fn clear(&mut self) {
        let (retained_blocks, patient) = (std::mem::take(&mut self.retained_blocks), self.patient);
        *self = Self { retained_blocks, patient, ..Self::default() };
        self.retained_blocks.forget();
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

    /// Copies into memory of its own what was not copied before.
    #[cold]
    fn own(&mut self) {
        for piece in self.pieces.range_mut(self.owned..) {
            *piece = Bytes::copy_from_slice(piece);
        }
        self.owned = self.pieces.len();
        self.retained_blocks.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Unread};

    #[test]
    fn single_bytes_come_back_in_large_pieces() {
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
    fn what_waits_alone_is_not_copied() {
        let mut unread = Unread::new(0);
        let data = Bytes::from(vec![1, 2, 3]);
        unread.push(data.clone());
        let back = unread.pop().unwrap_or_default();
        assert!(std::ptr::eq(back.as_ptr(), data.as_ptr()));
    }

    #[test]
    fn slices_of_blocks_do_not_keep_them() {
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
