//! Weighted round robin: each subflow in turn, for a number of segments.
//!
//! The mptcp.org kernel has the same scheduler with one number for all subflows (`num_segments` of `mptcp_rr.c`), and a
//! switch whether full subflows are skipped (`cwnd_limited`); Paasch et al. (CSWS 2014, section 3) compare it with the
//! minimum RTT.
//!
//! Owns the turn. Never changes windows.

use crate::path::PerPath;
use crate::scheduler::{Candidate, Scheduler, SendView};

/// Segments per turn.
#[derive(Clone, Debug)]
pub enum Weights {
    /// By slot, which is the order of the subflows; the last value is also that of further subflows. Not empty.
    BySlot(Vec<u64>),
    /// The congestion window of the subflow.
    Window,
}

/// Weighted round robin with the state of the turn.
#[derive(Clone, Debug)]
pub struct WeightedRoundRobin {
    weights: Weights,
    /// Whether a full subflow is waited for instead of skipped.
    is_strict: bool,
    /// The slot in turn.
    slot: usize,
    /// Bytes left of the turn.
    left: u64,
    /// Bytes by slot that were sent in excess of past turns, because a segment is not split.
    excess: PerPath<u64>,
    /// Stream offset at the last decision.
    offset: u64,
}

impl WeightedRoundRobin {
    /// Creates a scheduler that waits for a full subflow (`is_strict`) or skips it.
    #[must_use]
    pub fn new(weights: Weights, is_strict: bool) -> Self {
        Self { weights, is_strict, slot: usize::MAX, left: 0, excess: PerPath::default(), offset: 0 }
    }

    /// Bytes of one turn; at least 1.
    fn turn(&self, candidate: &Candidate) -> u64 {
        let bytes = match &self.weights {
            Weights::Window => candidate.cwnd,
            Weights::BySlot(weights) => {
                let weight = weights.get(candidate.subflow).or(weights.last()).copied().unwrap_or(1);
                weight * candidate.mss
            }
        };
        bytes.max(1)
    }

    /// Counts `sent` bytes of the turn.
    fn count(&mut self, sent: u64) {
        if sent > self.left {
            *self.excess.at(self.slot) += sent - self.left;
        }
        self.left = self.left.saturating_sub(sent);
    }

    /// Begins the turn of the next subflow, and returns its position. A subflow that has sent more than its turn in
    /// excess is passed over. `None` if every subflow is full and skipped.
    fn next(&mut self, candidates: &[Candidate]) -> Option<usize> {
        loop {
            let usable = |at: &usize| self.is_strict || candidates[*at].is_available;
            let after = |at: &usize| candidates[*at].subflow.wrapping_sub(self.slot.wrapping_add(1));
            let at = (0..candidates.len()).filter(usable).min_by_key(after)?;
            self.slot = candidates[at].subflow;
            let turn = self.turn(&candidates[at]);
            let excess = self.excess.at(self.slot);
            self.left = turn.saturating_sub(*excess);
            *excess = excess.saturating_sub(turn);
            if self.left > 0 {
                return Some(at);
            }
        }
    }
}

impl Scheduler for WeightedRoundRobin {
    fn name(&self) -> &'static str {
        "weighted-roundrobin"
    }

    fn choose(&mut self, view: &SendView<'_>) -> Option<usize> {
        let sent = view.offset.saturating_sub(self.offset);
        if self.slot != usize::MAX {
            self.count(sent);
        }
        self.offset = view.offset;
        let in_turn = view.candidates.iter().position(|candidate| candidate.subflow == self.slot);
        let usable = |at: &usize| self.left > 0 && (self.is_strict || view.candidates[*at].is_available);
        let at = match in_turn.filter(usable) {
            Some(at) => at,
            None => self.next(view.candidates)?,
        };
        view.candidates[at].is_available.then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use mptcp_clock::{Duration, Instant};

    use super::*;

    const MSS: u64 = 1000;

    fn subflows(count: usize) -> Vec<Candidate> {
        let segments = |slot: usize| 2 + slot as u64;
        let subflow = |slot| Candidate::new(slot, Duration::from_millis(10), segments(slot) * MSS, MSS);
        (0..count).map(subflow).collect()
    }

    /// The subflows of the next `count` segments.
    fn order(scheduler: &mut WeightedRoundRobin, candidates: &[Candidate], count: u64) -> String {
        let mut view = SendView::new(Instant::ZERO, candidates);
        let first = scheduler.offset;
        let mut sent = 0;
        let subflow = |_| {
            view.offset = first + sent * MSS;
            let chosen = scheduler.choose(&view);
            sent += u64::from(chosen.is_some());
            chosen.map_or("-".into(), |at| candidates[at].subflow.to_string())
        };
        (0..count).map(subflow).collect()
    }

    #[test]
    fn subflow_gets_its_weight_in_segments_per_turn() {
        let mut scheduler = WeightedRoundRobin::new(Weights::BySlot(vec![3, 1]), false);
        assert_eq!(order(&mut scheduler, &subflows(3), 12), "000120001200");
    }

    #[test]
    fn weight_by_window_is_the_congestion_window() {
        let mut scheduler = WeightedRoundRobin::new(Weights::Window, false);
        assert_eq!(order(&mut scheduler, &subflows(3), 11), "00111222200");
    }

    #[test]
    fn full_subflow_is_skipped_or_waited_for() {
        let mut candidates = subflows(2);
        candidates[0].is_available = false;
        let weights = || Weights::BySlot(vec![2, 1]);
        assert_eq!(order(&mut WeightedRoundRobin::new(weights(), false), &candidates, 3), "111");
        assert_eq!(order(&mut WeightedRoundRobin::new(weights(), true), &candidates, 3), "---");
    }

    #[test]
    fn bytes_in_excess_of_a_turn_shorten_the_next_one() {
        let mut scheduler = WeightedRoundRobin::new(Weights::BySlot(vec![3, 1]), false);
        let candidates = subflows(2);
        let mut view = SendView::new(Instant::ZERO, &candidates);
        let mut sent = [0, 0];
        for _ in 0..1000 {
            let at = scheduler.choose(&view).unwrap_or(0);
            sent[at] += 700;
            view.offset += 700;
        }
        // Three quarters of 700,000 bytes, and at most a turn and a segment more or less.
        assert!((525_000_i64 - sent[0]).abs() < 3700, "{sent:?}");
    }
}
