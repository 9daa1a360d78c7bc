//! The sending half of a subflow: acknowledgements in, losses and permission to send out.
//!
//! Owns the scoreboard, the timeouts and the state of recovery: RFC 5681 with RACK-TLP
//! (RFC 8985) or NewReno (RFC 6582), PRR (RFC 6937), RTO (RFC 6298). The window and the round-trip time belong to
//! the connection's [`Congestion`], because siblings may be coupled. `detect` says what arrived and what
//! is lost, `timers` what silence means.
//!
//! What a controller is told that works by the rate at which data arrives.
//!
//! Owns when it is told, and what it is told of the path beside the measurement, which is `rates`'. The window is the
//! controller's own: nothing here moves it.
//!
//! Whether a window was used in a round, as Linux counts it (`tcp_cwnd_validate`, net/ipv4/tcp_output.c; `tcp_is_cwnd_limited`,
//! include/net/tcp.h).
//!
//! Marks, as the one who is told of them (RFC 3168 section 6.1.2).
//!
//! Owns what was told so far, and what the peer is still to be told.
//!
//! What the peer says of marks, and what follows for the window (RFC 3168 section 6.1.2).
//!
//! Owns when a mark counts: as a loss does, once a round trip, but nothing goes again. By how much the window falls is the
//! controller's affair.

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

/// RFC 8985 section 7.2: how long the peer may delay an acknowledgement (Linux's maximum).
const WORST_DELAYED_ACK: Duration = Duration::from_millis(200);
/// RFC 5681 section 3.2.
const DUPLICATE_THRESHOLD: u32 = 3;

/// Where loss recovery stands; Linux's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing unusual.
    Open,
    /// Duplicates or selective acknowledgements, nothing known lost.
    Disorder,
    /// The window was reduced because of marks (RFC 3168), nothing known lost.
    Cwr {
        /// Leaves when more than this offset is acknowledged.
        point: u64,
    },
    /// Fast recovery up to `point`.
    Recovery {
        /// Leaves when this offset is acknowledged.
        point: u64,
    },
    /// After a timeout, up to `point`.
    Loss {
        /// Leaves when this offset is acknowledged.
        point: u64,
    },
}

/// An acknowledgement, in offsets of this subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack<'a> {
    pub now: Instant,
    pub number: u64,
    pub blocks: &'a [Range],
    /// What tells when the segment was sent that the peer answers.
    pub echo: Option<TimestampEcho>,
    /// No payload, no window change: counts as a duplicate if it acknowledges nothing.
    pub bare: bool,
    /// No payload, whatever it says of the window.
    pub empty: bool,
    /// It speaks of marks (RFC 3168).
    pub echoes: bool,
}

#[derive(Debug)]
pub(crate) struct Sender {
    pub board: Scoreboard,
    pub timeout: RetransmissionTimeout,
    pub state: Recovery,
    most: usize,
    sack: bool,
    rack: Option<Rack>,
    duplicates: u32,
    prr_delivered: u64,
    prr_out: u64,
    prr_start: u64,
    /// Offset that ends the tail loss probe's episode, and whether the probe was a retransmission.
    probe: Option<(u64, bool)>,
    probe_wanted: bool,
    /// What ends here is answered at once.
    answered: u64,
    rto_deadline: Instant,
    probe_deadline: Instant,
    reorder_deadline: Instant,
    pub spurious: Spurious,
    pub marks: EcnSender,
    /// A segment larger than what is known to pass.
    pub mtu_probe: MtuProbe,
    /// What was under way when the window last had its chance to be filled, and which chance that was.
    is_cwnd_limited: (u64, u64),
    /// The same by rounds, as Linux counts.
    round: Option<RoundUse>,
    /// When data left last.
    pub last_sent: Option<Instant>,
    /// Marks are heeded, or a larger segment is out: acknowledgements say more than usual.
    inspects_acks: bool,
    /// The most that was acknowledged at once since segments shrank, bytes.
    pub longest_acked: u64,
    pub retransmissions: u64,
    pub retransmitted_bytes: u64,
    pub timeouts: u64,
    pub recoveries: u64,
}

