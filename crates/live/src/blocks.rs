//! Read buffers for packets, reused after the application has read their data.
//!
//! Owns the buffers and the bound on spare ones. A packet is a slice of a buffer, so reading copies nothing. Memory
//! from the allocator would have to be mapped and zeroed by the kernel for each buffer, which costs as much as the
//! copy out of the device.

use std::collections::VecDeque;

use bytes::BytesMut;

/// Size of a buffer, bytes.
pub(crate) const BLOCK: usize = 4 * 65_535;

/// Maximum number of earlier buffers that are kept for reuse.
const KEPT: usize = 128;

#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// The buffer that packets are read into.
    current: BytesMut,
    /// Earlier buffers, oldest first. Packets may still use them.
    earlier: VecDeque<BytesMut>,
}

impl Blocks {
    /// A buffer with space for at least `space` bytes after its content. `space` is at most [`BLOCK`].
    pub(crate) fn with_space(&mut self, space: usize) -> &mut BytesMut {
        if self.current.capacity() - self.current.len() < space {
            // The buffer that was used last is the most likely one in the cache of the processor.
            let free = self.earlier.iter_mut().rposition(|block| block.try_reclaim(BLOCK));
            let next = free.and_then(|at| self.earlier.remove(at));
            let next = next.unwrap_or_else(|| BytesMut::with_capacity(BLOCK));
            let filled = std::mem::replace(&mut self.current, next);
            if self.earlier.len() >= KEPT {
                self.earlier.pop_front();
            }
            self.earlier.push_back(filled);
        }
        &mut self.current
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    /// Fills the current buffer and returns its content.
    fn fill(blocks: &mut Blocks) -> Bytes {
        let block = blocks.with_space(BLOCK);
        block.resize(BLOCK, 7);
        block.split().freeze()
    }

    #[test]
    fn a_buffer_is_reused_once_nobody_holds_its_packets() {
        let mut blocks = Blocks::default();
        let (first, second) = (fill(&mut blocks), fill(&mut blocks));
        let (at_first, at_second) = (first.as_ptr(), second.as_ptr());
        assert_ne!(at_first, at_second);
        let part = first.slice(5..6);
        drop((first, second));
        let third = fill(&mut blocks);
        assert_ne!(third.as_ptr(), at_first, "a part of it is still held");
        assert_eq!(part, [7][..]);
        drop((part, third));
        let used = [fill(&mut blocks), fill(&mut blocks), fill(&mut blocks)];
        let places: Vec<_> = used.iter().map(|data| data.as_ptr()).collect();
        assert!(places.contains(&at_first) && places.contains(&at_second), "{places:?}");
    }

    #[test]
    fn the_number_of_kept_buffers_is_bounded() {
        let mut blocks = Blocks::default();
        let held: Vec<Bytes> = (0..KEPT + 20).map(|_| fill(&mut blocks)).collect();
        assert_eq!(blocks.earlier.len(), KEPT);
        assert!(held.iter().all(|data| data.len() == BLOCK));
    }

    #[test]
    fn a_buffer_serves_several_packets() {
        let mut blocks = Blocks::default();
        let mut read = |length| {
            let block = blocks.with_space(1_500);
            block.resize(length, 0);
            block.split().freeze().as_ptr() as usize
        };
        let first = read(1_000);
        assert_eq!(read(500), first + 1_000);
        assert_eq!(read(10), first + 1_500);
    }
}
