//! Data leaves: new data, and data that is sent again.
//!
//! What silence means: the retransmission timeout, the tail loss probe, the reordering timer.

use bytes::Bytes;
use mptcp_clock::{Duration, Instant};

use crate::congestion::{Congestion, Path};
use crate::subflow::mtu_probe::MtuProbe;
use crate::subflow::scoreboard::{Scoreboard, SentSegment};
use crate::subflow::sender::{Ack, Recovery, Sender, WORST_DELAYED_ACK};

impl Sender {
    /// Sends new data: the caller has checked the window.
    #[inline(always)]
    pub(crate) fn send(&mut self, now: Instant, data: u64, payload: Bytes, fin: bool, path: &Path) {
        let start = self.board.next;
        let sent = SentSegment {
            start,
            data,
            payload,
            whole: None,
            sent_at: now,
            first_sent_at: now,
            fin,
            sacked: false,
            lost: false,
            retransmitted: false,
            ever_retransmitted: false,
        };
        self.prr_out += sent.length();
        self.last_sent = Some(now);
        self.is_cwnd_limited.0 = u64::MAX;
        self.spurious.on_new_data();
        let end = sent.end();
        self.board.push(sent);
        self.note_sent(now, start, end, false);
        if let Some(round) = &mut self.round {
            let full = self.board.in_flight() + path.mss > path.cwnd;
            round.note(self.board.una, self.board.next, full);
        }
        if std::mem::take(&mut self.probe_wanted) {
            self.probe = Some((self.board.next, false));
        }
        self.arm(now, self.rto_deadline == Instant::FAR_FUTURE, path);
    }

    /// The next segment to retransmit, if the window allows it. Of a large one, as many frames as the window has room for,
    /// where the device cuts `largest` bytes into frames; else one.
    pub(crate) fn retransmit(&mut self, now: Instant, path: &Path, largest: u64) -> Option<&SentSegment> {
        let Path { cwnd, mss, .. } = *path;
        let room = cwnd.saturating_sub(self.in_flight());
        let held = self.spurious.tries_new_data();
        let at = if self.board.lost > 0 && room > 0 && !held { self.board.next_lost() } else { None };
        let at = match at {
            Some(at) => {
                self.board.split(at, (room.min(largest) / mss).max(1) * mss);
                at
            }
            None if std::mem::take(&mut self.probe_wanted) => {
                // RFC 8985 section 7.3: no new data was there for the probe, so the last segment.
                let last = self.board.queue.iter().rposition(|sent| !sent.sacked)?;
                self.probe = Some((self.board.next, true));
                let before = (self.board.queue[last].payload.len() as u64).saturating_sub(1) / mss;
                self.board.split(last, before * mss);
                last + usize::from(before > 0)
            }
            None => return None,
        };
        self.board.mark_resent(at, now);
        let (start, end) = (self.board.queue[at].start, self.board.queue[at].end());
        self.note_sent(now, start, end, true);
        self.last_sent = Some(now);
        self.note_repeated_probe(start);
        let length = end - start;
        self.prr_out += length;
        self.spurious.on_repeated(now, (start, end));
        self.retransmissions += 1;
        self.retransmitted_bytes += length;
        // RFC 6298 section 5: the timer watches the oldest segment.
        self.arm(now, at == 0 || self.rto_deadline == Instant::FAR_FUTURE, path);
        self.board.queue.get(at)
    }
}

impl Sender {
    /// Sets the timers after something was sent or acknowledged.
    #[inline(always)]
    pub(crate) fn arm(&mut self, now: Instant, restart: bool, path: &Path) {
        if self.board.queue.is_empty() {
            self.rto_deadline = Instant::FAR_FUTURE;
            self.probe_deadline = Instant::FAR_FUTURE;
            self.reorder_deadline = Instant::FAR_FUTURE;
            return;
        }
        if restart {
            self.rto_deadline = now + self.timeout.after(path);
        }
        self.probe_deadline = self.probe_time(now, path).unwrap_or(Instant::FAR_FUTURE);
    }

    /// RFC 8985 section 7.2.
    #[inline(always)]
    fn probe_time(&self, now: Instant, path: &Path) -> Option<Instant> {
        self.rack.as_ref()?;
        if !matches!(self.state, Recovery::Open | Recovery::Cwr { .. })
            || self.probe.is_some()
            || self.board.sacked > 0
        {
            return None;
        }
        let srtt = path.srtt?;
        let delayed = self.board.queue.len() == 1 && self.answered != self.board.next;
        let wait = srtt * 2 + if delayed { WORST_DELAYED_ACK } else { Duration::from_millis(2) };
        Some((now + wait).min(self.rto_deadline))
    }

    /// The peer is about to be told something that it answers at once: no acknowledgement of what is in flight is delayed.
    pub(crate) fn expect_answer(&mut self, now: Instant, path: &Path) {
        self.answered = self.board.next;
        self.arm(now, false, path);
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.rto_deadline.min(self.probe_deadline).min(self.reorder_deadline)
    }

    /// Handles the timers that are due; returns whether the retransmission timer was among them.
    pub(crate) fn on_deadline(&mut self, now: Instant, path: usize, congestion: &mut Congestion) -> bool {
        if self.reorder_deadline <= now {
            self.reorder_deadline = Instant::FAR_FUTURE;
            self.on_reorder_timer(now, path, congestion);
        }
        // RFC 8985 section 7.2: the probe comes before the timeout, at the latest in its place.
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
            && (self.mtu_probe == MtuProbe::None || self.judge_losses())
        {
            if matches!(self.state, Recovery::Open | Recovery::Disorder | Recovery::Cwr { .. }) {
                self.enter_recovery(now, path, congestion);
            }
            if self.is_sampled() {
                self.tell_losses(path, congestion);
            } else if self.in_recovery() {
                self.proportional_rate(0, false, false, path, congestion);
            }
        }
    }

    /// The peer was heard on a path that had gone silent: what is outstanding goes at once, without
    /// waiting for the doubled timeout.
    pub(crate) fn revive(&mut self, now: Instant, path: &Path) {
        self.timeout.reset_backoff();
        if self.in_loss() {
            // The timeout has told what there is to tell.
            self.board.without_rates(Scoreboard::mark_all_lost);
            self.rto_deadline = now + self.timeout.after(path);
        }
    }

    /// RFC 6298 section 5, RFC 5681 section 3.1.
    fn on_timeout(&mut self, now: Instant, path: usize, congestion: &mut Congestion) {
        self.timeouts += 1;
        self.begin_sample(now);
        // RFC 5681 section 3.1: one reduction for each loss event. In recovery it was made, and
        // after a timeout it was unless an acknowledgement has come since.
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
            // RFC 2018 section 8: the peer has dropped what it reported.
            self.board.forget_reports();
        }
        self.board.mark_all_lost();
        self.tell_losses(path, congestion);
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
}
