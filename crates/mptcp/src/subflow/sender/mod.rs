//! The sender of a subflow: transmission, loss recovery, timers, rate samples and the response to ECN marks.
//!
//! Each subflow has one sender, so a loss on one path is repaired on that path. Owns the scoreboard and the
//! state of recovery: RFC 5681 with RACK-TLP (RFC 8985) or NewReno (RFC 6582), PRR (RFC 6937), RTO (RFC
//! 6298). Decides which ECN marks reduce the window (RFC 3168 section 6.1.2). Checks whether the window was
//! used in a round, as Linux does (`tcp_cwnd_validate`, net/ipv4/tcp_output.c; `tcp_is_cwnd_limited`,
//! include/net/tcp.h).
//!
//! Congestion window and RTT belong to the connection's [`Congestion`], because controllers may couple paths.
//! `ack` processes acknowledgements and timeouts.

mod ack;
pub(crate) mod mtu_probe;

use bytes::Bytes;
use mptcp_clock::{Duration, Instant};

use crate::config::SpuriousLoss;
use crate::congestion::{Congestion, Echoed, Lost, Path, Repair};
use crate::observe::Detection;
use crate::subflow::delivery_rate::Rates;
use crate::subflow::ecn_state::EcnSender;
use crate::subflow::loss_state::{Rack, RetransmissionTimeout, Spurious};
use crate::subflow::mtu_probe::MtuProbe;
use crate::subflow::receiver::Range;
use crate::subflow::scoreboard::{Scoreboard, SentSegment};
use crate::subflow::state::TimestampEcho;

/// The maximum time for which a peer delays an acknowledgement (RFC 8985 section 7.2), as in Linux.
const WORST_DELAYED_ACK: Duration = Duration::from_millis(200);
/// Duplicate acknowledgements that signal a loss (RFC 5681 section 3.2).
const DUPLICATE_THRESHOLD: u32 = 3;

/// The state of loss recovery, with Linux's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// No loss and no reordering.
    Open,
    /// Duplicate or selective acknowledgements, without a detected loss.
    Disorder,
    /// The window was reduced after ECN marks (RFC 3168), without a detected loss.
    Cwr {
        /// The state ends when more than this offset is acknowledged.
        point: u64,
    },
    /// Fast recovery.
    Recovery {
        /// The state ends when this offset is acknowledged.
        point: u64,
    },
    /// Recovery after a timeout.
    Loss {
        /// The state ends when this offset is acknowledged.
        point: u64,
    },
}

/// An acknowledgement in subflow offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack<'a> {
    pub now: Instant,
    pub number: u64,
    pub blocks: &'a [Range],
    /// The echoed timestamp.
    pub echo: Option<TimestampEcho>,
    /// The segment has no payload and no window change, so it may count as a duplicate.
    pub bare: bool,
    /// The segment has no payload.
    pub empty: bool,
    /// The segment has ECE (RFC 3168).
    pub echoes: bool,
}

#[derive(Debug)]
pub(crate) struct Sender {
    pub board: Scoreboard,
    pub timeout: RetransmissionTimeout,
    pub state: Recovery,
    /// The maximum number of segments on the scoreboard.
    most: usize,
    sack: bool,
    rack: Option<Rack>,
    duplicates: u32,
    prr_delivered: u64,
    prr_out: u64,
    prr_start: u64,
    /// The offset that ends the tail loss probe's episode, and whether the probe was a retransmission.
    probe: Option<(u64, bool)>,
    probe_wanted: bool,
    /// The peer acknowledges data up to this offset without delay.
    answered: u64,
    rto_deadline: Instant,
    probe_deadline: Instant,
    reorder_deadline: Instant,
    pub spurious: Spurious,
    pub marks: EcnSender,
    /// The state of a path MTU probe.
    pub mtu_probe: MtuProbe,
    /// The number of the last send opportunity, and the bytes in flight at that time.
    batch: (u64, u64),
    /// The use of the window in the current round, as in Linux; `None` judges each acknowledgement alone.
    round: Option<RoundUse>,
    /// The time of the last transmission.
    pub last_sent: Option<Instant>,
    /// Acknowledgements need additional checks: ECN is in use, or a path MTU probe is in flight.
    inspects_acks: bool,
    /// The largest payload acknowledged in one segment since the segment size was reduced, bytes.
    pub longest_acked: u64,
    pub retransmissions: u64,
    pub retransmitted_bytes: u64,
    pub timeouts: u64,
    pub recoveries: u64,
}

