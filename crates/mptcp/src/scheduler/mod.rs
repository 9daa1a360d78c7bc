//! Which subflow carries the next data.
//!
//! Owns the choice among subflows that could send. Never touches windows or data.

mod minrtt;
mod redundant;
mod roundrobin;

use mptcp_clock::Duration;

pub use minrtt::MinRtt;
pub use redundant::Redundant;
pub use roundrobin::RoundRobin;

/// A subflow as a scheduler sees it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Index of the subflow in its connection.
    pub subflow: usize,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Payload bytes of a full segment.
    pub mss: u64,
    /// Whether the congestion window has room for a segment.
    pub has_room: bool,
    /// Whether the subflow may be used only when no other one works.
    pub backup: bool,
}

/// A rule for choosing.
pub trait Scheduler: std::fmt::Debug + Send {
    /// The name that the field uses.
    fn name(&self) -> &'static str;

    /// The position in `candidates` of the subflow to send on, or None to wait. The candidates are all
    /// of one kind: regular subflows if any works, else backups, else those in timeout.
    fn choose(&mut self, candidates: &[Candidate]) -> Option<usize>;

    /// Whether each subflow gets all data.
    fn duplicates(&self) -> bool {
        false
    }
}

/// The schedulers there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SchedulerKind {
    /// Lowest round-trip time first.
    #[default]
    MinRtt,
    /// One segment each in turn.
    RoundRobin,
    /// Everything on every subflow.
    Redundant,
}

impl SchedulerKind {
    /// Names in the order of the documentation.
    pub const NAMES: &'static [&'static str] = &["minrtt", "roundrobin", "redundant"];

    /// The scheduler called `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "minrtt" => Self::MinRtt,
            "roundrobin" => Self::RoundRobin,
            "redundant" => Self::Redundant,
            _ => return None,
        })
    }

    /// The scheduler itself, with nothing remembered yet.
    #[must_use]
    pub fn build(self) -> Box<dyn Scheduler> {
        match self {
            Self::MinRtt => Box::new(MinRtt),
            Self::RoundRobin => Box::<RoundRobin>::default(),
            Self::Redundant => Box::new(Redundant),
        }
    }
}
