//! Data that another subflow has to carry again: after a stall, after a death, and when nobody answers for it.

pub(crate) mod opportunistic;
pub(crate) mod penalization;
pub(crate) mod state;

use std::cmp::Ordering;

use crate::connection::Connection;
use crate::connection::stream::send_buffer::carrier;
use crate::connection::transmit::candidates::usability;
use crate::subflow::Subflow;

impl Connection {
    /// The subflow does not get its data through: everything it alone carries goes to the others.
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
        // What another working subflow carries too will come that way.
        self.send.request_reinjection_of(carrier(id), self.working() & !carrier(id));
    }

    /// The subflow is dead: what no living one carries goes to the others.
    pub(crate) fn abandon(&mut self, id: usize) {
        let queues = self.config.linux_stack.subflow_queues;
        let subflow = &self.subflows[id];
        // A join that failed carried nothing. Linux sends all again even then, on a subflow whose peer may just have fallen back
        // and takes it for what follows.
        let unused = subflow.record().stats.data_segments_sent == 0;
        if unused && (!queues || !subflow.handshake().was_open) {
            return;
        }
        self.subflows[id].backlog_mut().clear();
        if self.config.linux_stack.has_data_level_timer() && self.is_multipath() {
            self.send.forget_carrier(id);
            return self.reinject_all();
        }
        self.send.abandon(id);
    }

    /// A new subflow can carry what those in a stall could give to nobody.
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
            // In one walk, however many there are.
            self.send.request_reinjection_of(stalled, self.working() & !stalled);
        }
    }

    /// The subflows that get data through, one bit each.
    fn working(&self) -> u64 {
        let subflows = self.subflows.iter().enumerate();
        let working = subflows.filter(|(_, s)| s.is_synchronised() && !s.sender().in_loss());
        working.fold(0, |bits, (id, _)| bits | carrier(id))
    }

    /// The subflows that may carry data, one bit each.
    fn usable(&self) -> u64 {
        let (mut least, mut usable) = (u8::MAX, 0);
        for (id, subflow) in self.subflows.iter().enumerate().filter(|(_, s)| s.can_send()) {
            match usability(subflow).cmp(&least) {
                Ordering::Less => (least, usable) = (usability(subflow), carrier(id)),
                Ordering::Equal => usable |= carrier(id),
                Ordering::Greater => {}
            }
        }
        usable
    }

    /// No acknowledgement at the data level for too long: the oldest chunk goes again, but not on
    /// subflows that have yet to acknowledge it themselves. Twice in one subflow's stream it would be
    /// twice in the byte stream of a peer that has fallen back (RFC 8684 section 3.7).
    pub(crate) fn reinject_oldest(&mut self) {
        let Some(chunk) = self.send.head() else { return };
        let start = chunk.start();
        let permit = |slot: usize, s: &Subflow| {
            chunk.carried_by(slot)
                && chunk.end_on(s.record().id).is_some_and(|end| end > s.sender().board.una)
        };
        let outstanding = self.subflows.iter().enumerate().filter(|(slot, s)| permit(*slot, s));
        let carriers = outstanding.fold(0, |bits, (id, _)| bits | carrier(id));
        let usable = self.usable();
        if let Some(chunk) = self.send.head_mut() {
            // First on those that have not carried it: the answer may be lost on its way back.
            if usable & !chunk.carriers() == 0 {
                chunk.set_carriers(carriers);
            }
        }
        self.send.request_reinjection(start);
    }
}
