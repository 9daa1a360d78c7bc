//! The ends of our streams on their way out: DATA_FIN (RFC 8684 section 3.3.3) and the FINs of the subflows.
//!
//! Owns when each goes and on which subflow; what the peer's mean is `close`'s affair.

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::{DataSequence, Dss, Mapping, Segment};

use super::output::Piece;
use super::{Connection, Mode};
use crate::subflow::State;

impl Connection {
    /// DATA_FIN when everything was sent, FINs when the streams are over.
    pub(super) fn transmit_fin(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        let all_sent = self.outgoing.unsent() == 0;
        if self.mode == Mode::Plain && self.write_closed && all_sent {
            self.subflows.iter_mut().filter(|s| s.can_send()).for_each(|s| s.fin_wanted = true);
        }
        for id in 0..self.subflows.len() {
            if self.owes_acknowledgement_before_fin(id) {
                self.bare_segment(now, id, out);
                return Some(id);
            }
            let subflow = &mut self.subflows[id];
            if subflow.fin_wanted && matches!(subflow.state, State::Established | State::CloseWait) {
                let piece = Piece {
                    start: subflow.sender.board.next,
                    data: self.outgoing.next,
                    payload: Bytes::new(),
                    whole: None,
                    fin: true,
                };
                subflow.sender.send(now, piece.data, Bytes::new(), true);
                subflow.fin_sent();
                self.data_segment(now, id, piece, out);
                return Some(id);
            }
        }
        if self.mode != Mode::Multipath || !self.write_closed || !all_sent || self.data_fin_acknowledged {
            self.disarm_data_fin();
            return None;
        }
        if !self.data_fin_sent || self.timers.data_fin_wanted {
            let id = self.messenger(self.timers.data_fin_tries())?;
            if !self.confirmed && self.subflows[id].receiver.wants_ack() {
                // The third ACK first, with the keys.
                return None;
            }
            self.data_fin_sent = true;
            self.timers.data_fin_wanted = false;
            self.arm_data_fin(now);
            self.data_fin_due.clear();
            if self.config.habits.data_fin_everywhere {
                self.data_fin_due
                    .extend((0..self.subflows.len()).rev().filter(|&id| self.subflows[id].can_send()));
            } else {
                self.data_fin_due.push(id);
            }
        }
        let id = self.data_fin_due.pop()?;
        self.bare_segment(now, id, out);
        // RFC 8684 section 3.3.3: alone it has subflow sequence 0 and length 1.
        let mapping = Mapping {
            sequence: DataSequence::Wide(self.local_key.at(self.outgoing.next)),
            subflow_sequence: 0,
            length: 1,
            checksum: self.dss_checksum(self.outgoing.next, 0, 1, &[]),
        };
        // Also in place of the keys on an acknowledgement that would repeat them.
        out.options.mptcp.clear();
        out.options.dss = Some(Dss { ack: Some(self.data_ack()), mapping: Some(mapping), data_fin: true });
        while out.options.length() > mptcp_wire::Options::SPACE && out.options.sack.pop().is_some() {}
        Some(id)
    }

    fn owes_acknowledgement_before_fin(&self, id: usize) -> bool {
        let subflow = &self.subflows[id];
        self.config.habits.acknowledge_before_fin
            && self.mode == Mode::Multipath
            && subflow.fin_wanted
            && subflow.receiver.wants_ack()
            && matches!(subflow.state, State::Established | State::CloseWait)
    }

    /// The subflow for a message that is repeated until it is answered: the one that answers soonest,
    /// at each further try the next one, because silence may be the path's.
    pub(super) fn messenger(&self, tries: u32) -> Option<usize> {
        let subflows = self.subflows.iter().enumerate().filter(|(_, subflow)| subflow.can_send());
        let mut usable: Vec<_> = subflows
            .map(|(id, subflow)| (subflow.sender.in_loss(), self.congestion.paths[id].srtt, id))
            .collect();
        usable.sort_unstable();
        let at = (tries as usize).checked_rem(usable.len())?;
        usable.get(at).map(|&(_, _, id)| id)
    }
}
