//! Accounting of the memory that payload slices keep alive.
//!
//! A driver reads packets into blocks, and a payload is a slice of a block. One byte of such a slice keeps
//! its whole block alive.
//!
//! Owns an upper bound of the retained blocks, which tells a receive buffer when copying saves memory. Never
//! stores a payload.

use bytes::Bytes;

/// A payload smaller than this fraction (1/16) of its block is copied.
const SMALL_PART: u64 = 16;

/// Counts the blocks behind the payloads that entered since the last reset.
#[derive(Debug, Default)]
pub(crate) struct RetainedBlocks {
    /// Block size, bytes; 0 if each payload has its own memory.
    block: u64,
    /// Address of the first payload in the block that was counted last.
    run: Option<usize>,
    retained: u64,
}

impl RetainedBlocks {
    pub(crate) fn new(block: u64) -> Self {
        Self { block, run: None, retained: 0 }
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
        // A payload less than a block after the first one is assumed to be in the same block.
        let same = self.run.is_some_and(|run| (at.wrapping_sub(run) as u64) < self.block);
        if !same {
            self.run = Some(at);
            self.retained += self.block;
        }
    }

    /// Whether payloads are slices of blocks.
    pub(crate) fn shares_blocks(&self) -> bool {
        self.block > 0
    }

    /// Upper bound of the retained memory, bytes.
    pub(crate) fn retained(&self) -> u64 {
        self.retained
    }

    /// Whether so much memory is retained for `waiting` bytes that copying is better.
    pub(crate) fn is_wasteful(&self, waiting: u64) -> bool {
        self.retained > 2 * waiting + self.block
    }

    /// Resets the count: all payloads have left or were copied.
    pub(crate) fn reset(&mut self) {
        self.run = None;
        self.retained = 0;
    }
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
}
