//! The sending half of a subflow: acknowledgements in, losses and permission to send out.
//!
//! Owns the scoreboard, the round-trip estimate and the state of recovery: RFC 5681 with RACK-TLP
//! (RFC 8985) or NewReno (RFC 6582), PRR (RFC 6937), RTO (RFC 6298). The window itself belongs to
//! the connection's [`Congestion`], because siblings may be coupled. `detect` says what arrived and what
//! is lost, `timers` what silence means.

mod detect;
mod timers;

use bytes::Bytes;
use mptcp_clock::{Duration, Instant};

use super::rack::Rack;
use super::receiver::Range;
use super::rtt::RttEstimator;
use super::scoreboard::{Scoreboard, Sent};
use crate::congestion::{Acked, Congestion};

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
    /// When the segment that the peer answers was sent, by its timestamp echo.
    pub echo: Option<Instant>,
    /// No payload, no window change: counts as a duplicate if it acknowledges nothing.
    pub bare: bool,
}

#[derive(Debug)]
pub(crate) struct Sender {
    pub board: Scoreboard,
    pub rtt: RttEstimator,
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
    rto_deadline: Instant,
    probe_deadline: Instant,
    reorder_deadline: Instant,
    pub retransmissions: u64,
    pub retransmitted_bytes: u64,
    pub timeouts: u64,
    pub recoveries: u64,
}

