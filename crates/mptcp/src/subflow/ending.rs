//! A subflow ends: FINs (RFC 9293 section 3.6), TIME-WAIT, and all at once.

use bytes::Bytes;
use mptcp_clock::{Duration, Instant};
use mptcp_wire::Segment;

use super::Subflow;
use super::state::{State, SubflowCloseReason};

/// How long TIME-WAIT lasts: Linux's minute (RFC 9293 section 3.4.2 says two maximum lifetimes).
const TIME_WAIT: Duration = Duration::from_secs(60);
/// How long a FIN of the peer may take when nothing else is expected: Linux's `tcp_fin_timeout`.
pub(crate) const LINGER: Duration = Duration::from_secs(60);

impl Subflow {
    /// Our FIN left.
    pub(crate) fn fin_sent(&mut self) {
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            other => other,
        };
    }

    /// Our FIN was acknowledged. Returns whether that was the last word.
    #[cold]
    pub(crate) fn fin_acknowledged(&mut self, now: Instant, multipath: bool) -> bool {
        match self.state {
            State::LastAck => return true,
            State::FinWait1 => {
                self.state = State::FinWait2;
                if multipath {
                    // Both streams are over: only the peer's FIN is missing.
                    self.watch.rare.set_opening(now + LINGER);
                }
            }
            State::Closing => self.enter_time_wait(now),
            _ => {}
        }
        false
    }

    /// The peer's FIN is here, and all before it.
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
        self.watch.rare.set_opening(now + TIME_WAIT);
    }

    /// The peer's FIN came again in TIME-WAIT: our acknowledgement was lost, and the next one may be too (RFC 9293 section
    /// 3.10.7.4).
    #[cold]
    pub(crate) fn wait_anew(&mut self, now: Instant) {
        if self.state == State::TimeWait {
            self.enter_time_wait(now);
        }
    }

    /// Whether a SYN may begin a new connection in place of this one, which is over (RFC 9293 section 3.10.7.4, RFC 6191): its
    /// timestamp or its sequence number is newer than all that came. Our own numbers have to go on behind the old ones.
    pub(crate) fn gives_way(&self, syn: &Segment) -> Option<u32> {
        let newer = match syn.options.timestamps.filter(|_| self.agreed.timestamps.on) {
            Some(timestamps) if timestamps.value != self.agreed.timestamps.recent => {
                timestamps.value.wrapping_sub(self.agreed.timestamps.recent) < 1 << 31
            }
            _ => syn.sequence.offset_from(self.opening.irs + self.receiver.next() as u32) > 0,
        };
        let next = self.sequence_at(self.sender.board.next) + (65_535 + 2);
        (self.state == State::TimeWait && newer).then(|| next.value())
    }

    pub(crate) fn close(&mut self, now: Instant, why: SubflowCloseReason) {
        if self.state != State::Closed {
            self.state = State::Closed;
            self.record.closed_by.get_or_insert(why);
            self.record.closed_at.get_or_insert(now);
            self.watch.rare.set_opening(Instant::FAR_FUTURE);
            self.watch.rare.set_probe(Instant::FAR_FUTURE);
            self.sender.board.clear();
            self.backlog.clear();
            self.receiver.clear();
            self.mapper.clear();
            self.opening.syn_data = Bytes::new();
        }
    }
}
