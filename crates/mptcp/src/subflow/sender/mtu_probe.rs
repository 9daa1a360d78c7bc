//! The result of a path MTU probe (RFC 4821 sections 7.6 and 7.7).
//!
//! A probe is a data segment above the confirmed path MTU. If it alone is lost, it was too large, and the
//! loss does not count as congestion. Owns this decision. `path_mtu` chooses the size and time of a probe.

use crate::subflow::mtu_probe::MtuProbe;
use crate::subflow::sender::{Recovery, Sender};

impl Sender {
    /// Examines losses while a probe is in flight. Returns whether they count as congestion.
    #[cold]
    pub(crate) fn check_probe_lost(&mut self) -> bool {
        let MtuProbe::Sent { start, end, size } = self.mtu_probe else { return true };
        let at = self.board.position(start);
        let lost = self.board.queue.get(at).is_some_and(|sent| sent.start == start && sent.lost);
        if !lost {
            return true;
        }
        // RFC 4821 section 7.6.2: a probe lost alone was too large. With other losses, it has no result.
        let alone = self.board.lost == end - start;
        self.mtu_probe = if alone { MtuProbe::Lost { size } } else { MtuProbe::None };
        if let Some(rates) = self.board.rates.as_mut().filter(|_| alone) {
            rates.forget_losses();
        }
        !alone
    }

    /// Notes the arrival of a probe, if it is acknowledged.
    #[cold]
    pub(crate) fn check_probe_arrived(&mut self) {
        if let MtuProbe::Sent { end, size, .. } = self.mtu_probe
            && self.board.una >= end
        {
            self.mtu_probe = MtuProbe::Arrived { size };
        }
    }

    /// Whether a probe may be sent: its loss could not be confused with the loss of another segment.
    pub(crate) fn may_probe_mtu(&self) -> bool {
        self.mtu_probe == MtuProbe::None && self.state == Recovery::Open && self.sack && self.board.lost == 0
    }

    /// Notes the transmission of a probe with `payload` bytes.
    pub(crate) fn mtu_probe_sent(&mut self, payload: u64, size: u16) {
        let end = self.board.next;
        self.mtu_probe = MtuProbe::Sent { start: end - payload, end, size };
        self.update_ack_inspection();
    }

    /// The payload of the probe in flight, bytes; `None` without a probe.
    pub(crate) fn mtu_probe_payload(&self) -> Option<u64> {
        match self.mtu_probe {
            MtuProbe::Sent { start, end, .. } => Some(end - start),
            _ => None,
        }
    }

    /// Whether the probe is the last segment sent.
    pub(crate) fn mtu_probe_is_last(&self) -> bool {
        matches!(self.mtu_probe, MtuProbe::Sent { end, .. } if end == self.board.next)
    }

    /// Returns the state of the probe. A result (arrived or lost) is returned once, and then cleared.
    pub(crate) fn take_mtu_probe_outcome(&mut self) -> MtuProbe {
        match self.mtu_probe {
            MtuProbe::Arrived { .. } | MtuProbe::Lost { .. } => {
                let outcome = std::mem::take(&mut self.mtu_probe);
                self.update_ack_inspection();
                outcome
            }
            other => other,
        }
    }

    /// Marks segments of more than `most` bytes lost, so that they are retransmitted in parts. This does not count as
    /// congestion (RFC 1191 section 6.4).
    #[cold]
    pub(crate) fn cut_larger(&mut self, most: u64) {
        self.longest_acked = 0;
        self.board.without_rates(|board| {
            for at in 0..board.queue.len() {
                let sent = &board.queue[at];
                if sent.payload.len() as u64 > most && !sent.sacked && (!sent.lost || sent.retransmitted) {
                    board.mark_lost(at);
                }
            }
        });
    }
}
