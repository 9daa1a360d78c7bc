//! The end of streams, subflows and connections: DATA_FIN (RFC 8684 section 3.3.3), MP_FASTCLOSE (section 3.5), resets
//! (section 3.6).
//!
//! Owns `end_subflow`, which closes one subflow after an error, the transmission of DATA_FINs and FINs, and
//! the choice of the subflow for them. Also handles ICMP errors, which can end a handshake. Never decides
//! that a segment is invalid: reception and timers return a `SubflowError`.

pub(crate) mod fallback;

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::{DataSequence, Dss, Mapping, ResetReason, Segment, Seq};

use crate::connection::transmit::segment::SentRange;
use crate::connection::{Connection, Mode};
use crate::event::{CloseReason, EventKind};
use crate::icmp_error::IcmpError;
use crate::ids::SubflowId;
use crate::subflow::{Control, LINGER, State, SubflowCloseReason};

impl Connection {
    /// Closes the send direction. Data can still be received.
    pub(crate) fn close_write(&mut self) {
        self.writer.close();
    }

    /// Ends the connection immediately on all subflows. Unsent and unread data is lost.
    pub(crate) fn abort(&mut self, now: Instant) {
        self.recv.discard();
        // As in Linux, every subflow is reset, with MP_FASTCLOSE. This applies even after the end of the streams,
        // because subflows may wait for the peer's FIN.
        let reset =
            Control::Reset { reason: None, fast_close: self.negotiation.is_multipath(), failed: None };
        for subflow in self.subflows.iter_mut().filter(|subflow| !subflow.is_closed()) {
            // RFC 9293 section 3.10.5: no reset is sent in SYN-SENT and TIME-WAIT.
            let notify = !matches!(subflow.state(), State::SynSent | State::TimeWait);
            subflow.set_control(Some(reset).filter(|_| notify));
        }
        self.end(now, CloseReason::Aborted, SubflowCloseReason::ConnectionEnded);
    }

    /// Processes an ICMP error for a segment. Returns whether the error is plausible: the segment must be in
    /// flight (RFC 5927 section 4.1).
    pub(crate) fn handle_icmp(
        &mut self,
        now: Instant,
        id: SubflowId,
        sequence: Seq,
        error: IcmpError,
    ) -> bool {
        let Some(id) = self.subflows.slot(id) else { return false };
        let subflow = &mut self.subflows[id];
        let board = &subflow.sender().board;
        let is_plausible = match subflow.state() {
            State::Closed => false,
            State::SynSent | State::SynReceived => sequence == subflow.handshake().iss,
            _ => {
                subflow.send_offset(sequence).is_some_and(|offset| (board.una..board.next).contains(&offset))
            }
        };
        if let (true, IcmpError::TooBig { mtu }) = (is_plausible, error) {
            // Such an error ends no subflow, not even one in SYN-SENT, because SYNs are small.
            let offset = self.subflows[id].send_offset(sequence);
            return offset.is_some_and(|offset| self.on_too_big(now, id, offset, mtu));
        }
        if is_plausible {
            subflow.record_mut().icmp = Some(error);
            if subflow.state() == State::SynSent {
                self.end_subflow(now, id, SubflowError::Over(SubflowCloseReason::Unreachable));
            }
        }
        is_plausible
    }

    /// Ends a half-open handshake without a segment, to free its place in a full listener.
    pub(crate) fn give_up(&mut self, now: Instant) {
        self.end(now, CloseReason::TimedOut, SubflowCloseReason::TimedOut);
    }

    /// Resets all open subflows.
    fn reset_all(&mut self) {
        let answer =
            Control::Reset { reason: Some(ResetReason::UNSPECIFIED), fast_close: false, failed: None };
        self.subflows.iter_mut().filter(|s| !s.is_closed()).for_each(|s| s.set_control(Some(answer)));
    }

