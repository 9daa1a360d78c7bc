//! C-MPBBR, coupled multipath BBR (Mahmud, Lubna, Song, Cho: "Coupled Multipath BBR (C-MPBBR): A Efficient Congestion
//! Control Algorithm for Multipath TCP", IEEE Access 8, 2020).
//!
//! Each subflow runs BBR version 1. Once per cycle of PROBE_BW, in its fourth phase, a subflow counts the subflows whose
//! bandwidth estimates differ by at most 20% from its own. They are assumed to share its bottleneck. In the phases that
//! neither probe nor drain, it uses the part of its bandwidth that this number leaves. A number counts only if the
//! previous count also found several. The rule is that of the authors' Linux module; its termination of subflows without
//! benefit is omitted.
//!
//! Owns the counts. Never changes BBR's model.

use mptcp_clock::{Duration, Instant};

use crate::congestion::{Acked, Bbr, CongestionControl, Lost, Mark, Path, Sample};
use crate::path::PerPath;

/// Relative difference of two bandwidth estimates that count as equal (`alpha` of the authors' module, 20%).
const TOLERANCE: f64 = 0.2;
/// The phase of the cycle in which the subflows are counted.
const COUNTING_PHASE: usize = 3;

#[derive(Clone, Copy, Debug, Default)]
struct PathMemory {
    /// Subflows with an equal bandwidth in the last count, including this one.
    equal: u32,
    /// Whether they were counted in this cycle.
    is_counted: bool,
}

/// Coupled BBR, with its state per path.
#[derive(Clone, Debug, Default)]
pub struct CoupledBbr {
    bbr: Bbr,
    paths: PerPath<PathMemory>,
}

impl CoupledBbr {
    /// Counts the subflows that share the bottleneck of `path`, once per cycle.
    fn count(&mut self, paths: &[Path], path: usize) {
        let is_counting = self.bbr.cycle_phase(path) == Some(COUNTING_PHASE);
        let own = self.paths.at(path);
        if !is_counting || own.is_counted {
            own.is_counted &= is_counting;
            return;
        }
        let rate = self.bbr.max_rate(path);
        let is_equal = |at: usize| {
            let other = self.bbr.max_rate(at);
            other > 0.0 && (other - rate).abs() <= TOLERANCE * rate
        };
        let equal = (0..paths.len()).filter(|&at| paths[at].active && is_equal(at)).count().max(1) as u32;
        let sharing = match (equal, own.equal) {
            (1, 2..) => own.equal,
            (2.., 2..) => equal,
            _ => 1,
        };
        *own = PathMemory { equal, is_counted: true };
        self.bbr.set_sharing(path, sharing);
    }
}

impl CongestionControl for CoupledBbr {
    fn name(&self) -> &'static str {
        "coupled-bbr"
    }

    fn needs_samples(&self) -> bool {
        true
    }

    fn on_path_change(&mut self, paths: &mut [Path], path: usize) {
        *self.paths.at(path) = PathMemory::default();
        self.bbr.on_path_change(paths, path);
    }

    fn on_ack(&mut self, _paths: &mut [Path], _path: usize, _acked: Acked) {}

    fn on_sample(&mut self, paths: &mut [Path], path: usize, sample: &Sample) {
        self.count(paths, path);
        self.bbr.on_sample(paths, path, sample);
    }

    fn on_lost(&mut self, paths: &mut [Path], path: usize, lost: &Lost) {
        self.bbr.on_lost(paths, path, lost);
    }

    fn on_loss(&mut self, paths: &mut [Path], path: usize, now: Instant) -> u64 {
        self.bbr.on_loss(paths, path, now)
    }

    fn on_mark(&mut self, paths: &mut [Path], path: usize, mark: Mark) -> u64 {
        self.bbr.on_mark(paths, path, mark)
    }

    fn on_timeout(&mut self, paths: &mut [Path], path: usize) {
        self.bbr.on_timeout(paths, path);
    }

    fn on_undo(&mut self, paths: &mut [Path], path: usize, delivered: u64) {
        self.bbr.on_undo(paths, path, delivered);
    }

    fn on_restart(&mut self, paths: &mut [Path], path: usize, now: Instant, idle: Duration) {
        self.bbr.on_restart(paths, path, now, idle);
    }
}