impl Sender {
    /// With a scoreboard of `most` segments: of large ones no more are made of parts.
    pub(crate) fn new(min_rto: Duration, most: usize, spurious: SpuriousLoss) -> Self {
        Self {
            // The SYN takes offset 0.
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
            is_cwnd_limited: (u64::MAX, 0),
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

    /// The handshake is over: all before the offset `first`, the SYN and what it carried, is acknowledged.
    pub(crate) fn synchronised(&mut self, first: u64, sack: bool, rack: bool) {
        self.board.una = first;
        self.board.next = first;
        self.sack = sack;
        self.rack = (sack && rack).then(Rack::default);
    }

    /// From here on a window is used by the most that was under way in a round.
    pub(crate) fn count_by_round(&mut self) {
        self.round = Some(RoundUse::default());
    }

    /// Whether marks count from here on.
    pub(crate) fn begin_marks(&mut self, on: bool) {
        self.marks.begin(on);
        self.update_ack_inspection();
    }

    /// Says anew whether acknowledgements say more than usual.
    fn update_ack_inspection(&mut self) {
        self.inspects_acks = self.marks.is_on() || self.mtu_probe != MtuProbe::None;
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.board.in_flight()
    }

    /// What was under way before the acknowledgement at hand and those that came together with it: what they free could not be
    /// used in between, and the window was full all the same.
    fn is_cwnd_limited(&mut self, send_opportunities: u64) -> u64 {
        if self.is_cwnd_limited.0 != send_opportunities {
            self.is_cwnd_limited = (send_opportunities, self.in_flight());
        }
        self.is_cwnd_limited.1
    }

    /// Whether everything sent was acknowledged.
    pub(crate) fn is_idle(&self) -> bool {
        self.board.queue.is_empty()
    }

    pub(crate) fn in_recovery(&self) -> bool {
        matches!(self.state, Recovery::Recovery { .. })
    }

    pub(crate) fn in_loss(&self) -> bool {
        matches!(self.state, Recovery::Loss { .. })
    }

    /// How losses are found; `timed_out` where a timeout has just said that all is lost.
    pub(crate) fn detection(&self, timed_out: bool) -> Detection {
        match (timed_out, self.rack.is_some(), self.sack) {
            (true, ..) => Detection::Timeout,
            (_, true, _) => Detection::Rack,
            (_, _, true) => Detection::Sack,
            _ => Detection::Duplicates,
        }
    }

    /// Segments were seen to overtake others; needs RACK.
    pub(crate) fn reordering_seen(&self) -> bool {
        self.rack.as_ref().is_some_and(|rack| rack.reordering_seen)
    }

    /// Whether a tail loss probe may take one segment of new data beyond the window.
    pub(crate) fn wants_probe(&self) -> bool {
        self.probe_wanted
    }

    /// A tail loss probe repeated a segment, and nothing has told yet whether both arrived (RFC 8985 section 7.4).
    pub(crate) fn awaits_probe_answer(&self) -> bool {
        self.probe.is_some_and(|(_, retransmission)| retransmission)
    }

    /// Whether reports count that come when everything is acknowledged.
    pub(crate) fn hears_late_reports(&self) -> bool {
        self.spurious.undoes()
    }

    #[cold]
    fn enter_recovery(&mut self, now: Instant, path: usize, congestion: &mut Congestion) {
        // RFC 3168 section 6.1.2: where marks have reduced it within this round trip, a loss does not do so again.
        let reduced = matches!(self.state, Recovery::Cwr { point } if self.board.una < point);
        self.state = Recovery::Recovery { point: self.board.next };
        self.is_cwnd_limited.0 = u64::MAX;
        self.recoveries += 1;
        self.begin_proportional_rate();
        if !reduced {
            self.spurious.remember(&congestion.paths[path]);
            self.marks.on_reduced();
            congestion.on_loss(path, now);
        }
    }

    fn begin_proportional_rate(&mut self) {
        (self.prr_delivered, self.prr_out) = (0, 0);
        // RFC 6937 section 3: RecoverFS.
        self.prr_start = (self.board.next - self.board.una).max(1);
    }

    /// RFC 6937 section 3, with slow start reduction bound while recovery makes progress.
    #[inline(never)]
    fn proportional_rate(
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
        // The first retransmission always leaves.
        let send = if self.prr_out == 0 || hole { send.max(state.mss) } else { send };
        state.cwnd = (pipe + send).max(state.mss);
    }

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
        self.mtu_probe.on_retransmitted(start);
        let length = end - start;
        self.prr_out += length;
        self.spurious.on_repeated(now, (start, end));
        self.retransmissions += 1;
        self.retransmitted_bytes += length;
        // RFC 6298 section 5: the timer watches the oldest segment.
        self.arm(now, at == 0 || self.rto_deadline == Instant::FAR_FUTURE, path);
        self.board.queue.get(at)
    }

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
}

impl Sender {
    /// Whether samples are wanted from here on. Where they end while something is repaired, the threshold is not one that a
    /// window may have: the controller that takes over is asked for another, and the repair begins anew with it.
    pub(crate) fn begin_samples(&mut self, on: bool, path: usize, congestion: &mut Congestion) {
        if on == self.is_sampled() {
            return;
        }
        self.board.rates = on.then(Box::<Rates>::default);
        if !on && self.in_recovery() && congestion.paths[path].active {
            congestion.on_loss(path, self.last_sent.unwrap_or(Instant::ZERO));
            self.begin_proportional_rate();
        }
    }

