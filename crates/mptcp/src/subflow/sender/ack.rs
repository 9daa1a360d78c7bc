//! The sender's response to acknowledgements and expired timers.
//!
//! Owns the order of the steps: SACK blocks, cumulative acknowledgement, RTT, undo, loss detection, window.
//! Each step needs the result of the one before. After a spurious loss, window and threshold get their former
//! values, as in Linux (RFC 4015 restores slightly less). `loss_state.rs` detects that a loss was spurious.

use mptcp_clock::{Duration, Instant};

use crate::congestion::{Acked, Congestion, Path, Round};
use crate::path::Arrived;
use crate::subflow::mtu_probe::MtuProbe;
use crate::subflow::scoreboard::Scoreboard;
use crate::subflow::sender::{Ack, DUPLICATE_THRESHOLD, Recovery, Sender};

impl Sender {
    /// Processes an acknowledgement. Returns the bytes that were acknowledged in order.
    pub(crate) fn on_ack(&mut self, mut ack: Ack<'_>, path: usize, congestion: &mut Congestion) -> u64 {
        let now = ack.now;
        // RFC 5682 section 2.1 step 3a: an acknowledgement that does not cover F-RTO's new data counts as a duplicate,
        // regardless of its window.
        ack.bare |= ack.empty && self.spurious.tries_new_data();
        let una = self.board.una;
        let in_flight_before = self.in_flight_before_batch(congestion.send_opportunities());
        let delivered_before = una + self.board.sacked;
        self.begin_sample(now);
        if let Some(rack) = &mut self.rack {
            rack.on_ack();
        }
        let state = &congestion.paths[path];
        let duplicate_report = !ack.blocks.is_empty() && self.take_blocks(&ack, state);
        let oldest = state.model.delivery.wants_single_ack().then(|| self.oldest_left_at(now));
        let (advanced, sample) = self.take_cumulative(&ack, state.min_rtt);
        if let Some(rtt) = sample {
            let state = &mut congestion.paths[path];
            if let Some(oldest) = oldest {
                update_bottleneck_rate(state, advanced, rtt, now.since(oldest));
            }
            state.sample(rtt);
        }
        if advanced > 0 {
            self.duplicates = 0;
            self.timeout.on_progress();
            self.timeout.reset_backoff();
        }
        if advanced > 0 {
            congestion.paths[path].unacked = self.board.next - self.board.una;
            let round = Round { now, una: self.board.una, next: self.board.next, rtt: sample };
            congestion.on_progress(path, Acked { now, bytes: advanced }, round);
        }
        self.undo_cwnd_reduction(&ack, advanced, path, congestion);
        if self.probe.is_some() {
            self.end_probe(&ack, advanced, path, congestion, duplicate_report);
        }
        let lost_before = self.board.lost;
        let mut newly_lost = self.detect(&ack, advanced, &congestion.paths[path]);
        let inspects_acks = self.inspects_acks;
        if inspects_acks {
            self.check_probe_arrived();
            newly_lost = newly_lost && self.check_probe_lost();
        }
        let delivered = (self.board.una + self.board.sacked).saturating_sub(delivered_before);
        if delivered > 0 {
            let empty = self.board.in_flight() < 2 * congestion.paths[path].mss;
            let arrived = Arrived { bytes: delivered, rtt: sample, empty, ..Arrived::default() };
            congestion.on_delivered(path, now, arrived);
        }
        let mut ends_recovery = false;
        if !matches!(self.state, Recovery::Open | Recovery::Disorder) {
            let una = self.board.una;
            ends_recovery =
                matches!(self.state, Recovery::Recovery { point } | Recovery::Loss { point } if point == una);
            self.leave_recovery(path, congestion);
        }
        if newly_lost && matches!(self.state, Recovery::Open | Recovery::Disorder | Recovery::Cwr { .. }) {
            self.enter_recovery(now, path, congestion);
        }
        if inspects_acks && self.marks.is_on() {
            self.take_echo(&ack, delivered, ends_recovery, path, congestion);
        }
        if self.has_rate_samples() {
            self.note_cwnd_usage();
            self.deliver_sample(in_flight_before, path, congestion);
        } else if self.in_recovery() {
            let progress = advanced > 0 && self.board.lost <= lost_before;
            // RFC 6582 section 3.2 step 3: a partial acknowledgement retransmits the next hole at once.
            let hole = newly_lost && !self.sack;
            self.prr_cwnd(delivered, progress, hole, path, congestion);
        } else {
            let is_open = self.note_cwnd_usage();
            let state = &congestion.paths[path];
            let is_window_used = self.uses_window(state, in_flight_before);
            // Bytes in SACK blocks were counted when they were reported. The acknowledgement that ends
            // recovery therefore counts newly delivered bytes only, as in Linux.
            let bytes = advanced.min(delivered);
            if bytes > 0 && if is_open { is_window_used } else { self.in_loss() } {
                congestion.on_ack(path, Acked { now, bytes });
            }
        }
        if advanced > 0 || delivered > 0 {
            self.arm(now, true, &congestion.paths[path]);
        }
        advanced
    }

