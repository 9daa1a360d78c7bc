//! RACK: loss by time (RFC 8985 section 6).
//!
//! Owns the state of RFC 8985 section 5.2 and the reordering window. Marks segments lost on the
//! scoreboard; what follows from that is the sender's affair.

use mptcp_clock::{Duration, Instant};

use crate::subflow::clock::TimestampEcho;
use crate::subflow::scoreboard::{Scoreboard, SentSegment};

/// RFC 8985 section 6.2 step 4: recoveries that keep an enlarged window.
const PERSIST: u32 = 16;

#[derive(Debug, Default)]
pub(crate) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq: the latest-sent segment that arrived.
    sent_at: Instant,
    end: u64,
    rtt: Duration,
    /// RACK.fack: the highest offset acknowledged in any way.
    forward: u64,
    /// RACK.fack before the acknowledgement at hand, which may bring blocks and what lies below them.
    forward_before: u64,
    pub(crate) reordering_seen: bool,
    multiplier: u32,
    persist: u32,
    duplicate_round: Option<u64>,
}

/// Whether the acknowledgement of what was sent again may be of the original: by its timestamp, or by being too early.
#[inline(never)]
fn answers_original(
    sent: &SentSegment,
    now: Instant,
    min_rtt: Option<Duration>,
    echo: Option<TimestampEcho>,
) -> bool {
    let early = min_rtt.is_some_and(|min| now.since(sent.sent_at) < min);
    // Timestamps tick in milliseconds.
    let echo = echo.and_then(|echo| echo.sent_at(now));
    early || echo.is_some_and(|echo| echo + Duration::from_millis(1) <= sent.sent_at)
}

impl Rack {
    /// An acknowledgement is about to be processed.
    pub(crate) fn on_ack(&mut self) {
        self.forward_before = self.forward;
    }

    /// RFC 8985 section 6.2 steps 2 and 3: a segment is known to have arrived.
    pub(crate) fn on_delivered(
        &mut self,
        sent: &SentSegment,
        now: Instant,
        min_rtt: Option<Duration>,
        echo: Option<TimestampEcho>,
    ) {
        let rtt = now.since(sent.sent_at);
        // RFC 8985 section 6.2 step 3 takes segments in the order of their numbers: only what lies
        // below an earlier acknowledgement's was overtaken.
        self.forward = self.forward.max(sent.end());
        if sent.end() < self.forward_before && !sent.ever_retransmitted {
            self.reordering_seen = true;
        }
        if sent.ever_retransmitted && answers_original(sent, now, min_rtt, echo) {
            return;
        }
        if (sent.sent_at, sent.end()) > (self.sent_at, self.end) {
            self.sent_at = sent.sent_at;
            self.end = sent.end();
        }
        self.rtt = rtt;
    }

    /// RFC 8985 section 6.2 step 4: a duplicate report means that the window was too small.
    pub(crate) fn on_duplicate_report(&mut self, una: u64, next: u64) {
        if self.duplicate_round.is_some_and(|round| una < round) {
            return;
        }
        self.duplicate_round = Some(next);
        self.multiplier = (self.multiplier + 1).min(20);
        self.persist = PERSIST;
    }

    /// A recovery has ended.
    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 0;
        }
    }

    /// Whether something that was sent after the first segment in flight has arrived, though nothing above it was reported: what
    /// was sent again.
    pub(crate) fn overtook(&self, first: Option<&SentSegment>) -> bool {
        first.is_some_and(|first| (first.first_sent_at, first.end()) < (self.sent_at, self.end))
    }

    fn window(&self, eager: bool, min_rtt: Option<Duration>, srtt: Option<Duration>) -> Duration {
        if eager && !self.reordering_seen {
            return Duration::ZERO;
        }
        let quarter = min_rtt.unwrap_or(Duration::ZERO) / 4;
        (quarter * u64::from(self.multiplier + 1)).min(srtt.unwrap_or(quarter))
    }

    /// RFC 8985 section 6.2 step 5: marks what should have arrived by now as lost. Returns
    /// whether anything was marked, and when to look again.
    #[inline(never)]
    pub(crate) fn detect(
        &self,
        board: &mut Scoreboard,
        now: Instant,
        eager: bool,
        min_rtt: Option<Duration>,
        srtt: Option<Duration>,
    ) -> (bool, Option<Instant>) {
        let window = self.window(eager, min_rtt, srtt);
        let due = |sent_at: Instant| sent_at + self.rtt + window;
        let mark = (self.sent_at, self.end);
        let mut marked = false;
        while let Some((sent_at, end)) =
            board.first_reinjection(mark).filter(|(sent_at, _)| due(*sent_at) <= now)
        {
            let _ = sent_at;
            board.mark_lost(board.position(end - 1));
            marked = true;
        }
        // What was sent once stands in the order of its times.
        let before =
            board.first_not(board.position(self.end), |sent| (sent.first_sent_at, sent.end()) < mark);
        let settled = board.position(board.settled);
        let overdue = board.first_not(settled, |sent| due(sent.first_sent_at) <= now).min(before);
        if let Some(last) = overdue.checked_sub(1) {
            marked |= board.settle(board.queue[last].end());
        }
        let pending = board.last_pending(before).max(board.last_again(mark));
        (marked, pending.map(due))
    }
}

#[cfg(test)]
mod tests;
