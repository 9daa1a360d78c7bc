//! The state of a subflow's loss detection: RACK, the retransmission timeout, and the detection of spurious
//! losses. The sender asks it for segments to retransmit and for reductions to undo.
//!
//! Owns RACK's state and reordering window (RFC 8985 sections 5.2 and 6) and the RTO's backoff (RFC 6298). Spurious
//! losses are detected by timestamps (Eifel, RFC 3522), by reports of duplicates (RFC 3708), and after a timeout by
//! F-RTO (RFC 5682). Never changes the congestion window, and does not own the RTT, which belongs to the path.

use std::collections::BTreeMap;

use mptcp_clock::{Duration, Instant};

use crate::config::SpuriousLoss;
use crate::congestion::Path;
use crate::subflow::receiver::Range;
use crate::subflow::scoreboard::{Scoreboard, SentSegment};
use crate::subflow::state::TimestampEcho;

/// RFC 8985 section 6.2 step 4: number of recoveries for which an enlarged reordering window is kept.
const PERSIST: u32 = 16;

#[derive(Debug, Default)]
pub(crate) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq: the delivered segment that was sent last.
    sent_at: Instant,
    end: u64,
    rtt: Duration,
    /// RACK.fack: the highest offset acknowledged or reported.
    forward: u64,
    /// RACK.fack before the present acknowledgement, whose SACK blocks are processed before lower offsets.
    forward_before: u64,
    pub(crate) reordering_seen: bool,
    multiplier: u32,
    persist: u32,
    duplicate_round: Option<u64>,
}

/// Whether the acknowledgement of a retransmitted segment may refer to its original: by the timestamp, or
/// because the acknowledgement is too early.
#[inline(never)]
fn answers_original(
    sent: &SentSegment,
    now: Instant,
    min_rtt: Option<Duration>,
    echo: Option<TimestampEcho>,
) -> bool {
    let early = min_rtt.is_some_and(|min| now.since(sent.sent_at) < min);
    // Timestamps have a resolution of 1 ms.
    let echo = echo.and_then(|echo| echo.sent_at(now));
    early || echo.is_some_and(|echo| echo + Duration::from_millis(1) <= sent.sent_at)
}

impl Rack {
    /// Starts the processing of an acknowledgement.
    pub(crate) fn on_ack(&mut self) {
        self.forward_before = self.forward;
    }

    /// Notes a delivered segment (RFC 8985 section 6.2 steps 2 and 3).
    pub(crate) fn on_delivered(
        &mut self,
        sent: &SentSegment,
        now: Instant,
        min_rtt: Option<Duration>,
        echo: Option<TimestampEcho>,
    ) {
        let rtt = now.since(sent.sent_at);
        // RFC 8985 section 6.2 step 3 expects segments in sequence order. Only offsets below an earlier acknowledgement
        // were overtaken.
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

    /// Enlarges the reordering window after a report of a duplicate (RFC 8985 section 6.2 step 4).
    pub(crate) fn on_duplicate_report(&mut self, una: u64, next: u64) {
        if self.duplicate_round.is_some_and(|round| una < round) {
            return;
        }
        self.duplicate_round = Some(next);
        self.multiplier = (self.multiplier + 1).min(20);
        self.persist = PERSIST;
    }

    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 0;
        }
    }

    /// Whether a segment that was sent after the first one in flight has arrived before that one. If nothing
    /// above the first one was reported, the arrived segment was a retransmission.
    pub(crate) fn reordered(&self, first: Option<&SentSegment>) -> bool {
        first.is_some_and(|first| (first.first_sent_at, first.end()) < (self.sent_at, self.end))
    }

    fn window(&self, eager: bool, min_rtt: Option<Duration>, srtt: Option<Duration>) -> Duration {
        if eager && !self.reordering_seen {
            return Duration::ZERO;
        }
        let quarter = min_rtt.unwrap_or(Duration::ZERO) / 4;
        (quarter * u64::from(self.multiplier + 1)).min(srtt.unwrap_or(quarter))
    }

    /// Marks segments lost that should have arrived (RFC 8985 section 6.2 step 5). Returns whether any was marked, and
    /// the time of the next check.
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
            board.first_retransmission(mark).filter(|(sent_at, _)| due(*sent_at) <= now)
        {
            let _ = sent_at;
            board.mark_lost(board.position(end - 1));
            marked = true;
        }
        // Segments that were sent once are sorted by send time.
        let before =
            board.first_not(board.position(self.end), |sent| (sent.first_sent_at, sent.end()) < mark);
        let settled = board.position(board.settled);
        let overdue = board.first_not(settled, |sent| due(sent.first_sent_at) <= now).min(before);
        if let Some(last) = overdue.checked_sub(1) {
            marked |= board.settle(board.queue[last].end());
        }
        let pending = board.last_pending(before).max(board.last_retransmission(mark));
        (marked, pending.map(due))
    }
}