impl Sender {
    /// Creates a sender with a scoreboard of up to `most` segments.
    pub(crate) fn new(min_rto: Duration, most: usize, spurious: SpuriousLoss) -> Self {
        Self {
            // The SYN has offset 0.
            board: Scoreboard::starting_at(1),
            timeout: RetransmissionTimeout::new(min_rto),
            state: Recovery::Open,
            most,
            sack: false,
            rack: None,
            duplicates: 0,
            prr_delivered: 0,
            prr_out: 0,
            prr_start: 1,
            probe: None,
            probe_wanted: false,
            answered: 0,
            rto_deadline: Instant::FAR_FUTURE,
            probe_deadline: Instant::FAR_FUTURE,
            reorder_deadline: Instant::FAR_FUTURE,
            spurious: Spurious::new(spurious),
            marks: EcnSender::default(),
            mtu_probe: MtuProbe::None,
            batch: (u64::MAX, 0),
            round: None,
            last_sent: None,
            inspects_acks: false,
            longest_acked: 0,
            retransmissions: 0,
            retransmitted_bytes: 0,
            timeouts: 0,
            recoveries: 0,
        }
    }

    /// Completes the handshake. All data before the offset `first` is acknowledged.
    pub(crate) fn synchronised(&mut self, first: u64, sack: bool, rack: bool) {
        self.board.una = first;
        self.board.next = first;
        self.sack = sack;
        self.rack = (sack && rack).then(Rack::default);
    }

    /// Measures the use of the window by rounds, as Linux does.
    pub(crate) fn count_by_round(&mut self) {
        self.round = Some(RoundUse::default());
    }

    /// Sets whether ECN is in use.
    pub(crate) fn begin_marks(&mut self, on: bool) {
        self.marks.begin(on);
        self.update_ack_inspection();
    }

    /// Updates whether acknowledgements need additional checks.
    fn update_ack_inspection(&mut self) {
        self.inspects_acks = self.marks.is_on() || self.mtu_probe != MtuProbe::None;
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.board.in_flight()
    }

    /// Bytes in flight before the first acknowledgement since the last send opportunity. Between these
    /// acknowledgements no data could be sent, so each of them is compared with the same number of bytes.
    fn in_flight_before_batch(&mut self, send_opportunities: u64) -> u64 {
        if self.batch.0 != send_opportunities {
            self.batch = (send_opportunities, self.in_flight());
        }
        self.batch.1
    }

    /// Whether all sent data is acknowledged.
    pub(crate) fn is_idle(&self) -> bool {
        self.board.queue.is_empty()
    }

    pub(crate) fn in_recovery(&self) -> bool {
        matches!(self.state, Recovery::Recovery { .. })
    }

    pub(crate) fn in_loss(&self) -> bool {
        matches!(self.state, Recovery::Loss { .. })
    }

    /// The method of loss detection. `timed_out` means that a timeout has just marked all data lost.
    pub(crate) fn detection(&self, timed_out: bool) -> Detection {
        match (timed_out, self.rack.is_some(), self.sack) {
            (true, ..) => Detection::Timeout,
            (_, true, _) => Detection::Rack,
            (_, _, true) => Detection::Sack,
            _ => Detection::Duplicates,
        }
    }

    /// Whether RACK has detected reordering.
    pub(crate) fn reordering_seen(&self) -> bool {
        self.rack.as_ref().is_some_and(|rack| rack.reordering_seen)
    }

