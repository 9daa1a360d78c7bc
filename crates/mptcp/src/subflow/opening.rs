//! A subflow opens: what the SYNs agree on, and whether they are the peer's.

use mptcp_clock::Instant;
use mptcp_wire::{Options, Segment};

use super::parts::{DEFAULT_MSS, DEFAULT_MSS_6};
use super::{Control, State, Subflow};
use crate::config::Config;
use crate::congestion::PathState;

/// Longest option that a SYN/ACK of MPTCP has beside: MP_CAPABLE with a key, bytes.
const CAPABLE_SPACE: usize = 12;
/// The other options of a SYN/ACK with timestamps: MSS, SACK and timestamps, window scale.
const COMMON_SPACE: usize = 20;

impl Subflow {
    /// Takes what a SYN or SYN/ACK offers; the scale is used only when both sides sent one
    /// (RFC 7323 section 2.2), timestamps and SACK likewise.
    pub(crate) fn negotiate(&mut self, segment: &Segment, config: &Config, scale: u8) {
        let options = &segment.options;
        self.opening.irs = segment.sequence;
        self.receiver.synchronised();
        self.window.last_ack_sent = 1;
        (self.agreed.send_scale, self.agreed.receive_scale, self.agreed.timestamps.on) = (0, 0, false);
        let default = if segment.source.is_ipv4() { DEFAULT_MSS } else { DEFAULT_MSS_6 };
        self.agreed.peer_mss = options.mss.unwrap_or(default).max(64);
        if let Some(peer_scale) = options.window_scale {
            // RFC 7323 section 2.3: larger shifts count as 14.
            self.agreed.send_scale = peer_scale.min(14);
            self.agreed.receive_scale = scale;
        }
        self.agreed.sack = config.sack && options.sack_permitted;
        self.agree_on_marks(segment, config.ecn.unwrap_or_default());
        if let Some(timestamps) = options.timestamps.filter(|_| config.timestamps) {
            self.agreed.timestamps.on = true;
            self.agreed.timestamps.recent = timestamps.value;
        }
    }

    /// Whether a segment acknowledges our SYN, or a part of its data too (RFC 7413 section 4.2.2): nobody can who has not
    /// seen it.
    pub(crate) fn is_answered_by(&self, segment: &Segment) -> bool {
        let sent = self.opening.syn_data.len() as i32;
        segment.flags.ack() && (0..=sent).contains(&segment.acknowledgment.offset_from(self.opening.iss + 1))
    }

    /// Whether a SYN/ACK shows that the SYN that we took for one that crossed ours (RFC 9293 section 3.5) was not the peer's:
    /// it has another sequence, or answers another SYN than ours.
    pub(crate) fn exposes_stranger(&self, segment: &Segment) -> bool {
        let answer = segment.flags.syn() && segment.flags.ack() && !segment.flags.rst();
        let ours = segment.sequence == self.opening.irs && self.is_answered_by(segment);
        self.opening.opened_here && answer && !ours
    }

    /// A segment came in SYN-RECEIVED that is not taken. Its SYN once more wants the SYN/ACK once more, unless that waits
    /// anyway; everything else is answered by an acknowledgement (RFC 9293 section 3.10.7.4).
    #[cold]
    pub(crate) fn answer_in_handshake(&mut self, segment: &Segment) {
        let flags = segment.flags;
        if flags.syn() && !flags.ack() && segment.sequence == self.opening.irs {
            self.reconsider_marks(segment);
            self.owed.control = Some(Control::SynAck);
        } else {
            self.owed.control.get_or_insert(Control::Acknowledge);
        }
    }

    /// Both SYNs are acknowledged; how long that took goes to its path.
    pub(crate) fn establish(&mut self, now: Instant, answer: &Segment, rack: bool, path: &mut PathState) {
        self.state = State::Established;
        self.watch.rare.set_opening(Instant::FAR_FUTURE);
        self.owed.control = None;
        self.receiver.opened(now);
        self.sender.synchronised(self.opening.first_sent, self.agreed.sack, rack);
        // RFC 6298 section 3: timestamps tell which SYN was answered when there were several.
        let once = (self.opening.attempts == 1).then_some(self.opening.sent_at);
        match once.or_else(|| self.echo_time(answer, now)) {
            Some(sent) => path.sample(now.since(sent)),
            None => self.sender.timeout.be_careful(),
        }
    }

    /// Server: the data of the SYN that was accepted counts as received.
    pub(crate) fn take_syn_data(&mut self, syn: &Segment, multipath: bool) {
        let length = self.opening.syn_data.len() as u64;
        self.opening.first_received = 1 + length;
        self.receiver.skip(length);
        let head = if self.opening.cookie_experimental { 4 } else { 2 };
        let cookie = self.opening.cookie.as_ref();
        let cookie = cookie.map_or(0, |cookie| (head + cookie.len()).next_multiple_of(4));
        let capable = if multipath { CAPABLE_SPACE } else { 0 };
        if syn.options.timestamps.is_some() && COMMON_SPACE + cookie + capable > Options::SPACE {
            // As Linux: of all options, timestamps make room.
            self.agreed.timestamps.on = false;
        }
    }
}