/// The initial RTO (RFC 6298 section 2.1).
const INITIAL_RTO: Duration = Duration::from_secs(1);
/// The initial RTO after a SYN timeout (RFC 6298 section 5.7), because the RTT may exceed a second.
const RTO_AFTER_SYN_TIMEOUT: Duration = Duration::from_secs(3);
/// RFC 6298 section 2.5 permits a maximum of 60 s or more. Linux has 120 s.
const MAX_RTO: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug)]
pub(crate) struct RetransmissionTimeout {
    min: Duration,
    /// The timeout before the first RTT sample.
    first: Duration,
    backoff: u32,
    consecutive: u32,
}

impl RetransmissionTimeout {
    pub(crate) fn new(min: Duration) -> Self {
        Self { min, first: INITIAL_RTO, backoff: 0, consecutive: 0 }
    }

    /// Uses the longer initial RTO after a SYN timeout, because the RTT is unknown.
    pub(crate) fn use_fallback_rto(&mut self) {
        self.first = RTO_AFTER_SYN_TIMEOUT;
    }

    /// Resets the backoff after progress. Karn's rule (RFC 6298 section 5) would wait for an RTT sample. Without
    /// timestamps and SACK, consecutive losses would then take two minutes each.
    pub(crate) fn reset_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Resets the count of consecutive timeouts after an acknowledgement of data.
    pub(crate) fn on_progress(&mut self) {
        self.consecutive = 0;
    }

    /// Doubles the timeout (RFC 6298 section 5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
        self.consecutive = (self.consecutive + 1).min(16);
    }

    /// The number of doublings.
    pub(crate) fn backoff(&self) -> u32 {
        self.backoff
    }

    /// Consecutive timeouts without progress.
    pub(crate) fn consecutive(&self) -> u32 {
        self.consecutive
    }

    /// The timeout without backoff. As in Linux the minimum applies to the variance term, so that the timeout of a 200
    /// ms path exceeds its RTT.
    pub(crate) fn base(&self, path: &Path) -> Duration {
        match path.srtt {
            None => self.first,
            Some(srtt) => (srtt + (path.rttvar * 4).max(self.min)).min(MAX_RTO),
        }
    }

    /// The timeout with backoff.
    pub(crate) fn after(&self, path: &Path) -> Duration {
        (self.base(path) * (1 << self.backoff)).min(MAX_RTO)
    }
}

/// The maximum number of retransmitted segments whose duplicates are awaited. Above this number, the undo by
/// duplicates is disabled.
const MAX_REPEATED: usize = 1024;
/// Segments of new data that F-RTO sends (RFC 5682 section 2.1 step 2b).
const TRIAL_SEGMENTS: u8 = 2;

/// The state of F-RTO (RFC 5682 section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Trial {
    #[default]
    None,
    /// After a timeout, the first segment is retransmitted.
    Repeated,
    /// The retransmission was acknowledged, and `left` segments of new data are sent instead of data that seems lost.
    NewData { left: u8 },
}

/// The state before a reduction of the window.
#[derive(Debug)]
pub(crate) struct Before {
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: u64,
    /// The time and the start of the first retransmission.
    repeated: Option<(Instant, u64)>,
    /// Retransmitted segments by start: the end, and the number of duplicates that the peer has yet to
    /// report.
    waiting: BTreeMap<u64, (u64, u32)>,
    /// The sum of these numbers over all segments.
    missing: u32,
    /// More than `MAX_REPEATED` segments were retransmitted.
    too_many: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Spurious {
    settings: SpuriousLoss,
    before: Option<Before>,
    trial: Trial,
    /// The present acknowledgement covers data that was sent once, before the timeout.
    original: bool,
    /// The number of reductions undone.
    pub(crate) undone: u64,
}

impl Spurious {
    pub(crate) fn new(settings: SpuriousLoss) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Whether reductions are undone after timestamps or reports of duplicates.
    pub(crate) fn is_undo_enabled(&self) -> bool {
        self.settings.undo
    }

    /// Stores the state before a reduction of the window.
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

    /// Declares the loss spurious. Returns the state before the reduction; `None` if no reduction may be
    /// undone.
    pub(crate) fn undo_cwnd_reduction(&mut self) -> Option<Before> {
        let before = self.before.take()?;
        self.trial = Trial::None;
        self.undone += 1;
        Some(before)
    }

    /// Discards the state before the reduction: the reduction stays.
    pub(crate) fn forget(&mut self) {
        (self.before, self.trial) = (None, Trial::None);
    }

