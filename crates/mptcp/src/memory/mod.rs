//! Received payload while it waits: for what comes before it, or for the application.
//!
//! Owns the bounds on what such payload really holds: bytes, pieces, and the memory around a slice. Knows
//! neither sequence numbers of a subflow nor those of the data.

mod ordered;
mod reassembly;
mod retained_blocks;
mod unread;

pub(crate) use crate::memory::ordered::Ordered;
pub(crate) use crate::memory::reassembly::{Inserted, Reassembly};
pub(crate) use crate::memory::unread::Unread;

/// Most bytes that are copied together into one piece.
const CHUNK: usize = 65_536;

/// Segments in flight, at most, for a send buffer of `buffer` bytes: a peer that takes only tiny ones makes us remember no
/// more of them than a few times the buffer.
pub(crate) fn most_segments(buffer: u64) -> usize {
    (buffer / 256).max(1024) as usize
}

/// Out-of-order pieces that a store keeps for `buffer` bytes: honest senders fill a buffer with far fewer, and
/// what each costs beside its bytes stays below half of that buffer (or 128 KB).
pub(crate) fn most_pieces(buffer: u64) -> usize {
    (buffer / 256).clamp(1024, 65_536) as usize
}
