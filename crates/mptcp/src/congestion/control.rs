//! The [`CongestionControl`] trait: the interface between a connection and its congestion control algorithm.
//!
//! Owns the events that an algorithm is notified of. Never implements an algorithm (`controllers/`).

use mptcp_clock::{Duration, Instant};

use crate::congestion::marks::{Echoed, Mark};
use crate::congestion::sample::{Lost, Sample};
use crate::path::Path;

/// Newly acknowledged data.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Arrival time of the acknowledgement.
    pub now: Instant,
    /// Newly acknowledged bytes.
    pub bytes: u64,
}

/// An algorithm that sets the congestion windows of all paths of a connection.
pub trait CongestionControl: std::fmt::Debug + Send {
    /// Name in scenario files and results.
    fn name(&self) -> &'static str;

    /// New data was acknowledged on `path`, whether or not its window was full. Called before `on_ack`.
    fn on_progress(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let _ = (paths, path, acked);
    }

    /// Whether [`Self::on_progress`] must be called. Read once, when the controller is set.
    fn needs_progress(&self) -> bool {
        true
    }

    /// New data was acknowledged on `path` while its window was full.
    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked);

    /// A packet left the local queue of `path`; see `paths[path].local`.
    fn on_departed(&mut self, paths: &mut [Path], path: usize, now: Instant) {
        let _ = (paths, path, now);
    }

    /// A loss on `path`; called once per congestion event. Returns the new `ssthresh` in bytes. Default: half
    /// of the window (RFC 5681 equation 4).
    fn on_loss(&mut self, paths: &mut [Path], path: usize, now: Instant) -> u64 {
        let _ = now;
        (paths[path].cwnd / 2).max(2 * paths[path].mss)
    }

    /// An ECN mark on `path`; called once per congestion event without a loss. Returns the new `ssthresh` in
    /// bytes. Default: as for a loss (RFC 3168 section 6.1.2).
    fn on_mark(&mut self, paths: &mut [Path], path: usize, mark: Mark) -> u64 {
        self.on_loss(paths, path, mark.now)
    }

    /// An acknowledgement with ECN feedback on `path`. Called before `on_mark` and `on_ack`.
    fn on_echo(&mut self, paths: &mut [Path], path: usize, echoed: Echoed) {
        let _ = (paths, path, echoed);
    }

    /// Whether the algorithm needs ECN. Subflows then negotiate it, and report each mark (RFC 8257 section
    /// 3.2).
    fn needs_marks(&self) -> bool {
        false
    }

    /// Whether the algorithm needs delivery rate samples, as BBR does. [`Self::on_sample`] and
    /// [`Self::on_lost`] are then called, and `on_ack` is not. Only the algorithm sets the window, except
    /// that a timeout reduces the window to one segment. Retransmissions are paced like new data. The result
    /// of `on_loss` is stored in `ssthresh` and not used.
    fn needs_samples(&self) -> bool {
        false
    }

    /// An acknowledgement on `path`; the last call for this acknowledgement. Only with
    /// [`Self::needs_samples`].
    fn on_sample(&mut self, paths: &mut [Path], path: usize, sample: &Sample) {
        let _ = (paths, path, sample);
    }

    /// A segment of `path` was marked lost. Called after `on_loss` and `on_timeout`, and before `on_sample`.
    /// Only with [`Self::needs_samples`].
    fn on_lost(&mut self, paths: &mut [Path], path: usize, lost: &Lost) {
        let _ = (paths, path, lost);
    }

    /// New data is about to be sent on `path` after an idle time of `idle` with nothing in flight.
    fn on_restart(&mut self, paths: &mut [Path], path: usize, now: Instant, idle: Duration) {
        let _ = (paths, path, now, idle);
    }

    /// The last `on_loss` was spurious; window and `ssthresh` are restored. `delivered` is the total of
    /// delivered bytes if [`Self::needs_samples`] is true, otherwise 0.
    fn on_undo(&mut self, paths: &mut [Path], path: usize, delivered: u64) {
        let _ = (paths, path, delivered);
    }

    /// The retransmission timer of `path` expired. Called after `on_loss`, if that is called.
    fn on_timeout(&mut self, paths: &mut [Path], path: usize) {
        let _ = (paths, path);
    }

    /// A path was opened or closed; see `paths[path].active`. A later path may reuse the index, so the
    /// algorithm must drop its state of a closed path.
    fn on_path_change(&mut self, paths: &mut [Path], path: usize) {
        let _ = (paths, path);
    }
}