    #[cold]
    fn oldest_left_at(&self, now: Instant) -> Instant {
        self.board.queue.front().map_or(now, |sent| sent.sent_at)
    }

    /// Whether the sender used its window. `in_flight_before` is the number of bytes in flight before the
    /// acknowledgement. An unused window does not grow (RFC 7661 section 4.4; RFC 9293 has no rule).
    #[inline]
    fn uses_window(&self, path: &Path, in_flight_before: u64) -> bool {
        match &self.round {
            Some(round) => round.is_used(path),
            None if path.in_slow_start() => path.cwnd < 2 * in_flight_before,
            None => in_flight_before + path.mss > path.cwnd,
        }
    }

    /// Switches between the states Open and Disorder. Returns whether the state is one of these two.
    #[inline]
    fn note_cwnd_usage(&mut self) -> bool {
        let is_open = matches!(self.state, Recovery::Open | Recovery::Disorder);
        if is_open {
            let disorder = self.board.sacked > 0 || self.duplicates > 0;
            self.state = if disorder { Recovery::Disorder } else { Recovery::Open };
        }
        is_open
    }

    #[inline(never)]
    fn leave_recovery(&mut self, path: usize, congestion: &mut Congestion) {
        let (point, fast) = match self.state {
            Recovery::Recovery { point } => (point, true),
            Recovery::Loss { point } => (point, false),
            Recovery::Cwr { point } => {
                // The first data with CWR begins at `point`. Before its acknowledgement, ECE repeats old
                // marks.
                if self.board.una > point {
                    self.state = Recovery::Open;
                }
                return;
            }
            Recovery::Open | Recovery::Disorder => return,
        };
        if self.board.una < point {
            return;
        }
        self.state = Recovery::Open;
        self.duplicates = 0;
        if !self.sack {
            self.board.sacked = 0;
        }
        if let Some(rack) = &mut self.rack {
            rack.on_recovered();
        }
        let state = &mut congestion.paths[path];
        // Without a slow-start threshold, the window is unchanged.
        if fast && self.board.rates.is_none() && state.ssthresh < u64::MAX {
            state.cwnd = state.ssthresh;
        }
    }

    /// Ends the episode of a tail loss probe (RFC 8985 section 7.4.2). An acknowledgement of all data does
    /// not show that the probe repaired a loss: the original may only have been delayed.
    #[inline(never)]
    fn end_probe(
        &mut self,
        ack: &Ack<'_>,
        advanced: u64,
        path: usize,
        congestion: &mut Congestion,
        duplicate: bool,
    ) {
        let Some((end, retransmission)) = self.probe else { return };
        if ack.number < end {
            return;
        }
        let both_arrived = duplicate || (advanced == 0 && ack.bare && ack.blocks.is_empty());
        if !retransmission || both_arrived {
            self.probe = None;
        } else if ack.number > end {
            self.probe = None;
            if matches!(self.state, Recovery::Open | Recovery::Disorder) {
                // The probe repaired a loss, which reduces the window.
                let ssthresh = congestion.on_loss(path, ack.now);
                if !self.has_rate_samples() {
                    congestion.paths[path].cwnd = ssthresh;
                }
                self.marks.on_reduced();
            }
        }
    }

