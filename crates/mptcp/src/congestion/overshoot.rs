//! What the first slow start has found of a path.
//!
//! When a first window overflows a queue, half of it (RFC 5681 equation 4) is as much as the path carries, or much less: that depends
//! on the burst which was lost, and on a long path it is paid for in minutes. But while the queue drains the path delivers all that
//! it can, and that rate over the least round trip is what it holds without a queue. In the three round trips that follow the first
//! loss the threshold may be so much, as in TCP Westwood (Mascolo et al., MobiCom 2001), which has it so after each loss; what is lost
//! in them is of the same overshoot. Where others fill the queue it is their share that is missing from the rate. A timeout, a mark or a
//! penalty ends it.
//!
//! A window that the peer's or the send buffer holds back grows all the same, to twice of what is in flight, and half of it is all of
//! that: the queue overflows once more, and half of a queue that holds less than the path is less than the path. So of such a window what
//! was in flight is what is lowered (RFC 5681 equation 4), where that has filled a queue. Owns how long that is looked at.

use mptcp_clock::Instant;

use super::control::PathState;

/// Round trips in which the rate is looked at: that of the recovery, and that of what was sent in it.
const LOOK: u64 = 3;
/// Of that part of what was in flight at least it is known how fast it came.
const PART: u64 = 4;
/// With less than this part of it in flight something else held the window back.
const HELD_BACK: (u64, u64) = (3, 4);
/// Of such a window at least so many segments came behind a queue.
const LEAST: u64 = 10;

#[derive(Clone, Copy, Debug)]
struct Look {
    path: usize,
    until: Instant,
    /// No more than the window was, bytes.
    most: u64,
    /// The rate at which the queue gave before the loss was found, bytes a second; 0 where that is not known.
    drained: f64,
}

/// What a first loss finds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// What the algorithm makes of the window, bytes.
    pub(super) ssthresh: u64,
    /// The application writes as it goes.
    pub(super) streams: bool,
}

/// Paths that lose for the first time.
#[derive(Clone, Debug, Default)]
pub(super) struct Overshoot {
    looks: Vec<Look>,
}

impl Overshoot {
    /// The first loss on `path`, before anything is lowered; returns what becomes of the threshold that the window gives, bytes. What an
    /// application writes as it goes says nothing of what it will.
    pub(super) fn begin(&mut self, path: usize, state: &PathState, now: Instant, found: Found) -> u64 {
        self.forget(path);
        let until = now + state.srtt.unwrap_or_default() * LOOK;
        let held_back = !found.streams && HELD_BACK.1 * state.unacked < HELD_BACK.0 * state.cwnd;
        let least = if held_back { (state.unacked / PART).max(LEAST * state.mss) } else { state.cwnd / PART };
        let drained = state.delivery.drained(least);
        self.looks.push(Look { path, until, most: state.cwnd, drained: drained.unwrap_or_default() });
        // A threshold beyond the window is none: a controller that works by samples lowers nothing.
        if drained.is_none() || !held_back || found.ssthresh >= state.cwnd {
            return found.ssthresh;
        }
        // RFC 5681 section 3.1, equation 4: FlightSize, not a window that nothing has filled.
        let of_flight = found.ssthresh as f64 * state.unacked as f64 / state.cwnd as f64;
        (of_flight as u64).max(2 * state.mss)
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
            let found = (rate.max(look.drained) * rtt.as_secs_f64()) as u64;
            state.ssthresh = state.ssthresh.max(found.min(look.most));
        }
    }

    /// Something else lowers the window, or the path begins or ends: what was found holds no more.
    #[inline]
    pub(super) fn forget(&mut self, path: usize) {
        self.looks.retain(|look| look.path != path);
    }
}

#[cfg(test)]
mod tests {
    use mptcp_clock::Duration;

    use super::*;
    use crate::congestion::delivery::Arrived;

    fn at(time: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(time)
    }

