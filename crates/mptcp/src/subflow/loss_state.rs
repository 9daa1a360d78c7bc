//! RACK: loss by time (RFC 8985 section 6).
//!
//! Owns the state of RFC 8985 section 5.2 and the reordering window. Marks segments lost on the
//! scoreboard; what follows from that is the sender's affair.
//!
//! The retransmission timeout (RFC 6298).
//!
//! Owns the least variance that counts and the backoff. The round-trip time belongs to the path, whose congestion
//! controller sees it too.
//!
//! Losses that were none: how it is found out, and how the window comes back.
//!
//! Owns what the window was before it was reduced, which segments were sent again since, and the trial of F-RTO. It finds
//! out by timestamps (Eifel detection, RFC 3522), by reports of duplicates (RFC 3708) and, after a timeout, by what was never
//! sent again (RFC 5682). What follows is the sender's affair.

use std::collections::BTreeMap;

use mptcp_clock::{Duration, Instant};

use crate::config::SpuriousLoss;
use crate::congestion::Path;
use crate::subflow::receiver::Range;
use crate::subflow::scoreboard::{Scoreboard, SentSegment};
use crate::subflow::state::TimestampEcho;

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

/// RFC 6298 section 2.1: before the first sample.
const INITIAL_RTO: Duration = Duration::from_secs(1);
/// RFC 6298 section 5.7: … where the timer of the SYN has expired, so that a second may be less than a round trip.
const RTO_AFTER_SYN_TIMEOUT: Duration = Duration::from_secs(3);
/// RFC 6298 section 2.5 allows a cap of 60 s or more; Linux has 120 s.
const MAX_RTO: Duration = Duration::from_secs(120);

/// The timeout of one subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetransmissionTimeout {
    min: Duration,
    /// Before the first sample.
    first: Duration,
    backoff: u32,
    consecutive: u32,
}

impl RetransmissionTimeout {
    pub(crate) fn new(min: Duration) -> Self {
        Self { min, first: INITIAL_RTO, backoff: 0, consecutive: 0 }
    }

    /// The handshake took more than a second, and nobody knows how long a round trip is.
    pub(crate) fn use_fallback_rto(&mut self) {
        self.first = RTO_AFTER_SYN_TIMEOUT;
    }

    /// Progress was made: the next timeout is not doubled. Karn's rule (RFC 6298 section 5) would wait for a round trip that can
    /// be measured: without timestamps and selective acknowledgements, losses one after the other then took two minutes each.
    pub(crate) fn reset_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Data was acknowledged.
    pub(crate) fn on_progress(&mut self) {
        self.consecutive = 0;
    }

    /// A timeout: the next one takes twice as long (RFC 6298 section 5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
        self.consecutive = (self.consecutive + 1).min(16);
    }

    /// How often the timeout is doubled.
    pub(crate) fn backoff(&self) -> u32 {
        self.backoff
    }

    /// Timeouts in a row, without progress between them.
    pub(crate) fn consecutive(&self) -> u32 {
        self.consecutive
    }

    /// Timeout without backoff. As in Linux the minimum bounds the variance term, not the sum, so
    /// that a path of 200 ms does not time out at its own round-trip time.
    pub(crate) fn base(&self, path: &Path) -> Duration {
        match path.srtt {
            None => self.first,
            Some(srtt) => (srtt + (path.rttvar * 4).max(self.min)).min(MAX_RTO),
        }
    }

    /// The timeout to arm now.
    pub(crate) fn after(&self, path: &Path) -> Duration {
        (self.base(path) * (1 << self.backoff)).min(MAX_RTO)
    }
}

/// Segments sent again of which duplicates are waited for; with more than that none are.
const MAX_REPEATED: usize = 1024;
/// RFC 5682 section 2.1 step 2b.
const TRIAL_SEGMENTS: u8 = 2;

/// Where F-RTO stands (RFC 5682 section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Trial {
    #[default]
    None,
    /// A timeout; the first segment goes again.
    Repeated,
    /// That was acknowledged: so many segments of new data go in place of what seems lost.
    NewData { left: u8 },
}

/// What was before a reduction.
#[derive(Debug)]
pub(crate) struct Before {
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: u64,
    /// When the first segment went again, and where it begins.
    repeated: Option<(Instant, u64)>,
    /// Segments that went again, by their starts: their ends, and how many duplicates of them are to be reported.
    waiting: BTreeMap<u64, (u64, u32)>,
    /// How many duplicates are to be reported of all of them.
    missing: u32,
    /// Too many to wait for.
    too_many: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Spurious {
    settings: SpuriousLoss,
    before: Option<Before>,
    trial: Trial,
    /// The acknowledgement at hand brings data that was sent once, before the timeout.
    original: bool,
    /// Reductions that were taken back.
    pub(crate) undone: u64,
}

impl Spurious {
    pub(crate) fn new(settings: SpuriousLoss) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Whether reductions are taken back for timestamps and reports of duplicates.
    pub(crate) fn undoes(&self) -> bool {
        self.settings.undo
    }