    /// Ends the connection and all subflows.
    pub(crate) fn end(&mut self, now: Instant, how: CloseReason, why: SubflowCloseReason) {
        self.lifecycle.close(how);
        for id in 0..self.subflows.len() {
            if !self.subflows[id].is_closed() {
                self.subflows[id].close(now, why);
                self.congestion.set_active(id, false);
            }
        }
        self.subflows.notify_closed(&mut self.lifecycle);
        self.timers = crate::connection::timers::deadlines::Timers::default();
        self.lifecycle.drop_subflow_requests();
        self.recv.give_up();
        self.send.give_up();
        self.limits.note(now, crate::connection::observe::limits::Limit::Idle);
    }

    /// Ends a subflow after an error. Functions below `handle_segment` and `handle_timeout` return the error,
    /// and these two pass it to this function.
    #[cold]
    pub(crate) fn end_subflow(&mut self, now: Instant, id: usize, error: SubflowError) {
        let multipath = !self.negotiation.is_plain();
        let subflow = &mut self.subflows[id];
        match error {
            SubflowError::Reset { .. } if subflow.is_closed() => return,
            SubflowError::Reset { reason, failed } => {
                subflow.close(now, SubflowCloseReason::ResetByUs(reason));
                let reason = reason.filter(|_| multipath);
                subflow.set_control(Some(Control::Reset { reason, fast_close: false, failed }));
            }
            SubflowError::Over(why) => subflow.close(now, why),
            SubflowError::FastClose(why) => {
                // MP_FASTCLOSE is answered by a RST on each open subflow (RFC 8684 section 3.5).
                if let Some(why) = why {
                    subflow.close(now, why);
                }
                self.reset_all();
                let reason = match why {
                    Some(SubflowCloseReason::ResetByPeer(reason)) => reason,
                    _ => None,
                };
                return self.end(now, CloseReason::Reset(reason), SubflowCloseReason::ResetByPeer(reason));
            }
        }
        self.on_subflow_closed(now, id);
    }

    /// Moves the data of a closed subflow to the others, or ends the connection.
    fn on_subflow_closed(&mut self, now: Instant, id: usize) {
        self.congestion.set_active(id, false);
        self.subflows.notify_closed(&mut self.lifecycle);
        self.lifecycle.note(EventKind::Subflows);
        self.pending_options.forget(self.subflows[id].record().id);
        self.notify_closed(now, id);
        let cause = self.subflows[id].record().closed_by;
        let never_opened = self.subflows[id].sender().board.una == 0;
        let last = self.subflows.iter().all(|subflow| subflow.is_closed());
        if !self.negotiation.is_multipath() || self.both_streams_ended() {
            if last && self.lifecycle.closed().is_none() {
                let how = match cause {
                    Some(SubflowCloseReason::Finished) => CloseReason::Finished,
                    Some(SubflowCloseReason::ResetByPeer(_)) if never_opened && self.negotiation.client() => {
                        CloseReason::Refused
                    }
                    Some(SubflowCloseReason::ResetByPeer(reason)) if !self.both_streams_ended() => {
                        CloseReason::Reset(reason)
                    }
                    Some(SubflowCloseReason::Unreachable) if !self.both_streams_ended() => {
                        CloseReason::Unreachable
                    }
                    Some(SubflowCloseReason::TimedOut | SubflowCloseReason::InterfaceGone)
                        if !self.both_streams_ended() =>
                    {
                        CloseReason::TimedOut
                    }
                    _ if self.both_streams_ended() => CloseReason::Finished,
                    _ => CloseReason::Aborted,
                };
                self.lifecycle.close(how);
            }
            return;
        }
        self.abandon(id);
        if cause != Some(SubflowCloseReason::InterfaceGone) {
            self.note_failed(now, id);
        }
        if last {
            // Another interface may come up: break-before-make (RFC 8684 section 3.4).
            self.timers.on_last_subflow_closed(now + self.config.close_timeout);
        }
        self.consult_path_manager(now);
    }

    /// Whether both streams have ended and both DATA_FINs are acknowledged.
    fn both_streams_ended(&self) -> bool {
        match self.negotiation.mode() {
            Mode::Plain | Mode::Negotiating => false,
            Mode::Multipath => self.data_fin.is_acknowledged() && self.recv.finished(),
        }
    }

