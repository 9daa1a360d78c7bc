//! Samples of the delivery rate, losses one by one and new beginnings, for the windows of a connection.
//!
//! Owns the way to the algorithm, as `windows` does for acknowledgements. What is measured is the subflow's affair.

use mptcp_clock::{Duration, Instant};

use super::sample::{Lost, Sample};
use super::windows::Congestion;

impl Congestion {
    /// Whether the controller works by samples: the windows are its own then.
    #[inline]
    pub(crate) fn needs_samples(&self) -> bool {
        self.sampled
    }

    pub(crate) fn on_sample(&mut self, path: usize, sample: &Sample) {
        self.ask(path, |algorithm, paths| algorithm.on_sample(paths, path, sample));
    }

    pub(crate) fn on_lost(&mut self, path: usize, lost: &Lost) {
        self.ask(path, |algorithm, paths| algorithm.on_lost(paths, path, lost));
    }

    /// New data leaves where nothing was under way.
    pub(crate) fn on_restart(&mut self, path: usize, now: Instant, idle: Duration) {
        self.ask(path, |algorithm, paths| algorithm.on_restart(paths, path, now, idle));
    }

    /// The last reduction was taken back.
    pub(crate) fn on_undo(&mut self, path: usize, delivered: u64) {
        self.paths[path].model.losses.on_undo();
        self.ask(path, |algorithm, paths| algorithm.on_undo(paths, path, delivered));
    }
}
