//! A time has come: of the connection's own timers, or of a subflow's.

use mptcp_clock::Instant;

use crate::connection::Connection;
use crate::connection::close::{Outcome, SubflowError};
use crate::connection::handshake::negotiation::ReceiptQuery;
use crate::event::CloseReason;
use crate::subflow::{Control, SubflowCloseReason};

/// Retransmission timeouts in a row after which a subflow is dead: Linux's `tcp_retries2`.
const MAX_TIMEOUTS: u32 = 15;
/// The same for a subflow whose data was acknowledged at the data level, when there is no more to send.
const MAX_TIMEOUTS_AFTER_DATA_ACK: u32 = 6;
/// Timeouts in a row after which a path counts as silent.
const UNRESPONSIVE_TIMEOUTS: u32 = 2;

impl Connection {
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
        if self.timers.take_probe(now) {
            self.fall_back_if_stripped(now);
            let closed_for = self.timers.window_closed_for(now);
            let too_long = self.config.user_timeout.is_some_and(|most| closed_for >= most);
            if self.timers.note_unanswered(1) > MAX_TIMEOUTS || too_long {
                // RFC 9293 section 3.8.6.1 lets a closed window stay closed for ever, but only while the peer answers.
                self.end(now, CloseReason::TimedOut, SubflowCloseReason::TimedOut);
            }
        }
        if self.timers.take_data(now) {
            self.fall_back_if_stripped(now);
            // Without a subflow nobody can answer, and `orphan` is what counts.
            let asked = self.subflows.iter().any(|subflow| subflow.is_synchronised());
            if self.config.linux_stack.has_data_level_timer() && self.negotiation.is_multipath() {
                // Linux would go on for ever; nobody makes us hold the data for that.
                if asked && self.late_rounds() > MAX_TIMEOUTS {
                    self.end(now, CloseReason::TimedOut, SubflowCloseReason::TimedOut);
                } else {
                    self.on_data_level_timer();
                    self.retry_pending(now);
                    self.arm_data_timer(now);
                }
            } else if self.timers.note_unanswered(u32::from(asked)) > MAX_TIMEOUTS
                || self.timers.note_question(self.negotiation.receipt_query() == ReceiptQuery::Asked)
                    > MAX_TIMEOUTS
            {
                // Each subflow has had its data acknowledged, or cannot send. Nobody says anything any more, or nothing of the data though
                // it was asked: R2 of RFC 9293 section 3.8.3 at the data level.
                self.end(now, CloseReason::TimedOut, SubflowCloseReason::TimedOut);
            } else if self.negotiation.is_multipath() {
                if !self.asks_before_repeating() {
                    self.reinject_oldest();
                }
                self.arm_data_timer(now);
            }
        }
        if self.timers.process_data_fin(now) {
            // While data are acknowledged it has only to wait for them.
            if self.send.una() == self.timers.data_fin_una() {
                self.fall_back_if_stripped(now);
            }
            if self.timers.data_fin_tries() > MAX_TIMEOUTS && self.negotiation.is_multipath() {
                self.end(now, CloseReason::TimedOut, SubflowCloseReason::TimedOut);
            }
        }
        if self.timers.announcements() <= now {
            let next = self.announce_again(now);
            self.timers.announce_at(next);
        }
        if self.timers.rejoin() <= now {
            self.timers.rejoin_at(Instant::FAR_FUTURE);
            self.consult_path_manager(now);
        }
        let orphaned = self.timers.take_orphan(now);
        if orphaned
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
            self.ask_whether_alive(now, id)?;
        }
        let subflow = &mut self.subflows[id];
        if subflow.user_deadline() <= now {
            // RFC 9293 section 3.10.8: the peer is not told.
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
        // A reordering network and a lossy one look the same here: the others take over at once.
        self.reinject_outstanding(id);
        self.watch_silent_path(now, id);
        // What it has waited for longest has arrived, some other way it seems, and no more is written: who does not even
        // acknowledge that is not waited for as long.
        let first = self.subflows[id].sender().board.queue.front();
        let arrived = first.is_some_and(|sent| sent.data + sent.payload.len() as u64 <= self.send.una());
        let needless = self.negotiation.is_multipath() && self.writer.is_closed() && arrived;
        let most = if needless { MAX_TIMEOUTS_AFTER_DATA_ACK } else { MAX_TIMEOUTS };
        let subflow = &mut self.subflows[id];
        if subflow.sender().timeout.consecutive() > most {
            return Err(SubflowError::Over(SubflowCloseReason::TimedOut));
        }
        Ok(())
    }

    /// Keepalive (RFC 9293 section 3.8.4): a peer that does not answer several questions is gone.
    fn ask_whether_alive(&mut self, now: Instant, id: usize) -> Outcome {
        let subflow = &mut self.subflows[id];
        let Some(keepalive) = self.config.keepalive.filter(|_| subflow.is_synchronised()) else {
            subflow.liveness_mut().slow_timers.set_keepalive(Instant::FAR_FUTURE);
            return Ok(());
        };
        if subflow.liveness().kept >= keepalive.probes {
            return Err(SubflowError::Over(SubflowCloseReason::TimedOut));
        }
        // What is in flight is its own question.
        if subflow.sender().is_idle() {
            subflow.liveness_mut().kept += 1;
            subflow.set_control(Some(Control::Probe));
        }
        subflow.liveness_mut().slow_timers.set_keepalive(now + keepalive.interval);
        Ok(())
    }

    /// A path that went silent would be tried again only when its doubled timeout ends, up to two
    /// minutes after it came back. While other subflows work, a probe without data asks every second, unless switched off:
    /// no retransmission, so RFC 6298's backoff of those stands.
    pub(crate) fn watch_silent_path(&mut self, now: Instant, id: usize) {
        let Some(pause) = self.config.linux_stack.failed_path_probe else { return };
        let others = self
            .subflows
            .iter()
            .enumerate()
            .any(|(other, s)| other != id && s.can_send() && !s.sender().in_loss());
        let subflow = &mut self.subflows[id];
        let silent = subflow.sender().timeout.consecutive() >= UNRESPONSIVE_TIMEOUTS && subflow.can_send();
        if silent && others && subflow.liveness().slow_timers.path_probe() == Instant::FAR_FUTURE {
            subflow.liveness_mut().slow_timers.set_path_probe(now + pause);
        }
    }
}
