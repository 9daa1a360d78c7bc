//! What Linux measures of a connection and the endpoint does not: since when what has come and gone, how long it was busy.
//!
//! Owns those times, from looks at the connection after each turn. Decides nothing.

use mptcp::{ConnectionInfo, Limit};
use mptcp_clock::{Duration, Instant};

/// Times of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clocks {
    /// When data was sent last, when data came, when anything came.
    pub(crate) sent: Instant,
    pub(crate) data: Instant,
    pub(crate) heard: Instant,
    /// How long something was written and not acknowledged, and how long of that a writer waited for room.
    pub(crate) busy: Duration,
    pub(crate) short_of_buffer: Duration,
    busy_since: Option<Instant>,
    seen: Seen,
}

/// Counts at the last look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    sent: u64,
    data: u64,
    heard: u64,
    open: bool,
}

impl Clocks {
    /// Looks again; the connection is `open` or not yet. Returns whether data has come.
    pub(crate) fn look(&mut self, now: Instant, info: &ConnectionInfo, open: bool) -> bool {
        let mut seen = Seen { open, ..Seen::default() };
        for subflow in &info.subflows {
            seen.sent += subflow.stats.data_segments_sent;
            seen.data += subflow.stats.data_segments_received;
            seen.heard += subflow.stats.segments_received;
        }
        let before = std::mem::replace(&mut self.seen, seen);
        if seen.open != before.open {
            (self.sent, self.data, self.heard) = (now, now, now);
        }
        for (at, more) in [
            (&mut self.sent, seen.sent > before.sent),
            (&mut self.data, seen.data > before.data),
            (&mut self.heard, seen.heard > before.heard),
        ] {
            if more {
                *at = now;
            }
        }
        if let Some(since) = self.busy_since.take() {
            self.busy += now.since(since);
        }
        self.busy_since = (info.send_queue > 0).then_some(now);
        let limits = info.limits.iter().filter(|(limit, _)| *limit == Limit::SendBuffer);
        self.short_of_buffer = limits.map(|(_, span)| *span).fold(Duration::ZERO, |sum, span| sum + span);
        seen.data > before.data
    }
}