    /// Whether a tail loss probe is due. It may send one segment of new data beyond the window.
    pub(crate) fn wants_probe(&self) -> bool {
        self.probe_wanted
    }

    /// Whether a tail loss probe has retransmitted a segment and waits for its result (RFC 8985 section 7.4).
    pub(crate) fn awaits_probe_answer(&self) -> bool {
        self.probe.is_some_and(|(_, retransmission)| retransmission)
    }

    /// Whether reports of duplicates are processed after all data is acknowledged.
    pub(crate) fn accepts_late_sack(&self) -> bool {
        self.spurious.is_undo_enabled()
    }

    #[cold]
    fn enter_recovery(&mut self, now: Instant, path: usize, congestion: &mut Congestion) {
        // RFC 3168 section 6.1.2: no second reduction for a loss within an RTT after a reduction for marks.
        let reduced = matches!(self.state, Recovery::Cwr { point } if self.board.una < point);
        self.state = Recovery::Recovery { point: self.board.next };
        self.batch.0 = u64::MAX;
        self.recoveries += 1;
        self.start_prr();
        if !reduced {
            self.spurious.remember(&congestion.paths[path]);
            self.marks.on_reduced();
            congestion.on_loss(path, now);
        }
    }

    fn start_prr(&mut self) {
        (self.prr_delivered, self.prr_out) = (0, 0);
        // RFC 6937 section 3: RecoverFS.
        self.prr_start = (self.board.next - self.board.una).max(1);
    }

    /// Proportional rate reduction (RFC 6937 section 3), with the slow start reduction bound while recovery progresses.
    #[inline(never)]
    fn prr_cwnd(
        &mut self,
        delivered: u64,
        progress: bool,
        hole: bool,
        path: usize,
        congestion: &mut Congestion,
    ) {
        let state = &mut congestion.paths[path];
        self.prr_delivered += delivered;
        let pipe = self.board.in_flight();
        let send = if pipe > state.ssthresh {
            (self.prr_delivered * state.ssthresh).div_ceil(self.prr_start).saturating_sub(self.prr_out)
        } else {
            let conservative = self.prr_delivered.saturating_sub(self.prr_out).max(delivered);
            let bound = if progress { conservative + state.mss } else { conservative };
            bound.min(state.ssthresh - pipe)
        };
        // The first retransmission is always sent.
        let send = if self.prr_out == 0 || hole { send.max(state.mss) } else { send };
        state.cwnd = (pipe + send).max(state.mss);
    }

    /// Sends new data. The caller has checked the window.
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
        self.batch.0 = u64::MAX;
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

    /// Retransmits the next lost segment, or sends the tail loss probe. `None` if neither is due or the
    /// window is full. With segmentation offload of up to `largest` bytes, a segment has as many full frames
    /// as the window permits.
    pub(crate) fn retransmit(&mut self, now: Instant, path: &Path, largest: u64) -> Option<&SentSegment> {
        let Path { cwnd, mss, .. } = *path;
        let space = cwnd.saturating_sub(self.in_flight());
        let sends_new_data = self.spurious.tries_new_data();
        let at =
            if self.board.lost > 0 && space > 0 && !sends_new_data { self.board.next_lost() } else { None };
        let at = match at {
            Some(at) => {
                self.board.split(at, (space.min(largest) / mss).max(1) * mss);
                at
            }
            None if std::mem::take(&mut self.probe_wanted) => {
                // RFC 8985 section 7.3: without new data, the probe retransmits the last segment.
                let last = self.board.queue.iter().rposition(|sent| !sent.sacked)?;
                self.probe = Some((self.board.next, true));
                let full_frames = (self.board.queue[last].payload.len() as u64).saturating_sub(1) / mss;
                self.board.split(last, full_frames * mss);
                last + usize::from(full_frames > 0)
            }
            None => return None,
        };
        self.board.mark_retransmitted(at, now);
        let (start, end) = (self.board.queue[at].start, self.board.queue[at].end());
        self.note_sent(now, start, end, true);
        self.last_sent = Some(now);
        self.mtu_probe.on_retransmitted(start);
        let length = end - start;
        self.prr_out += length;
        self.spurious.on_repeated(now, (start, end));
        self.retransmissions += 1;
        self.retransmitted_bytes += length;
        // RFC 6298 section 5: the timer covers the oldest segment.
        self.arm(now, at == 0 || self.rto_deadline == Instant::FAR_FUTURE, path);
        self.board.queue.get(at)
    }

