//! Timestamps (RFC 7323): what we say, what the peer's tell.

use mptcp_clock::{Duration, Instant};
use mptcp_wire::{Segment, Timestamps};

use super::Subflow;

impl Subflow {
    /// The timestamp clock: milliseconds, RFC 7323 section 5.4.
    pub(crate) fn timestamps_at(&self, now: Instant) -> Option<Timestamps> {
        self.agreed
            .timestamps
            .on
            .then(|| Timestamps { value: self.clock_at(now), echo: self.agreed.timestamps.recent })
    }

    /// Our clock.
    pub(crate) fn clock_at(&self, now: Instant) -> u32 {
        timestamp_clock(now, self.agreed.timestamps.offset)
    }

    /// When the segment was sent that this echo answers.
    pub(crate) fn echo_time(&self, segment: &Segment, now: Instant) -> Option<Instant> {
        let echo = segment.options.timestamps.filter(|_| self.agreed.timestamps.on)?.echo;
        let age = self.clock_at(now).wrapping_sub(echo);
        (echo != 0 && age < 1 << 31).then(|| now - Duration::from_millis(u64::from(age)))
    }

    /// RFC 7323 section 4.3: remembers the timestamp of a segment that covers the last
    /// acknowledgement sent.
    pub(crate) fn note_timestamp(&mut self, now: Instant, segment: &Segment, start: u64) {
        if let Some(timestamps) = segment.options.timestamps.filter(|_| self.agreed.timestamps.on)
            && start <= self.window.last_ack_sent
            && timestamps.value.wrapping_sub(self.agreed.timestamps.recent) < 1 << 31
        {
            self.agreed.timestamps.recent = timestamps.value;
            self.agreed.timestamps.recent_at = now;
        }
    }

    /// Whether RFC 7323 section 5.5 says that the remembered timestamp is too old to count.
    pub(crate) fn timestamp_expired(&self, now: Instant) -> bool {
        now.since(self.agreed.timestamps.recent_at) > Duration::from_secs(24 * 24 * 3600)
    }
}

/// Milliseconds from an offset of the connection's own (RFC 7323 section 7.1).
pub(crate) fn timestamp_clock(now: Instant, offset: u32) -> u32 {
    (now.as_millis() as u32).wrapping_add(1).wrapping_add(offset)
}