    /// Handles the end of the peer's stream.
    #[cold]
    pub(crate) fn note_end(&mut self, now: Instant) {
        self.lifecycle.note(EventKind::Finished);
        self.acknowledge_on_all_subflows();
        self.finish_if_done(now);
    }

    /// Handles the peer's FIN, once all data that precedes the FIN has arrived.
    #[cold]
    pub(crate) fn note_fin(&mut self, now: Instant, id: usize) {
        if self.negotiation.is_plain() {
            self.recv.end_at_received();
        }
        let subflow = &mut self.subflows[id];
        subflow.fin_received(now);
        if !self.negotiation.is_plain() && subflow.state() == State::CloseWait && !self.recv.finished() {
            // RFC 8684 section 3.3.3: without a DATA_FIN, the FIN ends this subflow only. After a DATA_FIN,
            // the FIN has no meaning for the stream.
            subflow.want_fin();
            self.reinject_outstanding(id);
        }
    }

    /// Closes the subflows after both DATA_FINs are acknowledged (RFC 8684 section 3.3.3).
    pub(crate) fn finish_if_done(&mut self, now: Instant) {
        if self.negotiation.is_plain() {
            return;
        }
        if self.both_streams_ended() {
            self.finish(now);
        }
    }

    /// Closes the subflows after the end of both streams.
    #[cold]
    fn finish(&mut self, now: Instant) {
        for subflow in &mut self.subflows {
            match subflow.state() {
                State::SynSent | State::SynReceived => {
                    let notify = subflow.state() == State::SynReceived;
                    subflow.close(now, SubflowCloseReason::ConnectionEnded);
                    let reset = Control::Reset { reason: None, fast_close: false, failed: None };
                    subflow.set_control(Some(reset).filter(|_| notify));
                }
                _ => {
                    // Data in the queue has been delivered by another subflow.
                    subflow.backlog_mut().clear();
                    subflow.want_fin();
                    // Limits the time for a peer that acknowledges the data but not the subflow's FIN.
                    let deadline = subflow.liveness().slow_timers.handshake().min(now + LINGER);
                    subflow.liveness_mut().slow_timers.set_handshake(deadline);
                }
            }
        }
        self.subflows.notify_closed(&mut self.lifecycle);
        self.limits.note(now, crate::connection::observe::limits::Limit::Idle);
        self.lifecycle.close(CloseReason::Finished);
    }

    /// Whether no segment, event or data is left, so that the endpoint may remove the connection.
    pub(crate) fn is_finished(&self) -> bool {
        self.subflows.iter().all(|subflow| subflow.is_closed() && subflow.control().is_none())
            && self.lifecycle.has_no_news()
            && self.recv.unread() == 0
    }
}

