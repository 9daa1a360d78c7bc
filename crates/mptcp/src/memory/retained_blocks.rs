//! Accounting of the memory that payload slices keep alive.
//!
//! A driver reads packets into blocks, and a payload is a slice of a block. One byte of such a slice keeps
//! its whole block alive.
//!
//! Owns an upper bound of the retained blocks, which tells a receive buffer when copying saves memory. Never
//! stores a payload.

use std::collections::VecDeque;

use bytes::Bytes;

/// A payload smaller than this fraction (1/16) of its block is copied.
const SMALL_PART: u64 = 16;

/// Counts the blocks behind the stored payloads.
#[derive(Debug, Default)]
pub(crate) struct RetainedBlocks {
    /// Block size, bytes; 0 if each payload has its own memory.
    block: u64,
    /// Each counted block, in the order of arrival: the address of its first stored payload, and its payloads.
    counted: VecDeque<(usize, usize)>,
}

impl RetainedBlocks {
    pub(crate) fn new(block: u64) -> Self {
        Self { block, counted: VecDeque::new() }
    }

    /// Prepares a payload for long storage: copies it if it is small compared with its block. Returns the
    /// payload, and whether it is still a slice of a block.
    pub(crate) fn copy_if_small(&self, payload: Bytes) -> (Bytes, bool) {
        let small = (payload.len() as u64) * SMALL_PART < self.block;
        if small { (Bytes::copy_from_slice(&payload), false) } else { (payload, self.block > 0) }
    }

    /// Counts the block of a stored payload.
    pub(crate) fn enter(&mut self, payload: &Bytes) {
        if self.block == 0 {
            return;
        }
        let at = payload.as_ptr() as usize;
        match self.counted.iter_mut().rev().find(|(first, _)| is_in_block(self.block, *first, at)) {
            Some((_, payloads)) => *payloads += 1,
            None => self.counted.push_back((at, 1)),
        }
    }

    /// Forgets the block of a payload that has left, if no other payload is in it. Ignores a payload that was copied.
    #[inline]
    pub(crate) fn leave(&mut self, payload: &Bytes) {
        if self.counted.is_empty() {
            return;
        }
        let at = payload.as_ptr() as usize;
        let Some(place) = self.counted.iter().position(|(first, _)| is_in_block(self.block, *first, at))
        else {
            return;
        };
        self.counted[place].1 -= 1;
        if self.counted[place].1 == 0 {
            self.counted.remove(place);
        }
    }

    /// Whether payloads are slices of blocks.
    pub(crate) fn shares_blocks(&self) -> bool {
        self.block > 0
    }

    /// Upper bound of the retained memory, bytes.
    pub(crate) fn retained(&self) -> u64 {
        self.block * self.counted.len() as u64
    }

    /// Whether so much memory is retained for `waiting` bytes that copying is better.
    pub(crate) fn is_wasteful(&self, waiting: u64) -> bool {
        self.retained() > 2 * waiting + self.block
    }

    /// Resets the count: all payloads have left or were copied.
    pub(crate) fn reset(&mut self) {
        self.counted.clear();
    }
}

/// Whether a payload at address `at` is assumed to be in the block whose first payload is at `first`: it is less than
/// a block after that one.
fn is_in_block(block: u64, first: usize, at: usize) -> bool {
    (at.wrapping_sub(first) as u64) < block
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit is a sixteenth of a block.
    #[test]
    fn payload_small_compared_with_its_block_is_copied() {
        let block = Bytes::from(vec![7; 1600]);
        let store = |block_size, length| {
            let payload = block.slice(..length);
            let (kept, retained_blocks) = RetainedBlocks::new(block_size).copy_if_small(payload);
            assert_eq!(kept, block[..length]);
            (kept.as_ptr() == block.as_ptr(), retained_blocks)
        };
        assert_eq!(store(1600, 99), (false, false), "a copy has its own memory");
        assert_eq!(store(1600, 100), (true, true));
        assert_eq!(store(1600, 1600), (true, true));
        assert_eq!(store(0, 1), (true, false), "without blocks, each payload has its own memory");
    }

    /// Payloads that pass through a queue that is never empty do not accumulate.
    #[test]
    fn a_block_counts_until_its_last_payload_has_left() {
        let (first, second) = (Bytes::from(vec![1; 100]), Bytes::from(vec![2; 100]));
        let mut retained = RetainedBlocks::new(100);
        for payload in [first.slice(..40), second.slice(..90), first.slice(40..)] {
            retained.enter(&payload);
        }
        assert_eq!(retained.retained(), 200);
        retained.leave(&first.slice(..40));
        assert_eq!(retained.retained(), 200);
        retained.leave(&first.slice(40..));
        assert_eq!(retained.retained(), 100);
        retained.leave(&Bytes::from_static(b"a copy"));
        assert_eq!(retained.retained(), 100);
        retained.leave(&second.slice(..90));
        assert_eq!(retained.retained(), 0);
    }
}
