//! Expired timers: `handle_timeout` runs those of the connection and of its subflows.
//!
//! Owns the consequences: retransmissions, probes, and the end of a subflow or connection after too many attempts.
//! Never computes a deadline (`arm`, `deadlines`).

use mptcp_clock::Instant;

use crate::connection::Connection;
use crate::connection::close::{Outcome, SubflowError};
use crate::connection::handshake::negotiation::ReceiptQuery;
use crate::event::CloseReason;
use crate::subflow::{Control, SubflowCloseReason};

/// Consecutive retransmission timeouts after which a subflow is closed: Linux's `tcp_retries2`.
const MAX_TIMEOUTS: u32 = 15;
/// Maximum of consecutive timeouts if all data on the subflow has a DATA_ACK and no more data follows.
const MAX_TIMEOUTS_AFTER_DATA_ACK: u32 = 6;
/// Consecutive timeouts after which a path counts as unresponsive.
const UNRESPONSIVE_TIMEOUTS: u32 = 2;

impl Connection {
    /// Runs every timer that has expired.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        for id in 0..self.subflows.len() {
            if let Err(error) = self.on_subflow_timers(now, id) {
                self.end_subflow(now, id, error);
            }
        }
        self.timers.take_wake(now);
        if self.timers.take_cork(now) {
            self.end_more();
            self.writer.set_pushing(true);
        }
        if self.timers.take_window_probe(now) {
            self.fall_back_if_stripped(now);
            let closed_for = self.timers.window_closed_for(now);
            let too_long = self.config.user_timeout.is_some_and(|most| closed_for >= most);
            if self.timers.count_unanswered(1) > MAX_TIMEOUTS || too_long {
                // RFC 9293 section 3.8.6.1: a window may stay closed as long as the peer answers the probes.
                self.end(now, CloseReason::TimedOut, SubflowCloseReason::TimedOut);
            }
        }
        if self.timers.take_data_timeout(now) {
            self.fall_back_if_stripped(now);
            // Without a subflow no answer can arrive. The no-subflow timer below then ends the connection.
            let has_subflow = self.subflows.iter().any(|subflow| subflow.is_synchronised());
            if self.config.linux_stack.has_data_level_timer() && self.negotiation.is_multipath() {
                // Linux would retry forever. This stack limits how long it holds the data.
                if has_subflow && self.data_level_backoff_rounds() > MAX_TIMEOUTS {
                    self.end(now, CloseReason::TimedOut, SubflowCloseReason::TimedOut);
                } else {
                    self.on_data_level_timer();
                    self.reinject_on_timeout(now);
                    self.arm_data_timer(now);
                }
            } else if self.timers.count_unanswered(u32::from(has_subflow)) > MAX_TIMEOUTS
                || self.timers.count_queries(self.negotiation.receipt_query() == ReceiptQuery::Asked)
                    > MAX_TIMEOUTS
            {
                // On every subflow, all data is acknowledged, or the subflow cannot send. The peer is silent, or its
                // DATA_ACK does not cover the data despite a query: R2 of RFC 9293 section 3.8.3 at the data level.
                self.end(now, CloseReason::TimedOut, SubflowCloseReason::TimedOut);
            } else if self.negotiation.is_multipath() {
                if !self.queries_before_reinjecting() {
                    self.reinject_oldest();
                }
                self.arm_data_timer(now);
            }
        }
        if self.timers.process_data_fin(now) {
            // While DATA_ACKs advance, options pass, and the DATA_FIN only waits for earlier data.
            if self.send.una() == self.timers.data_fin_una() {
                self.fall_back_if_stripped(now);
            }
            if self.timers.data_fin_tries() > MAX_TIMEOUTS && self.negotiation.is_multipath() {
                self.end(now, CloseReason::TimedOut, SubflowCloseReason::TimedOut);
            }
        }
        if self.timers.announcements() <= now {
            let next = self.retransmit_announcements(now);
            self.timers.announce_at(next);
        }
        if self.timers.rejoin() <= now {
            self.timers.rejoin_at(Instant::FAR_FUTURE);
            self.consult_path_manager(now);
        }
        let has_no_subflow = self.timers.take_no_subflow_timeout(now);
        if has_no_subflow
            && self.subflows.iter().all(|subflow| subflow.is_closed())
            && self.lifecycle.closed().is_none()
        {
            self.end(now, CloseReason::TimedOut, SubflowCloseReason::TimedOut);
        }
        if self.observer.is_some() {
            self.observe(now);
        }
    }

    fn on_subflow_timers(&mut self, now: Instant, id: usize) -> Outcome {
        let subflow = &mut self.subflows[id];
        if subflow.is_closed() || subflow.deadline() > now {
            return Ok(());
        }
        if subflow.liveness().slow_timers.handshake() <= now {
            self.on_handshake_timeout(now, id)?;
        }
        let subflow = &mut self.subflows[id];
        if subflow.receiver().deadline() <= now {
            subflow.receiver_mut().on_deadline();
        }
        if subflow.liveness().slow_timers.keepalive() <= now {
            self.send_keepalive(now, id)?;
        }
        let subflow = &mut self.subflows[id];
        if subflow.user_deadline() <= now {
            // RFC 9293 section 3.10.8: the peer receives no reset.
            return Err(SubflowError::Over(SubflowCloseReason::TimedOut));
        }
        if subflow.liveness().slow_timers.path_probe() <= now {
            let pause = self.config.linux_stack.failed_path_probe;
            subflow
                .liveness_mut()
                .slow_timers
                .set_path_probe(pause.map_or(Instant::FAR_FUTURE, |pause| now + pause));
            subflow.set_control(Some(Control::Probe));
        }
        if subflow.sender().deadline() > now {
            return Ok(());
        }
        let timed_out = subflow.sender_mut().on_deadline(now, id, &mut self.congestion);
        if !timed_out {
            return Ok(());
        }
        self.suspect_black_hole(now, id);
        // Reordering and loss cannot be distinguished here, so other subflows carry the data at once.
        self.reinject_outstanding(id);
        self.start_path_probes(now, id);
        // If the oldest data in flight has a DATA_ACK and no more data follows, the subflow is closed after fewer
        // timeouts.
        let first = self.subflows[id].sender().board.queue.front();
        let arrived = first.is_some_and(|sent| sent.data + sent.payload.len() as u64 <= self.send.una());
        let is_delivered = self.negotiation.is_multipath() && self.writer.is_closed() && arrived;
        let max_timeouts = if is_delivered { MAX_TIMEOUTS_AFTER_DATA_ACK } else { MAX_TIMEOUTS };
        let subflow = &mut self.subflows[id];
        if subflow.sender().timeout.consecutive() > max_timeouts {
            return Err(SubflowError::Over(SubflowCloseReason::TimedOut));
        }
        Ok(())
    }

    /// Sends a keepalive probe (RFC 9293 section 3.8.4). Errors: the peer has not answered the permitted number of
    /// probes.
    fn send_keepalive(&mut self, now: Instant, id: usize) -> Outcome {
        let subflow = &mut self.subflows[id];
        let Some(keepalive) = self.config.keepalive.filter(|_| subflow.is_synchronised()) else {
            subflow.liveness_mut().slow_timers.set_keepalive(Instant::FAR_FUTURE);
            return Ok(());
        };
        if subflow.liveness().kept >= keepalive.probes {
            return Err(SubflowError::Over(SubflowCloseReason::TimedOut));
        }
        // Data in flight serves as a probe.
        if subflow.sender().is_idle() {
            subflow.liveness_mut().kept += 1;
            subflow.set_control(Some(Control::Probe));
        }
        subflow.liveness_mut().slow_timers.set_keepalive(now + keepalive.interval);
        Ok(())
    }

    /// Starts probes without data on an unresponsive path while other subflows work. With the RTO backoff
    /// alone, the path could stay unused for two minutes after its recovery. The probes are no
    /// retransmissions, so RFC 6298's backoff stays.
    pub(crate) fn start_path_probes(&mut self, now: Instant, id: usize) {
        let Some(pause) = self.config.linux_stack.failed_path_probe else { return };
        let has_alternative = self
            .subflows
            .iter()
            .enumerate()
            .any(|(other, s)| other != id && s.can_send() && !s.sender().in_loss());
        let subflow = &mut self.subflows[id];
        let is_unresponsive =
            subflow.sender().timeout.consecutive() >= UNRESPONSIVE_TIMEOUTS && subflow.can_send();
        if is_unresponsive
            && has_alternative
            && subflow.liveness().slow_timers.path_probe() == Instant::FAR_FUTURE
        {
            subflow.liveness_mut().slow_timers.set_path_probe(now + pause);
        }
    }
}
