//! RFC 6356's first goal, looked after: as much as TCP would get on the best path.
//!
//! Coupled increases reach it by the windows that are (RFC 6356 section 4), as if these stood still. Where losses come by chance, and not from
//! one queue, windows vary each by itself: most of the time a window is below its mean, and it grows from there by what all of them come
//! to, which is less than TCP would grow by. So what the paths carry is held against what TCP would get at the losses that each
//! one has, by the mean of their last intervals (RFC 5348 section 5.4), and where it is less, windows grow faster, as far as
//! that goes. What a line does not carry, TCP would not get there. Owns by how much faster.

use mptcp_clock::{Duration, Instant};

use super::control::PathState;

/// What TCP gets by its losses: this times the root of the segments between two of them, segments in a round trip (Mathis et al., CCR 1997).
const MATHIS: f64 = 1.2247;
/// By which part of what is missing the growth changes in a round trip: losses are dozens of them apart.
const GAIN: f64 = 0.05;
/// The most that it grows to.
const MOST: f64 = 1.5;
/// Segments that wait in a queue which overflows, at least: hardly any holds fewer than ten.
const QUEUED: f64 = 7.0;
/// So many more losses without a queue than with one are evidence, and no more count.
const LEAST: u32 = 3;
const ENOUGH: u32 = 6;

/// The queue that round trips of a path showed, and what was lost without one.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    /// The longest delay in this round trip and in the last one.
    longest: [Duration; 2],
    /// When this round trip began.
    since: Instant,
    /// Losses without one, less those with one.
    unqueued: u32,
}

/// How many times as fast windows grow, less one.
#[derive(Clone, Debug, Default)]
pub(super) struct Goal {
    paths: Vec<Path>,
    /// Some path loses by chance.
    by_chance: bool,
    faster: f64,
}

impl Goal {
    /// Whether losses by chance may keep the windows from it.
    #[inline]
    pub(super) fn is_missed(&self) -> bool {
        self.by_chance
    }

    /// An acknowledgement came on `path`.
    #[inline]
    pub(super) fn on_sample(&mut self, path: usize, state: &PathState, now: Instant) {
        let (Some(latest), Some(least), Some(srtt)) = (state.latest_rtt, state.min_rtt, state.srtt) else {
            return;
        };
        if self.paths.len() <= path {
            self.paths.resize(path + 1, Path::default());
        }
        let known = &mut self.paths[path];
        if now.since(known.since) >= srtt {
            (known.longest, known.since) = ([Duration::ZERO, known.longest[0]], now);
        }
        known.longest[0] = known.longest[0].max(latest.abs_diff(least));
    }

    /// A congestion event on `path`.
    pub(super) fn on_loss(&mut self, path: usize, state: &PathState) {
        let Some(known) = self.paths.get_mut(path) else { return };
        let longest = known.longest[0].max(known.longest[1]);
        let least = state.min_rtt.unwrap_or_default();
        let holds = |line: f64| longest.as_secs_f64() * line >= QUEUED * state.mss as f64;
        let queued = longest > least / 8 || state.delivery.line().is_none_or(holds);
        known.unqueued =
            if queued { known.unqueued.saturating_sub(1) } else { (known.unqueued + 1).min(ENOUGH) };
        self.look();
    }

    /// The last event on `path` was none.
    pub(super) fn on_undo(&mut self, path: usize) {
        if let Some(known) = self.paths.get_mut(path) {
            known.unqueued = known.unqueued.saturating_sub(1);
            self.look();
        }
    }

    fn look(&mut self) {
        self.by_chance = self.paths.iter().any(|known| known.unqueued >= LEAST);
        if !self.by_chance {
            self.faster = 0.0;
        }
    }

    /// A path begins or ends: nothing is known of it.
    pub(super) fn forget(&mut self, path: usize) {
        if let Some(known) = self.paths.get_mut(path) {
            *known = Path::default();
            self.look();
        }
    }

    /// Bytes that count beyond the `bytes` of a full window that were acknowledged, where only the paths that are coupled are active.
    pub(super) fn more(&mut self, paths: &[PathState], bytes: u64) -> u64 {
        let (mut windows, mut all, mut best, mut count) = (0.0, 0.0, 0.0_f64, 0);
        for (at, state) in paths.iter().enumerate().filter(|(_, state)| state.active) {
            let Some(rtt) = state.srtt else { continue };
            let rtt = rtt.as_secs_f64().max(1e-6);
            windows += state.cwnd as f64;
            all += state.cwnd as f64 / rtt;
            count += 1;
            if self.paths.get(at).is_some_and(|known| known.unqueued >= LEAST) {
                best = best.max(alone(state));
            }
        }
        if count < 2 || all <= 0.0 {
            return 0;
        }
        let missing = (best / all - 1.0).clamp(-1.0, 1.0);
        self.faster = (self.faster + GAIN * missing * bytes as f64 / windows).clamp(0.0, MOST - 1.0);
        (self.faster * bytes as f64).round() as u64
    }
}

