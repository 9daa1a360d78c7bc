//! Marks, for the windows of a connection (RFC 3168).
//!
//! Owns the way to the algorithm, as `windows` does for losses. When a mark counts is the subflow's affair.

use mptcp_clock::Instant;

use super::marks::{Echoed, Mark};
use super::windows::Congestion;

impl Congestion {
    /// Whether marks get the factors of RFC 8511.
    pub(crate) fn with_gentle_marks(mut self, gentle: bool) -> Self {
        self.gentle_marks = gentle;
        self
    }

    /// Whether the controller works by marks: they are asked for then, and told one by one (RFC 8257).
    pub(crate) fn needs_marks(&self) -> bool {
        self.algorithm.needs_marks()
    }

    /// Lowers `ssthresh` because of marks; the caller moves the window.
    pub(crate) fn on_mark(&mut self, path: usize, now: Instant) {
        let mark = Mark { now, gentle: self.gentle_marks };
        let ssthresh = self.ask(path, |algorithm, paths| algorithm.on_mark(paths, path, mark));
        self.overshoot.forget(path);
        let state = &mut self.paths[path];
        state.ssthresh = ssthresh;
        state.credit = 0.0;
    }

    pub(crate) fn on_echo(&mut self, path: usize, echoed: Echoed) {
        self.ask(path, |algorithm, paths| algorithm.on_echo(paths, path, echoed));
    }
}
