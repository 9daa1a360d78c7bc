//! The start and end of a subflow: options of the SYNs, establishment, FINs (RFC 9293 section 3.6), TIME-WAIT.
//!
//! Owns the transitions of the TCP state. Never sends a segment, and never decides that a subflow has to end.

use bytes::Bytes;
use mptcp_clock::{Duration, Instant};
use mptcp_wire::{Options, Segment};

use crate::config::Config;
use crate::congestion::Path;
use crate::event::SubflowCloseReason;
use crate::subflow::state::{DEFAULT_MSS, DEFAULT_MSS_6, State};
use crate::subflow::{Control, Subflow};

/// The size of MP_CAPABLE in a SYN/ACK, bytes: the longest MPTCP option there.
const CAPABLE_SPACE: usize = 12;
/// The size of the other options of a SYN/ACK, bytes: MSS, SACK and timestamps, window scale.
const COMMON_SPACE: usize = 20;

impl Subflow {
    /// Processes the options of a SYN or SYN/ACK. Window scale, timestamps and SACK apply only if both hosts sent them
    /// (RFC 7323 section 2.2).
    pub(crate) fn negotiate(&mut self, segment: &Segment, config: &Config, scale: u8) {
        let options = &segment.options;
        self.handshake.irs = segment.sequence;
        self.receiver.synchronised();
        self.window.last_ack_sent = 1;
        (self.negotiated.send_scale, self.negotiated.receive_scale, self.negotiated.timestamps.on) =
            (0, 0, false);
        let default = if segment.source.is_ipv4() { DEFAULT_MSS } else { DEFAULT_MSS_6 };
        self.negotiated.peer_mss = options.mss.unwrap_or(default).max(64);
        if let Some(peer_scale) = options.window_scale {
            // RFC 7323 section 2.3: larger shifts count as 14.
            self.negotiated.send_scale = peer_scale.min(14);
            self.negotiated.receive_scale = scale;
        }
        self.negotiated.sack = config.sack && options.sack_permitted;
        self.negotiate_ecn(segment, config.ecn.unwrap_or_default());
        if let Some(timestamps) = options.timestamps.filter(|_| config.timestamps) {
            self.negotiated.timestamps.on = true;
            self.negotiated.timestamps.recent = timestamps.value;
        }
    }

    /// Whether a segment acknowledges this host's SYN, and possibly data in that SYN (RFC 7413 section
    /// 4.2.2). An off-path host cannot know this acknowledgement number.
    pub(crate) fn is_answered_by(&self, segment: &Segment) -> bool {
        let sent = self.handshake.syn_data.len() as i32;
        segment.flags.ack()
            && (0..=sent).contains(&segment.acknowledgment.offset_from(self.handshake.iss + 1))
    }

    /// Whether a SYN/ACK shows that the SYN of a simultaneous open (RFC 9293 section 3.5) was forged: the
    /// SYN/ACK has another sequence number, or acknowledges another SYN.
    pub(crate) fn contradicts_simultaneous_open(&self, segment: &Segment) -> bool {
        let answer = segment.flags.syn() && segment.flags.ack() && !segment.flags.rst();
        let matches = segment.sequence == self.handshake.irs && self.is_answered_by(segment);
        self.handshake.is_active_open && answer && !matches
    }

    /// Answers an unacceptable segment in SYN-RECEIVED: a repeated SYN with the SYN/ACK, any other with an
    /// acknowledgement (RFC 9293 section 3.10.7.4).
    #[cold]
    pub(crate) fn answer_in_handshake(&mut self, segment: &Segment) {
        let flags = segment.flags;
        if flags.syn() && !flags.ack() && segment.sequence == self.handshake.irs {
            self.reconsider_marks(segment);
            self.pending_control.control = Some(Control::SynAck);
        } else {
            self.pending_control.control.get_or_insert(Control::Acknowledge);
        }
    }

    /// Enters ESTABLISHED, and takes an RTT sample from the handshake.
    pub(crate) fn establish(&mut self, now: Instant, answer: &Segment, rack: bool, path: &mut Path) {
        self.state = State::Established;
        self.liveness.slow_timers.set_handshake(Instant::FAR_FUTURE);
        self.pending_control.control = None;
        self.receiver.opened(now);
        self.sender.synchronised(self.handshake.first_sent, self.negotiated.sack, rack);
        // RFC 6298 section 3: after a retransmission, only a timestamp identifies the answered SYN.
        let sent_once = (self.handshake.attempts == 1).then_some(self.handshake.sent_at);
        match sent_once.or_else(|| self.echo_time(answer, now)) {
            Some(sent) => path.sample(now.since(sent)),
            None => self.sender.timeout.use_fallback_rto(),
        }
    }

