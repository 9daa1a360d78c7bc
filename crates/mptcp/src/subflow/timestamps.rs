//! Timestamps (RFC 7323): what we say, what the peer's tell.

use mptcp_clock::{Duration, Instant};
use mptcp_wire::{Segment, Timestamps};

use crate::subflow::Subflow;
use crate::subflow::clock::{TimestampEcho, timestamp_clock};

impl Subflow {
    /// The timestamp clock: milliseconds, RFC 7323 section 5.4.
    pub(crate) fn timestamps_at(&self, now: Instant) -> Option<Timestamps> {
        self.negotiated
            .timestamps
            .on
            .then(|| Timestamps { value: self.clock_at(now), echo: self.negotiated.timestamps.recent })
    }

    /// Our clock.
    pub(crate) fn clock_at(&self, now: Instant) -> u32 {
        timestamp_clock(now, self.negotiated.timestamps.offset)
    }

    /// When the segment was sent that this echo answers.
    pub(crate) fn echo_time(&self, segment: &Segment, now: Instant) -> Option<Instant> {
        self.echo_on(segment)?.sent_at(now)
    }

    /// What a segment echoes.
    #[inline]
    pub(crate) fn echo_on(&self, segment: &Segment) -> Option<TimestampEcho> {
        let timestamps = segment.options.timestamps.filter(|_| self.negotiated.timestamps.on)?;
        Some(TimestampEcho { value: timestamps.echo, offset: self.negotiated.timestamps.offset })
    }

    /// RFC 7323 section 4.3: remembers the timestamp of a segment that covers the last
    /// acknowledgement sent.
    pub(crate) fn note_timestamp(&mut self, now: Instant, segment: &Segment, start: u64) {
        if let Some(timestamps) = segment.options.timestamps.filter(|_| self.negotiated.timestamps.on)
            && start <= self.window.last_ack_sent
            && timestamps.value.wrapping_sub(self.negotiated.timestamps.recent) < 1 << 31
        {
            self.negotiated.timestamps.recent = timestamps.value;
            self.negotiated.timestamps.recent_at = now;
        }
    }

    /// Whether RFC 7323 section 5.5 says that the remembered timestamp is too old to count.
    pub(crate) fn timestamp_expired(&self, now: Instant) -> bool {
        now.since(self.negotiated.timestamps.recent_at) > Duration::from_secs(24 * 24 * 3600)
    }
}
