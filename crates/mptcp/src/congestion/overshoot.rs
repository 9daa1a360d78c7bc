//! What the first slow start has found of a path.
//!
//! When a first window overflows a queue, half of it (RFC 5681 equation 4) is as much as the path carries, or much less: that depends
//! on the burst which was lost, and on a long path it is paid for in minutes. But while the queue drains the path delivers all that
//! it can, and that rate over the least round trip is what it holds without a queue. So much the threshold may be, once, as in TCP
//! Westwood (Mascolo et al., MobiCom 2001); where others fill the queue it is their share that is missing from the rate. Owns how
//! long that is looked at.

use mptcp_clock::Instant;

use super::control::PathState;

/// Round trips in which the rate is looked at: that of the recovery, and that of what was sent in it.
const LOOK: u64 = 3;

#[derive(Clone, Copy, Debug)]
struct Look {
    path: usize,
    until: Instant,
    /// No more than was under way, bytes.
    most: u64,
}

/// Paths that lose for the first time.
#[derive(Clone, Debug, Default)]
pub(super) struct Overshoot {
    looks: Vec<Look>,
}

impl Overshoot {
    /// The first loss on `path`, before anything is lowered.
    pub(super) fn begin(&mut self, path: usize, state: &PathState, now: Instant) {
        self.forget(path);
        let until = now + state.srtt.unwrap_or_default() * LOOK;
        self.looks.push(Look { path, until, most: state.cwnd });
    }

    /// Something has arrived: raises the threshold to what was found.
    #[inline]
    pub(super) fn raise(&mut self, path: usize, state: &mut PathState, now: Instant) {
        if !self.looks.is_empty() {
            self.look(path, state, now);
        }
    }

    #[cold]
    fn look(&mut self, path: usize, state: &mut PathState, now: Instant) {
        self.looks.retain(|look| now < look.until);
        let Some(look) = self.looks.iter().find(|look| look.path == path) else { return };
        if let (Some(rate), Some(rtt)) = (state.delivery.rate(), state.min_rtt) {
            let found = (rate * rtt.as_secs_f64()) as u64;
            state.ssthresh = state.ssthresh.max(found.min(look.most));
        }
    }

    /// A path begins or ends.
    pub(super) fn forget(&mut self, path: usize) {
        self.looks.retain(|look| look.path != path);
    }
}