impl Connection {
    /// Sends a DATA_FIN after all data, or a subflow's FIN after the end of the streams.
    #[cold]
    pub(crate) fn transmit_fin(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        // Another subflow may have delivered the data in a silent subflow's queue.
        let unneeded = self.negotiation.is_multipath() && self.send.nothing_in_flight();
        let all_sent =
            self.send.unsent() == 0 && (unneeded || self.subflows.iter().all(|s| s.backlog().is_empty()));
        if self.negotiation.is_plain() && self.writer.is_closed() && all_sent {
            self.subflows.iter_mut().filter(|s| s.can_send()).for_each(|s| s.want_fin());
        }
        for id in 0..self.subflows.len() {
            if self.must_acknowledge_before_fin(id) {
                self.bare_segment(now, id, out);
                return Some(id);
            }
            let subflow = &mut self.subflows[id];
            if subflow.wants_fin() && matches!(subflow.state(), State::Established | State::CloseWait) {
                let piece = SentRange {
                    start: subflow.sender().board.next,
                    data: self.send.next(),
                    whole: None,
                    fin: true,
                };
                subflow.sender_mut().send(now, piece.data, Bytes::new(), true, &self.congestion.paths[id]);
                subflow.fin_sent();
                self.retransmitted_segment(now, id, &piece, Bytes::new(), out);
                return Some(id);
            }
        }
        if !self.negotiation.is_multipath() || !self.writer.is_closed() || self.data_fin.is_acknowledged() {
            self.disarm_data_fin();
            return None;
        }
        if !all_sent {
            // All data is sent first. If data was queued again after the DATA_FIN, the timer of the DATA_FIN
            // continues.
            return None;
        }
        if !self.data_fin.is_sent() || self.timers.is_data_fin_wanted() {
            let id = self.control_subflow(self.timers.data_fin_tries())?;
            if !self.negotiation.confirmed() && self.subflows[id].receiver().wants_ack() {
                // The third ACK with the keys is sent first.
                return None;
            }
            self.timers.on_data_fin_sent();
            self.arm_data_fin(now);
            if self.config.linux_compat.data_fin_everywhere {
                let subflows = &self.subflows;
                self.data_fin.send_on((0..subflows.len()).rev().filter(|&id| subflows[id].can_send()));
            } else {
                self.data_fin.send_on(std::iter::once(id));
            }
        }
        let id = self.data_fin.next()?;
        let mut others = self.subflows.iter().enumerate().filter(|(other, _)| *other != id);
        if others.all(|(_, subflow)| subflow.sender().is_idle()) {
            // Nothing is in flight on other subflows, so the peer probably has all data and acknowledges the DATA_FIN
            // at once.
            self.subflows[id].sender_mut().expect_answer(now, &self.congestion.paths[id]);
        }
        self.bare_segment(now, id, out);
        // RFC 8684 section 3.3.3: without data, the DATA_FIN has subflow sequence number 0 and length 1.
        let mapping = Mapping {
            sequence: DataSequence::Wide(self.negotiation.local().at(self.send.next())),
            subflow_sequence: 0,
            length: 1,
            checksum: self.dss_checksum(self.send.next(), 0, 1, &[]),
        };
        // The acknowledgement may repeat the third ACK with MP_CAPABLE and the keys. The DATA_FIN replaces
        // this option.
        out.options.mptcp.clear();
        out.options.dss = Some(Dss { ack: Some(self.data_ack()), mapping: Some(mapping), data_fin: true });
        while out.options.length() > mptcp_wire::Options::SPACE && out.options.sack.pop().is_some() {}
        Some(id)
    }

    fn must_acknowledge_before_fin(&self, id: usize) -> bool {
        let subflow = &self.subflows[id];
        self.config.linux_compat.acknowledge_before_fin
            && self.negotiation.is_multipath()
            && subflow.wants_fin()
            && subflow.receiver().wants_ack()
            && matches!(subflow.state(), State::Established | State::CloseWait)
    }

    /// The slot for a message that is repeated until it is answered: the subflow with the smallest SRTT.
    /// Subflows after a retransmission timeout come last. Each further attempt uses the next subflow, because
    /// a path may have failed.
    pub(crate) fn control_subflow(&self, tries: u32) -> Option<usize> {
        let subflows = self.subflows.iter().enumerate().filter(|(_, subflow)| subflow.can_send());
        let mut usable: Vec<_> = subflows
            .map(|(id, subflow)| (subflow.sender().in_loss(), self.congestion.paths[id].srtt, id))
            .collect();
        usable.sort_unstable();
        let at = (tries as usize).checked_rem(usable.len())?;
        usable.get(at).map(|&(_, _, id)| id)
    }
}

/// The reason why a subflow has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubflowError {
    /// This host resets the subflow. `reason` is for MPTCP peers.
    Reset {
        reason: Option<ResetReason>,
        /// The data sequence number of data with a wrong checksum.
        failed: Option<u64>,
    },
    /// The subflow ends without a segment.
    Over(SubflowCloseReason),
    /// The peer ends the connection: by MP_FASTCLOSE on an acknowledgement (`None`), or on a RST.
    FastClose(Option<SubflowCloseReason>),
}

impl SubflowError {
    /// A reset without a reason.
    pub(crate) const RESET: Self = Self::Reset { reason: None, failed: None };

    /// A reset with a reason.
    pub(crate) const fn because(reason: ResetReason) -> Self {
        Self::Reset { reason: Some(reason), failed: None }
    }
}

/// The result of processing a segment or a timer.
pub(crate) type Outcome<T = ()> = Result<T, SubflowError>;
