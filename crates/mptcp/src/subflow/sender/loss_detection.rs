//! What an acknowledgement says has arrived, and what must be lost then.

use mptcp_clock::{Duration, Instant};

use crate::congestion::Path;
use crate::subflow::sender::{Ack, DUPLICATE_THRESHOLD, Recovery, Sender};

impl Sender {
    /// RFC 2018, RFC 2883: returns whether a duplicate was reported.
    #[inline(never)]
    pub(crate) fn take_blocks(&mut self, ack: &Ack<'_>, path: &Path) -> bool {
        let mut duplicate = false;
        let trial_point = self.trial_point();
        for (i, &(left, right)) in ack.blocks.iter().enumerate() {
            // RFC 2018 section 3: a block ends behind its beginning. Peers may write anything.
            if left >= right {
                continue;
            }
            if i == 0
                && (right <= ack.number || ack.blocks.get(1).is_some_and(|b| b.0 <= left && right <= b.1))
            {
                duplicate = true;
                self.spurious.on_duplicate((left, right));
                // A tail loss probe leaves by a timer, however small the window was: Linux's does not count either (`tcp_dsack_seen`). The
                // answer to the end of a block is often delayed for longer than a probe is.
                let probed = self.probe == Some((right, true));
                if let Some(rack) = self.rack.as_mut().filter(|_| !probed) {
                    rack.on_duplicate_report(self.board.una, self.board.next);
                }
                continue;
            }
            if left < self.board.una || right > self.board.next {
                continue;
            }
            self.board.split_near(left, path.mss, self.most);
            self.board.split_near(right, path.mss, self.most);
            let (rack, rtt) = (&mut self.rack, path.min_rtt);
            let (spurious, watched) = (&mut self.spurious, trial_point);
            self.board.report(left, right, |sent| {
                if !sent.ever_retransmitted && watched.is_some_and(|point| sent.end() <= point) {
                    spurious.original_arrived();
                }
                // The echo is of what came last in order (RFC 7323 section 4.3), and so says nothing of what came behind a gap:
                // it would make every repeated segment there look like its original.
                if let Some(rack) = rack {
                    rack.on_delivered(sent, ack.now, rtt, None);
                }
            });
        }
        duplicate
    }

    /// Returns the bytes acknowledged in order and a round-trip sample.
    pub(crate) fn take_cumulative(
        &mut self,
        ack: &Ack<'_>,
        min_rtt: Option<Duration>,
    ) -> (u64, Option<Duration>) {
        let una = self.board.una;
        if ack.number <= una {
            return (0, None);
        }
        let (mut sample, mut ambiguous, mut once) = (None, false, false);
        let trial_point = self.trial_point();
        if let Some(first) = self.board.queue.front().filter(|first| first.end() <= ack.number) {
            self.longest_acked = self.longest_acked.max(first.payload.len() as u64);
        }
        let rack = &mut self.rack;
        while self.board.take_acknowledged(ack.number, |sent| {
            ambiguous |= sent.ever_retransmitted;
            once |= !sent.ever_retransmitted
                && !sent.sacked
                && trial_point.is_some_and(|point| sent.end() <= point);
            if !sent.sacked {
                if let Some(rack) = rack {
                    rack.on_delivered(sent, ack.now, min_rtt, ack.echo);
                }
                sample = Some(ack.now.since(sent.sent_at));
            }
        }) {}
        if self.board.una < ack.number {
            self.board.trim_front(ack.number);
        }
        // Without SACK it may have waited for what was sent again.
        if once && (self.sack || !ambiguous) {
            self.spurious.original_arrived();
        }
        if let Some(rates) = &mut self.board.rates {
            rates.on_acknowledged(self.board.una);
        }
        self.board.trim_ranges();
        if sample.is_none() || ambiguous {
            // RFC 7323 section 4: the echo tells which transmission is answered. It counts whole
            // milliseconds, so it never says less than what was measured.
            let least = min_rtt.unwrap_or(Duration::ZERO);
            let echo = ack.echo.and_then(|echo| echo.sent_at(ack.now));
            sample = echo.map(|echo| ack.now.since(echo).max(least));
        }
        (self.board.una - una, sample)
    }

    #[inline(always)]
    pub(crate) fn detect(&mut self, ack: &Ack<'_>, advanced: u64, path: &Path) -> bool {
        if let Some(rack) = &mut self.rack {
            let quiet = self.board.sacked == 0 && self.board.lost == 0 && self.board.retransmitted == 0;
            if quiet && !rack.overtook(self.board.queue.front()) {
                self.reorder_deadline = Instant::FAR_FUTURE;
                return false;
            }
            let eager = matches!(self.state, Recovery::Recovery { .. } | Recovery::Loss { .. })
                || self.board.sacked >= u64::from(DUPLICATE_THRESHOLD) * path.mss;
            let (marked, again) = rack.detect(&mut self.board, ack.now, eager, path.min_rtt, path.srtt);
            self.reorder_deadline = again.unwrap_or(Instant::FAR_FUTURE);
            return marked;
        }
        if self.sack {
            return self.detect_by_holes(path.mss);
        }
        self.detect_by_duplicates(ack, advanced, path.mss)
    }

    /// RFC 6675 section 4: lost when three segments' worth above it have arrived.
    #[inline(never)]
    fn detect_by_holes(&mut self, mss: u64) -> bool {
        let threshold = u64::from(DUPLICATE_THRESHOLD) * mss;
        if self.board.sacked < threshold {
            return false;
        }
        self.board.reported_above(threshold).is_some_and(|from| self.board.settle(from))
    }

    /// NewReno without SACK (RFC 6582 section 3.2). Each duplicate stands for one segment arrived.
    #[inline(never)]
    fn detect_by_duplicates(&mut self, ack: &Ack<'_>, advanced: u64, mss: u64) -> bool {
        if advanced > 0 {
            if self.in_recovery() && self.partial(ack.number) && !self.board.queue.is_empty() {
                // One segment of it filled the hole; duplicates had counted the others.
                let counted = self.board.sacked.saturating_sub(advanced.saturating_sub(mss));
                self.board.sacked = 0;
                self.board.split(0, mss);
                self.board.mark_lost(0);
                self.board.sacked = counted.min(self.board.in_flight());
                return true;
            }
            self.board.sacked = 0;
            return false;
        }
        if !ack.bare || self.board.queue.is_empty() || ack.number != self.board.una {
            return false;
        }
        self.duplicates += 1;
        let unaccounted =
            (self.board.next - self.board.una).saturating_sub(self.board.sacked + self.board.lost);
        self.board.sacked += mss.min(unaccounted);
        if self.duplicates == DUPLICATE_THRESHOLD && !self.in_recovery() && !self.in_loss() {
            self.board.split(0, mss);
            self.board.mark_lost(0);
            return true;
        }
        false
    }

    /// Up to where data was sent before the timeout that F-RTO looks into.
    fn trial_point(&self) -> Option<u64> {
        match self.state {
            Recovery::Loss { point } if self.spurious.on_trial() => Some(point),
            _ => None,
        }
    }

    fn partial(&self, number: u64) -> bool {
        matches!(self.state, Recovery::Recovery { point } | Recovery::Loss { point } if number < point)
    }
}
