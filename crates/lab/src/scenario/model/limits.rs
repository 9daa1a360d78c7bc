//! Limits on the size of a run, and estimates of this size.
//!
//! Limits prevent runs that exhaust memory or take too long. Owns the defaults of limits, and their fixed
//! maxima. `estimate` computes estimates, and `resolve` compares estimates with limits.

/// Limits on the size of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Paths, links and stations.
    pub links: u64,
    /// Flows including copies; at most [`Limits::MAX_FLOWS`].
    pub flows: u64,
    /// Background stations.
    pub stations: u64,
    /// Rows of samples per run.
    pub samples: u64,
    /// Blocks per run.
    pub blocks: u64,
    /// Simulator events per run.
    pub events: u64,
    /// Rows of traced events per run.
    pub trace: u64,
    /// Runs per command.
    pub runs: u64,
    /// Memory of a run, and of the results of a command, bytes.
    pub memory: u64,
}

impl Limits {
    /// Maximum number of flows: each has its own port above 5000, and a number of 16 bits.
    pub const MAX_FLOWS: u64 = 60_000;
    /// Maximum number of hosts: half of the addresses for which `world/host.rs` has a number.
    pub const MAX_HOSTS: usize = 16_384;
    /// Maximum number of interfaces of a host: addresses have one byte for them.
    pub const MAX_INTERFACES: usize = 255;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            links: 1_000,
            flows: 10_000,
            stations: 1_000,
            samples: 20_000_000,
            blocks: 10_000_000,
            events: 4_000_000_000,
            trace: 5_000_000,
            runs: 100_000,
            memory: 4_000_000_000,
        }
    }
}

/// Upper bounds on the size of a run, from rates, delays and windows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Rows of samples.
    pub samples: f64,
    /// Blocks whose delay is measured.
    pub blocks: f64,
    /// Simulator events.
    pub events: f64,
    /// Events at one instant, if all frames in flight arrive together.
    pub at_once: f64,
    /// Memory during the run, bytes.
    pub memory: f64,
    /// Memory of the results of the run, bytes.
    pub results: f64,
    /// Memory of the rows of traced events, with the result tables of events, bytes.
    pub traced: f64,
    /// Index of the flow with the most events; `None` if background stations cause more.
    pub busiest: Option<usize>,
}
