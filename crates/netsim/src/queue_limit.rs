//! The limit of a queue in packets, bytes or time, for plain links and all queue disciplines.

use mptcp_clock::Duration;

use crate::rate::Rate;

/// Capacity of a queue, including the frame in service. Drop-tail: a frame that does not fit is dropped. An
/// idle link accepts any frame, so a small limit cannot block a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Frames.
    Packets(u64),
    /// Bytes of frames.
    Bytes(u64),
    /// Bytes that the link carries in this time at its current rate.
    Time(Duration),
    /// No limit.
    Unlimited,
}

impl QueueLimit {
    /// As `admits`, for a queue without a frame in service: an empty queue accepts any frame.
    #[inline]
    pub(crate) fn fits(self, frames: usize, backlog: u64, bytes: u32, rate: Option<Rate>) -> bool {
        frames == 0 || self.admits(frames, backlog, bytes, rate)
    }

    /// Whether a frame of `bytes` fits behind `frames` frames that have `backlog` bytes in all.
    #[inline]
    pub(crate) fn admits(self, frames: usize, backlog: u64, bytes: u32, rate: Option<Rate>) -> bool {
        let total = backlog + u64::from(bytes);
        match self {
            Self::Packets(limit) => (frames as u64) < limit,
            Self::Bytes(limit) => total <= limit,
            Self::Time(limit) => rate.is_none_or(|rate| total <= rate.bytes_in(limit)),
            Self::Unlimited => true,
        }
    }
}
