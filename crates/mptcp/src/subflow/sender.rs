//! The sending half of a subflow: acknowledgements in, losses and permission to send out.
//!
//! Owns the scoreboard, the timeouts and the state of recovery: RFC 5681 with RACK-TLP
//! (RFC 8985) or NewReno (RFC 6582), PRR (RFC 6937), RTO (RFC 6298). The window and the round-trip time belong to
//! the connection's [`Congestion`], because siblings may be coupled. `detect` says what arrived and what
//! is lost, `timers` what silence means.

mod ack;
mod detect;
mod echoes;
mod marks;
mod samples;
mod send;
mod sizes;
mod timers;
mod undo;
mod usage;

use mptcp_clock::{Duration, Instant};

use super::clock::TimestampEcho;
use super::rack::Rack;
use super::receiver::Range;
use super::rtt::RetransmissionTimeout;
use super::scoreboard::Scoreboard;
use super::size_probe::SizeProbe;
use super::spurious::Spurious;
use crate::config::SpuriousLoss;
use crate::congestion::Congestion;
use crate::observe::Detection;
use marks::Marks;
use usage::RoundUse;

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
    pub marks: Marks,
    /// A segment larger than what is known to pass.
    pub size_probe: SizeProbe,
    /// What was under way when the window last had its chance to be filled, and which chance that was.
    filled: (u64, u64),
    /// The same by rounds, as Linux counts.
    round: Option<RoundUse>,
    /// When data left last.
    pub last_sent: Option<Instant>,
    /// Marks are heeded, or a larger segment is out: acknowledgements say more than usual.
    watchful: bool,
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
            marks: Marks::default(),
            size_probe: SizeProbe::None,
            filled: (u64::MAX, 0),
            round: None,
            last_sent: None,
            watchful: false,
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
        self.watch();
    }

    /// Says anew whether acknowledgements say more than usual.
    fn watch(&mut self) {
        self.watchful = self.marks.is_on() || self.size_probe != SizeProbe::None;
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.board.in_flight()
    }

    /// What was under way before the acknowledgement at hand and those that came together with it: what they free could not be
    /// used in between, and the window was full all the same.
    fn filled(&mut self, polls: u64) -> u64 {
        if self.filled.0 != polls {
            self.filled = (polls, self.in_flight());
        }
        self.filled.1
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
        self.filled.0 = u64::MAX;
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
}

#[cfg(test)]
mod tests;