    /// Handles expired timers. Returns whether the retransmission timer expired.
    pub(crate) fn on_deadline(&mut self, now: Instant, path: usize, congestion: &mut Congestion) -> bool {
        if self.reorder_deadline <= now {
            self.reorder_deadline = Instant::FAR_FUTURE;
            self.on_reorder_timer(now, path, congestion);
        }
        // RFC 8985 section 7.2: a due probe is sent first, and the retransmission timer restarts.
        if self.probe_deadline <= now {
            self.probe_deadline = Instant::FAR_FUTURE;
            self.probe_wanted = true;
            self.rto_deadline = now + self.timeout.after(&congestion.paths[path]);
            return false;
        }
        if self.rto_deadline <= now {
            self.on_timeout(now, path, congestion);
            return true;
        }
        false
    }

    fn on_reorder_timer(&mut self, now: Instant, path: usize, congestion: &mut Congestion) {
        self.begin_sample(now);
        let number = self.board.una;
        let ack = Ack { now, number, blocks: &[], echo: None, bare: false, empty: false, echoes: false };
        if self.detect(&ack, 0, &congestion.paths[path])
            && (self.mtu_probe == MtuProbe::None || self.check_probe_lost())
        {
            if matches!(self.state, Recovery::Open | Recovery::Disorder | Recovery::Cwr { .. }) {
                self.enter_recovery(now, path, congestion);
            }
            if self.has_rate_samples() {
                self.report_losses(path, congestion);
            } else if self.in_recovery() {
                self.prr_cwnd(0, false, false, path, congestion);
            }
        }
    }

    /// Retransmits outstanding data at once after an unresponsive path has recovered, without waiting for the
    /// backed-off timeout.
    pub(crate) fn revive(&mut self, now: Instant, path: &Path) {
        self.timeout.reset_backoff();
        if self.in_loss() {
            // The controller already knows of the timeout.
            self.board.without_rates(Scoreboard::mark_all_lost);
            self.rto_deadline = now + self.timeout.after(path);
        }
    }

    /// Handles a retransmission timeout (RFC 6298 section 5, RFC 5681 section 3.1).
    fn on_timeout(&mut self, now: Instant, path: usize, congestion: &mut Congestion) {
        self.timeouts += 1;
        self.begin_sample(now);
        // RFC 5681 section 3.1: one reduction per loss event. Recovery has already reduced the window. So has
        // an earlier timeout, unless an acknowledgement has arrived since.
        let reduced = match self.state {
            Recovery::Open | Recovery::Disorder => false,
            Recovery::Cwr { .. } | Recovery::Recovery { .. } => true,
            Recovery::Loss { .. } => self.timeout.consecutive() > 0,
        };
        let interrupts = self.in_recovery();
        self.timeout.back_off();
        if !reduced {
            self.spurious.remember(&congestion.paths[path]);
            congestion.on_loss(path, now);
        }
        self.marks.on_reduced();
        congestion.on_timeout(path);
        if !self.sack {
            self.board.sacked = 0;
        } else if self.board.queue.front().is_some_and(|front| front.sacked) {
            // RFC 2018 section 8: the peer has discarded data that it had reported.
            self.board.clear_sack();
        }
        self.board.mark_all_lost();
        self.report_losses(path, congestion);
        if let Some(rates) = &mut self.board.rates {
            rates.on_timeout();
        }
        self.mtu_probe = MtuProbe::None;
        self.state = Recovery::Loss { point: self.board.next };
        self.spurious.begin_trial(!interrupts);
        self.duplicates = 0;
        self.probe = None;
        self.probe_wanted = false;
        congestion.paths[path].cwnd = congestion.paths[path].mss;
        self.rto_deadline = now + self.timeout.after(&congestion.paths[path]);
        self.probe_deadline = Instant::FAR_FUTURE;
        self.reorder_deadline = Instant::FAR_FUTURE;
    }

