//! Events, by value: nothing is allocated for one.

use mptcp_clock::Duration;

use crate::connection::observe::limits::Limit;
use crate::observe::kind::Kind;
use crate::observe::path_limit::PathLimit;
use crate::subflow::State;

/// Why a window changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowChange {
    /// The subflow begins.
    Initial,
    /// Slow start.
    SlowStart,
    /// Congestion avoidance, or whatever a controller does that works by samples.
    Avoidance,
    /// A loss was found.
    Loss,
    /// Proportional rate reduction, and its end.
    Recovery,
    /// A retransmission timeout.
    Timeout,
    /// Marks.
    Marks,
    /// A reduction was taken back.
    Undone,
    /// M2.
    Penalty,
    /// Anything else made it smaller: a restart after idleness, M4, the controller.
    Reduced,
}

impl WindowChange {
    /// A word for tables.
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

/// How a loss was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    /// By the times of segments (RFC 8985).
    Rack,
    /// By selective acknowledgements (RFC 6675).
    Sack,
    /// By duplicate acknowledgements (RFC 5681).
    Duplicates,
    /// By a retransmission timeout (RFC 6298).
    Timeout,
}

impl Detection {
    /// A word for tables.
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

/// Why a subflow got new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picked {
    /// There was no other.
    Only,
    /// It has the shortest round trip of all.
    Fastest,
    /// Those with shorter round trips had no room.
    FasterFull,
    /// One with a shorter round trip had room, and the scheduler passed it over.
    PassedOver,
    /// No scheduler was asked now: a probe, what a closed window still takes, or what was given to the subflow ahead of its window.
    OutOfTurn,
}

impl Picked {
    /// A word for tables.
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

/// Why data went on a further subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reinjected {
    /// Those that carry it do not get it through, or are gone.
    Stalled,
    /// The receive window or the send buffer is full: M1.
    Opportunistic,
    /// The scheduler gives every subflow everything.
    Redundant,
    /// The scheduler wants a second copy of what an application writes as it goes, before anything is late.
    Copy,
}

impl Reinjected {
    /// A word for tables.
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

/// What happened.
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
    /// Its kind.
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