    /// A path of 100 ms that delivers a megabyte a second, whose window of `cwnd` was lost from and halved.
    fn halved(cwnd: u64) -> (Overshoot, PathState) {
        let mut state = PathState::new(1_000, 10);
        state.sample(Duration::from_millis(100));
        state.cwnd = cwnd;
        let mut overshoot = Overshoot::default();
        state.ssthresh = overshoot.begin(0, &state, at(1_000), Found { ssthresh: cwnd / 2, streams: false });
        state.cwnd = cwnd / 2;
        for time in 0..4 {
            let arrived = Arrived { bytes: 100_000, srtt: state.srtt, ..Arrived::default() };
            state.delivery.on_delivered(at(1_000 + 100 * time), &arrived);
        }
        (overshoot, state)
    }

    #[test]
    fn the_threshold_rises_to_what_the_path_delivers_and_no_further_than_the_window_was() {
        for (cwnd, found) in [(150_000, 100_000), (90_000, 90_000), (300_000, 150_000)] {
            let (mut overshoot, mut state) = halved(cwnd);
            overshoot.raise(0, &mut state, at(1_299));
            assert_eq!(state.ssthresh, found, "a window of {cwnd}");
        }
    }

    #[test]
    fn it_is_over_after_three_round_trips_and_after_whatever_else_lowers_the_window() {
        let (mut overshoot, mut state) = halved(150_000);
        overshoot.raise(0, &mut state, at(1_300));
        assert_eq!(state.ssthresh, 75_000);
        let (mut overshoot, mut state) = halved(150_000);
        overshoot.forget(0);
        overshoot.raise(0, &mut state, at(1_100));
        assert_eq!(state.ssthresh, 75_000);
    }

    #[test]
    fn what_came_out_of_the_queue_before_the_loss_was_found_counts_too() {
        for (window, threshold) in [(90_000, 80_000), (200_000, 100_000)] {
            let mut state = PathState::new(1_000, 10);
            state.sample(Duration::from_millis(100));
            (state.cwnd, state.ssthresh) = (window, window / 2);
            for (time, rtt) in (0..31).zip([100].into_iter().chain([150; 30])) {
                let rtt = Some(Duration::from_millis(rtt));
                let arrived = Arrived { bytes: 800, rtt, srtt: state.srtt, min_rtt: state.min_rtt };
                state.delivery.on_delivered(at(900 + time), &arrived);
            }
            // A first round trip of next to nothing.
            let late = Arrived { bytes: 1, srtt: state.srtt, ..Arrived::default() };
            state.delivery.on_delivered(at(1_000), &late);
            let mut overshoot = Overshoot::default();
            state.unacked = window;
            state.ssthresh =
                overshoot.begin(0, &state, at(1_000), Found { ssthresh: window / 2, streams: false });
            overshoot.raise(0, &mut state, at(1_001));
            assert_eq!(state.ssthresh, threshold, "24 kB have come, of a window of {window}");
        }
    }

    #[test]
    fn of_a_window_that_was_held_back_what_was_in_flight_is_lowered_if_that_has_filled_a_queue() {
        // The line gives 800 kB a second, 80 kB in its least round trip.
        for (queue, streams, ssthresh, in_flight, threshold) in [
            (true, false, 200_000, 240_000, 120_000),
            (true, false, 200_000, 100_000, 80_000),
            (true, false, 200_000, 400_000, 200_000),
            (true, true, 200_000, 240_000, 200_000),
            (false, false, 200_000, 240_000, 200_000),
            (true, false, u64::MAX, 240_000, u64::MAX),
        ] {
            let mut state = PathState::new(1_000, 10);
            state.sample(Duration::from_millis(100));
            (state.cwnd, state.unacked) = (400_000, in_flight);
            for (time, rtt) in (0..150).zip([100].into_iter().chain([if queue { 150 } else { 100 }; 149])) {
                let rtt = Some(Duration::from_millis(rtt));
                let arrived = Arrived { bytes: 800, rtt, srtt: state.srtt, min_rtt: state.min_rtt };
                state.delivery.on_delivered(at(900 + time), &arrived);
            }
            let mut overshoot = Overshoot::default();
            state.ssthresh = overshoot.begin(0, &state, at(1_050), Found { ssthresh, streams });
            overshoot.raise(0, &mut state, at(1_051));
            assert_eq!(state.ssthresh, threshold, "{in_flight} in flight, {queue}, {streams}");
        }
    }
}
