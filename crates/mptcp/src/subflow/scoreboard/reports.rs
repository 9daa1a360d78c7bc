//! What the reports on segments tell of the others.

use mptcp_clock::Instant;

use super::Scoreboard;

impl Scoreboard {
    /// The offset above which `bytes` were reported, where a reported range begins.
    pub(crate) fn reported_above(&self, bytes: u64) -> Option<u64> {
        let mut above = 0;
        let mut ranges = self.ranges.iter().rev();
        ranges.find_map(|(start, end)| {
            above += end - start;
            (above >= bytes).then_some(*start)
        })
    }

    /// The segment that was sent again first, of those sent before `mark`: when, and its end.
    pub(crate) fn first_again(&self, mark: (Instant, u64)) -> Option<(Instant, u64)> {
        self.again.first().copied().filter(|first| *first < mark)
    }

    /// The one of those that was sent last.
    pub(crate) fn last_again(&self, mark: (Instant, u64)) -> Option<Instant> {
        self.again.range(..mark).next_back().map(|(sent_at, _)| *sent_at)
    }

    /// When the last segment before position `at` was sent that was sent once and may still arrive.
    pub(crate) fn last_pending(&self, mut at: usize) -> Option<Instant> {
        loop {
            at = at.checked_sub(1)?;
            let sent = &self.queue[at];
            if sent.end() <= self.settled {
                return None;
            }
            if sent.sacked {
                let (&start, _) = self.ranges.range(..=sent.start).next_back()?;
                at = self.position(start);
            } else if !sent.ever_resent && !sent.lost {
                return Some(sent.sent_at);
            }
        }
    }
}
