//! The reasons why the sender is blocked, and the time spent for each.
//!
//! Results report these times to explain the goodput of a connection. Owns a clock that always counts for
//! exactly one reason. Never finds the reason: the caller of `note` does.

use mptcp_clock::{Duration, Instant};

/// The reason why nothing more is sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The connection does not exist yet, or has ended.
    Idle,
    /// All written data was sent.
    Application,
    /// The send buffer is full of data in flight, and the application waits.
    SendBuffer,
    /// The congestion windows of all usable subflows are full.
    CongestionWindow,
    /// Pacing, or the maximum of packets in the queue of this host's interface (small queues).
    LocalQueue,
    /// The peer's receive window is full of data in flight.
    ReceiveWindow,
    /// The receive window or the send buffer is full, and the peer holds data behind a gap.
    HeadOfLine,
    /// A subflow is available, but the scheduler or a backup flag leaves it unused.
    Scheduler,
}

impl Limit {
    /// All limits in order.
    pub const ALL: [Self; 8] = [
        Self::Idle,
        Self::Application,
        Self::SendBuffer,
        Self::CongestionWindow,
        Self::LocalQueue,
        Self::ReceiveWindow,
        Self::HeadOfLine,
        Self::Scheduler,
    ];

    /// The name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Application => "application",
            Self::SendBuffer => "send_buffer",
            Self::CongestionWindow => "congestion_window",
            Self::LocalQueue => "local_queue",
            Self::ReceiveWindow => "receive_window",
            Self::HeadOfLine => "head_of_line",
            Self::Scheduler => "scheduler",
        }
    }
}

/// The time spent under each limit, in the order of [`Limit::ALL`].
#[derive(Clone, Copy, Debug)]
pub struct LimitClock {
    current: Limit,
    since: Instant,
    total: [Duration; 8],
}

impl LimitClock {
    pub(crate) fn new(now: Instant) -> Self {
        Self { current: Limit::Idle, since: now, total: [Duration::ZERO; 8] }
    }

    pub(crate) fn note(&mut self, now: Instant, limit: Limit) {
        if limit != self.current {
            self.total[self.current as usize] += now.since(self.since);
            self.current = limit;
            self.since = now;
        }
    }

    pub(crate) fn current(&self) -> Limit {
        self.current
    }

    /// The time under each limit up to `now`.
    #[must_use]
    pub fn totals(&self, now: Instant) -> [(Limit, Duration); 8] {
        Limit::ALL.map(|limit| {
            let running = if limit == self.current { now.since(self.since) } else { Duration::ZERO };
            (limit, self.total[limit as usize] + running)
        })
    }
}
