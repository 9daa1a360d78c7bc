//! Lets virtual time pass in a random case: runs the timers of the attacked host (the victim) and of its
//! honest neighbour (the friend).
//!
//! A random case is a simulated attack whose steps random bytes control; `Arena` holds its state. Owns two
//! checks for timers that never end: a limit on wakeups at one time, and one on consecutive useless wakeups.

use mptcp_clock::Duration;

use super::Arena;

/// Maximum number of wakeups at one time, and of useless wakeups in sequence.
const MOST_WAKEUPS: u32 = 1_000;
/// Maximum number of automatic answers of the peer in one step.
const MOST_ANSWERS: u32 = 3_000;
/// Number of packets in a case after which the peer's automatic answers stop.
const MOST_PACKETS: u64 = 200_000;
/// Maximum number of wakeups in one step; the step then ends early.
const LONGEST: u32 = 20_000;

impl Arena<'_> {
    /// Exchanges packets of the neighbour and automatic answers of the peer until none is left.
    pub(super) fn settle(&mut self) {
        self.listen_to_victim();
        let mut answers = 0;
        loop {
            let mut quiet = true;
            if let Some(friend) = &mut self.friend {
                friend.work(self.now, &mut self.victim);
                let interface = friend.interface;
                while let Some(sent) =
                    self.friend.as_mut().and_then(|friend| friend.endpoint.poll_transmit(self.now))
                {
                    quiet = false;
                    self.victim.handle_segment(self.now, interface, sent.segment);
                    self.listen_to_victim();
                }
            }
            quiet &= !self.listen_to_victim();
            while let Some(id) = self.owed.pop_front() {
                if answers < MOST_ANSWERS && self.report.packets < MOST_PACKETS && self.answer(id) {
                    answers += 1;
                    quiet = false;
                }
            }
            if quiet {
                return self.check_memory();
            }
        }
    }

    /// Advances the clock by `span`. Returns the number of wakeups.
    pub(super) fn pass(&mut self, span: Duration) -> u32 {
        let end = self.now + span;
        self.tell(|| format!("time until {end}"));
        let (mut wakeups, mut same, mut idle) = (0, 0, 0);
        loop {
            let theirs = self.friend.as_ref().and_then(|friend| friend.endpoint.poll_timeout());
            let next = [self.victim.poll_timeout(), theirs].into_iter().flatten().min();
            let Some(next) = next.filter(|&at| at <= end) else { break };
            same = if next <= self.now { same + 1 } else { 0 };
            assert!(same < MOST_WAKEUPS || !self.budget.wakeups, "endless wakeups at {}", self.now);
            self.now = self.now.max(next);
            let said = self.report.answers;
            self.victim.handle_timeout(self.now);
            if let Some(friend) = &mut self.friend {
                friend.endpoint.handle_timeout(self.now);
            }
            self.settle();
            idle = if self.report.answers == said { idle + 1 } else { 0 };
            assert!(
                idle < MOST_WAKEUPS || !self.budget.wakeups,
                "{idle} consecutive useless wakeups at {}",
                self.now
            );
            wakeups += 1;
            if wakeups == LONGEST {
                return wakeups;
            }
        }
        self.now = end;
        wakeups
    }
}
