//! An acknowledgement comes in.
//!
//! Owns the order of what follows from it: what arrived, the round-trip time, what is lost, the window.
//!
//! A reduction of the window is taken back when nothing was lost.
//!
//! Owns the answer, which is Linux's: window and threshold are what they were (RFC 4015 says a little less). How it is found
//! out is the affair of `spurious`.

use mptcp_clock::{Duration, Instant};

use crate::congestion::{Acked, Congestion, Path, Round};
use crate::path::Arrived;
use crate::subflow::sender::{Ack, Recovery, Sender};

impl Sender {
    /// Processes an acknowledgement; returns the bytes that were acknowledged in order.
    pub(crate) fn on_ack(&mut self, mut ack: Ack<'_>, path: usize, congestion: &mut Congestion) -> u64 {
        let now = ack.now;
        // RFC 5682 section 2.1 step 3a: what answers the new data of F-RTO and acknowledges none of it is a duplicate, whatever
        // it does to the window.
        ack.bare |= ack.empty && self.spurious.tries_new_data();
        let una = self.board.una;
        let is_cwnd_limited = self.is_cwnd_limited(congestion.send_opportunities());
        let delivered_before = una + self.board.sacked;
        self.begin_sample(now);
        if let Some(rack) = &mut self.rack {
            rack.on_ack();
        }
        let state = &congestion.paths[path];
        let duplicate_report = !ack.blocks.is_empty() && self.take_blocks(&ack, state);
        let oldest = state.model.delivery.asks_one().then(|| self.oldest_left_at(now));
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
        let watchful = self.watchful;
        if watchful {
            self.judge_arrival();
            newly_lost = newly_lost && self.judge_losses();
        }
        let delivered = (self.board.una + self.board.sacked).saturating_sub(delivered_before);
        if delivered > 0 {
            let empty = self.board.in_flight() < 2 * congestion.paths[path].mss;
            let arrived = Arrived { bytes: delivered, rtt: sample, empty, ..Arrived::default() };
            congestion.on_delivered(path, now, arrived);
        }
        let mut over = false;
        if !matches!(self.state, Recovery::Open | Recovery::Disorder) {
            over = matches!(self.state, Recovery::Recovery { point } | Recovery::Loss { point } if point == self.board.una);
            self.leave_recovery(path, congestion);
        }
        if newly_lost && matches!(self.state, Recovery::Open | Recovery::Disorder | Recovery::Cwr { .. }) {
            self.enter_recovery(now, path, congestion);
        }
        if watchful && self.marks.is_on() {
            self.take_echo(&ack, delivered, over, path, congestion);
        }
        if self.is_sampled() {
            self.note_cwnd_usage();
            self.tell_sample(is_cwnd_limited, path, congestion);
        } else if self.in_recovery() {
            let progress = advanced > 0 && self.board.lost <= lost_before;
            // RFC 6582 section 3.2 step 3: a partial acknowledgement sends the next hole at once.
            let hole = newly_lost && !self.sack;
            self.proportional_rate(delivered, progress, hole, path, congestion);
        } else {
            let usual = self.note_cwnd_usage();
            let state = &congestion.paths[path];
            let used = self.uses_window(state, is_cwnd_limited);
            // What a block reported while the window was reduced has had its say: the acknowledgement
            // that ends a recovery brings what is new only (as Linux counts).
            let bytes = advanced.min(delivered);
            if bytes > 0 && if usual { used } else { self.in_loss() } {
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

    /// Whether the window was used, where `is_cwnd_limited` bytes were under way before the acknowledgement at hand. RFC 9293 says nothing of it,
    /// RFC 7661 section 4.4 does: a window that is not used does not grow.
    #[inline]
    fn uses_window(&self, path: &Path, is_cwnd_limited: u64) -> bool {
        match &self.round {
            Some(round) => round.is_used(path),
            None if path.in_slow_start() => path.cwnd < 2 * is_cwnd_limited,
            None => is_cwnd_limited + path.mss > path.cwnd,
        }
    }

    /// Says whether anything is out of order, where nothing is repaired; returns whether that is so.
    #[inline]
    fn note_cwnd_usage(&mut self) -> bool {
        let usual = matches!(self.state, Recovery::Open | Recovery::Disorder);
        if usual {
            let disorder = self.board.sacked > 0 || self.duplicates > 0;
            self.state = if disorder { Recovery::Disorder } else { Recovery::Open };
        }
        usual
    }

    #[inline(never)]
    fn leave_recovery(&mut self, path: usize, congestion: &mut Congestion) {
        let (point, fast) = match self.state {
            Recovery::Recovery { point } => (point, true),
            Recovery::Loss { point } => (point, false),
            Recovery::Cwr { point } => {
                // The data that says that the window was reduced begins there: until the peer has that, it speaks of the same
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
        // A threshold that nothing has set is no window.
        if fast && self.board.rates.is_none() && state.ssthresh < u64::MAX {
            state.cwnd = state.ssthresh;
        }
    }

    /// RFC 8985 section 7.4.2: what the answers to the probe say. That all is acknowledged does not
    /// tell yet: the original may have been slow.
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
                // The probe repaired a loss: the window answers for it.
                let ssthresh = congestion.on_loss(path, ack.now);
                if !self.is_sampled() {
                    congestion.paths[path].cwnd = ssthresh;
                }
                self.marks.on_reduced();
            }
        }
    }
}

/// The line of a path that gets a few segments now and then, of which none tells how fast it is: what one acknowledgement says, if all
/// that it is for left at once, and the latest of it took `rtt`, the oldest `all`.
#[cold]
fn update_bottleneck_rate(state: &mut Path, bytes: u64, rtt: Duration, all: Duration) {
    let Some(least) = state.min_rtt else { return };
    if bytes >= 2 * state.mss && all <= rtt + least / 16 {
        state.model.delivery.on_one(bytes, rtt - least);
    }
}

impl Sender {
    /// What the acknowledgement tells of the last reduction.
    #[inline]
    pub(crate) fn undo_cwnd_reduction(
        &mut self,
        ack: &Ack<'_>,
        advanced: u64,
        path: usize,
        congestion: &mut Congestion,
    ) {
        let usual = matches!(self.state, Recovery::Open | Recovery::Disorder);
        if !self.spurious.is_open() || usual && ack.blocks.is_empty() && !ack.echoes {
            // After a recovery only reports of duplicates tell more.
            return;
        }
        self.judge_reduction(ack, advanced, path, congestion);
    }

    #[inline(never)]
    fn judge_reduction(&mut self, ack: &Ack<'_>, advanced: u64, path: usize, congestion: &mut Congestion) {
        if self.marks.is_on() && ack.echoes {
            // RFC 4015 section 3.2: where marks tell of congestion, nothing is taken back.
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
        self.board.reset_retries();
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
