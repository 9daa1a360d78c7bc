//! Random delays in hosts, without which runs with different seeds could be identical.
//!
//! Owns the resolved values, and the defaults of keys that a scenario does not set. `drawn` and `world` apply
//! the delays.

use mptcp_clock::Duration;

/// The maximum delays; zero disables a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostJitter {
    /// Maximum delay of the start of a flow.
    pub start: Duration,
    /// Maximum processing time of a received frame.
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
