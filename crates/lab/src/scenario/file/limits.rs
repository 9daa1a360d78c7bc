//! The table `limits` of a scenario file, which prevents runs that exhaust memory or take too long.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::units::Size;

table! {
    /// Limits on the size of a run. A scenario whose estimate exceeds a limit is refused. A run that exceeds
    /// a limit ends with an error.
    LimitsTable {
        /// Number of paths, links and stations together, at most 60000. Cells and middleboxes have the same
        /// limit. Default: 1000.
        links: u64,
        /// Number of flows including copies, at most 60000. Default: 10000.
        flows: u64,
        /// Number of background stations in all cells. Default: 1000.
        stations: u64,
        /// Rows of samples per run. Default: 20000000.
        samples: u64,
        /// Number of measured blocks per run. Default: 10000000.
        blocks: u64,
        /// Number of simulator events per run. One core processes some millions per second. Default:
        /// 4000000000.
        events: u64,
        /// Rows of traced events per run. Further events are counted but not stored. Default: 5000000.
        trace: u64,
        /// Number of runs per command, over all seeds, sweep points and baselines. Default: 100000.
        runs: u64,
        /// Memory of one run, and of the results of all runs of one command. Default: 4GB.
        memory: Size,
    }
}