    /// Server: counts the data of an accepted SYN as received.
    pub(crate) fn take_syn_data(&mut self, syn: &Segment, multipath: bool) {
        let length = self.handshake.syn_data.len() as u64;
        self.handshake.first_received = 1 + length;
        self.receiver.skip(length);
        let head = if self.handshake.cookie_experimental { 4 } else { 2 };
        let cookie = self.handshake.cookie.as_ref();
        let cookie = cookie.map_or(0, |cookie| (head + cookie.len()).next_multiple_of(4));
        let capable = if multipath { CAPABLE_SPACE } else { 0 };
        if syn.options.timestamps.is_some() && COMMON_SPACE + cookie + capable > Options::SPACE {
            // If the options do not fit, timestamps are dropped, as in Linux.
            self.negotiated.timestamps.on = false;
        }
    }
}

/// The duration of TIME-WAIT: Linux's value (RFC 9293 section 3.4.2 demands two maximum segment lifetimes).
const TIME_WAIT: Duration = Duration::from_secs(60);
/// The maximum wait for the peer's FIN after the streams have ended: Linux's `tcp_fin_timeout`.
pub(crate) const LINGER: Duration = Duration::from_secs(60);

impl Subflow {
    pub(crate) fn fin_sent(&mut self) {
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            other => other,
        };
    }

    /// Notes the acknowledgement of this host's FIN. Returns whether the subflow is finished.
    #[cold]
    pub(crate) fn fin_acknowledged(&mut self, now: Instant, multipath: bool) -> bool {
        match self.state {
            State::LastAck => return true,
            State::FinWait1 => {
                self.state = State::FinWait2;
                if multipath {
                    // Both streams have ended, and only the peer's FIN is missing.
                    self.liveness.slow_timers.set_handshake(now + LINGER);
                }
            }
            State::Closing => self.enter_time_wait(now),
            _ => {}
        }
        false
    }

    /// Notes the peer's FIN after all data before it.
    #[cold]
    pub(crate) fn fin_received(&mut self, now: Instant) {
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now),
            _ => {}
        }
    }

    fn enter_time_wait(&mut self, now: Instant) {
        self.state = State::TimeWait;
        self.liveness.slow_timers.set_handshake(now + TIME_WAIT);
    }

    /// Restarts TIME-WAIT after a repeated FIN, because the acknowledgement was lost and may be lost again (RFC 9293
    /// section 3.10.7.4).
    #[cold]
    pub(crate) fn restart_time_wait(&mut self, now: Instant) {
        if self.state == State::TimeWait {
            self.enter_time_wait(now);
        }
    }

    /// Whether a SYN may replace this subflow in TIME-WAIT (RFC 9293 section 3.10.7.4, RFC 6191): the
    /// timestamp or sequence number of the SYN is newer. Returns the initial sequence number of the new
    /// connection, which is above all old ones; `None` if the SYN may not.
    pub(crate) fn may_be_replaced(&self, syn: &Segment) -> Option<u32> {
        let newer = match syn.options.timestamps.filter(|_| self.negotiated.timestamps.on) {
            Some(timestamps) if timestamps.value != self.negotiated.timestamps.recent => {
                timestamps.value.wrapping_sub(self.negotiated.timestamps.recent) < 1 << 31
            }
            _ => syn.sequence.offset_from(self.handshake.irs + self.receiver.next() as u32) > 0,
        };
        let next = self.sequence_at(self.sender.board.next) + (65_535 + 2);
        (self.state == State::TimeWait && newer).then(|| next.value())
    }

    pub(crate) fn close(&mut self, now: Instant, why: SubflowCloseReason) {
        if self.state != State::Closed {
            self.state = State::Closed;
            self.record.closed_by.get_or_insert(why);
            self.record.closed_at.get_or_insert(now);
            self.liveness.slow_timers.set_handshake(Instant::FAR_FUTURE);
            self.liveness.slow_timers.set_path_probe(Instant::FAR_FUTURE);
            self.sender.board.clear();
            self.backlog.clear();
            self.receiver.clear();
            self.mapper.clear();
            self.handshake.syn_data = Bytes::new();
        }
    }
}
