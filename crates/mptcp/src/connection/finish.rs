//! The ends of our streams on their way out: DATA_FIN (RFC 8684 section 3.3.3) and the FINs of the subflows.
//!
//! Owns when each goes and on which subflow; what the peer's mean is `close`'s affair.

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::{DataSequence, Dss, Mapping, Segment};

use super::Connection;
use super::segments::Piece;
use crate::subflow::State;

impl Connection {
    /// DATA_FIN when everything was sent, FINs when the streams are over.
    #[cold]
    pub(super) fn transmit_fin(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        // What waits in the queue of a subflow that went silent may have been carried by another one.
        let unneeded = self.negotiation.is_multipath() && self.send.buffer.nothing_in_flight();
        let all_sent = self.send.buffer.unsent() == 0
            && (unneeded || self.subflows.iter().all(|s| s.backlog().is_empty()));
        if self.negotiation.is_plain() && self.send.writer.is_closed() && all_sent {
            self.subflows.iter_mut().filter(|s| s.can_send()).for_each(|s| s.want_fin());
        }
        for id in 0..self.subflows.len() {
            if self.owes_acknowledgement_before_fin(id) {
                self.bare_segment(now, id, out);
                return Some(id);
            }
            let subflow = &mut self.subflows[id];
            if subflow.wants_fin() && matches!(subflow.state(), State::Established | State::CloseWait) {
                let piece = Piece {
                    start: subflow.sender().board.next,
                    data: self.send.buffer.next(),
                    whole: None,
                    fin: true,
                };
                subflow.sender_mut().send(now, piece.data, Bytes::new(), true, &self.congestion.paths[id]);
                subflow.fin_sent();
                self.repeated_segment(now, id, &piece, Bytes::new(), out);
                return Some(id);
            }
        }
        if !self.negotiation.is_multipath()
            || !self.send.writer.is_closed()
            || self.send.fin.is_acknowledged()
        {
            self.disarm_data_fin();
            return None;
        }
        if !all_sent {
            // Data goes before it, again perhaps: the DATA_FIN that went already keeps its timer.
            return None;
        }
        if !self.send.fin.is_sent() || self.timers.data_fin_wanted {
            let id = self.messenger(self.timers.data_fin_tries())?;
            if !self.negotiation.confirmed() && self.subflows[id].receiver().wants_ack() {
                // The third ACK first, with the keys.
                return None;
            }
            self.timers.data_fin_wanted = false;
            self.arm_data_fin(now);
            if self.config.linux_compat.data_fin_everywhere {
                let subflows = &self.subflows;
                self.send.fin.send_on((0..subflows.len()).rev().filter(|&id| subflows[id].can_send()));
            } else {
                self.send.fin.send_on(std::iter::once(id));
            }
        }
        let id = self.send.fin.next()?;
        let mut others = self.subflows.iter().enumerate().filter(|(other, _)| *other != id);
        if others.all(|(_, subflow)| subflow.sender().is_idle()) {
            // Nothing is missing before it, for all we know: the peer acknowledges the end of the data at once.
            self.subflows[id].sender_mut().expect_answer(now, &self.congestion.paths[id]);
        }
        self.bare_segment(now, id, out);
        // RFC 8684 section 3.3.3: alone it has subflow sequence 0 and length 1.
        let mapping = Mapping {
            sequence: DataSequence::Wide(self.negotiation.local().at(self.send.buffer.next())),
            subflow_sequence: 0,
            length: 1,
            checksum: self.dss_checksum(self.send.buffer.next(), 0, 1, &[]),
        };
        // Also in place of the keys on an acknowledgement that would repeat them.
        out.options.mptcp.clear();
        out.options.dss = Some(Dss { ack: Some(self.data_ack()), mapping: Some(mapping), data_fin: true });
        while out.options.length() > mptcp_wire::Options::SPACE && out.options.sack.pop().is_some() {}
        Some(id)
    }

    fn owes_acknowledgement_before_fin(&self, id: usize) -> bool {
        let subflow = &self.subflows[id];
        self.config.linux_compat.acknowledge_before_fin
            && self.negotiation.is_multipath()
            && subflow.wants_fin()
            && subflow.receiver().wants_ack()
            && matches!(subflow.state(), State::Established | State::CloseWait)
    }

    /// The subflow for a message that is repeated until it is answered: the one that answers soonest,
    /// at each further try the next one, because silence may be the path's.
    pub(super) fn messenger(&self, tries: u32) -> Option<usize> {
        let subflows = self.subflows.iter().enumerate().filter(|(_, subflow)| subflow.can_send());
        let mut usable: Vec<_> = subflows
            .map(|(id, subflow)| (subflow.sender().in_loss(), self.congestion.paths[id].srtt, id))
            .collect();
        usable.sort_unstable();
        let at = (tries as usize).checked_rem(usable.len())?;
        usable.get(at).map(|&(_, _, id)| id)
    }
}
