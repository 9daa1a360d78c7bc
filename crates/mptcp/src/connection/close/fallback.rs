//! Fallback from MPTCP to TCP when the network does not support MPTCP (RFC 8684 section 3.7).
//!
//! Owns the conditions of a fallback, and the transition of both directions of the data stream. Never falls back if
//! another subflow was open: the affected subflow is reset instead.

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::{MptcpOption, ResetReason, Segment};

use crate::connection::Connection;
use crate::connection::close::{Outcome, SubflowError};
use crate::connection::handshake::negotiation::ReceiptQuery;
use crate::connection::stream::recv::Placed;
use crate::event::{EventKind, FallbackReason};
use crate::subflow::Control;

impl Connection {
    /// Changes the connection to TCP on the subflow in slot `id`.
    pub(crate) fn fall_back(&mut self, id: usize, reason: FallbackReason) {
        if self.negotiation.is_plain() {
            return;
        }
        self.negotiation.fall_back_to_tcp();
        if let Some(observer) = &mut self.observer {
            observer.on_fallback();
        }
        if self.config.multipath {
            self.lifecycle.note(EventKind::FellBack(reason));
        }
        self.pending_options.clear();
        self.lifecycle.drop_subflow_requests();
        self.set_plain_mapping(id);
        let mss = self.subflows[id].payload_size(&self.config, false);
        let path = &mut self.congestion.paths[id];
        path.mss = mss;
        path.cwnd = path.cwnd.max(mss);
    }

    /// Maps the subflow's stream one to one onto the connection's stream, from the current offsets.
    pub(crate) fn set_plain_mapping(&mut self, id: usize) {
        let subflow = &mut self.subflows[id];
        if self.negotiation.is_plain() && !subflow.mapper().is_infinite() {
            let next = subflow.receiver().next().max(1);
            subflow.mapper_mut().set_infinite(next, self.recv.next());
        }
    }

    /// Whether a fallback is possible (RFC 8684 section 3.7): only if no other subflow was ever open. Also,
    /// no data may have been retransmitted in new mappings or be out of order. `rest` is received data of the
    /// subflow that is not yet in the stream.
    fn may_fall_back(&self, id: usize, rest: &[Bytes]) -> bool {
        let mut others = self.subflows.iter().enumerate().filter(|&(other, _)| other != id);
        let only = others.all(|(_, subflow)| {
            !subflow.handshake().was_established && !subflow.handshake().awaits_join_confirmation
        });
        let retransmitted = self.reinjection.reinjected() > 0 || self.peer_has_retransmitted(id, rest);
        self.is_initial(id) && only && !retransmitted && self.recv.early().is_empty()
    }

    /// Whether the peer has sent the same data under two subflow sequence numbers (a data-level retransmission). The
    /// next data on the subflow may then not be the next data of the stream.
    fn peer_has_retransmitted(&self, id: usize, unmapped: &[Bytes]) -> bool {
        let subflow = &self.subflows[id];
        let receiver = subflow.receiver();
        let end = receiver.next().saturating_sub(u64::from(receiver.finished()));
        let received = end.saturating_sub(subflow.handshake().first_received);
        let unmapped = unmapped.iter().map(|bytes| bytes.len() as u64).sum::<u64>();
        received != self.recv.next() + subflow.mapper().waiting() + unmapped
    }

    /// Checks the first segments after the handshake: they show whether MPTCP options pass in both directions (RFC 8684
    /// section 3.7).
    #[cold]
    pub(crate) fn confirm(&mut self, now: Instant, id: usize, segment: &Segment, ack: u64) -> Outcome {
        if segment.options.dss.is_some() {
            self.on_confirmed(now);
            return Ok(());
        }
        let keys = crate::connection::handshake::options::capable(&segment.options).is_some();
        let proves_nothing = segment.payload.is_empty() && ack <= 1 && !segment.flags.fin();
        if keys || proves_nothing || segment.options.has_mptcp() {
            return Ok(());
        }
        if !self.may_fall_back(id, &[]) {
            // The peer would take a FIN on this subflow for the end of the stream.
            return if segment.flags.fin() { Err(SubflowError::because(ResetReason::MPTCP)) } else { Ok(()) };
        }
        self.fall_back_here(now, id, Vec::new(), FallbackReason::FirstData)
    }

    /// Notes that the peer has proved both keys.
    pub(crate) fn on_confirmed(&mut self, now: Instant) {
        if !self.negotiation.confirm() {
            return;
        }
        if self.negotiation.client() || !self.config.linux_compat.early_announcements {
            self.announce_others(now);
        }
        // RFC 8684 section 3.2: joins may begin.
        self.consult_path_manager(now);
    }

    /// Handles a missing DATA_ACK of data or of the DATA_FIN. If options were stripped on the only subflow, a middlebox
    /// has begun to remove them: the connection falls back (RFC 8684 section 3.7). Other subflows without options are
    /// reset.
    pub(crate) fn fall_back_if_stripped(&mut self, now: Instant) {
        let stripped = self.negotiation.is_multipath()
            && self
                .subflows
                .first()
                .is_some_and(|first| first.scheduling().options_stripped && !first.is_closed())
            && self.may_fall_back(0, &[]);
        if stripped {
            if let Err(error) = self.fall_back_here(now, 0, Vec::new(), FallbackReason::Stripped) {
                self.end_subflow(now, 0, error);
            }
            return;
        }
        // A peer that has fallen back would append all data on a subflow without options to its stream, so these
        // subflows are reset.
        if self.negotiation.is_multipath() {
            for id in 0..self.subflows.len() {
                if self.subflows[id].scheduling().options_stripped && self.subflows[id].is_synchronised() {
                    self.end_subflow(now, id, SubflowError::because(ResetReason::MIDDLEBOX));
                }
            }
        }
    }

