//! Pieces of what was written that are left to nearer paths: a far one has gone on behind them (see `around`).
//!
//! Owns where these are, in order; the bytes are the send buffer's.

use std::collections::VecDeque;

/// Offsets and lengths of pieces.
#[derive(Debug, Default)]
pub(super) struct Left {
    pieces: VecDeque<(u64, u64)>,
    bytes: u64,
}

impl Left {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    #[inline(always)]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where the first one is, and how long.
    pub(super) fn first(&self) -> Option<(u64, u64)> {
        self.pieces.front().copied()
    }

    /// One more, behind all others.
    pub(super) fn push(&mut self, start: u64, length: u64) {
        self.pieces.push_back((start, length));
        self.bytes += length;
    }

    /// The piece behind so many bytes of them, in whole segments, with its beginning and where it is to be cut before; None where
    /// there are no more of them.
    pub(super) fn behind(&self, bytes: u64, mss: u64) -> Option<(u64, u64)> {
        let mut before = 0;
        let (start, length) = self.pieces.iter().copied().find(|(_, length)| {
            before += length;
            before > bytes
        })?;
        Some((start, (bytes + length - before) / mss * mss))
    }

    /// Makes two of the piece at `start`: the second begins so many bytes later.
    pub(super) fn split(&mut self, start: u64, bytes: u64) {
        if let Ok(at) = self.pieces.binary_search_by_key(&start, |&(start, _)| start)
            && let length = self.pieces[at].1
            && bytes < length
        {
            self.pieces[at].1 = bytes;
            self.pieces.insert(at + 1, (start + bytes, length - bytes));
        }
    }

    /// So much of the piece at `start` was given to a subflow.
    pub(super) fn take(&mut self, start: u64, length: u64) {
        let Ok(at) = self.pieces.binary_search_by_key(&start, |&(start, _)| start) else { return };
        let whole = self.pieces[at].1;
        self.bytes -= length.min(whole);
        if length < whole {
            self.pieces[at] = (start + length, whole - length);
        } else {
            self.pieces.remove(at);
        }
    }
}