/// What TCP would get on a path, bytes a second, by what it loses; zero where too little is known of that.
pub(super) fn alone(state: &PathState) -> f64 {
    let (Some(rtt), Some(between), Some(line)) = (state.srtt, state.losses.interval(), state.delivery.line())
    else {
        return 0.0;
    };
    let mss = state.mss as f64;
    (MATHIS * mss / rtt.as_secs_f64().max(1e-6) * (between / mss).sqrt()).min(line)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::congestion::delivery::Arrived;

    const MSS: u64 = 1_000;

    fn at(time: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(time)
    }

    /// A path of 100 ms with a window of ten segments and a line of 10 MB/s, which has lost one segment in 600 so far: TCP would have
    /// 300 kB/s, three times as much.
    pub(in super::super) fn path() -> PathState {
        let mut state = PathState::new(MSS, 10);
        state.sample(Duration::from_millis(100));
        (state.ssthresh, state.active) = (MSS, true);
        for time in 0..4 {
            let arrived = Arrived { bytes: 10 * MSS, srtt: state.srtt, ..Arrived::default() };
            state.delivery.on_delivered(at(time), &arrived);
        }
        for _ in 0..8 {
            state.losses.on_delivered(600 * MSS);
            state.losses.on_loss(at(0), None);
        }
        state
    }

    /// So many losses where the longest round trip was `rtt` milliseconds.
    fn lose(goal: &mut Goal, state: &mut PathState, rtt: u64, losses: u32) {
        (0..losses).for_each(|_| {
            state.latest_rtt = Some(Duration::from_millis(rtt));
            goal.on_sample(0, state, at(0));
            goal.on_loss(0, state);
        });
    }

    #[test]
    fn windows_that_lose_by_chance_grow_faster_until_they_have_what_tcp_would() {
        let (mut goal, mut paths) = (Goal::default(), [path(), path()]);
        lose(&mut goal, &mut paths[0], 100, LEAST - 1);
        assert!(!goal.is_missed(), "that may be chance");
        lose(&mut goal, &mut paths[0], 100, 1);
        assert!(goal.is_missed());
        // 300 kB/s are half as much again as 200: a fortieth in each round trip.
        assert_eq!(goal.more(&paths, 20 * MSS), 20 * MSS / 40);
        assert_eq!(
            (0..100).map(|_| goal.more(&paths, 20 * MSS)).max(),
            Some(10 * MSS),
            "not more than half as much"
        );
        paths[1].cwnd = 40 * MSS;
        assert_eq!((0..500).map(|_| goal.more(&paths, 50 * MSS)).min(), Some(0), "they have more");
    }

    #[test]
    fn what_is_lost_from_a_queue_is_not_lost_by_chance() {
        let (mut goal, mut paths) = (Goal::default(), [path(), path()]);
        // 1 ms on a line of 10 MB/s are ten segments; 20 ms are long beside a round trip of 100, however slow the line.
        lose(&mut goal, &mut paths[0], 101, 9);
        assert!(!goal.is_missed());
        goal = Goal::default();
        lose(&mut goal, &mut paths[0], 100, 9);
        goal.on_sample(
            0,
            &PathState { latest_rtt: Some(Duration::from_millis(101)), ..paths[0].clone() },
            at(1),
        );
        (0..4).for_each(|_| goal.on_loss(0, &paths[0]));
        assert!(!goal.is_missed(), "losses with a queue count against those without");
        goal = Goal::default();
        lose(&mut goal, &mut paths[0], 100, LEAST);
        goal.on_undo(0);
        assert!(!goal.is_missed(), "the last one was none");
    }

    #[test]
    fn a_path_alone_and_one_whose_line_carries_no_more_have_what_they_can() {
        let (mut goal, mut paths) = (Goal::default(), [path(), path()]);
        lose(&mut goal, &mut paths[0], 100, LEAST);
        paths[1].active = false;
        assert_eq!(goal.more(&paths, 10 * MSS), 0);
        goal.forget(0);
        assert!(!goal.is_missed(), "another path");
    }
}
