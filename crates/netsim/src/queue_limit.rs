//! How much a queue holds. Only values.

use mptcp_clock::Duration;

use crate::rate::Rate;

/// How much a queue holds, with the frame in service. Drop-tail: a frame that does not fit is
/// dropped whole. A line with nothing to do takes any frame, so no limit blocks a link for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Frames.
    Packets(u64),
    /// Bytes of frames.
    Bytes(u64),
    /// Bytes that the line carries in this time at its rate of the moment.
    Time(Duration),
    /// No limit.
    Unlimited,
}

impl QueueLimit {
    /// The same where nothing of what waits is in service: an empty queue takes any frame.
    #[inline]
    pub(crate) fn fits(self, frames: usize, backlog: u64, bytes: u32, rate: Option<Rate>) -> bool {
        frames == 0 || self.admits(frames, backlog, bytes, rate)
    }

    /// Whether a frame of `bytes` fits behind `frames` frames of `backlog` bytes.
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
