//! What holds one path back, as measured time.
//!
//! Owns the words, and a clock that always runs for exactly one of them. Which one it is, is the connection's finding.

use mptcp_clock::{Duration, Instant};

use crate::observe::place::Place;

/// Why a subflow sends no more right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PathLimit {
    /// There is no connection, or no more to do.
    Idle,
    /// Everything written was sent.
    Application,
    /// The send buffer is full, and the oldest data in it is on this path.
    SendBuffer,
    /// The peer's receive window is full, and the oldest data in it is on this path.
    ReceiveWindow,
    /// The receive window or the send buffer is full, and the oldest data in it is on another path.
    HeadOfLine,
    /// It has room, and the scheduler or a backup flag keeps it unused.
    Scheduler,
    /// Its congestion window is full, and the path would carry more: the window still grows, or was made small by congestion.
    Window,
    /// Its congestion window is full, and a queue stands before the bottleneck: the path carries what it can.
    Capacity,
    /// It repairs losses, or its congestion window is small because of losses that came without a queue.
    Loss,
    /// M2 made its congestion window small.
    Penalty,
    /// It is paced.
    Pacing,
    /// Enough waits in this host's own interface.
    LocalQueue,
    /// Its handshake is not over.
    Joining,
    /// It is over.
    Closed,
}

impl PathLimit {
    /// All of them in order.
    pub const ALL: [Self; 14] = [
        Self::Idle,
        Self::Application,
        Self::SendBuffer,
        Self::ReceiveWindow,
        Self::HeadOfLine,
        Self::Scheduler,
        Self::Window,
        Self::Capacity,
        Self::Loss,
        Self::Penalty,
        Self::Pacing,
        Self::LocalQueue,
        Self::Joining,
        Self::Closed,
    ];

    /// A name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Application => "application",
            Self::SendBuffer => "send_buffer",
            Self::ReceiveWindow => "receive_window",
            Self::HeadOfLine => "head_of_line",
            Self::Scheduler => "scheduler",
            Self::Window => "window",
            Self::Capacity => "bottleneck",
            Self::Loss => "loss",
            Self::Penalty => "penalty",
            Self::Pacing => "pacing",
            Self::LocalQueue => "local_queue",
            Self::Joining => "joining",
            Self::Closed => "closed",
        }
    }
}

/// What held one subflow back, over its life.
#[derive(Clone, Copy, Debug)]
pub struct PathReasons {
    /// The subflow.
    pub place: Place,
    /// When it began.
    pub began: Instant,
    /// Time under each limit, in the order of [`PathLimit::ALL`].
    pub total: [Duration; 14],
    /// How long all others waited for older data on it.
    pub blamed: Duration,
}

/// Time under each limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathClock {
    began: Instant,
    current: PathLimit,
    since: Instant,
    total: [Duration; 14],
}

impl PathClock {
    pub(crate) fn new(now: Instant) -> Self {
        Self { began: now, current: PathLimit::Joining, since: now, total: [Duration::ZERO; 14] }
    }

    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// From now on it is this one; returns whether it was another.
    pub(crate) fn note(&mut self, now: Instant, limit: PathLimit) -> bool {
        let changed = limit != self.current;
        if changed {
            self.total[self.current as usize] += now.since(self.since);
            (self.current, self.since) = (limit, now);
        }
        changed
    }

    /// Up to now.
    pub(crate) fn totals(&self, now: Instant) -> [Duration; 14] {
        let mut total = self.total;
        total[self.current as usize] += now.since(self.since);
        total
    }
}
