//! Reinjection: data of one subflow that another subflow carries, too. Without it, the oldest data on a
//! failed path would block the whole stream.
//!
//! Owns the reasons to reinject: a stalled subflow, a closed subflow, and a missing DATA_ACK. Never chooses
//! the subflow that reinjects (`transmit/data.rs`), and never follows Linux's rules (`linux/reinject.rs`).

pub(crate) mod opportunistic;
pub(crate) mod penalization;
pub(crate) mod state;

use std::cmp::Ordering;

use crate::connection::Connection;
use crate::connection::stream::send_buffer::carrier;
use crate::connection::transmit::candidates::usability;
use crate::subflow::Subflow;

impl Connection {
    /// Requests reinjection of data that only a stalled subflow carries.
    pub(crate) fn reinject_outstanding(&mut self, id: usize) {
        if self.config.linux_stack.has_data_level_timer() {
            if !self.subflows[id].can_send() {
                self.abandon(id);
            }
            return;
        }
        if !self.is_multipath() || self.subflows[id].scheduling().reinjected {
            return;
        }
        self.subflows[id].scheduling_mut().reinjected = true;
        // If a working subflow carries the data too, that subflow retransmits it.
        self.send.request_reinjection_of(carrier(id), self.working() & !carrier(id));
    }

    /// Requests reinjection of data that only a closed subflow carried.
    pub(crate) fn abandon(&mut self, id: usize) {
        let queues = self.config.linux_stack.subflow_queues;
        let subflow = &self.subflows[id];
        // A failed join carried nothing. Linux reinjects even then; this stack does not, because a peer that
        // has fallen back would append the data to its stream.
        let unused = subflow.record().stats.data_segments_sent == 0;
        if unused && (!queues || !subflow.handshake().was_established) {
            return;
        }
        self.subflows[id].backlog_mut().clear();
        if self.config.linux_stack.has_data_level_timer() && self.is_multipath() {
            self.send.forget_carrier(id);
            return self.reinject_all();
        }
        self.send.abandon(id);
    }

    /// Requests reinjection of the data of all stalled subflows, because a new subflow can carry it.
    pub(crate) fn reinject_stalled(&mut self) {
        if !self.is_multipath() || self.config.linux_stack.has_data_level_timer() {
            return;
        }
        let mut stalled = 0;
        for (id, subflow) in self.subflows.iter_mut().enumerate() {
            if subflow.sender().in_loss() && !subflow.is_closed() {
                subflow.scheduling_mut().reinjected = true;
                stalled |= carrier(id);
            }
        }
        if stalled != 0 {
            // A single pass over the chunks serves all stalled subflows.
            self.send.request_reinjection_of(stalled, self.working() & !stalled);
        }
    }

    /// The subflows that are not in timeout, one bit per slot.
    fn working(&self) -> u64 {
        let subflows = self.subflows.iter().enumerate();
        let working = subflows.filter(|(_, s)| s.is_synchronised() && !s.sender().in_loss());
        working.fold(0, |bits, (id, _)| bits | carrier(id))
    }

    /// The subflows that may carry data (the lowest class of `usability` present), one bit per slot.
    fn usable(&self) -> u64 {
        let (mut lowest, mut usable) = (u8::MAX, 0);
        for (id, subflow) in self.subflows.iter().enumerate().filter(|(_, s)| s.can_send()) {
            match usability(subflow).cmp(&lowest) {
                Ordering::Less => (lowest, usable) = (usability(subflow), carrier(id)),
                Ordering::Equal => usable |= carrier(id),
                Ordering::Greater => {}
            }
        }
        usable
    }

    /// Requests reinjection of the oldest chunk after a data-level timeout. Subflows on which the
    /// chunk is not yet acknowledged at the TCP level are excluded. A second copy in a subflow's stream would be a
    /// duplicate in the byte stream of a peer that has fallen back (RFC 8684 section 3.7).
    pub(crate) fn reinject_oldest(&mut self) {
        let Some(chunk) = self.send.head() else { return };
        let start = chunk.start();
        let is_outstanding = |slot: usize, s: &Subflow| {
            chunk.carried_by(slot)
                && chunk.end_on(s.record().id).is_some_and(|end| end > s.sender().board.una)
        };
        let outstanding = self.subflows.iter().enumerate().filter(|(slot, s)| is_outstanding(*slot, s));
        let carriers = outstanding.fold(0, |bits, (id, _)| bits | carrier(id));
        let usable = self.usable();
        if let Some(chunk) = self.send.head_mut() {
            // A subflow carries the chunk twice only if every usable subflow has carried it. Another subflow
            // is better, because the reverse path of the first one may have lost the DATA_ACK.
            if usable & !chunk.carriers() == 0 {
                chunk.set_carriers(carriers);
            }
        }
        self.send.request_reinjection(start);
    }
}
