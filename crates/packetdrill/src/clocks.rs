//! Measures times for `struct tcp_info` that the endpoint does not keep.
//!
//! packetdrill scripts compare these times. Owns the times of the last segments and the busy time of a
//! connection. `events` calls [`Clocks::look`] for each connection after timers and packets.

use mptcp::{ConnectionInfo, Limit};
use mptcp_clock::{Duration, Instant};

/// Times of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clocks {
    /// Times of the last data segment sent, the last data segment received, and the last segment received.
    pub(crate) sent: Instant,
    pub(crate) data: Instant,
    pub(crate) heard: Instant,
    /// Time with unacknowledged data, and the part of it in which a writer waited for buffer space.
    pub(crate) busy: Duration,
    pub(crate) short_of_buffer: Duration,
    busy_since: Option<Instant>,
    seen: Seen,
}

/// Counters at the last sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    sent: u64,
    data: u64,
    heard: u64,
    open: bool,
}

impl Clocks {
    /// Samples the connection's counters and returns whether data arrived. `open` is whether the handshake is complete.
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
