//! The table of limits: what a scenario may ask for before it is refused.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::units::Size;

table! {
    /// What a scenario may ask for. It is estimated before anything runs, and what is above a limit is refused; a run
    /// that goes beyond its estimate ends with an error. Raise a limit for what you really mean.
    LimitsTable {
        /// Paths, links and stations. Default: 1000.
        links: u64,
        /// Connections, copies counted, at most 60000. Default: 10000.
        flows: u64,
        /// Stations of the background, over all cells. Default: 1000.
        stations: u64,
        /// Rows of samples in a run. Default: 20000000.
        samples: u64,
        /// Blocks that a run times. Default: 10000000.
        blocks: u64,
        /// Events in a run: what frames, timers and media do. A second of one core makes some million.
        /// Default: 4000000000.
        events: u64,
        /// Rows of traced events in a run; what comes beyond is counted and not kept. Default: 5000000.
        trace: u64,
        /// Runs of one command: seeds, points of a sweep, baselines. Default: 100000.
        runs: u64,
        /// Memory of a run, and of the results of all runs of one command. Default: 4GB.
        memory: Size,
    }
}
