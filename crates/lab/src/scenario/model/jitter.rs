//! Random delays in hosts, which vary runs with different seeds.
//!
//! Owns the resolved values and their defaults: without a key in the scenario file, these apply. `world`
//! applies the delays.

use mptcp_clock::Duration;

/// The maximum delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostJitter {
    /// Maximum delay of the start of a flow.
    pub start: Duration,
    /// Maximum processing time of a frame.
    pub processing: Duration,
}

impl HostJitter {
    /// No jitter: all seeds give the same run, unless the network is random.
    pub const NONE: Self = Self { start: Duration::ZERO, processing: Duration::ZERO };
}

impl Default for HostJitter {
    fn default() -> Self {
        Self { start: Duration::from_millis(10), processing: Duration::from_micros(20) }
    }
}
