//! What a congestion controller is, and what it sees.

use mptcp_clock::{Duration, Instant};

use crate::congestion::marks::{Echoed, Mark};
use crate::congestion::sample::{Lost, Sample};
use crate::path::Path;

/// What an acknowledgement said.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// When it came.
    pub now: Instant,
    /// Bytes newly acknowledged.
    pub bytes: u64,
}

/// An algorithm that sets the windows of all paths of a connection.
pub trait CongestionControl: std::fmt::Debug + Send {
    /// The name that the field uses.
    fn name(&self) -> &'static str;

    /// New data was acknowledged on `path`, whether or not its window was full; comes before `on_ack`.
    fn on_progress(&mut self, paths: &mut [Path], path: usize, acked: Acked) {
        let _ = (paths, path, acked);
    }

    /// Whether [`Self::on_progress`] does anything: who says no is not told. Asked once, when a connection gets the controller.
    fn hears_progress(&self) -> bool {
        true
    }

    /// New data was acknowledged on `path` while its window was full.
    fn on_ack(&mut self, paths: &mut [Path], path: usize, acked: Acked);

    /// The local queue of `path` let go of a packet; `paths[path].local` says what is left.
    fn on_departed(&mut self, paths: &mut [Path], path: usize, now: Instant) {
        let _ = (paths, path, now);
    }

    /// Data was lost on `path`; called once for each congestion event. Returns the new `ssthresh`
    /// in bytes. Halves the window unless overridden (RFC 5681 equation 4).
    fn on_loss(&mut self, paths: &mut [Path], path: usize, now: Instant) -> u64 {
        let _ = now;
        (paths[path].cwnd / 2).max(2 * paths[path].mss)
    }

    /// Data was marked on `path`; called once for each congestion event that no loss told before. Returns the new `ssthresh` in
    /// bytes. As a loss unless overridden (RFC 3168 section 6.1.2).
    fn on_mark(&mut self, paths: &mut [Path], path: usize, mark: Mark) -> u64 {
        self.on_loss(paths, path, mark.now)
    }

    /// An acknowledgement came on `path`, whose peer tells of marks; comes before `on_mark` and `on_ack`.
    fn on_echo(&mut self, paths: &mut [Path], path: usize, echoed: Echoed) {
        let _ = (paths, path, echoed);
    }

    /// Whether it works by marks: subflows ask for them then, and tell the peer of each as RFC 8257 section 3.2 says.
    fn needs_marks(&self) -> bool {
        false
    }

    /// Whether it works by samples of the rate at which data arrives, as BBR does. [`Self::on_sample`] and [`Self::on_lost`] are
    /// called then, and the window is its own: `on_ack` is not called, no recovery moves the window, and nothing but a timeout,
    /// which leaves one segment of it. What is sent again is paced as new data is. What `on_loss` returns is kept in `ssthresh`
    /// and not used.
    fn needs_samples(&self) -> bool {
        false
    }

    /// An acknowledgement came on `path`; the last that is called for it. For those that work by samples.
    fn on_sample(&mut self, paths: &mut [Path], path: usize, sample: &Sample) {
        let _ = (paths, path, sample);
    }

    /// A segment of `path` was found lost; comes after `on_loss` and `on_timeout`, and before `on_sample`. For those that work
    /// by samples.
    fn on_lost(&mut self, paths: &mut [Path], path: usize, lost: &Lost) {
        let _ = (paths, path, lost);
    }

    /// New data is about to leave on `path`, where nothing was under way and nothing was sent for `idle`.
    fn on_restart(&mut self, paths: &mut [Path], path: usize, now: Instant, idle: Duration) {
        let _ = (paths, path, now, idle);
    }

    /// Nothing was lost: the last `on_loss` was in vain, and window and threshold are what they were. `delivered` is all that
    /// has arrived, where it works by samples, and 0 elsewhere.
    fn on_undo(&mut self, paths: &mut [Path], path: usize, delivered: u64) {
        let _ = (paths, path, delivered);
    }

    /// The retransmission timer of `path` ran out; comes after `on_loss`, if that comes at all.
    fn on_timeout(&mut self, paths: &mut [Path], path: usize) {
        let _ = (paths, path);
    }

    /// A path begins or ends; `paths[path].active` says which. After its end the index may get another path, so
    /// that nothing may be remembered.
    fn on_path_change(&mut self, paths: &mut [Path], path: usize) {
        let _ = (paths, path);
    }
}
