//! Reports on segments: selective acknowledgements in, and what they tell of the other segments.

use mptcp_clock::Instant;

use super::Scoreboard;
use crate::subflow::sent::Sent;

impl Scoreboard {
    /// Takes a report that `[left, right)` has arrived; `news` is told of each segment that lies wholly in it and was not
    /// reported before.
    pub(crate) fn report(&mut self, left: u64, right: u64, mut news: impl FnMut(&Sent)) {
        let before = self.ranges.range(..=left).next_back().filter(|(_, end)| **end > left);
        let mut from = before.map_or(left, |(_, end)| *end);
        while from < right {
            let next = self.ranges.range(from..right).next().map(|(start, end)| (*start, *end));
            let to = next.map_or(right, |(start, _)| start);
            let first = self.first_not(self.guess(from), |sent| sent.start < from);
            let last = self.first_not(first, |sent| sent.end() <= to);
            for at in first..last {
                if !self.queue[at].sacked {
                    news(&self.queue[at]);
                    self.mark_sacked(at);
                }
            }
            if first < last {
                let range = (self.queue[first].start, self.queue[last - 1].end());
                self.add_range(range.0, range.1);
            }
            let Some((_, end)) = next else { break };
            from = end;
        }
    }

    fn add_range(&mut self, mut start: u64, mut end: u64) {
        if let Some((&before, &to)) = self.ranges.range(..=start).next_back()
            && to >= start
        {
            start = before;
            end = end.max(to);
        }
        while let Some((&next, &to)) = self.ranges.range(start..=end).next() {
            self.ranges.remove(&next);
            end = end.max(to);
        }
        self.ranges.insert(start, end);
    }

    fn mark_sacked(&mut self, at: usize) {
        let sent = &mut self.queue[at];
        let length = sent.length();
        self.sacked += length;
        if std::mem::take(&mut sent.lost) {
            self.lost -= length;
            self.waiting.remove(&sent.start);
        }
        if std::mem::take(&mut sent.resent) {
            self.resent -= length;
            self.again.remove(&(sent.sent_at, sent.end()));
        }
        sent.sacked = true;
        if let Some(rates) = &mut self.rates {
            rates.on_reported(sent.start, sent.end());
        }
    }

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
