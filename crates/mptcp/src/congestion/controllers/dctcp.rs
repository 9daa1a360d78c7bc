//! DCTCP (RFC 8257; Alizadeh et al., SIGCOMM 2010), on each path by itself: the window falls by as much as is marked.
//!
//! Owns the estimate of how much that is. Peers have to tell of each marked segment (RFC 8257 section 3.2), and queues to mark
//! above a threshold; growth and the answer to losses are Reno's.

use crate::congestion::{Acked, CongestionControl, Echoed, Mark, Path, Reno};
use crate::path::PerPath;

/// RFC 8257 section 4.2: the weight of a new observation.
const G: f64 = 1.0 / 16.0;

#[derive(Clone, Copy, Debug)]
struct PathMemory {
    /// DCTCP.Alpha, 0 to 1.
    alpha: f64,
    /// Bytes that arrived in the window of data that is watched, and those of them that were marked.
    acked: u64,
    marked: u64,
    /// DCTCP.WindowEnd, an offset.
    end: u64,
}

impl Default for PathMemory {
    fn default() -> Self {
        // RFC 8257 section 3.3: the first mark is taken as seriously as a loss.
        Self { alpha: 1.0, acked: 0, marked: 0, end: 0 }
    }
}

/// DCTCP's memory of each path.
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
        // Step 4: once for each window of data.
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