    /// Whether samples are wanted: recovery leaves the window alone then.
    #[inline]
    pub(crate) fn is_sampled(&self) -> bool {
        self.board.rates.is_some()
    }

    /// `[start, end)` has left, new or again.
    #[inline(always)]
    pub(crate) fn note_sent(&mut self, now: Instant, start: u64, end: u64, again: bool) {
        if !self.is_sampled() {
            return;
        }
        let in_flight = self.in_flight();
        match &mut self.board.rates {
            None => {}
            Some(rates) if again => rates.on_repeated(now, start, end, in_flight),
            Some(rates) => rates.on_sent(now, start, end, in_flight),
        }
    }

    /// Something comes that may tell what has arrived or is lost.
    #[inline]
    pub(crate) fn begin_sample(&mut self, now: Instant) {
        if let Some(rates) = &mut self.board.rates {
            rates.begin(now);
        }
    }

    /// Tells the controller of each segment that was found lost.
    #[inline(never)]
    pub(crate) fn tell_losses(&mut self, path: usize, congestion: &mut Congestion) {
        let Some(losses) = self.board.rates.as_mut().and_then(|rates| rates.take_losses()) else { return };
        let selective = self.sack;
        losses.iter().for_each(|lost| congestion.on_lost(path, &Lost { selective, ..*lost }));
        if let Some(rates) = &mut self.board.rates {
            rates.return_losses(losses);
        }
    }

    /// Tells the controller what the acknowledgement said, and asks it for window and pace.
    #[inline(never)]
    pub(crate) fn tell_sample(&mut self, is_cwnd_limited: u64, path: usize, congestion: &mut Congestion) {
        self.tell_losses(path, congestion);
        let state = &congestion.paths[path];
        let Some(rates) = &mut self.board.rates else { return };
        let mut sample = rates.sample(state.min_rtt);
        (sample.in_flight_before, sample.selective) = (is_cwnd_limited, self.sack);
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

    /// There is less to send than the window has room for: the draft's `CheckIfApplicationLimited`.
    pub(crate) fn note_idle_window(&mut self, path: &Path) {
        let room = self.in_flight() + path.mss <= path.cwnd;
        if room && self.board.lost <= self.board.retransmitted {
            self.note_limited();
        }
    }

    /// Whether what leaves now says little of the path, because there was less to send; so it is where no samples are taken.
    pub(crate) fn is_limited(&self) -> bool {
        self.board.rates.as_ref().is_none_or(|rates| rates.is_limited())
    }

    /// Nothing more goes, and the window would not let it: the draft's `C.is_cwnd_limited`.
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

/// The most that was under way in a round.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundUse {
    full: bool,
    /// Bytes sent and not acknowledged.
    most: u64,
    /// The round is over when more than this offset is acknowledged.
    end: u64,
}

impl RoundUse {
    /// Data left: so much is sent and not acknowledged, up to `next`, and the window is `full` or not.
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

/// Reductions down to the smallest window, without one acknowledgement between that spoke of no mark since the beginning,
/// after which the path is believed to mark everything: marks say nothing then. Our own number; RFC 9768 section 3.2.2.3 has the
/// sender look for such paths, and leaves the rule to it.
const MEANINGLESS: u8 = 8;

impl Sender {
    /// An acknowledgement came on a subflow with marks; `delivered` bytes are new, in order or not. `over`: it ends a recovery, and
    /// what said CWR is not acknowledged yet.
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
        // In recovery, and until what was sent before a reduction is acknowledged, it is the same congestion (RFC 3168 section
        // 6.1.2).
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
        // A reduction that marks asked for is not taken back.
        self.spurious.forget();
        self.marks.on_reduced();
        self.state = Recovery::Cwr { point: self.board.next };
        self.marks.reductions += 1;
        congestion.on_mark(path, ack.now);
        // At once, not by and by as after a loss (RFC 6937): what left meanwhile would meet the queue that was there and be
        // marked for it, the segment that says CWR first of all.
        let state = &mut congestion.paths[path];
        state.cwnd = state.cwnd.min(state.ssthresh);
    }
}

#[cfg(test)]
mod tests;