    /// The window is about to be reduced.
    pub(crate) fn remember(&mut self, path: &Path) {
        self.trial = Trial::None;
        self.before = (self.settings.undo || self.settings.frto).then(|| Before {
            cwnd: path.cwnd,
            ssthresh: path.ssthresh,
            repeated: None,
            waiting: BTreeMap::new(),
            missing: 0,
            too_many: false,
        });
    }

    /// Nothing was lost: gives what was before.
    pub(crate) fn undo_cwnd_reduction(&mut self) -> Option<Before> {
        let before = self.before.take()?;
        self.trial = Trial::None;
        self.undone += 1;
        Some(before)
    }

    /// There is nothing to be taken back any more.
    pub(crate) fn forget(&mut self) {
        (self.before, self.trial) = (None, Trial::None);
    }

    /// Whether there is a reduction that may be taken back.
    pub(crate) fn is_open(&self) -> bool {
        self.before.is_some()
    }

    /// A timeout has come; `fresh` unless it interrupts fast recovery, where nothing is tried (RFC 5682 section 2.1 step 1).
    pub(crate) fn begin_trial(&mut self, fresh: bool) {
        let tried = self.settings.frto && fresh && self.before.is_some();
        self.trial = if tried { Trial::Repeated } else { Trial::None };
    }

    /// An acknowledgement after a timeout did not show that nothing was lost: it was a duplicate, or the first one that was
    /// not, or all that was sent before is acknowledged.
    pub(crate) fn go_on(&mut self, duplicate: bool, advanced: bool, all: bool) {
        self.trial = match self.trial {
            // Steps 2a and 3a: it was a loss.
            Trial::Repeated | Trial::NewData { .. } if duplicate => Trial::None,
            Trial::Repeated if advanced && !all => Trial::NewData { left: TRIAL_SEGMENTS },
            Trial::Repeated if advanced => Trial::None,
            trial => trial,
        };
    }

    /// Whether new data should go in place of what seems lost (RFC 5682 section 2.1 step 2b).
    pub(crate) fn tries_new_data(&self) -> bool {
        matches!(self.trial, Trial::NewData { .. })
    }

    /// Whether it has not gone yet.
    pub(crate) fn wants_trial_data(&self) -> bool {
        matches!(self.trial, Trial::NewData { left } if left > 0)
    }

    /// There is no new data: recovery goes on as ever. Returns whether it does.
    pub(crate) fn give_up_trial(&mut self) -> bool {
        let untried = self.trial == Trial::NewData { left: TRIAL_SEGMENTS };
        if untried {
            self.trial = Trial::None;
        }
        untried
    }

    /// A duplicate was reported (RFC 2883 section 4).
    pub(crate) fn on_duplicate(&mut self, (left, right): Range) {
        let Some(before) = self.before.as_mut().filter(|_| self.settings.undo) else { return };
        let covered = before.waiting.range_mut(left..right).filter(|(_, (end, _))| *end <= right);
        for (_, (_, copies)) in covered.filter(|(_, (_, copies))| *copies > 0) {
            *copies -= 1;
            before.missing -= 1;
        }
    }

    /// Whether F-RTO looks for data that was sent once.
    pub(crate) fn on_trial(&self) -> bool {
        self.trial != Trial::None
    }

    /// Data came that was sent once, before the timeout.
    pub(crate) fn original_arrived(&mut self) {
        self.original = true;
    }

    /// A segment goes again.
    pub(crate) fn on_repeated(&mut self, now: Instant, (start, end): Range) {
        let Some(before) = &mut self.before else { return };
        before.repeated.get_or_insert((now, start));
        if self.settings.undo && !before.too_many {
            before.waiting.entry(start).or_insert((end, 0)).1 += 1;
            before.missing += 1;
            before.too_many = before.waiting.len() > MAX_REPEATED;
        }
    }

    /// New data goes.
    pub(crate) fn on_new_data(&mut self) {
        if let Trial::NewData { left } = &mut self.trial {
            *left = left.saturating_sub(1);
        }
    }

    /// Whether that happened with the acknowledgement at hand.
    pub(crate) fn take_original(&mut self) -> bool {
        std::mem::take(&mut self.original)
    }

    /// Whether every segment that went again was reported as a duplicate (RFC 3708 section 3).
    pub(crate) fn all_were_duplicates(&self) -> bool {
        let Some(before) = self.before.as_ref().filter(|_| self.settings.undo) else { return false };
        before.missing == 0 && !before.waiting.is_empty() && !before.too_many
    }

    /// Whether an acknowledgement up to `number`, of a segment that left at `echo`, answers one that left before any went again
    /// (RFC 3522 section 3.2).
    pub(crate) fn answers_the_original(&self, number: u64, echo: Option<Instant>) -> bool {
        let before = self.before.as_ref().filter(|_| self.settings.undo);
        let Some((at, start)) = before.and_then(|before| before.repeated) else { return false };
        // Timestamps tick in milliseconds.
        number > start && echo.is_some_and(|echo| echo + Duration::from_millis(1) <= at)
    }
}

#[cfg(test)]
mod tests;
