//! How much memory slices keep alive.
//!
//! A driver reads packets into blocks, one behind the other, and a payload is a slice of such a block: while
//! one byte of it waits, the whole block stays. Owns an upper bound of those blocks. Never holds a payload.

use bytes::Bytes;

/// A payload is small that is less than this part of its block.
const SMALL_PART: u64 = 16;

/// Counts the blocks behind the payloads that entered since all were let go of or copied.
#[derive(Debug, Default)]
pub(crate) struct RetainedBlocks {
    /// Size of a block, bytes; 0 where each payload has memory of its own.
    block: u64,
    /// Where the run of payloads began that is counted as one block.
    run: Option<usize>,
    pinned: u64,
}

impl RetainedBlocks {
    pub(crate) fn new(block: u64) -> Self {
        Self { block, run: None, pinned: 0 }
    }

    /// A payload that is to wait for long: one that is small beside its block is copied at once.
    pub(crate) fn settle(&self, payload: Bytes) -> (Bytes, bool) {
        let small = (payload.len() as u64) * SMALL_PART < self.block;
        if small { (Bytes::copy_from_slice(&payload), false) } else { (payload, self.block > 0) }
    }

    /// A payload begins to wait.
    pub(crate) fn enter(&mut self, payload: &Bytes) {
        if self.block == 0 {
            return;
        }
        let at = payload.as_ptr() as usize;
        // What lies less than a block behind the first one is taken for the same block.
        let same = self.run.is_some_and(|run| (at.wrapping_sub(run) as u64) < self.block);
        if !same {
            self.run = Some(at);
            self.pinned += self.block;
        }
    }

    /// Whether payloads are slices of blocks.
    pub(crate) fn shares_blocks(&self) -> bool {
        self.block > 0
    }

    /// Bytes that may be kept alive.
    pub(crate) fn pinned(&self) -> u64 {
        self.pinned
    }

    /// Whether so much is held for `waiting` bytes that copying them is better.
    pub(crate) fn wasteful(&self, waiting: u64) -> bool {
        self.pinned > 2 * waiting + self.block
    }

    /// Nothing that entered waits any more, or all of it was copied.
    pub(crate) fn forget(&mut self) {
        self.run = None;
        self.pinned = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Less than a sixteenth of a block is not worth the block.
    #[test]
    fn what_is_small_beside_its_block_is_copied_at_once() {
        let block = Bytes::from(vec![7; 1600]);
        let stays = |block_size, length| {
            let payload = block.slice(..length);
            let (kept, retained_blocks) = RetainedBlocks::new(block_size).settle(payload);
            assert_eq!(kept, block[..length]);
            (kept.as_ptr() == block.as_ptr(), retained_blocks)
        };
        assert_eq!(stays(1600, 99), (false, false), "it has memory of its own");
        assert_eq!(stays(1600, 100), (true, true));
        assert_eq!(stays(1600, 1600), (true, true));
        assert_eq!(stays(0, 1), (true, false), "payloads have their own anyway");
    }
}