    /// Falls back in the middle of the stream. Unmapped data is appended to the received data, and acknowledgements of
    /// the subflow count as DATA_ACKs. Errors: acknowledged data would be lost, or the connection is closed.
    fn fall_back_here(
        &mut self,
        now: Instant,
        id: usize,
        rest: Vec<Bytes>,
        reason: FallbackReason,
    ) -> Outcome {
        if self.lifecycle.closed().is_some() {
            // Both directions have ended.
            return Err(SubflowError::RESET);
        }
        let waiting = self.subflows[id].mapper_mut().take_held();
        for bytes in waiting.into_iter().chain(rest).filter(|bytes| !bytes.is_empty()) {
            let next = self.recv.next();
            if self.recv.place(next, bytes) == Placed::Beyond {
                // Acknowledged data would be missing from the stream.
                return Err(SubflowError::RESET);
            }
            self.lifecycle.note(EventKind::Readable);
        }
        self.fall_back(id, reason);
        // Joins in progress are reset.
        for other in (0..self.subflows.len()).filter(|&other| other != id) {
            self.end_subflow(now, other, SubflowError::RESET);
        }
        self.send.leave_to_subflow();
        self.take_plain_window(id);
        // Data acknowledged on the subflow counts as delivered.
        self.acknowledge_plainly(now, id);
        Ok(())
    }

    /// Queries the peer before data is retransmitted at the data level on the only subflow, and returns `true` while
    /// the answer is open. A data-level retransmission has new subflow sequence numbers. Behind a middlebox
    /// that hides the mapping, the peer would therefore append the same data twice (RFC 8684 section 3.7). An
    /// answer whose DATA_ACK does not cover the data shows that the data is missing and that options pass.
    pub(crate) fn queries_before_reinjecting(&mut self) -> bool {
        if self.negotiation.receipt_query() == ReceiptQuery::Answered || !self.may_fall_back(0, &[]) {
            return false;
        }
        let first = &mut self.subflows[0];
        let is_unacknowledged = |end: u64| end > first.sender().board.una;
        let is_outstanding =
            self.send.head().and_then(|chunk| chunk.end_on(first.record().id)).is_some_and(is_unacknowledged);
        if is_outstanding || !first.can_send() {
            return false;
        }
        self.negotiation.set_receipt_query(ReceiptQuery::Asked);
        first.set_control(Some(Control::Probe));
        true
    }

    /// Replaces the window by the last window of TCP (RFC 9293 section 3.8.6). The data level had the maximum
    /// of all windows, including unscaled windows of SYNs and reordered ones.
    fn take_plain_window(&mut self, id: usize) {
        let subflow = &self.subflows[id];
        let from = subflow.stream_offset(subflow.sender().board.una);
        let window = subflow.offered_window();
        self.send.offer(from, window, true);
    }

    /// Processes an infinite mapping: the peer has fallen back (RFC 8684 section 3.7).
    #[cold]
    pub(crate) fn on_infinite_mapping(&mut self, now: Instant, id: usize) -> Outcome {
        if !self.may_fall_back(id, &[]) {
            return Err(SubflowError::because(ResetReason::MPTCP));
        }
        // The stream continues at its current offset, because the segment may have overtaken others.
        self.fall_back_here(now, id, Vec::new(), FallbackReason::InfiniteMapping)
    }

    /// Handles payload without a mapping: falls back if possible. Errors: the subflow has to be reset.
    pub(crate) fn on_unmapped(&mut self, now: Instant, id: usize, rest: Vec<Bytes>) -> Outcome {
        if !self.may_fall_back(id, &rest) {
            return Err(SubflowError::because(ResetReason::MPTCP));
        }
        self.fall_back_here(now, id, rest, FallbackReason::Unmapped)
    }

    /// Handles a failed checksum: a middlebox changed the payload (RFC 8684 section 3.7).
    pub(crate) fn on_bad_checksum(
        &mut self,
        now: Instant,
        id: usize,
        data: u64,
        rest: Vec<Bytes>,
    ) -> Outcome {
        let Some(remote) = self.negotiation.remote() else { return Ok(()) };
        let number = remote.at(data);
        if !self.may_fall_back(id, &rest) {
            let reason = Some(ResetReason::MIDDLEBOX);
            return Err(SubflowError::Reset { reason, failed: Some(number) });
        }
        // The only subflow continues as TCP with the changed data.
        self.fall_back_here(now, id, rest, FallbackReason::Checksum)?;
        self.negotiation.checksum_failed(self.subflow_id(id), number);
        self.subflows[id].receiver_mut().acknowledge_now();
        Ok(())
    }

    /// Processes MP_FAIL: answers with MP_FAIL and falls back.
    pub(crate) fn on_mp_fail(&mut self, now: Instant, id: usize) -> Outcome {
        self.negotiation.on_failure_reported();
        if !self.negotiation.is_multipath() || self.lifecycle.closed().is_some() {
            return Ok(());
        }
        let Some(remote) = self.negotiation.remote() else { return Ok(()) };
        if !self.may_fall_back(id, &[]) {
            return Err(SubflowError::because(ResetReason::MIDDLEBOX));
        }
        // The segment size leaves space for the infinite mapping, which informs the peer.
        let mss = self.congestion.paths[id].mss;
        self.fall_back_here(now, id, Vec::new(), FallbackReason::MpFail)?;
        self.congestion.paths[id].mss = mss;
        self.negotiation.set_infinite_from(self.subflows[id].sender().board.next);
        // The answer contains the peer's data sequence number.
        let on = self.subflow_id(id);
        self.pending_options.push(Some(on), MptcpOption::Fail(remote.at(self.recv.next())));
        Ok(())
    }
}
