//! Data that another subflow has to carry again: after a stall, after a death, and by the mechanisms
//! M1 and M2 of Raiciu et al. (NSDI 2012, section 4.2).

use mptcp_clock::{Duration, Instant};

use super::Connection;
use super::outgoing::carrier;
use crate::subflow::sender::Recovery;

impl Connection {
    /// The subflow does not get its data through: everything it alone carries goes to the others.
    pub(super) fn give_up_sending(&mut self, id: usize) {
        if !self.is_multipath() || self.subflows[id].reinjected {
            return;
        }
        self.subflows[id].reinjected = true;
        // What another working subflow carries too will come that way.
        let working = self.working() & !carrier(id);
        for chunk in &mut self.outgoing.flight {
            if chunk.carried_by(id) && chunk.carriers & working == 0 && !chunk.queued {
                chunk.queued = true;
                self.outgoing.again.push_back(chunk.start);
            }
        }
    }

    /// The subflow is dead: what no living one carries goes to the others.
    pub(super) fn abandon(&mut self, id: usize) {
        for chunk in &mut self.outgoing.flight {
            chunk.carriers &= !carrier(id);
            if chunk.carriers == 0 && !chunk.queued {
                chunk.queued = true;
                self.outgoing.again.push_back(chunk.start);
            }
        }
    }

    /// A new subflow can carry what those in a stall could give to nobody.
    pub(super) fn relieve_stalled(&mut self) {
        for id in 0..self.subflows.len() {
            if self.subflows[id].sender.in_loss() && !self.subflows[id].is_closed() {
                self.subflows[id].reinjected = false;
                self.give_up_sending(id);
            }
        }
    }

    /// The subflows that get data through, one bit each.
    fn working(&self) -> u64 {
        let subflows = self.subflows.iter().enumerate();
        let working = subflows.filter(|(_, s)| s.is_synchronised() && !s.sender.in_loss());
        working.fold(0, |bits, (id, _)| bits | carrier(id))
    }

    /// No acknowledgement at the data level for too long: the oldest chunk goes again, but not on
    /// subflows that have yet to acknowledge it themselves. Twice in one subflow's stream it would be
    /// twice in the byte stream of a peer that has fallen back (RFC 8684 section 3.7).
    pub(super) fn retry_oldest(&mut self) {
        let Some(start) = self.outgoing.flight.front().map(|chunk| chunk.start) else { return };
        let outstanding = self.subflows.iter().enumerate().filter(|(_, s)| s.sender.board.holds(start));
        let carriers = outstanding.fold(0, |bits, (id, _)| bits | carrier(id));
        let working = self.working();
        if let Some(chunk) = self.outgoing.flight.front_mut() {
            // First on those that have not carried it: the answer may be lost on its way back.
            if working & !chunk.carriers == 0 {
                chunk.carriers = carriers;
            }
        }
        self.outgoing.request_again(start);
    }

    /// M1 and M2: `fast` has room in its congestion window, but the shared window is full. Returns
    /// whether a chunk was queued for it.
    pub(super) fn on_window_blocked(&mut self, now: Instant, fast: usize) -> bool {
        let mechanisms = self.config.mechanisms;
        if !mechanisms.opportunistic_retransmission && !mechanisms.penalisation {
            return false;
        }
        let Some(head) = self.outgoing.flight.front() else { return false };
        let (start, queued, tried) = (head.start, head.queued, head.carried_by(fast));
        let carriers = head.carriers;
        let slow = (0..self.subflows.len())
            .find(|&id| id != fast && carriers & carrier(id) != 0 && !self.subflows[id].is_closed());
        let Some(slow) = slow else { return false };
        let srtt = |id: usize| self.congestion.paths[id].srtt.unwrap_or(Duration::ZERO);
        let (fast_rtt, slow_rtt) = (srtt(fast), srtt(slow));
        if mechanisms.penalisation {
            self.penalise(now, fast, slow, fast_rtt, slow_rtt);
        }
        let slow_window = self.congestion.paths[slow].cwnd / self.congestion.paths[slow].mss;
        // The guard of the mptcp.org kernel: not worth it when the subflows are alike.
        let worth = slow_window <= 4 || fast_rtt * 4 < slow_rtt;
        if !mechanisms.opportunistic_retransmission || queued || tried || !worth {
            return false;
        }
        self.outgoing.request_again(start);
        self.opportunistic_bytes += self.outgoing.flight.front().map_or(0, |head| head.payload.len() as u64);
        true
    }

    /// M2: at most once in a round trip of the fast subflow, and only when the slow one is not
    /// already recovering.
    fn penalise(&mut self, now: Instant, fast: usize, slow: usize, fast_rtt: Duration, slow_rtt: Duration) {
        let due = self.subflows[fast].last_penalty.is_none_or(|last| now.since(last) >= fast_rtt);
        let calm = self.subflows[slow].sender.state == Recovery::Open;
        if due && calm && fast_rtt < slow_rtt {
            self.subflows[fast].last_penalty = Some(now);
            self.congestion.penalise(slow);
            self.penalties += 1;
        }
    }
}
