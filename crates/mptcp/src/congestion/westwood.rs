//! The slow start threshold after the first loss: what the path was seen to deliver.
//!
//! When slow start overflows a queue, half of the window (RFC 5681 equation 4) is as much as the path carries, or much less. That depends
//! on the burst that was lost, and on a long path it takes minutes to grow back. While the queue drains the path delivers all that it
//! can; that rate times the base RTT is what it holds without a queue. In the three round trips after the first loss the
//! threshold may rise to it, as TCP Westwood does after each loss (Mascolo et al., MobiCom 2001). A timeout, a mark or a penalty ends that.

use mptcp_clock::Instant;

use crate::path::Path;

/// Round trips in which the rate is looked at: that of the recovery, and that of what was sent in it.
const LOOK: u64 = 3;
/// This part of the window has to have passed the queue before its rate counts.
const PART: u64 = 4;

#[derive(Clone, Copy, Debug)]
struct Look {
    path: usize,
    until: Instant,
    /// The window at the loss, bytes: the threshold stays below it.
    most: u64,
    /// Rate at which the queue drained before the loss was found, bytes a second; 0 if unknown.
    drained: f64,
}

/// Paths that have just lost for the first time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Westwood {
    looks: Vec<Look>,
}

impl Westwood {
    /// The first loss on `path`, before anything is lowered.
    pub(crate) fn begin(&mut self, path: usize, state: &Path, now: Instant) {
        self.forget(path);
        let until = now + state.srtt.unwrap_or_default() * LOOK;
        let drained = state.model.delivery.drained(state.cwnd / PART).unwrap_or_default();
        self.looks.push(Look { path, until, most: state.cwnd, drained });
    }

    /// Data has arrived: raises the threshold to what the path delivers.
    #[inline]
    pub(crate) fn raise(&mut self, path: usize, state: &mut Path, now: Instant) {
        if !self.looks.is_empty() {
            self.look(path, state, now);
        }
    }

    #[cold]
    fn look(&mut self, path: usize, state: &mut Path, now: Instant) {
        self.looks.retain(|look| now < look.until);
        let Some(look) = self.looks.iter().find(|look| look.path == path) else { return };
        if let (Some(rate), Some(rtt)) = (state.model.delivery.rate(), state.min_rtt) {
            let found = (rate.max(look.drained) * rtt.as_secs_f64()) as u64;
            state.ssthresh = state.ssthresh.max(found.min(look.most));
        }
    }

    /// Something else lowers the window, or the path begins or ends.
    #[inline]
    pub(crate) fn forget(&mut self, path: usize) {
        self.looks.retain(|look| look.path != path);
    }
}

#[cfg(test)]
mod tests {
    use mptcp_clock::Duration;

    use super::*;
    use crate::path::Arrived;

    fn at(time: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(time)
    }

    /// A path of 100 ms that delivers a megabyte a second, whose window of `cwnd` was lost from and halved.
    fn halved(cwnd: u64) -> (Westwood, Path) {
        let mut state = Path::new(1_000, 10);
        state.sample(Duration::from_millis(100));
        state.cwnd = cwnd;
        let mut westwood = Westwood::default();
        westwood.begin(0, &state, at(1_000));
        (state.cwnd, state.ssthresh) = (cwnd / 2, cwnd / 2);
        for time in 0..4 {
            let arrived = Arrived { bytes: 100_000, srtt: state.srtt, ..Arrived::default() };
            state.model.delivery.on_delivered(at(1_000 + 100 * time), &arrived);
        }
        (westwood, state)
    }

    #[test]
    fn the_threshold_rises_to_what_the_path_delivers_and_no_further_than_the_window_was() {
        for (cwnd, found) in [(150_000, 100_000), (90_000, 90_000), (300_000, 150_000)] {
            let (mut westwood, mut state) = halved(cwnd);
            westwood.raise(0, &mut state, at(1_299));
            assert_eq!(state.ssthresh, found, "a window of {cwnd}");
        }
    }

    #[test]
    fn it_is_over_after_three_round_trips_and_after_whatever_else_lowers_the_window() {
        let (mut westwood, mut state) = halved(150_000);
        westwood.raise(0, &mut state, at(1_300));
        assert_eq!(state.ssthresh, 75_000);
        let (mut westwood, mut state) = halved(150_000);
        westwood.forget(0);
        westwood.raise(0, &mut state, at(1_100));
        assert_eq!(state.ssthresh, 75_000);
    }

    #[test]
    fn what_came_out_of_the_queue_before_the_loss_was_found_counts_too() {
        for (window, threshold) in [(90_000, 80_000), (200_000, 100_000)] {
            let mut state = Path::new(1_000, 10);
            state.sample(Duration::from_millis(100));
            (state.cwnd, state.ssthresh) = (window, window / 2);
            for (time, rtt) in (0..31).zip([100].into_iter().chain([150; 30])) {
                let rtt = Some(Duration::from_millis(rtt));
                let arrived = Arrived {
                    bytes: 800,
                    rtt,
                    srtt: state.srtt,
                    min_rtt: state.min_rtt,
                    ..Arrived::default()
                };
                state.model.delivery.on_delivered(at(900 + time), &arrived);
            }
            // A first round trip of next to nothing.
            let late = Arrived { bytes: 1, srtt: state.srtt, ..Arrived::default() };
            state.model.delivery.on_delivered(at(1_000), &late);
            let mut westwood = Westwood::default();
            state.unacked = window;
            westwood.begin(0, &state, at(1_000));
            westwood.raise(0, &mut state, at(1_001));
            assert_eq!(state.ssthresh, threshold, "24 kB have come, of a window of {window}");
        }
    }
}
