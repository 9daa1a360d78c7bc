//! What part of a stream each path carries.
//!
//! Of a hundred blocks the latest counts. A path that carries one segment in a hundred may lose one of these in ten: nobody among a hundred
//! blocks would tell. Owns the parts of what was sent of late.

use super::numbers::real;
use crate::ids::SubflowId;
use crate::scheduler::SendView;

/// What was sent this many bytes ago counts for a third of what is sent now: about a hundred blocks of 8 KiB.
const LATELY: f64 = 1e6;

/// A path's part.
#[derive(Clone, Copy, Debug)]
struct Share {
    whose: SubflowId,
    /// Bytes that were given to it.
    sent: u64,
    part: f64,
}

/// By subflow.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    paths: Vec<Option<Share>>,
}

impl Shares {
    /// Looks at a moment; called for each choice while an application writes as it goes.
    pub(super) fn look(&mut self, view: &SendView<'_>) {
        let mut all = 0;
        for candidate in view.candidates {
            if self.paths.len() <= candidate.subflow {
                self.paths.resize(candidate.subflow + 1, None);
            }
            let sent = candidate.delivered + candidate.held;
            let known = &mut self.paths[candidate.subflow];
            match known.filter(|share| share.whose == candidate.id) {
                Some(share) => all += sent.saturating_sub(share.sent),
                // What is new may get all of it.
                None => *known = Some(Share { whose: candidate.id, sent, part: 1.0 }),
            }
        }
        if all == 0 {
            return;
        }
        let weight = if real(all) < LATELY { real(all) / LATELY } else { 1.0 };
        for candidate in view.candidates {
            if let Some(share) = &mut self.paths[candidate.subflow] {
                let sent = candidate.delivered + candidate.held;
                share.part += (real(sent.saturating_sub(share.sent)) / real(all) - share.part) * weight;
                share.sent = sent;
            }
        }
    }

    /// The part of the subflow in a slot, 0 to 1; all where nothing is known.
    pub(super) fn of(&self, slot: usize) -> f64 {
        self.paths.get(slot).copied().flatten().map_or(1.0, |share| share.part)
    }
}

#[cfg(test)]
mod tests {
    use mptcp_clock::{Duration, Instant};

    use super::*;
    use crate::scheduler::Candidate;

    fn path(slot: usize, delivered: u64, held: u64) -> Candidate {
        let mut path = Candidate::new(slot, Duration::from_millis(20), 10_000, 1_000);
        (path.delivered, path.held) = (delivered, held);
        path
    }

    fn look(shares: &mut Shares, paths: &[Candidate]) {
        shares.look(&SendView::new(Instant::ZERO, paths));
    }

    #[test]
    fn who_carries_next_to_nothing_has_next_to_no_part() {
        let mut shares = Shares::default();
        assert!((shares.of(1) - 1.0).abs() < 1e-9, "nothing is known");
        for blocks in 0..500 {
            look(&mut shares, &[path(0, 8_000 * blocks, 8_000), path(1, 80 * blocks, 0)]);
        }
        assert!(shares.of(0) > 0.95 && shares.of(1) < 0.05, "{shares:?}");
        let carried = 8_000 * 500;
        for blocks in 0..500 {
            look(&mut shares, &[path(0, carried, 0), path(1, 40_000 + 8_000 * blocks, 0)]);
        }
        assert!(shares.of(0) < 0.05 && shares.of(1) > 0.95, "{shares:?}");
    }

    #[test]
    fn a_new_subflow_in_a_slot_may_get_all() {
        let mut shares = Shares::default();
        for blocks in 0..500 {
            look(&mut shares, &[path(0, 8_000 * blocks, 0), path(1, 1_000, 0)]);
        }
        let mut new = path(1, 0, 0);
        new.id = SubflowId::new(9, 1);
        look(&mut shares, &[path(0, 4_000_000, 0), new]);
        assert!(shares.of(1) > 0.9, "{shares:?}");
    }
}
