//! DCTCP (RFC 8257; Alizadeh et al., SIGCOMM 2010), uncoupled: reduces the window in proportion to the
//! fraction of marked bytes.
//!
//! Owns the estimate of that fraction. Peers must report each marked segment (RFC 8257 section 3.2), and
//! queues must mark above a threshold. Growth and the reaction to losses are those of Reno.

use crate::congestion::{Acked, CongestionControl, Echoed, Mark, Path, Reno};
use crate::path::PerPath;

/// Weight of a new observation (RFC 8257 section 4.2).
const G: f64 = 1.0 / 16.0;

#[derive(Clone, Copy, Debug)]
struct PathMemory {
    /// DCTCP.Alpha, 0 to 1.
    alpha: f64,
    /// Bytes delivered in the observation window; `marked` of them had a mark.
    acked: u64,
    marked: u64,
    /// DCTCP.WindowEnd, an offset in the subflow's stream.
    end: u64,
}

impl Default for PathMemory {
    fn default() -> Self {
        // RFC 8257 section 3.3: the first mark halves the window, as a loss does.
        Self { alpha: 1.0, acked: 0, marked: 0, end: 0 }
    }
}

/// DCTCP, with its state per path.
#[derive(Clone, Debug, Default)]
pub struct Dctcp {
    paths: PerPath<PathMemory>,
}

impl Dctcp {
    fn path(&mut self, path: usize) -> &mut PathMemory {
        self.paths.at(path)
    }
}

impl CongestionControl for Dctcp {
    fn name(&self) -> &'static str {
        "dctcp"
    }

    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        Reno.on_ack(paths, path, acked);
    }

    fn on_echo(&mut self, _paths: &mut [Path], path: usize, echoed: Echoed) {
        let own = self.path(path);
        // RFC 8257 section 3.3, steps 1 to 3.
        own.acked += echoed.bytes;
        own.marked += if echoed.marked { echoed.bytes } else { 0 };
        // Step 4: once per window of data.
        if echoed.una <= own.end {
            return;
        }
        if own.acked > 0 {
            // Steps 5 to 7.
            let share = own.marked as f64 / own.acked as f64;
            own.alpha = own.alpha * (1.0 - G) + G * share;
        }
        (own.acked, own.marked, own.end) = (0, 0, echoed.next);
    }

    fn on_mark(&mut self, paths: &mut [Path], path: usize, _mark: Mark) -> u64 {
        let alpha = self.path(path).alpha;
        let state = &paths[path];
        // RFC 8257 section 3.3, step 9.
        ((state.cwnd as f64 * (1.0 - alpha / 2.0)) as u64).max(2 * state.mss)
    }

    fn needs_marks(&self) -> bool {
        true
    }

    fn on_path_change(&mut self, paths: &mut [Path], path: usize) {
        if !paths[path].active {
            *self.path(path) = PathMemory::default();
        }
    }
}
