//! Raises ssthresh after the first loss to the delivery rate, as TCP Westwood does (Mascolo et al., MobiCom
//! 2001).
//!
//! When slow start overflows a queue, half of the window (RFC 5681 equation 4) may be much less than the path
//! carries. This half depends on the burst that was lost, and on a path with a long RTT the window needs
//! minutes to grow again. While the queue drains, the path delivers at its full rate. That rate times the
//! minimum RTT is the window without a queue: the limit to which ssthresh may rise in the next three RTTs.
//!
//! Owns the list of paths in this phase. Never reacts to a timeout, a mark or a penalty except by ending the
//! phase.

use mptcp_clock::Instant;

use crate::path::Path;

/// Duration in RTTs. Recovery, and the acknowledgement of data sent during recovery, take about two RTTs. The
/// value was chosen by measurement.
const DURATION_RTTS: u64 = 3;
/// The drain rate is used only after this fraction (1/4) of the window has passed the queue.
const MIN_FRACTION_DIVISOR: u64 = 4;

#[derive(Clone, Copy, Debug)]
struct Phase {
    path: usize,
    until: Instant,
    /// Window at the loss, bytes: upper limit of ssthresh.
    max_ssthresh: u64,
    /// Rate at which the queue drained before the loss was detected, bytes per second; 0 if unknown.
    drained: f64,
}

/// The paths that had their first loss within the last three RTTs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Westwood {
    phases: Vec<Phase>,
}

impl Westwood {
    /// Starts the phase of `path` after its first loss, before the window is reduced.
    pub(crate) fn begin(&mut self, path: usize, state: &Path, now: Instant) {
        self.end(path);
        let until = now + state.srtt.unwrap_or_default() * DURATION_RTTS;
        let drained = state.model.delivery.drained(state.cwnd / MIN_FRACTION_DIVISOR).unwrap_or_default();
        self.phases.push(Phase { path, until, max_ssthresh: state.cwnd, drained });
    }

    /// Raises ssthresh to the delivery rate after data was delivered.
    #[inline]
    pub(crate) fn raise(&mut self, path: usize, state: &mut Path, now: Instant) {
        if !self.phases.is_empty() {
            self.raise_in_phase(path, state, now);
        }
    }

    #[cold]
    fn raise_in_phase(&mut self, path: usize, state: &mut Path, now: Instant) {
        self.phases.retain(|phase| now < phase.until);
        let Some(phase) = self.phases.iter().find(|phase| phase.path == path) else { return };
        if let (Some(rate), Some(rtt)) = (state.model.delivery.rate(), state.min_rtt) {
            let found = (rate.max(phase.drained) * rtt.as_secs_f64()) as u64;
            state.ssthresh = state.ssthresh.max(found.min(phase.max_ssthresh));
        }
    }

    /// Ends the phase of `path`, because another event reduces the window or the path changes.
    #[inline]
    pub(crate) fn end(&mut self, path: usize) {
        self.phases.retain(|phase| phase.path != path);
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

    /// A path of 100 ms that delivers 1 MB/s, after a loss halved its window of `cwnd`.
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
    fn ssthresh_rises_to_the_delivery_rate_but_not_above_the_previous_window() {
        for (cwnd, found) in [(150_000, 100_000), (90_000, 90_000), (300_000, 150_000)] {
            let (mut westwood, mut state) = halved(cwnd);
            westwood.raise(0, &mut state, at(1_299));
            assert_eq!(state.ssthresh, found, "a window of {cwnd}");
        }
    }

    #[test]
    fn phase_ends_after_three_rtts_or_another_reduction() {
        let (mut westwood, mut state) = halved(150_000);
        westwood.raise(0, &mut state, at(1_300));
        assert_eq!(state.ssthresh, 75_000);
        let (mut westwood, mut state) = halved(150_000);
        westwood.end(0);
        westwood.raise(0, &mut state, at(1_100));
        assert_eq!(state.ssthresh, 75_000);
    }

    #[test]
    fn drain_rate_before_the_detection_of_the_loss_counts() {
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
            // A first round with almost no data.
            let late = Arrived { bytes: 1, srtt: state.srtt, ..Arrived::default() };
            state.model.delivery.on_delivered(at(1_000), &late);
            let mut westwood = Westwood::default();
            state.unacked = window;
            westwood.begin(0, &state, at(1_000));
            westwood.raise(0, &mut state, at(1_001));
            assert_eq!(state.ssthresh, threshold, "24 kB delivered, of a window of {window}");
        }
    }
}
