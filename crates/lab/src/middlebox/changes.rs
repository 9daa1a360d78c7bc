//! Changes to a stream that may make it longer, and where each byte is before and behind them.
//!
//! A change stands at each multiple of a distance, so the same bytes come out when a segment goes again.

use bytes::{BufMut, Bytes, BytesMut};

/// What it puts in.
const FILLING: u8 = b'x';
/// What it changes in the byte at a multiple of the distance.
const CHANGE: u8 = 0x20;

/// A change of one byte in `every`, with `grow` bytes put in before it.
#[derive(Clone, Copy, Debug)]
pub struct Changes {
    every: u64,
    grow: u64,
}

impl Changes {
    /// Bytes both; `every` is above 0.
    #[must_use]
    pub fn new(every: u64, grow: u64) -> Self {
        Self { every, grow }
    }

    /// Where byte `place` of a stream, counted from 0, begins in the changed one; what a change puts in comes
    /// before the byte at which it stands, and begins there.
    #[must_use]
    pub fn outside(&self, place: u64) -> u64 {
        place + self.grow * (place.saturating_sub(1) / self.every)
    }

    /// The most of the stream that is whole when `place` bytes of the changed one are.
    #[must_use]
    pub fn inside(&self, place: u64) -> u64 {
        let Some(last) = place.checked_sub(1) else { return 0 };
        let period = self.every + self.grow;
        last / period * self.every + (last % period + 1).min(self.every)
    }

    /// The part of the stream that begins at `start`, changed.
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
