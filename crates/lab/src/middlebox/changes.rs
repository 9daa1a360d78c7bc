//! Insertions into a TCP stream and modifications of its bytes, for middleboxes that rewrite payload (for
//! example an application-level gateway).
//!
//! Owns the mapping between original (inside) and modified (outside) stream offsets, by which such a box
//! adapts sequence numbers. All changes are at fixed offsets, so retransmissions give the same bytes.

use bytes::{BufMut, Bytes, BytesMut};

/// The inserted byte.
const FILLING: u8 = b'x';
/// XOR mask of a modified byte.
const CHANGE: u8 = 0x20;

/// Before each byte whose offset is a multiple of `every`, except the first, inserts `grow` bytes. Also
/// modifies that byte.
#[derive(Clone, Copy, Debug)]
pub struct Changes {
    every: u64,
    grow: u64,
}

impl Changes {
    /// `every` and `grow` are in bytes; `every` is above 0.
    #[must_use]
    pub fn new(every: u64, grow: u64) -> Self {
        Self { every, grow }
    }

    /// Converts the offset `place` to the modified stream. An insertion at offset n precedes byte n. If `place`
    /// is n, the result is the start of the insertion.
    #[must_use]
    pub fn outside(&self, place: u64) -> u64 {
        place + self.grow * (place.saturating_sub(1) / self.every)
    }

    /// Number of bytes of the original stream in the first `place` bytes of the modified stream.
    #[must_use]
    pub fn inside(&self, place: u64) -> u64 {
        let Some(last) = place.checked_sub(1) else { return 0 };
        let period = self.every + self.grow;
        last / period * self.every + (last % period + 1).min(self.every)
    }

    /// Modifies the part of the stream that starts at `start`.
    #[must_use]
    pub fn change(&self, start: u64, payload: &Bytes) -> Bytes {
        let mut changed = BytesMut::with_capacity(payload.len());
        for (place, &byte) in (start..).zip(payload) {
            if place > 0 && place.is_multiple_of(self.every) {
                changed.put_bytes(FILLING, self.grow as usize);
                changed.put_u8(byte ^ CHANGE);
            } else {
                changed.put_u8(byte);
            }
        }
        changed.freeze()
    }
}