    /// Processes SACK blocks (RFC 2018). Returns whether a block reports a duplicate (D-SACK, RFC 2883).
    #[inline(never)]
    pub(crate) fn take_blocks(&mut self, ack: &Ack<'_>, path: &Path) -> bool {
        let mut duplicate = false;
        let trial_point = self.trial_point();
        for (i, &(left, right)) in ack.blocks.iter().enumerate() {
            // RFC 2018 section 3: a block must not be empty.
            if left >= right {
                continue;
            }
            if i == 0
                && (right <= ack.number || ack.blocks.get(1).is_some_and(|b| b.0 <= left && right <= b.1))
            {
                duplicate = true;
                self.spurious.on_duplicate((left, right));
                // A duplicate of a tail loss probe is no sign of reordering, as in Linux (`tcp_dsack_seen`):
                // the probe timer can expire before a delayed acknowledgement arrives.
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
                // The echo refers to in-order data (RFC 7323 section 4.3). For data behind a gap, the echo
                // would make each retransmission look like the original.
                if let Some(rack) = rack {
                    rack.on_delivered(sent, ack.now, rtt, None);
                }
            });
        }
        duplicate
    }

    /// Processes the cumulative acknowledgement. Returns the bytes acknowledged in order and an RTT sample.
    pub(crate) fn take_cumulative(
        &mut self,
        ack: &Ack<'_>,
        min_rtt: Option<Duration>,
    ) -> (u64, Option<Duration>) {
        let una = self.board.una;
        if ack.number <= una {
            return (0, None);
        }
        let (mut sample, mut ambiguous, mut original) = (None, false, false);
        let trial_point = self.trial_point();
        if let Some(first) = self.board.queue.front().filter(|first| first.end() <= ack.number) {
            self.longest_acked = self.longest_acked.max(first.payload.len() as u64);
        }
        let rack = &mut self.rack;
        while self.board.take_acknowledged(ack.number, |sent| {
            ambiguous |= sent.ever_retransmitted;
            original |= !sent.ever_retransmitted
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
        // Without SACK, original data may have waited for a retransmission that this acknowledgement covers.
        if original && (self.sack || !ambiguous) {
            self.spurious.original_arrived();
        }
        if let Some(rates) = &mut self.board.rates {
            rates.on_acknowledged(self.board.una);
        }
        self.board.trim_ranges();
        if sample.is_none() || ambiguous {
            // RFC 7323 section 4: the echo identifies the transmission. Its resolution is 1 ms, so the sample
            // is raised to the minimum RTT if it is below.
            let min_rtt_or_zero = min_rtt.unwrap_or(Duration::ZERO);
            let echo = ack.echo.and_then(|echo| echo.sent_at(ack.now));
            sample = echo.map(|echo| ack.now.since(echo).max(min_rtt_or_zero));
        }
        (self.board.una - una, sample)
    }

    /// Marks lost segments. Returns whether any segment was newly marked.
    #[inline(always)]
    pub(crate) fn detect(&mut self, ack: &Ack<'_>, advanced: u64, path: &Path) -> bool {
        if let Some(rack) = &mut self.rack {
            let is_undisturbed =
                self.board.sacked == 0 && self.board.lost == 0 && self.board.retransmitted == 0;
            if is_undisturbed && !rack.reordered(self.board.queue.front()) {
                self.reorder_deadline = Instant::FAR_FUTURE;
                return false;
            }
            let eager = matches!(self.state, Recovery::Recovery { .. } | Recovery::Loss { .. })
                || self.board.sacked >= u64::from(DUPLICATE_THRESHOLD) * path.mss;
            let (marked, next_check) = rack.detect(&mut self.board, ack.now, eager, path.min_rtt, path.srtt);
            self.reorder_deadline = next_check.unwrap_or(Instant::FAR_FUTURE);
            return marked;
        }
        if self.sack {
            return self.detect_by_holes(path.mss);
        }
        self.detect_by_duplicates(ack, advanced, path.mss)
    }

    /// Detects losses by SACK (RFC 6675 section 4): three segments' worth of later data has arrived.
    #[inline(never)]
    fn detect_by_holes(&mut self, mss: u64) -> bool {
        let threshold = u64::from(DUPLICATE_THRESHOLD) * mss;
        if self.board.sacked < threshold {
            return false;
        }
        self.board.reported_above(threshold).is_some_and(|from| self.board.settle(from))
    }

    /// Detects losses by duplicate acknowledgements (NewReno, RFC 6582 section 3.2). Each duplicate stands
    /// for one segment that has arrived.
    #[inline(never)]
    fn detect_by_duplicates(&mut self, ack: &Ack<'_>, advanced: u64, mss: u64) -> bool {
        if advanced > 0 {
            if self.in_recovery() && self.partial(ack.number) && !self.board.queue.is_empty() {
                // The acknowledgement covers the retransmitted segment, and data counted by duplicates.
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

    /// The end of the data sent before the timeout that F-RTO examines; `None` if F-RTO is inactive.
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

/// Updates the bottleneck bandwidth from one acknowledgement of several segments, if these were sent
/// together. `rtt` is the RTT of the latest segment, `all` that of the oldest one.
#[cold]
fn update_bottleneck_rate(state: &mut Path, bytes: u64, rtt: Duration, all: Duration) {
    let Some(min_rtt) = state.min_rtt else { return };
    if bytes >= 2 * state.mss && all <= rtt + min_rtt / 16 {
        state.model.delivery.on_single_ack(bytes, rtt - min_rtt);
    }
}

impl Sender {
    /// Undoes the last reduction if the acknowledgement shows that the loss was spurious.
    #[inline]
    pub(crate) fn undo_cwnd_reduction(
        &mut self,
        ack: &Ack<'_>,
        advanced: u64,
        path: usize,
        congestion: &mut Congestion,
    ) {
        let is_open = matches!(self.state, Recovery::Open | Recovery::Disorder);
        if !self.spurious.is_open() || is_open && ack.blocks.is_empty() && !ack.echoes {
            // After recovery, only reports of duplicates are relevant.
            return;
        }
        self.judge_reduction(ack, advanced, path, congestion);
    }

    #[inline(never)]
    fn judge_reduction(&mut self, ack: &Ack<'_>, advanced: u64, path: usize, congestion: &mut Congestion) {
        if self.marks.is_on() && ack.echoes {
            // RFC 4015 section 3.2: with ECN marks, nothing is undone.
            return self.spurious.forget();
        }
        let original = self.spurious.take_original();
        let by_trial = original && matches!(self.state, Recovery::Loss { .. });
        let recovering = matches!(self.state, Recovery::Recovery { .. } | Recovery::Loss { .. });
        let echo = || ack.echo.and_then(|echo| echo.sent_at(ack.now));
        let by_echo = recovering && advanced > 0 && self.spurious.answers_the_original(ack.number, echo());
        if by_trial || by_echo || self.spurious.all_were_duplicates() {
            return self.undo(path, congestion);
        }
        if let Recovery::Loss { point } = self.state {
            let duplicate = advanced == 0 && (ack.bare || !ack.blocks.is_empty());
            self.spurious.go_on(duplicate, advanced > 0, self.board.una >= point);
        }
    }

    fn undo(&mut self, path: usize, congestion: &mut Congestion) {
        let Some(before) = self.spurious.undo_cwnd_reduction() else { return };
        self.board.undo_loss_marks();
        self.marks.on_undone();
        let state = &mut congestion.paths[path];
        state.cwnd = state.cwnd.max(before.cwnd);
        state.ssthresh = state.ssthresh.max(before.ssthresh);
        let delivered = self.board.rates.as_ref().map_or(0, |rates| rates.delivered());
        congestion.on_undo(path, delivered);
        if matches!(self.state, Recovery::Recovery { .. } | Recovery::Loss { .. }) {
            self.state = Recovery::Open;
            self.duplicates = 0;
            if !self.sack {
                self.board.sacked = 0;
            }
        }
    }
}
