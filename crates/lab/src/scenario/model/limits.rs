//! What a scenario may ask for, and what it asks for.

/// How much a scenario may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Paths, links and stations.
    pub links: u64,
    /// Connections, copies counted; at most [`Limits::MOST_FLOWS`].
    pub flows: u64,
    /// Background stations.
    pub stations: u64,
    /// Rows of samples in a run.
    pub samples: u64,
    /// Blocks in a run.
    pub blocks: u64,
    /// Events in a run.
    pub events: u64,
    /// Rows of traced events in a run.
    pub trace: u64,
    /// Runs of one command.
    pub runs: u64,
    /// Bytes of a run, and of the results of all runs of one command.
    pub memory: u64,
}

impl Limits {
    /// Each has a port of its own above 5000, and a label of 16 bits.
    pub const MOST_FLOWS: u64 = 60_000;
    /// A host is one octet of its addresses, and so is each of its interfaces.
    pub const MOST_HOSTS: usize = 255;
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

/// What a run of a scenario is expected to take, from above: reckoned from rates, delays and windows, not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Rows of samples.
    pub samples: f64,
    /// Blocks.
    pub blocks: f64,
    /// Events.
    pub events: f64,
    /// Events at one instant, if all that may be in flight arrives together.
    pub at_once: f64,
    /// Bytes while it runs.
    pub memory: f64,
    /// Bytes of its results, which stay when it is over.
    pub results: f64,
    /// Bytes of the rows that a trace of it keeps, with the tables made of them.
    pub traced: f64,
    /// Which flow makes most of the events, by its place; `None` if it is the background.
    pub busiest: Option<usize>,
}
