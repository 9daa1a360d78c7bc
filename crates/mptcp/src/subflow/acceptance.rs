//! The acceptance test for segments of a synchronised subflow (RFC 9293 section 3.10.7.4, RFC 5961, RFC 7323).
//!
//! It keeps out old duplicates and forged segments. Owns the decision. Never changes any state but the rate
//! limits of answers.

use mptcp_clock::Instant;
use mptcp_wire::Segment;

use crate::subflow::{State, Subflow};

/// The decision about a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Process the segment, which begins at `start` and acknowledges `ack`.
    Accept { start: u64, ack: u64 },
    /// Acknowledge and drop the segment.
    Acknowledge,
    /// Drop the segment.
    Drop,
    /// The peer reset the subflow.
    Reset,
}

impl Subflow {
    /// Tests a segment. `window` is the largest receive window that may have been advertised. `peer_window`
    /// is the largest window that the peer has advertised (MAX.SND.WND). Both windows are in bytes.
    #[inline(always)]
    pub(crate) fn check(
        &mut self,
        now: Instant,
        segment: &Segment,
        window: u64,
        peer_window: u64,
    ) -> Verdict {
        let flags = segment.flags;
        let Some(start) = self.receive_offset(segment.sequence) else {
            // RFC 5961 section 3.2: a reset outside the window is dropped silently.
            return if flags.rst() { Verdict::Drop } else { self.challenge(now) };
        };
        let next = self.receiver.next();
        if let Some(timestamps) =
            segment.options.timestamps.filter(|_| self.negotiated.timestamps.on && !flags.rst())
            && timestamps.value.wrapping_sub(self.negotiated.timestamps.recent) >= 1 << 31
            && !self.timestamp_expired(now)
        {
            // RFC 7323 section 5.3 R1.
            return self.challenge_unless_idle(now, segment);
        }
        let end = || start + u64::from(segment.sequence_length());
        // The segment at the next expected offset is acceptable even if the window is closed.
        let in_window = start == next || end() >= next && start <= next + window;
        if flags.rst() {
            // RFC 5961 section 3.2.
            return match (start == next, in_window && start >= next) {
                (true, _) => Verdict::Reset,
                (false, true) => self.challenge(now),
                (false, false) => Verdict::Drop,
            };
        }
        if flags.syn() {
            if flags.ack() && self.state == State::SynReceived && self.handshake.is_active_open {
                // RFC 9293 section 3.5: in a simultaneous open, the peer's SYN/ACK acknowledges this host's SYN.
                let ack = self.send_offset(segment.acknowledgment).filter(|&ack| ack == 1);
                return match ack {
                    Some(ack) => Verdict::Accept { start: next, ack },
                    None => self.challenge(now),
                };
            }
            // RFC 5961 section 4.2. A repeated SYN/ACK means that the third ACK was lost.
            let is_repeated_syn_ack = flags.ack() && segment.sequence == self.handshake.irs;
            return if is_repeated_syn_ack { self.repeat(now) } else { self.challenge(now) };
        }
        if !in_window {
            // An empty segment just before the window is a probe (RFC 9293 sections 3.8.4 and 3.8.6.1). Other
            // empty segments may be answers themselves, and two hosts could answer each other forever.
            let wants_answer = end() > start || start + 1 == next;
            return if wants_answer { self.repeat(now) } else { self.challenge(now) };
        }
        if !flags.ack() {
            return Verdict::Drop;
        }
        let board = &self.sender.board;
        let una = board.una;
        // RFC 5961 section 5.2: the acknowledgement must be neither above the data sent nor older than the largest
        // window.
        match self.send_offset(segment.acknowledgment) {
            // RFC 9293 section 3.10.7.4: in SYN-RECEIVED the handshake refuses the segment.
            Some(ack) if ack > board.next && self.state == State::SynReceived => {
                if self.pending_control.reply_limits.challenges.take(now) {
                    Verdict::Accept { start, ack }
                } else {
                    Verdict::Drop
                }
            }
            Some(ack) if ack > board.next => self.challenge(now),
            Some(ack) if ack + peer_window < una => self.challenge(now),
            Some(ack) => Verdict::Accept { start, ack },
            None => self.challenge(now),
        }
    }

    #[cold]
    fn challenge(&mut self, now: Instant) -> Verdict {
        if self.pending_control.reply_limits.challenges.take(now) {
            Verdict::Acknowledge
        } else {
            Verdict::Drop
        }
    }

    /// Answers a repeated segment within the rate limit, because the acknowledgement may have been lost.
    #[cold]
    fn repeat(&mut self, now: Instant) -> Verdict {
        if self.pending_control.reply_limits.repetitions.take(now) {
            Verdict::Acknowledge
        } else {
            Verdict::Drop
        }
    }

    #[cold]
    fn challenge_unless_idle(&mut self, now: Instant, segment: &Segment) -> Verdict {
        if segment.payload.is_empty() && self.state == State::TimeWait {
            return Verdict::Drop;
        }
        if segment.payload.is_empty() { self.challenge(now) } else { self.repeat(now) }
    }
}