    /// Whether a reduction may be undone.
    pub(crate) fn is_open(&self) -> bool {
        self.before.is_some()
    }

    /// Starts F-RTO after a timeout. `fresh` is false if the timeout interrupts fast recovery, which excludes F-RTO
    /// (RFC 5682 section 2.1 step 1).
    pub(crate) fn begin_trial(&mut self, fresh: bool) {
        let starts = self.settings.frto && fresh && self.before.is_some();
        self.trial = if starts { Trial::Repeated } else { Trial::None };
    }

    /// Continues F-RTO after an acknowledgement that did not prove a spurious timeout. `duplicate`: the
    /// acknowledgement was a duplicate. `advanced`: it acknowledged new data. `all`: it acknowledged all data
    /// sent before the timeout.
    pub(crate) fn go_on(&mut self, duplicate: bool, advanced: bool, all: bool) {
        self.trial = match self.trial {
            // Steps 2a and 3a: a genuine loss.
            Trial::Repeated | Trial::NewData { .. } if duplicate => Trial::None,
            Trial::Repeated if advanced && !all => Trial::NewData { left: TRIAL_SEGMENTS },
            Trial::Repeated if advanced => Trial::None,
            trial => trial,
        };
    }

    /// Whether new data is sent instead of data that seems lost (RFC 5682 section 2.1 step 2b).
    pub(crate) fn tries_new_data(&self) -> bool {
        matches!(self.trial, Trial::NewData { .. })
    }

    /// Whether some of the new data of F-RTO has yet to be sent.
    pub(crate) fn wants_trial_data(&self) -> bool {
        matches!(self.trial, Trial::NewData { left } if left > 0)
    }

    /// Ends F-RTO for lack of new data. Returns `false` if F-RTO has already sent some.
    pub(crate) fn abandon_frto_trial(&mut self) -> bool {
        let is_unused = self.trial == Trial::NewData { left: TRIAL_SEGMENTS };
        if is_unused {
            self.trial = Trial::None;
        }
        is_unused
    }

    /// Processes a report of a duplicate (RFC 2883 section 4).
    pub(crate) fn on_duplicate(&mut self, (left, right): Range) {
        let Some(before) = self.before.as_mut().filter(|_| self.settings.undo) else { return };
        let covered = before.waiting.range_mut(left..right).filter(|(_, (end, _))| *end <= right);
        for (_, (_, copies)) in covered.filter(|(_, (_, copies))| *copies > 0) {
            *copies -= 1;
            before.missing -= 1;
        }
    }

    /// Whether F-RTO runs: it waits for acknowledgements of data that was sent once.
    pub(crate) fn on_trial(&self) -> bool {
        self.trial != Trial::None
    }

    /// Notes the arrival of data that was sent once, before the timeout.
    pub(crate) fn original_arrived(&mut self) {
        self.original = true;
    }

    /// Notes a retransmission.
    pub(crate) fn on_repeated(&mut self, now: Instant, (start, end): Range) {
        let Some(before) = &mut self.before else { return };
        before.repeated.get_or_insert((now, start));
        if self.settings.undo && !before.too_many {
            before.waiting.entry(start).or_insert((end, 0)).1 += 1;
            before.missing += 1;
            before.too_many = before.waiting.len() > MAX_REPEATED;
        }
    }

    pub(crate) fn on_new_data(&mut self) {
        if let Trial::NewData { left } = &mut self.trial {
            *left = left.saturating_sub(1);
        }
    }

    /// Whether the present acknowledgement covers data that was sent once, before the timeout; clears the flag.
    pub(crate) fn take_original(&mut self) -> bool {
        std::mem::take(&mut self.original)
    }

    /// Whether every retransmitted segment was reported as a duplicate (RFC 3708 section 3).
    pub(crate) fn all_were_duplicates(&self) -> bool {
        let Some(before) = self.before.as_ref().filter(|_| self.settings.undo) else { return false };
        before.missing == 0 && !before.waiting.is_empty() && !before.too_many
    }

    /// Whether an acknowledgement up to `number` answers a segment from before the first retransmission.
    /// `echo` is the send time of the answered segment by its timestamp (RFC 3522 section 3.2).
    pub(crate) fn answers_the_original(&self, number: u64, echo: Option<Instant>) -> bool {
        let before = self.before.as_ref().filter(|_| self.settings.undo);
        let Some((at, start)) = before.and_then(|before| before.repeated) else { return false };
        // Timestamps have a resolution of 1 ms.
        number > start && echo.is_some_and(|echo| echo + Duration::from_millis(1) <= at)
    }
}

#[cfg(test)]
mod tests;
