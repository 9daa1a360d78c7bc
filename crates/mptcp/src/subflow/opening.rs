//! A subflow opens: what the SYNs agree on, and whether they are the peer's.

use mptcp_clock::Instant;
use mptcp_wire::Segment;

use super::{DEFAULT_MSS, State, Subflow};
use crate::config::Config;

impl Subflow {
    /// Takes what a SYN or SYN/ACK offers; the scale is used only when both sides sent one
    /// (RFC 7323 section 2.2), timestamps and SACK likewise.
    pub(crate) fn negotiate(&mut self, segment: &Segment, config: &Config, scale: u8) {
        let options = &segment.options;
        self.irs = segment.sequence;
        self.receiver.synchronised();
        self.last_ack_sent = 1;
        (self.send_scale, self.receive_scale, self.timestamps) = (0, 0, false);
        self.peer_mss = options.mss.unwrap_or(DEFAULT_MSS).max(64);
        if let Some(peer_scale) = options.window_scale {
            // RFC 7323 section 2.3: larger shifts count as 14.
            self.send_scale = peer_scale.min(14);
            self.receive_scale = scale;
        }
        self.sack = config.sack && options.sack_permitted;
        if let Some(timestamps) = options.timestamps.filter(|_| config.timestamps) {
            self.timestamps = true;
            self.recent_timestamp = timestamps.value;
        }
    }

    /// Whether a segment acknowledges our SYN, or a part of its data too (RFC 7413 section 4.2.2): nobody can who has not
    /// seen it.
    pub(crate) fn is_answered_by(&self, segment: &Segment) -> bool {
        let sent = self.syn_data.len() as i32;
        segment.flags.ack() && (0..=sent).contains(&segment.acknowledgment.offset_from(self.iss + 1))
    }

    /// Whether a SYN/ACK shows that the SYN that we took for one that crossed ours (RFC 9293 section 3.5) was not the peer's:
    /// it has another sequence, or answers another SYN than ours.
    pub(crate) fn exposes_stranger(&self, segment: &Segment) -> bool {
        let answer = segment.flags.syn() && segment.flags.ack() && !segment.flags.rst();
        let ours = segment.sequence == self.irs && self.is_answered_by(segment);
        self.opened_here && answer && !ours
    }

    /// Both SYNs are acknowledged.
    pub(crate) fn establish(&mut self, now: Instant, rack: bool) {
        self.state = State::Established;
        self.handshake_deadline = Instant::FAR_FUTURE;
        self.control = None;
        self.sender.synchronised(self.first_sent, self.sack, rack);
        if self.handshake_attempts == 1 {
            self.sender.rtt.sample(now.since(self.handshake_sent));
        }
    }
}
