//! Giving Multipath TCP up for TCP when the network cannot carry it (RFC 8684 section 3.7).

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
    /// From here on the connection is TCP on the subflow `id`.
    pub(crate) fn fall_back(&mut self, id: usize, reason: FallbackReason) {
        if self.negotiation.is_plain() {
            return;
        }
        self.negotiation.give_up();
        if let Some(observer) = &mut self.observer {
            observer.on_fallback();
        }
        if self.config.multipath {
            self.lifecycle.note(EventKind::FellBack(reason));
        }
        self.pending_options.clear();
        self.lifecycle.want_nothing();
        self.set_plain_mapping(id);
        let mss = self.subflows[id].payload_size(&self.config, false);
        let path = &mut self.congestion.paths[id];
        path.mss = mss;
        path.cwnd = path.cwnd.max(mss);
    }

    /// Maps the subflow's stream one to one onto the connection's, from where both stand now.
    pub(crate) fn set_plain_mapping(&mut self, id: usize) {
        let subflow = &mut self.subflows[id];
        if self.negotiation.is_plain() && !subflow.mapper().is_infinite() {
            let next = subflow.receiver().next().max(1);
            subflow.mapper_mut().set_infinite(next, self.recv.next());
        }
    }

    /// Whether a fallback is still possible: no other subflow was ever open, on which the peer may have
    /// sent data, nothing was resent by either side, nothing is out of order (RFC 8684 section 3.7). Of what
    /// came on the subflow `rest` has found no place in the stream yet.
    fn may_fall_back(&self, id: usize, rest: &[Bytes]) -> bool {
        let mut others = self.subflows.iter().enumerate().filter(|&(other, _)| other != id);
        let only =
            others.all(|(_, subflow)| !subflow.handshake().was_open && !subflow.handshake().unconfirmed);
        let retransmitted = self.reinjection.reinjected() > 0 || self.peer_has_retransmitted(id, rest);
        self.is_initial(id) && only && !retransmitted && self.recv.early().is_empty()
    }

    /// Whether the peer has sent data on a subflow that it had sent before: what comes next there need not be what comes next in
    /// its stream.
    fn peer_has_retransmitted(&self, id: usize, rest: &[Bytes]) -> bool {
        let subflow = &self.subflows[id];
        let receiver = subflow.receiver();
        let end = receiver.next().saturating_sub(u64::from(receiver.finished()));
        let came = end.saturating_sub(subflow.handshake().first_received);
        let rest = rest.iter().map(|bytes| bytes.len() as u64).sum::<u64>();
        came != self.recv.next() + subflow.mapper().waiting() + rest
    }

    /// The first segments after the handshake show whether the peer, and all boxes on the way, let
    /// MPTCP options through (RFC 8684 section 3.7).
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
            // The peer takes a FIN on this subflow for the end of the stream: it gets none.
            return if segment.flags.fin() { Err(SubflowError::because(ResetReason::MPTCP)) } else { Ok(()) };
        }
        self.fall_back_here(now, id, Vec::new(), FallbackReason::FirstData)
    }

    /// The peer has shown that it has both keys.
    pub(crate) fn on_confirmed(&mut self, now: Instant) {
        if !self.negotiation.confirm() {
            return;
        }
        if !self.config.linux_compat.early_announcements {
            self.announce_others(now);
        }
        // RFC 8684 section 3.2: both sides know that MPTCP works, joins may begin.
        self.consult_path_manager(now);
    }

    /// Data or the DATA_FIN was not acknowledged at the data level for too long. When what comes on the
    /// only subflow has lost its options, a box on the way has begun to eat them (RFC 8684 section 3.7);
    /// otherwise such a subflow ends.
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
        // More data could only do harm: a peer that has fallen back takes it for what follows.
        if self.negotiation.is_multipath() {
            for id in 0..self.subflows.len() {
                if self.subflows[id].scheduling().options_stripped && self.subflows[id].is_synchronised() {
                    self.end_subflow(now, id, SubflowError::because(ResetReason::MIDDLEBOX));
                }
            }
        }
    }

    /// Falls back in mid-stream: what could not be mapped is the stream's, after what is here, and the
    /// peer's acknowledgements count for data from now on.
    fn fall_back_here(
        &mut self,
        now: Instant,
        id: usize,
        rest: Vec<Bytes>,
        reason: FallbackReason,
    ) -> Outcome {
        if self.lifecycle.closed().is_some() {
            // Both streams have ended: there is nothing to go on with.
            return Err(SubflowError::RESET);
        }
        let held = self.subflows[id].mapper_mut().take_held();
        for bytes in held.into_iter().chain(rest).filter(|bytes| !bytes.is_empty()) {
            let next = self.recv.next();
            if self.recv.place(next, bytes) == Placed::Beyond {
                // What was acknowledged would be missing from the stream.
                return Err(SubflowError::RESET);
            }
            self.lifecycle.note(EventKind::Readable);
        }
        self.fall_back(id, reason);
        // Joins that were under way have lost their connection.
        for other in (0..self.subflows.len()).filter(|&other| other != id) {
            self.end_subflow(now, other, SubflowError::RESET);
        }
        self.send.leave_to_subflow();
        self.take_plain_window(id);
        // What the subflow has had acknowledged is done, whatever the data level knew of it.
        self.acknowledge_plainly(now, id);
        Ok(())
    }

    /// Whether the peer is to say first that it lacks data which its only subflow has acknowledged. Sent once more the bytes
    /// would have new numbers of the subflow, and a peer from which a box hides their mapping takes them for what follows (RFC 8684
    /// section 3.7). An answer with a DATA_ACK shows that the data is missing there, and that options still pass.
    pub(crate) fn asks_before_repeating(&mut self) -> bool {
        if self.negotiation.receipt_query() == ReceiptQuery::Answered || !self.may_fall_back(0, &[]) {
            return false;
        }
        let first = &mut self.subflows[0];
        let permit = |end: u64| end > first.sender().board.una;
        let outstanding =
            self.send.head().and_then(|chunk| chunk.end_on(first.record().id)).is_some_and(permit);
        if outstanding || !first.can_send() {
            return false;
        }
        self.negotiation.set_receipt_query(ReceiptQuery::Asked);
        first.set_control(Some(Control::Probe));
        true
    }

    /// The window is what TCP's fields said last: the data level keeps the furthest edge that it heard, from a SYN that was not scaled or
    /// by acknowledgements that came out of order, and new data of a TCP ends at the last one (RFC 9293 section 3.8.6).
    fn take_plain_window(&mut self, id: usize) {
        let subflow = &self.subflows[id];
        let from = subflow.stream_offset(subflow.sender().board.una);
        let window = subflow.offered_window();
        self.send.offer(from, window, true);
    }

    /// A mapping of length 0: the peer has fallen back (RFC 8684 section 3.7).
    #[cold]
    pub(crate) fn on_infinite_mapping(&mut self, now: Instant, id: usize) -> Outcome {
        if !self.may_fall_back(id, &[]) {
            return Err(SubflowError::because(ResetReason::MPTCP));
        }
        // The stream goes on where it stands: this segment may have overtaken others.
        self.fall_back_here(now, id, Vec::new(), FallbackReason::InfiniteMapping)
    }

    /// Payload without a mapping: TCP's if MPTCP never worked here, an error otherwise.
    pub(crate) fn on_unmapped(&mut self, now: Instant, id: usize, rest: Vec<Bytes>) -> Outcome {
        if !self.may_fall_back(id, &rest) {
            return Err(SubflowError::because(ResetReason::MPTCP));
        }
        self.fall_back_here(now, id, rest, FallbackReason::Unmapped)
    }

    /// Something on the way changed the payload (RFC 8684 section 3.7).
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
        // Alone, the subflow goes on as TCP: the stream is what the middlebox made of it.
        self.fall_back_here(now, id, rest, FallbackReason::Checksum)?;
        self.negotiation.checksum_failed(self.subflow_id(id), number);
        self.subflows[id].receiver_mut().acknowledge_now();
        Ok(())
    }

    /// The peer found a bad checksum in what we sent: answers with MP_FAIL and goes on as TCP.
    pub(crate) fn on_mp_fail(&mut self, now: Instant, id: usize) -> Outcome {
        self.negotiation.on_failure_reported();
        if !self.negotiation.is_multipath() || self.lifecycle.closed().is_some() {
            return Ok(());
        }
        let Some(remote) = self.negotiation.remote() else { return Ok(()) };
        if !self.may_fall_back(id, &[]) {
            return Err(SubflowError::because(ResetReason::MIDDLEBOX));
        }
        // Room for one more mapping: the infinite one, which tells the peer.
        let mss = self.congestion.paths[id].mss;
        self.fall_back_here(now, id, Vec::new(), FallbackReason::MpFail)?;
        self.congestion.paths[id].mss = mss;
        self.negotiation.set_infinite_from(self.subflows[id].sender().board.next);
        // The answer speaks of the peer's numbers, as its own spoke of ours.
        let on = self.subflow_id(id);
        self.pending_options.push(Some(on), MptcpOption::Fail(remote.at(self.recv.next())));
        Ok(())
    }
}
