//! The limiting factor of each path over time: the data behind the command `why`.
//!
//! Owns the names of the factors, and a clock per path that assigns all time to exactly one factor. Never
//! determines the factor: the connection does.

use mptcp_clock::{Duration, Instant};

use crate::observe::place::Place;

/// Reason why a subflow sends nothing more at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PathLimit {
    /// No connection, or nothing left to do.
    Idle,
    /// All written data has been sent.
    Application,
    /// The send buffer is full, and its oldest data is on this path.
    SendBuffer,
    /// The peer's receive window is full, and its oldest data is on this path.
    ReceiveWindow,
    /// The receive window or the send buffer is full, and the oldest data is on another path: head-of-line
    /// blocking.
    HeadOfLine,
    /// The subflow has space, but the scheduler or the backup flag leaves the subflow unused.
    Scheduler,
    /// The congestion window is full although the path could carry more: the window still grows, or
    /// congestion reduced it.
    Window,
    /// The congestion window is full, and a queue exists at the bottleneck: the path is fully used.
    Capacity,
    /// The subflow is in loss recovery, or losses without a queue keep its congestion window small.
    Loss,
    /// Penalisation (M2) reduced the congestion window.
    Penalty,
    /// The subflow waits for its pacing timer.
    Pacing,
    /// The queue of the local interface holds the maximum for this subflow.
    LocalQueue,
    /// The handshake is unfinished.
    Joining,
    /// The subflow has ended.
    Closed,
}

impl PathLimit {
    /// All limits, in the order of their numbers.
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

    /// Name in tables.
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

/// Time per limit of one subflow, over its life.
#[derive(Clone, Copy, Debug)]
pub struct PathReasons {
    /// The subflow.
    pub place: Place,
    /// Creation time.
    pub began: Instant,
    /// Time under each limit, in the order of [`PathLimit::ALL`].
    pub total: [Duration; 14],
    /// Time during which all other subflows waited for older data on this one.
    pub blamed: Duration,
}

/// Clock that assigns time to limits.
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

    pub(crate) fn current(&self) -> PathLimit {
        self.current
    }

    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Assigns the time from `now` on to `limit`. Returns whether the limit changed.
    pub(crate) fn set(&mut self, now: Instant, limit: PathLimit) -> bool {
        let changed = limit != self.current;
        if changed {
            self.total[self.current as usize] += now.since(self.since);
            (self.current, self.since) = (limit, now);
        }
        changed
    }

    /// Time per limit until `now`.
    pub(crate) fn totals(&self, now: Instant) -> [Duration; 14] {
        let mut total = self.total;
        total[self.current as usize] += now.since(self.since);
        total
    }
}
