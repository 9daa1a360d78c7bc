//! What held the sender back, as measured time shares.
//!
//! Owns one clock that always runs for exactly one reason.

use mptcp_clock::{Duration, Instant};

/// Why nothing more is being sent right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// No connection yet, or none any more.
    Idle,
    /// Everything written was sent.
    Application,
    /// The send buffer is full of data in flight; the application waits.
    SendBuffer,
    /// The congestion windows of all usable subflows are full.
    CongestionWindow,
    /// Small queues or pacing: enough waits in this host's own interface.
    LocalQueue,
    /// The peer's receive window is full of data that is still under way.
    ReceiveWindow,
    /// The receive window is full, and the peer already holds data that waits for an older gap.
    HeadOfLine,
    /// A subflow has room, but the scheduler or a backup flag keeps it unused.
    Scheduler,
}

impl Limit {
    /// All reasons in order.
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

    /// A name for results.
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

/// Time spent under each limit, in the order of [`Limit::ALL`].
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

    /// The reason now.
    pub(crate) fn current(&self) -> Limit {
        self.current
    }

    /// Time under each limit up to `now`.
    #[must_use]
    pub fn totals(&self, now: Instant) -> [(Limit, Duration); 8] {
        Limit::ALL.map(|limit| {
            let running = if limit == self.current { now.since(self.since) } else { Duration::ZERO };
            (limit, self.total[limit as usize] + running)
        })
    }
}
