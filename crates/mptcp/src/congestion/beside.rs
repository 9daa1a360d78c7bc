//! How slow start ends on a slow path beside faster ones.
//!
//! Where a window doubles until something is lost, what was lost waits for its repair, and the window of the connection for that. A path
//! that brings all it can costs the others as much then as one that could bring more. So where others are much faster, a window no
//! longer doubles once it is twice what the line holds without a queue, as far as bursts have told how fast that is. If they tell better of
//! it, as they do where round trips vary, it goes on; if not for some round trips, slow start is over. Owns since when a line is full.

use mptcp_clock::Instant;

use super::control::PathState;

/// The others are much faster when they have so many times its rate.
const FASTER: f64 = 4.0;
/// So many times what the line holds: the queue is a round trip then.
const FULL: f64 = 2.0;
/// Round trips after which it is sure.
const SURE: u64 = 4;

/// Since when the lines of slow paths are full, by their places.
#[derive(Debug, Default)]
pub(super) struct Beside {
    full: Vec<Option<Instant>>,
}

impl Beside {
    /// Whether the first slow start of `path` waits: its line is full, and others are much faster. Ends it where that is sure.
    #[cold]
    pub(super) fn waits(&mut self, paths: &mut [PathState], path: usize, now: Instant) -> bool {
        if self.full.len() <= path {
            self.full.resize(path + 1, None);
        }
        if !is_full(paths, path) {
            self.full[path] = None;
            return false;
        }
        let since = *self.full[path].get_or_insert(now);
        let state = &mut paths[path];
        if now.since(since) > state.srtt.unwrap_or_default() * SURE {
            self.full[path] = None;
            state.ssthresh = state.cwnd;
        }
        true
    }

    /// A path begins or ends: what was seen of it holds no more.
    pub(super) fn forget(&mut self, path: usize) {
        if let Some(full) = self.full.get_mut(path) {
            *full = None;
        }
    }
}

fn is_full(paths: &[PathState], path: usize) -> bool {
    let others = paths.iter().enumerate().filter(|(at, state)| *at != path && state.active);
    let faster: f64 = others.filter_map(|(_, state)| state.delivery.rate()).sum();
    let state = &paths[path];
    let (Some(rate), Some(rtt)) = (state.delivery.burst_rate(), state.min_rtt) else { return false };
    rate * FASTER < faster && state.cwnd as f64 >= FULL * rate * rtt.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use mptcp_clock::Duration;

    use super::*;
    use crate::congestion::delivery::Arrived;

    const MSS: u64 = 1000;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    fn at(time: u64) -> Instant {
        Instant::ZERO + ms(time)
    }

    /// A path of 10 ms that delivers `bytes` each millisecond, in bursts and altogether, with a window of `cwnd`.
    fn path(bytes: u64, cwnd: u64) -> PathState {
        let mut state = PathState::new(MSS, 10);
        state.sample(ms(10));
        (state.cwnd, state.active) = (cwnd, true);
        for time in 0..60 {
            let arrived = Arrived { bytes, srtt: state.srtt, min_rtt: state.min_rtt, rtt: None };
            state.delivery.on_delivered(at(1_000 + time), &arrived);
        }
        state
    }

    #[test]
    fn a_window_of_twice_what_the_line_holds_no_longer_doubles_beside_a_much_faster_path() {
        // 10 kB fill it.
        for (cwnd, other, full) in [(20_000, 4_001, true), (19_999, 4_001, false), (20_000, 3_900, false)] {
            let paths = [path(1_000, cwnd), path(other, 100_000)];
            assert_eq!(is_full(&paths, 0), full, "{cwnd} B beside {other} B/ms");
        }
        let mut gone = [path(1_000, 20_000), path(4_001, 100_000)];
        gone[1].active = false;
        assert!(!is_full(&gone, 0), "who is not there is not faster");
    }

    #[test]
    fn it_goes_on_when_the_line_turns_out_to_be_faster_and_is_over_after_four_round_trips() {
        let mut beside = Beside::default();
        let mut paths = [path(1_000, 20_000), path(5_000, 100_000)];
        assert!(beside.waits(&mut paths, 0, at(100)) && beside.waits(&mut paths, 0, at(140)));
        assert_eq!(paths[0].ssthresh, u64::MAX);
        let faster = path(2_000, 20_000);
        paths[0].delivery = faster.delivery;
        assert!(!beside.waits(&mut paths, 0, at(141)), "a burst has said so");
        paths[0].delivery = path(1_000, 20_000).delivery;
        assert!(beside.waits(&mut paths, 0, at(150)) && beside.waits(&mut paths, 0, at(190)));
        assert_eq!(paths[0].ssthresh, u64::MAX, "since then");
        assert!(beside.waits(&mut paths, 0, at(191)));
        assert_eq!(paths[0].ssthresh, 20_000);
        // Another one gets its place.
        paths[0].ssthresh = u64::MAX;
        assert!(beside.waits(&mut paths, 0, at(200)));
        beside.forget(0);
        assert!(beside.waits(&mut paths, 0, at(300)));
        assert_eq!(paths[0].ssthresh, u64::MAX);
    }
}
