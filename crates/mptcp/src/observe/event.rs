//! The events that a connection reports to an observer, as values that need no allocation.
//!
//! Each event carries its reason, so that a trace shows why a window changed or data took a path. Never
//! decides when an event occurs.

use mptcp_clock::Duration;

use crate::connection::observe::limits::Limit;
use crate::observe::kind::Kind;
use crate::observe::path_limit::PathLimit;
use crate::subflow::State;

/// Cause of a change of the congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowChange {
    /// The subflow was created.
    Initial,
    /// Slow start.
    SlowStart,
    /// Congestion avoidance, or the controller's reaction to a rate sample.
    Avoidance,
    /// A loss was detected.
    Loss,
    /// Proportional Rate Reduction (RFC 6937), or the end of recovery.
    Recovery,
    /// A retransmission timeout.
    Timeout,
    /// ECN marks.
    Marks,
    /// A reduction was undone after a spurious loss.
    Undone,
    /// Penalisation (M2).
    Penalty,
    /// Any other reduction: a restart after idle time, the limit for a standing queue (M4), or the
    /// controller.
    Reduced,
}

impl WindowChange {
    /// Name in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::SlowStart => "slow_start",
            Self::Avoidance => "avoidance",
            Self::Loss => "loss",
            Self::Recovery => "recovery",
            Self::Timeout => "timeout",
            Self::Marks => "marks",
            Self::Undone => "undone",
            Self::Penalty => "penalty",
            Self::Reduced => "reduced",
        }
    }
}

/// Method that detected a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    /// RACK (RFC 8985).
    Rack,
    /// Selective acknowledgements (RFC 6675).
    Sack,
    /// Duplicate acknowledgements (RFC 5681).
    Duplicates,
    /// A retransmission timeout (RFC 6298).
    Timeout,
}

impl Detection {
    /// Name in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rack => "rack",
            Self::Sack => "sack",
            Self::Duplicates => "duplicates",
            Self::Timeout => "timeout",
        }
    }
}

/// Reason for sending new data on a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picked {
    /// No other subflow was usable.
    Only,
    /// The subflow has the smallest RTT of all.
    Fastest,
    /// The subflows with smaller RTTs were full.
    FasterFull,
    /// A subflow with a smaller RTT had space, but the scheduler did not choose it.
    PassedOver,
    /// No scheduler decision was made: a probe, a segment into a closed window, or data that was queued on
    /// the subflow before.
    OutOfTurn,
}

impl Picked {
    /// Name in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Only => "only",
            Self::Fastest => "fastest",
            Self::FasterFull => "faster_full",
            Self::PassedOver => "passed_over",
            Self::OutOfTurn => "out_of_turn",
        }
    }
}

/// Reason for a reinjection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reinjected {
    /// The subflows that carry the data make no progress or have ended.
    Stalled,
    /// The receive window or the send buffer is full: opportunistic retransmission (M1).
    Opportunistic,
    /// The scheduler sends all data on every subflow.
    Redundant,
    /// The scheduler sends a second copy of application-limited data before it is late.
    Copy,
}

impl Reinjected {
    /// Name in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stalled => "stalled",
            Self::Opportunistic => "opportunistic",
            Self::Redundant => "redundant",
            Self::Copy => "copy",
        }
    }
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of Kind::fields, and named as they are")]
#[non_exhaustive]
pub enum Event {
    /// See [`Kind::Window`].
    Window { why: WindowChange, cwnd: u64, ssthresh: Option<u64>, in_flight: u64 },
    /// See [`Kind::RoundTrip`].
    RoundTrip { latest: Duration, srtt: Duration, rttvar: Duration },
    /// See [`Kind::Loss`].
    Loss { by: Detection, seq: u64, bytes: u64, in_flight: u64 },
    /// See [`Kind::Timeout`].
    Timeout { rto: Duration, consecutive: u32, in_flight: u64 },
    /// See [`Kind::Spurious`].
    Spurious { cwnd: u64, ssthresh: Option<u64> },
    /// See [`Kind::Retransmission`].
    Retransmission { offset: u64, bytes: u64, seq: u64 },
    /// See [`Kind::Schedule`].
    Schedule { why: Picked, offset: u64, bytes: u64, seq: u64 },
    /// See [`Kind::Reinjection`].
    Reinjection { why: Reinjected, offset: u64, bytes: u64, seq: u64 },
    /// See [`Kind::Penalty`].
    Penalty { cwnd: u64, ssthresh: Option<u64> },
    /// See [`Kind::Block`].
    Block { limit: Limit, in_flight: u64, unsent: u64 },
    /// See [`Kind::Limit`].
    Limit { limit: PathLimit, cwnd: u64, in_flight: u64 },
    /// See [`Kind::Subflow`].
    Subflow { state: State },
    /// See [`Kind::Connection`].
    Connection { what: &'static str },
    /// See [`Kind::OptionIn`].
    OptionIn { name: &'static str, number: Option<u64> },
    /// See [`Kind::OptionOut`].
    OptionOut { name: &'static str, number: Option<u64> },
    /// See [`Kind::DssIn`].
    DssIn { sequence: Option<u64>, length: u64, ack: Option<u64>, fin: bool },
    /// See [`Kind::DssOut`].
    DssOut { sequence: Option<u64>, length: u64, ack: Option<u64>, fin: bool },
}

impl Event {
    /// Type of the event.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Window { .. } => Kind::Window,
            Self::RoundTrip { .. } => Kind::RoundTrip,
            Self::Loss { .. } => Kind::Loss,
            Self::Timeout { .. } => Kind::Timeout,
            Self::Spurious { .. } => Kind::Spurious,
            Self::Retransmission { .. } => Kind::Retransmission,
            Self::Schedule { .. } => Kind::Schedule,
            Self::Reinjection { .. } => Kind::Reinjection,
            Self::Penalty { .. } => Kind::Penalty,
            Self::Block { .. } => Kind::Block,
            Self::Limit { .. } => Kind::Limit,
            Self::Subflow { .. } => Kind::Subflow,
            Self::Connection { .. } => Kind::Connection,
            Self::OptionIn { .. } => Kind::OptionIn,
            Self::OptionOut { .. } => Kind::OptionOut,
            Self::DssIn { .. } => Kind::DssIn,
            Self::DssOut { .. } => Kind::DssOut,
        }
    }
}
