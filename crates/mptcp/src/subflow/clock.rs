//! The timestamp clock, and what came back of it (RFC 7323).

use mptcp_clock::{Duration, Instant};

/// A timestamp of ours that came back. When that was is seldom asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimestampEcho {
    pub value: u32,
    /// That of our clock.
    pub offset: u32,
}

impl TimestampEcho {
    /// When the segment left that bore it, in whole milliseconds from `now`.
    pub(crate) fn sent_at(self, now: Instant) -> Option<Instant> {
        let age = timestamp_clock(now, self.offset).wrapping_sub(self.value);
        (self.value != 0 && age < 1 << 31).then(|| now - Duration::from_millis(u64::from(age)))
    }
}

/// Milliseconds from an offset of the connection's own (RFC 7323 section 7.1).
pub(crate) fn timestamp_clock(now: Instant, offset: u32) -> u32 {
    (now.as_millis() as u32).wrapping_add(1).wrapping_add(offset)
}