    /// Sets the timers after a transmission or an acknowledgement.
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

    /// The time of the tail loss probe (RFC 8985 section 7.2). `None` if none is due.
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

    /// Notes that the peer will acknowledge the data in flight without delay, because of the segment sent now.
    pub(crate) fn expect_answer(&mut self, now: Instant, path: &Path) {
        self.answered = self.board.next;
        self.arm(now, false, path);
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.rto_deadline.min(self.probe_deadline).min(self.reorder_deadline)
    }
}

impl Sender {
    /// Enables or disables rate samples. If they end during recovery, the slow-start threshold is no valid
    /// window. The new controller then sets a threshold, with which proportional rate reduction restarts.
    pub(crate) fn enable_rate_samples(&mut self, on: bool, path: usize, congestion: &mut Congestion) {
        if on == self.has_rate_samples() {
            return;
        }
        self.board.rates = on.then(Box::<Rates>::default);
        if !on && self.in_recovery() && congestion.paths[path].active {
            congestion.on_loss(path, self.last_sent.unwrap_or(Instant::ZERO));
            self.start_prr();
        }
    }

    /// Whether the controller uses rate samples. Recovery then leaves the window unchanged.
    #[inline]
    pub(crate) fn has_rate_samples(&self) -> bool {
        self.board.rates.is_some()
    }

    /// Notes the transmission or retransmission of `[start, end)`.
    #[inline(always)]
    pub(crate) fn note_sent(&mut self, now: Instant, start: u64, end: u64, again: bool) {
        if !self.has_rate_samples() {
            return;
        }
        let in_flight = self.in_flight();
        match &mut self.board.rates {
            None => {}
            Some(rates) if again => rates.on_repeated(now, start, end, in_flight),
            Some(rates) => rates.on_sent(now, start, end, in_flight),
        }
    }

    /// Starts a rate sample for an acknowledgement or a timeout.
    #[inline]
    pub(crate) fn begin_sample(&mut self, now: Instant) {
        if let Some(rates) = &mut self.board.rates {
            rates.begin(now);
        }
    }

    /// Reports each lost segment to the controller.
    #[inline(never)]
    pub(crate) fn report_losses(&mut self, path: usize, congestion: &mut Congestion) {
        let Some(losses) = self.board.rates.as_mut().and_then(|rates| rates.take_losses()) else { return };
        let selective = self.sack;
        losses.iter().for_each(|lost| congestion.on_lost(path, &Lost { selective, ..*lost }));
        if let Some(rates) = &mut self.board.rates {
            rates.return_losses(losses);
        }
    }

    /// Reports the rate sample to the controller, which then sets window and pacing rate.
    #[inline(never)]
    pub(crate) fn deliver_sample(&mut self, in_flight_before: u64, path: usize, congestion: &mut Congestion) {
        self.report_losses(path, congestion);
        let state = &congestion.paths[path];
        let Some(rates) = &mut self.board.rates else { return };
        let mut sample = rates.sample(state.min_rtt);
        (sample.in_flight_before, sample.selective) = (in_flight_before, self.sack);
        sample.in_flight = self.in_flight();
        sample.repair = match self.state {
            Recovery::Open | Recovery::Disorder | Recovery::Cwr { .. } => Repair::None,
            Recovery::Recovery { .. } => Repair::Fast,
            Recovery::Loss { .. } => Repair::Timeout,
        };
        congestion.on_sample(path, &sample);
        if congestion.paths[path].held_back {
            self.note_limited();
        }
    }

