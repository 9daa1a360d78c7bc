//! Chance in hosts that would otherwise do the same in every run.

use mptcp_clock::Duration;

/// How much of it there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostJitter {
    /// How much later than said a flow begins, at most.
    pub start: Duration,
    /// How long a host takes for a frame, at most.
    pub processing: Duration,
}

impl HostJitter {
    /// None at all: every seed gives the same run, where nothing else is left to chance.
    pub const NONE: Self = Self { start: Duration::ZERO, processing: Duration::ZERO };
}

impl Default for HostJitter {
    fn default() -> Self {
        Self { start: Duration::from_millis(10), processing: Duration::from_micros(20) }
    }
}
