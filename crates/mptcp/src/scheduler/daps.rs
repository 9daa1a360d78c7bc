//! DAPS, delay-aware packet scheduling (Kuhn, Lochin, Mifdaoui, Sarwar, Mehani, Boreli: IEEE ICC 2014, algorithm 1).
//!
//! DAPS plans one schedule for the least common multiple of the forward delays: at each multiple of its delay, a path
//! delivers a window of segments. The order of these deliveries is the order of the data, so that data arrives in order.
//! The plan uses the windows at its start, and a new plan begins after its last delivery.
//!
//! Two rules are those of the Linux version, with which the authors of BLEST compare. The forward delay is half of the
//! smoothed RTT, rounded to a multiple of some milliseconds. The next data waits for its planned subflow if that is full,
//! so the plan stalls after a window has shrunk.
//!
//! Owns the plan. Never changes windows.

use mptcp_clock::Duration;

use crate::ids::SubflowId;
use crate::scheduler::{Candidate, Scheduler, SendView};

/// One path of the plan.
#[derive(Clone, Copy, Debug)]
struct PlannedPath {
    id: SubflowId,
    /// Forward delay in units of the rounding.
    delay: u64,
    /// Bytes per delivery: the window when the plan was made.
    window: u64,
    /// Time of the path's next delivery, in units of the rounding.
    next: u64,
}

/// DAPS with its plan.
#[derive(Clone, Debug)]
pub struct Daps {
    /// Rounding of the delays.
    rounding: Duration,
    /// The paths of the plan, by delay.
    paths: Vec<PlannedPath>,
    /// Length of the plan in units of the rounding: the least common multiple of the delays.
    length: u64,
    /// Bytes sent in the current delivery.
    sent: u64,
    /// Stream offset at the last decision.
    offset: u64,
}

impl Daps {
    /// Creates a scheduler that rounds delays to multiples of `rounding`, which is at least 1 ns. The Linux version uses
    /// 4 ms.
    #[must_use]
    pub const fn new(rounding: Duration) -> Self {
        Self { rounding, paths: Vec::new(), length: 0, sent: 0, offset: 0 }
    }

    /// Whether the plan has other subflows than the candidates.
    fn is_outdated(&self, candidates: &[Candidate]) -> bool {
        let is_planned = |candidate: &Candidate| self.paths.iter().any(|path| path.id == candidate.id);
        self.paths.len() != candidates.len() || !candidates.iter().all(is_planned)
    }

    fn plan(&mut self, candidates: &[Candidate]) {
        let unit = self.rounding.as_nanos().max(1);
        self.paths.clear();
        self.paths.extend(candidates.iter().map(|candidate| {
            let delay = ((candidate.srtt / 2).as_nanos() + unit / 2) / unit;
            let delay = delay.max(1);
            PlannedPath { id: candidate.id, delay, window: candidate.cwnd, next: delay }
        }));
        self.paths.sort_unstable_by_key(|path| (path.delay, path.id));
        self.length = self.paths.iter().fold(1, |length, path| least_common_multiple(length, path.delay));
        self.sent = 0;
    }

    /// The position in the plan of the current delivery: the earliest one, on the path with the smallest delay. `None`
    /// after the last delivery.
    fn current(&self) -> Option<usize> {
        let planned = (0..self.paths.len()).filter(|&at| self.paths[at].next <= self.length);
        planned.min_by_key(|&at| self.paths[at].next)
    }

    /// Counts `bytes` of the current delivery, and moves to the next one if it is complete.
    fn advance(&mut self, bytes: u64, mss: u64) {
        self.sent += bytes;
        let Some(at) = self.current() else { return };
        let path = &mut self.paths[at];
        if self.sent + mss > path.window.max(mss) {
            path.next = path.next.saturating_add(path.delay);
            self.sent = 0;
        }
    }
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a / divisor.max(1)).saturating_mul(b)
}

impl Scheduler for Daps {
    fn name(&self) -> &'static str {
        "daps"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        let sent = view.offset.saturating_sub(self.offset);
        self.offset = view.offset;
        if self.is_outdated(view.candidates) {
            self.plan(view.candidates);
        } else if sent > 0 {
            self.advance(sent, view.candidates[0].mss);
        }
        if self.current().is_none() {
            self.plan(view.candidates);
        }
        let planned = self.paths[self.current()?].id;
        let at = view.candidates.iter().position(|candidate| candidate.id == planned)?;
        view.candidates[at].is_available.then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use mptcp_clock::Instant;

    use super::*;

    const MSS: u64 = 1000;

    fn candidate(subflow: usize, millis: u64, segments: u64) -> Candidate {
        Candidate::new(subflow, Duration::from_millis(millis), segments * MSS, MSS)
    }

    /// The subflows of the next `count` segments, with open windows.
    fn order(daps: &mut Daps, candidates: &[Candidate], count: u64) -> String {
        let mut view = SendView::new(Instant::ZERO, candidates);
        let first = daps.offset;
        let subflow = |sent: u64| {
            view.offset = first + sent * MSS;
            daps.choose(&view).map_or("-".into(), |at| at.to_string())
        };
        (0..count).map(subflow).collect()
    }

    #[test]
    fn path_delivers_a_window_at_each_multiple_of_its_delay() {
        // Delays of 10 and 30 ms: three windows of three segments on the fast path, then two segments on the slow one.
        let candidates = [candidate(0, 60, 2), candidate(1, 20, 3)];
        let mut daps = Daps::new(Duration::from_millis(1));
        assert_eq!(order(&mut daps, &candidates, 11), "11111111100");
        assert_eq!(daps.length, 30);
        assert_eq!(
            order(&mut daps, &candidates, 12),
            "011111111100",
            "the last segment of the plan, and a new plan"
        );
    }

    #[test]
    fn deliveries_of_incommensurable_delays_interleave() {
        // Delays of 4 and 6 units: deliveries at 4, 8 and 12 on the fast path, at 6 and 12 on the slow one.
        let candidates = [candidate(0, 8, 1), candidate(1, 12, 1)];
        let mut daps = Daps::new(Duration::from_millis(1));
        assert_eq!(order(&mut daps, &candidates, 5), "01001");
    }

    #[test]
    fn delays_are_rounded() {
        let candidates = [candidate(0, 21, 1), candidate(1, 45, 1)];
        let mut daps = Daps::new(Duration::from_millis(4));
        // 10.5 and 22.5 ms are 3 and 6 units of 4 ms.
        assert_eq!(order(&mut daps, &candidates, 3), "001");
        assert_eq!(daps.length, 6);
    }

    #[test]
    fn planned_subflow_is_waited_for() {
        let mut candidates = [candidate(0, 60, 2), candidate(1, 20, 3)];
        candidates[1].is_available = false;
        assert_eq!(order(&mut Daps::new(Duration::from_millis(1)), &candidates, 1), "-");
    }

    #[test]
    fn another_subflow_starts_a_new_plan() {
        let two = [candidate(0, 60, 2), candidate(1, 20, 3)];
        let mut daps = Daps::new(Duration::from_millis(1));
        assert_eq!(order(&mut daps, &two, 10), "1111111110");
        let three = [two[0], two[1], candidate(2, 10, 1)];
        assert_eq!(order(&mut daps, &three, 1), "2");
        assert_eq!(daps.length, 30);
    }
}