    /// Marks the sender as application-limited if the window is not full: `CheckIfApplicationLimited` of the BBR draft.
    pub(crate) fn note_idle_window(&mut self, path: &Path) {
        let has_space = self.in_flight() + path.mss <= path.cwnd;
        if has_space && self.board.lost <= self.board.retransmitted {
            self.note_limited();
        }
    }

    /// Whether the sender is application-limited. Always `true` without rate samples.
    pub(crate) fn is_limited(&self) -> bool {
        self.board.rates.as_ref().is_none_or(|rates| rates.is_limited())
    }

    /// Marks the window as full: `C.is_cwnd_limited` of the BBR draft.
    pub(crate) fn note_full_window(&mut self) {
        let in_flight = self.in_flight();
        if let Some(rates) = &mut self.board.rates {
            rates.note_full(in_flight);
        }
    }

    fn note_limited(&mut self) {
        let in_flight = self.in_flight();
        if let Some(rates) = &mut self.board.rates {
            rates.note_limited(in_flight);
        }
    }
}

/// The use of the congestion window in a round, which lasts about one RTT.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundUse {
    full: bool,
    /// The maximum number of unacknowledged bytes.
    most: u64,
    /// The round ends when more than this offset is acknowledged.
    end: u64,
}

impl RoundUse {
    /// Updates the round after a transmission up to `next`. `full` means that the window is full.
    #[inline(never)]
    pub(crate) fn note(&mut self, una: u64, next: u64, full: bool) {
        let outstanding = next - una;
        if una >= self.end || full || !self.full && outstanding > self.most {
            *self = Self { full, most: outstanding, end: next };
        }
    }

    pub(crate) fn is_used(&self, path: &Path) -> bool {
        self.full || path.in_slow_start() && path.cwnd < 2 * self.most
    }
}

/// The number of reductions at the smallest window after which ECN marks are ignored, if every
/// acknowledgement since the start had a mark. Such a path marks all packets. RFC 9768 section 3.2.2.3
/// demands a check without giving a rule; this number is mptcplab's.
const MEANINGLESS: u8 = 8;

impl Sender {
    /// Processes the ECE flag of an acknowledgement that delivered `delivered` bytes. `over` means that the
    /// acknowledgement ends a recovery, before the data with CWR is acknowledged.
    #[inline(never)]
    pub(crate) fn take_echo(
        &mut self,
        ack: &Ack<'_>,
        delivered: u64,
        over: bool,
        path: usize,
        congestion: &mut Congestion,
    ) {
        let marked = ack.echoes;
        if marked {
            self.marks.delivered += delivered;
        } else if delivered > 0 {
            self.marks.clean = true;
        }
        let (una, next) = (self.board.una, self.board.next);
        congestion.on_echo(path, Echoed { now: ack.now, bytes: delivered, marked, una, next });
        // In recovery, and until the data before a reduction is acknowledged, marks belong to the same congestion event
        // (RFC 3168 section 6.1.2).
        if marked && !over && matches!(self.state, Recovery::Open | Recovery::Disorder) {
            self.reduce(ack, path, congestion);
        }
    }

    fn reduce(&mut self, ack: &Ack<'_>, path: usize, congestion: &mut Congestion) {
        let smallest = congestion.paths[path].cwnd <= 2 * congestion.paths[path].mss;
        if !self.marks.clean && smallest {
            self.marks.in_vain += 1;
            if self.marks.in_vain >= MEANINGLESS {
                self.marks.end();
                return;
            }
        }
        // A reduction after marks is never undone.
        self.spurious.forget();
        self.marks.on_reduced();
        self.state = Recovery::Cwr { point: self.board.next };
        self.marks.reductions += 1;
        congestion.on_mark(path, ack.now);
        // The reduction is immediate, not proportional as after a loss (RFC 6937). Otherwise the segments sent
        // meanwhile would be marked by the old queue, including the segment with CWR.
        let state = &mut congestion.paths[path];
        state.cwnd = state.cwnd.min(state.ssthresh);
    }
}

#[cfg(test)]
mod tests;
