//! Opportunistic retransmission (M1) and penalisation (M2) of Raiciu et al. (NSDI 2012, section 4.2).
//!
//! While a subflow is available, data on another subflow may fill the receive window or the send buffer. M1
//! then copies the oldest data to the available subflow, and M2 halves the window of the other one. Owns M1
//! by its original rule, and both rules of M2. Never applies the later rules of M1 (`opportunistic`).

use mptcp_clock::{Duration, Instant};

use crate::congestion::PenaltyRule;
use crate::connection::Connection;
use crate::connection::stream::send_buffer::carrier;
use crate::mechanisms::OpportunisticRule;
use crate::subflow::sender::Recovery;

impl Connection {
    /// Applies M1 and M2 while `fast` has an open congestion window, but the receive window or the send
    /// buffer is full. Returns the start of the chunk to reinject on `fast`, if M1 applies.
    pub(crate) fn on_window_blocked(&mut self, now: Instant, fast: usize, may_penalise: bool) -> Option<u64> {
        let mechanisms = self.config.mechanisms;
        if !mechanisms.opportunistic_retransmission && !mechanisms.penalisation {
            return None;
        }
        let head = self.send.head()?;
        let (start, length, is_carried) = (head.start(), head.payload().len() as u64, head.carried_by(fast));
        let carriers = head.carriers();
        let slow = (0..self.subflows.len())
            .find(|&id| id != fast && carriers & carrier(id) != 0 && !self.subflows[id].is_closed())?;
        let srtt = |id: usize| self.congestion.paths[id].srtt.unwrap_or(Duration::ZERO);
        let (fast_rtt, slow_rtt) = (srtt(fast), srtt(slow));
        if mechanisms.penalisation && may_penalise {
            self.penalise(now, fast, slow, fast_rtt, slow_rtt);
        }
        let slow_window = self.congestion.paths[slow].cwnd / self.congestion.paths[slow].mss;
        // The condition of the mptcp.org kernel: subflows with similar RTTs are not worth a copy.
        let is_worthwhile = slow_window <= 4 || fast_rtt * 4 < slow_rtt;
        let first_rule = mechanisms.opportunistic_rule == OpportunisticRule::Original;
        if !mechanisms.opportunistic_retransmission || !first_rule || is_carried || !is_worthwhile {
            return None;
        }
        self.reinjection.on_opportunistic(length);
        Some(start)
    }

    /// Applies M2 by the configured rule.
    fn penalise(&mut self, now: Instant, fast: usize, slow: usize, fast_rtt: Duration, slow_rtt: Duration) {
        let rule = self.config.mechanisms.penalty_rule;
        let rate =
            |id: usize, rtt: Duration| self.congestion.paths[id].cwnd as f64 / rtt.as_secs_f64().max(1e-9);
        // The subflow that remembers the last penalty, the minimum time between penalties, and whether the
        // rule applies.
        let (recorded_on, interval, is_due) = match rule {
            PenaltyRule::Later => {
                let is_open = self.subflows[slow].sender().state == Recovery::Open;
                (fast, fast_rtt, is_open && fast_rtt < slow_rtt)
            }
            PenaltyRule::Original => (slow, slow_rtt, rate(slow, slow_rtt) < rate(fast, fast_rtt)),
        };
        let last = &mut self.subflows[recorded_on].scheduling_mut().last_penalty;
        if is_due && last.is_none_or(|last| now.since(last) >= interval) {
            *last = Some(now);
            let old_window = self.congestion.paths[slow].cwnd;
            self.congestion.penalise(slow, rule);
            if self.observer.is_some() {
                self.observe_penalty(now, slow, fast, old_window);
            }
        }
    }
}
