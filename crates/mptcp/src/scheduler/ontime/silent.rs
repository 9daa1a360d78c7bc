//! Who owes an answer, and since when.
//!
//! A path that has lost what it sent again says nothing before a timer rings, and has no room until then. By its round trips it would be
//! the first to have room: nobody is to wait for it. Owns when each path was heard last.

use mptcp_clock::{Duration, Instant};

use crate::ids::SubflowId;
use crate::scheduler::{Candidate, SendView};

/// A path's last sign of life.
#[derive(Clone, Copy, Debug)]
struct Heard {
    whose: SubflowId,
    delivered: u64,
    /// Nothing is to be answered.
    idle: bool,
    at: Instant,
}

/// By subflow.
#[derive(Clone, Debug, Default)]
pub(super) struct Silent {
    heard: Vec<Option<Heard>>,
}

impl Silent {
    /// Looks at a moment; called for each choice while an application writes as it goes.
    pub(super) fn look(&mut self, view: &SendView<'_>) {
        for candidate in view.candidates {
            if self.heard.len() <= candidate.subflow {
                self.heard.resize(candidate.subflow + 1, None);
            }
            let known = &mut self.heard[candidate.subflow];
            let (delivered, idle) = (candidate.delivered, candidate.held == 0);
            let waits = known.is_some_and(|heard| {
                heard.whose == candidate.id && heard.delivered == delivered && !heard.idle && !idle
            });
            if !waits {
                *known = Some(Heard { whose: candidate.id, delivered, idle, at: view.now });
            }
        }
    }

    /// Whether a path without room has said nothing for longer than a round trip takes, and has been asked for as long: what is sent
    /// again is answered a round trip later.
    pub(super) fn is(&self, now: Instant, candidate: &Candidate) -> bool {
        if candidate.has_room {
            return false;
        }
        let heard = self.heard.get(candidate.subflow).copied().flatten();
        let usual: Duration = candidate.srtt + candidate.rttvar * 4 + candidate.min_rtt / 4;
        now.since(candidate.asked) > usual
            && heard.is_some_and(|heard| heard.whose == candidate.id && now.since(heard.at) > usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;

    /// A path of 20 ms without room, with `held` bytes to be answered.
    fn path(held: u64) -> Candidate {
        let mut path = Candidate::new(0, Duration::from_millis(20), 10 * MSS, MSS);
        (path.held, path.has_room) = (held, false);
        path
    }

    fn look(silent: &mut Silent, ms: u64, path: &Candidate) -> bool {
        let view = SendView::new(Instant::ZERO + Duration::from_millis(ms), std::slice::from_ref(path));
        silent.look(&view);
        silent.is(view.now, path)
    }

    #[test]
    fn a_path_that_owes_an_answer_for_longer_than_a_round_trip_is_silent() {
        let (mut silent, mut path) = (Silent::default(), path(MSS));
        assert!(!look(&mut silent, 0, &path) && !look(&mut silent, 25, &path));
        assert!(look(&mut silent, 26, &path), "a quarter more than a round trip");
        path.rttvar = Duration::from_millis(1);
        assert!(!look(&mut silent, 29, &path) && look(&mut silent, 30, &path), "as much as they vary");
        path.has_room = true;
        assert!(!look(&mut silent, 30, &path), "nobody waits for it");
        path.has_room = false;
        path.delivered = MSS;
        assert!(!look(&mut silent, 30, &path), "an answer");
        assert!(look(&mut silent, 60, &path));
    }

    #[test]
    fn what_was_sent_again_has_a_round_trip_to_be_answered() {
        let (mut silent, mut path) = (Silent::default(), path(MSS));
        assert!(!look(&mut silent, 0, &path) && look(&mut silent, 30, &path));
        path.asked = Instant::ZERO + Duration::from_millis(30);
        assert!(!look(&mut silent, 30, &path) && !look(&mut silent, 55, &path));
        assert!(look(&mut silent, 56, &path), "that is lost, too");
    }

    #[test]
    fn a_path_that_owes_none_is_not_and_another_one_in_its_place_begins_anew() {
        let (mut silent, mut idle) = (Silent::default(), path(0));
        assert!(!look(&mut silent, 0, &idle));
        idle.held = MSS;
        // It was given its first segment a moment ago, whenever it was looked at before.
        assert!(!look(&mut silent, 1_000, &idle) && !look(&mut silent, 1_020, &idle));
        idle.id = SubflowId::new(7, 0);
        assert!(!look(&mut silent, 1_060, &idle) && look(&mut silent, 1_100, &idle));
    }
}