impl Sender {
    /// With a scoreboard of `most` segments: of large ones no more are made of parts.
    pub(crate) fn new(min_rto: Duration, most: usize) -> Self {
        Self {
            // The SYN takes offset 0.
            board: Scoreboard::starting_at(1),
            rtt: RttEstimator::new(min_rto),
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
            rto_deadline: Instant::FAR_FUTURE,
            probe_deadline: Instant::FAR_FUTURE,
            reorder_deadline: Instant::FAR_FUTURE,
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

    pub(crate) fn in_flight(&self) -> u64 {
        self.board.in_flight()
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

    /// Sends new data: the caller has checked the window.
    pub(crate) fn send(&mut self, now: Instant, data: u64, payload: Bytes, fin: bool) {
        let start = self.board.next;
        let sent = Sent {
            start,
            data,
            payload,
            whole: None,
            sent_at: now,
            first_sent_at: now,
            fin,
            sacked: false,
            lost: false,
            resent: false,
            ever_resent: false,
        };
        self.prr_out += sent.length();
        self.board.push(sent);
        if std::mem::take(&mut self.probe_wanted) {
            self.probe = Some((self.board.next, false));
        }
        self.arm(now, self.rto_deadline == Instant::FAR_FUTURE);
    }

    /// The next segment to retransmit, if the window allows it. Of a large one, which the device cuts into
    /// frames of `mss` bytes, as many frames as the window has room for.
    pub(crate) fn retransmit(&mut self, now: Instant, cwnd: u64, mss: u64) -> Option<&Sent> {
        let room = cwnd.saturating_sub(self.in_flight());
        let at = if self.board.lost > 0 && room > 0 { self.board.next_lost() } else { None };
        let at = match at {
            Some(at) => {
                self.board.split(at, (room / mss).max(1) * mss);
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
        let length = self.board.queue[at].length();
        self.prr_out += length;
        self.retransmissions += 1;
        self.retransmitted_bytes += length;
        // RFC 6298 section 5: the timer watches the oldest segment.
        self.arm(now, at == 0 || self.rto_deadline == Instant::FAR_FUTURE);
        self.board.queue.get(at)
    }

    /// Segments were seen to overtake others; needs RACK.
    pub(crate) fn reordering_seen(&self) -> bool {
        self.rack.as_ref().is_some_and(|rack| rack.reordering_seen)
    }

    /// Whether a tail loss probe may take one segment of new data beyond the window.
    pub(crate) fn wants_probe(&self) -> bool {
        self.probe_wanted
    }

    /// Processes an acknowledgement; returns the bytes that were acknowledged in order.
    pub(crate) fn on_ack(&mut self, ack: Ack<'_>, path: usize, congestion: &mut Congestion) -> u64 {
        let now = ack.now;
        let una = self.board.una;
        let flight_before = self.in_flight();
        let delivered_before = una + self.board.sacked;
        if let Some(rack) = &mut self.rack {
            rack.on_ack();
        }
        let mss = congestion.paths[path].mss;
        let duplicate_report = self.take_blocks(&ack, mss);
        let (advanced, sample) = self.take_cumulative(&ack);
        if let Some(rtt) = sample {
            self.rtt.sample(rtt);
            let state = &mut congestion.paths[path];
            state.srtt = self.rtt.srtt();
            state.rttvar = self.rtt.rttvar();
            state.latest_rtt = Some(rtt);
            state.min_rtt = self.rtt.min();
        }
        if advanced > 0 {
            self.duplicates = 0;
            self.rtt.reset_backoff();
        }
        if advanced > 0 {
            congestion.paths[path].unacked = self.board.next - self.board.una;
            congestion.on_progress(path, Acked { now, bytes: advanced });
        }
        self.end_probe(&ack, advanced, path, congestion, duplicate_report);
        let lost_before = self.board.lost;
        let newly_lost = self.detect(&ack, advanced, mss);
        let delivered = (self.board.una + self.board.sacked).saturating_sub(delivered_before);
        self.leave_recovery(path, congestion);
        if newly_lost && matches!(self.state, Recovery::Open | Recovery::Disorder) {
            self.enter_recovery(now, path, congestion);
        }
        if self.in_recovery() {
            let progress = advanced > 0 && self.board.lost <= lost_before;
            // RFC 6582 section 3.2 step 3: a partial acknowledgement sends the next hole at once.
            let hole = newly_lost && !self.sack;
            self.proportional_rate(delivered, progress, hole, path, congestion);
        } else {
            if matches!(self.state, Recovery::Open | Recovery::Disorder) {
                let disorder = self.board.sacked > 0 || self.duplicates > 0;
                self.state = if disorder { Recovery::Disorder } else { Recovery::Open };
            }
            let state = &congestion.paths[path];
            // RFC 9293 says nothing, RFC 7661 and Linux do: a window that is not used does not grow.
            let limited = if state.in_slow_start() {
                state.cwnd < 2 * flight_before
            } else {
                flight_before + state.mss > state.cwnd
            };
            // What a block reported while the window was reduced has had its say: the acknowledgement
            // that ends a recovery brings what is new only (as Linux counts).
            let bytes = advanced.min(delivered);
            if bytes > 0 && (limited || self.in_loss()) {
                congestion.on_ack(path, Acked { now, bytes });
            }
        }
        if advanced > 0 || delivered > 0 {
            self.arm(now, true);
        }
        advanced
    }

    fn enter_recovery(&mut self, now: Instant, path: usize, congestion: &mut Congestion) {
        self.state = Recovery::Recovery { point: self.board.next };
        self.recoveries += 1;
        self.prr_delivered = 0;
        self.prr_out = 0;
        // RFC 6937 section 3: RecoverFS.
        self.prr_start = (self.board.next - self.board.una).max(1);
        congestion.on_loss(path, now);
    }

    fn leave_recovery(&mut self, path: usize, congestion: &mut Congestion) {
        let (point, fast) = match self.state {
            Recovery::Recovery { point } => (point, true),
            Recovery::Loss { point } => (point, false),
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
        if fast {
            state.cwnd = state.ssthresh;
        }
    }

    /// RFC 6937 section 3, with slow start reduction bound while recovery makes progress.
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

    /// RFC 8985 section 7.4.2: what the answers to the probe say. That all is acknowledged does not
    /// tell yet: the original may have been slow.
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
                congestion.paths[path].cwnd = ssthresh;
            }
        }
    }
}

#[cfg(test)]
mod tests;
