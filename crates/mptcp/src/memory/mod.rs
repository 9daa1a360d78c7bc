//! Buffers of received payload: out of order, or unread by the application.
//!
//! A peer can fill these buffers, so each has limits on bytes, pieces and retained memory. Never interprets
//! sequence numbers.

mod ordered;
mod reassembly;
mod retained_blocks;
mod unread;

pub(crate) use crate::memory::ordered::Ordered;
pub(crate) use crate::memory::reassembly::{Inserted, Reassembly};
pub(crate) use crate::memory::unread::Unread;

/// Maximum size of a piece made by copying, bytes.
const CHUNK: usize = 65_536;

/// Maximum number of segments in flight for a send buffer of `buffer` bytes. If the peer accepts only tiny
/// segments, this limit keeps the bookkeeping below a few times the buffer.
pub(crate) fn most_segments(buffer: u64) -> usize {
    (buffer / 256).max(1024) as usize
}

/// Maximum number of out-of-order pieces for a receive buffer of `buffer` bytes. Usual senders need far
/// fewer, and the overhead of the pieces stays below half of the buffer (or 128 KB).
pub(crate) fn most_pieces(buffer: u64) -> usize {
    (buffer / 256).clamp(1024, 65_536) as usize
}
