//! Reception: the processing of each segment that arrives on a subflow.
//!
//! Owns the order of the steps: handshake, validity, MPTCP options, acknowledgements, window, payload, FIN.
//! Never stores data or mappings itself (`data`), and never decides whether a reset or an error ends a
//! subflow or the connection (`close/`).

pub(crate) mod acknowledgement;
pub(crate) mod data;
pub(crate) mod options;

use arrayvec::ArrayVec;
use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::{Flags, MptcpOption, Segment};

use crate::connection::Connection;
use crate::connection::close::{Outcome, SubflowError};
use crate::connection::handshake::options::reset_reason;
use crate::connection::receive::acknowledgement::WindowUpdate;
use crate::ids::SubflowId;
use crate::subflow::acceptance::Verdict;
use crate::subflow::receiver::Range;
use crate::subflow::sender::Ack;
use crate::subflow::{Probation, State, Subflow, SubflowCloseReason};

/// The result of processing a segment.
enum SegmentOutcome {
    /// The segment is completely processed.
    Whole,
    /// The segment completed the handshake, so that early data can be processed.
    Opened,
}

/// Properties of an accepted segment and its subflow.
#[derive(Clone, Copy)]
struct AcceptedSegment {
    in_order: bool,
    /// The keepalive timer has to restart, or the segment confirms a join.
    awaited: bool,
    /// The subflow was unresponsive, and probes were sent on it.
    probed: bool,
    /// The segment or an earlier one has a FIN.
    ends: bool,
}

impl AcceptedSegment {
    #[inline(always)]
    fn of(subflow: &mut Subflow, now: Instant, segment: &Segment, start: u64) -> Self {
        subflow.note_timestamp(now, segment, start);
        subflow.scheduling_mut().options_stripped |= !segment.options.has_mptcp();
        let slow_timers = &subflow.liveness().slow_timers;
        Self {
            in_order: start <= subflow.receiver().next(),
            awaited: (slow_timers.keepalive() != Instant::FAR_FUTURE)
                | subflow.handshake().awaits_join_confirmation,
            probed: slow_timers.path_probe() != Instant::FAR_FUTURE,
            ends: segment.flags.fin() | subflow.receiver().has_fin(),
        }
    }
}

impl Connection {
    /// Processes a segment of a subflow. Returns whether it completed the handshake and early data waits. The caller
    /// then calls [`Connection::process_early_data`].
    #[must_use]
    #[inline(always)]
    pub(crate) fn handle_segment(&mut self, now: Instant, id: SubflowId, segment: &mut Segment) -> bool {
        let Some(slot) = self.subflows.slot(id) else { return false };
        match self.process_segment(now, slot, segment) {
            Ok(SegmentOutcome::Whole) => false,
            Ok(SegmentOutcome::Opened) => self.subflows[slot].handshake().early_data.bytes() > 0,
            Err(error) => {
                self.end_subflow(now, slot, error);
                false
            }
        }
    }

    /// Processes the data that arrived before the end of the handshake.
    #[cold]
    pub(crate) fn process_early_data(&mut self, now: Instant, id: SubflowId) {
        let Some(slot) = self.subflows.slot(id) else { return };
        for mut segment in self.subflows[slot].handshake_mut().early_data.take() {
            // The result needs no check: no early data is kept after the handshake.
            let _ = self.handle_segment(now, id, &mut segment);
        }
    }

    #[inline(always)]
    fn process_segment(&mut self, now: Instant, id: usize, segment: &mut Segment) -> Outcome<SegmentOutcome> {
        let window = self.recv.largest_window().max(65_535);
        let subflow = &mut self.subflows[id];
        subflow.record_mut().stats.count_received(segment.payload.len() as u64);
        match subflow.state() {
            State::Closed => return Ok(SegmentOutcome::Whole),
            State::SynSent => return self.on_syn_sent(now, id, segment).map(|()| SegmentOutcome::Whole),
            State::SynReceived if subflow.contradicts_simultaneous_open(segment) => {
                // The SYN that caused the simultaneous open was forged: this SYN/ACK does not match it, or
                // answers another host's SYN.
                if subflow.is_answered_by(segment) {
                    subflow.set_state(State::SynSent);
                }
                return self.on_syn_sent(now, id, segment).map(|()| SegmentOutcome::Whole);
            }
            _ => {}
        }
        let verdict = subflow.check(now, segment, window, self.send.largest_window());
        if segment.flags.fin() && matches!(verdict, Verdict::Acknowledge | Verdict::Accept { .. }) {
            subflow.restart_time_wait(now);
        }
        match verdict {
            Verdict::Accept { start, ack } if subflow.state() != State::SynReceived => {
                let properties = AcceptedSegment::of(subflow, now, segment, start);
                self.on_accepted(now, id, segment, (start, ack), properties)?;
            }
            Verdict::Accept { start, ack } => return self.on_opening(now, id, segment, start, ack),
            Verdict::Drop => {}
            Verdict::Acknowledge => {
                if subflow.state() == State::SynReceived {
                    subflow.answer_in_handshake(segment);
                } else {
                    subflow.receiver_mut().acknowledge_now();
                }
            }
            // The reset answers this host's SYN/ACK: the peer did not send the SYN of the simultaneous open. The SYN is
            // retransmitted.
            Verdict::Reset if subflow.state() == State::SynReceived && subflow.handshake().is_active_open => {
                subflow.set_state(State::SynSent);
            }
            Verdict::Reset => return Err(self.reset_error(segment)),
        }
        Ok(SegmentOutcome::Whole)
    }

    /// Restarts the keepalive timer, and confirms a join.
    #[cold]
    fn on_peer_heard(&mut self, now: Instant, id: usize) {
        let subflow = &mut self.subflows[id];
        if subflow.liveness().slow_timers.keepalive() != Instant::FAR_FUTURE {
            subflow.keep_alive(now, self.config.keepalive);
        }
        if subflow.handshake().awaits_join_confirmation {
            // RFC 8684 section 3.2: any acknowledgement of the third ACK confirms the join.
            subflow.handshake_mut().awaits_join_confirmation = false;
            subflow.scheduling_mut().probation =
                self.config.join_probation.map(|span| Probation::Until(now + span));
            subflow.liveness_mut().slow_timers.set_handshake(Instant::FAR_FUTURE);
            self.activate(now, id);
        }
    }

    /// Processes a segment that may be the third ACK.
    #[cold]
    fn on_opening(
        &mut self,
        now: Instant,
        id: usize,
        segment: &mut Segment,
        start: u64,
        ack: u64,
    ) -> Outcome<SegmentOutcome> {
        if !self.on_third_ack(now, id, segment, ack)? {
            return Ok(SegmentOutcome::Whole);
        }
        let properties = AcceptedSegment::of(&mut self.subflows[id], now, segment, start);
        self.on_accepted(now, id, segment, (start, ack), properties)?;
        Ok(SegmentOutcome::Opened)
    }

    #[inline(always)]
    fn on_accepted(
        &mut self,
        now: Instant,
        id: usize,
        segment: &mut Segment,
        (start, ack): (u64, u64),
        AcceptedSegment { in_order, awaited, probed, ends }: AcceptedSegment,
    ) -> Outcome {
        self.writer.set_more(false);
        self.timers.answered();
        if awaited {
            self.on_peer_heard(now, id);
        }
        // An off-path host may guess a sequence number in the window, but hardly the next one.
        let is_near = in_order || self.subflows[id].receiver().is_near(start);
        if is_near && !segment.options.mptcp.is_empty() {
            self.process_options(now, id, &segment.options, in_order)?;
        }
        if self.negotiation.is_multipath() {
            // After confirmation, only a FIN without options shows that the peer has fallen back.
            let is_fallback_fin = segment.flags.fin() && !segment.options.has_mptcp();
            let is_credible = in_order || is_near && segment.options.dss.is_some();
            if is_credible && (!self.negotiation.confirmed() || is_fallback_fin) {
                self.confirm(now, id, segment, ack)?;
            }
        }
        if self.process_ack(now, id, segment, ack) {
            // The acknowledgement ends the subflow. The segment's data-level fields are still processed.
            self.end_subflow(now, id, SubflowError::Over(SubflowCloseReason::Finished));
        }
        if probed {
            self.on_path_recovered(now, id);
        }
        let mut acknowledged = None;
        if let Some(dss) = &segment.options.dss
            && self.negotiation.is_multipath()
            && is_near
        {
            acknowledged = self.process_data_ack(now, dss);
        }
        if segment.flags.syn() {
            self.note_window(now, id, segment);
        } else if is_near || !self.negotiation.is_multipath() {
            self.process_window(
                now,
                id,
                segment,
                WindowUpdate { start: Some(start), ack: Some(ack), acknowledged },
            );
        }
        let end = start + segment.payload.len() as u64;
        let carries_data = end > start;
        if self.negotiation.is_multipath()
            && let Some(dss) = &segment.options.dss
            && let Some(mapping) = dss.mapping
            && !self.process_mapping(now, id, mapping, (dss.data_fin, is_near), start, end)?
        {
            // The payload counts as lost, and the peer retransmits it. Without payload there is nothing to acknowledge.
            if carries_data {
                self.subflows[id].receiver_mut().acknowledge_now();
            }
            return Ok(());
        }
        if let Some(dss) = &segment.options.dss
            && in_order
            && dss.mapping.is_some_and(|mapping| mapping.length == 0)
        {
            self.negotiation.on_failure_reported();
        }
        let cut = self.trim_to_window(id, start, &mut segment.payload);
        if !segment.payload.is_empty() {
            self.subflows[id].note_data(segment);
            if let Err(error) = self.process_payload(now, id, start, std::mem::take(&mut segment.payload)) {
                // Data before the fault may have completed the stream.
                self.end_subflow(now, id, error);
            }
        }
        // A FIN without options may end the stream of a peer that has fallen back. It is accepted in order only.
        let counts = in_order || segment.options.has_mptcp() || !self.negotiation.is_multipath();
        if segment.flags.fin() && !cut && !self.subflows[id].is_closed() {
            let receiver = self.subflows[id].receiver_mut();
            if counts { receiver.on_fin(end) } else { receiver.acknowledge_now() }
        }
        if ends && self.subflows[id].receiver().finished() {
            self.note_fin(now, id);
        }
        if self.recv.report_finish() {
            self.note_end(now);
        }
        Ok(())
    }

    /// Ends the probing of a subflow that responds again.
    #[cold]
    fn on_path_recovered(&mut self, now: Instant, id: usize) {
        let subflow = &mut self.subflows[id];
        if subflow.liveness().slow_timers.path_probe() != Instant::FAR_FUTURE {
            subflow.liveness_mut().slow_timers.set_path_probe(Instant::FAR_FUTURE);
            subflow.sender_mut().revive(now, &self.congestion.paths[id]);
        }
    }

    /// Processes an acknowledgement. Returns whether the subflow is finished: both FINs are acknowledged.
    #[inline(always)]
    fn process_ack(&mut self, now: Instant, id: usize, segment: &Segment, ack: u64) -> bool {
        let subflow = &mut self.subflows[id];
        let last_window = std::mem::replace(&mut subflow.window_mut().last, segment.window);
        let reports = !segment.options.sack.is_empty() || subflow.sender().awaits_probe_answer();
        if subflow.sender().is_idle() && !(reports && subflow.sender().accepts_late_sack()) {
            // A pure receiver has nothing to be acknowledged, but the segment may still report duplicates.
            return false;
        }
        let mut blocks: ArrayVec<Range, 4> = ArrayVec::new();
        if subflow.negotiated().sack {
            for &(left, right) in &segment.options.sack {
                if let (Some(left), Some(right)) = (subflow.send_offset(left), subflow.send_offset(right)) {
                    blocks.push((left, right));
                }
            }
        }
        let echo = subflow.echo_on(segment);
        // RFC 5681 section 2: a window update is no duplicate acknowledgement. RFC 8684 section 3.3.5: neither is a
        // segment with an MPTCP option other than the DSS.
        let updates = self.negotiation.is_plain() && segment.window > last_window;
        let empty = segment.payload.is_empty() && !segment.flags.fin();
        let bare = empty && !updates && segment.options.mptcp.is_empty();
        let echoes = segment.flags.contains(Flags::ECE);
        let ack = Ack { now, number: ack, blocks: &blocks, echo, bare, empty, echoes };
        let advanced = subflow.sender_mut().on_ack(ack, id, &mut self.congestion);
        if advanced == 0 {
            return false;
        }
        // Only a new acknowledgement shows that options pass: an old segment with options may arrive after
        // the first segment without options.
        subflow.scheduling_mut().options_stripped &= !segment.options.has_mptcp();
        subflow.record_mut().stats.bytes_acked += advanced;
        if let Some(lead) = self.data_ack_leads.on_acknowledged(now, id, subflow.sender().board.una)
            && lead.0 == subflow.record().id
        {
            self.congestion.paths[id].model.lead = lead.1;
        }
        subflow.scheduling_mut().reinjected = false;
        if subflow.mtu().is_known() {
            self.update_path_mtu(now, id);
        }
        if self.config.mechanisms.cwnd_capping {
            self.cap_cwnd(now, id);
        }
        let plain = self.negotiation.is_plain();
        if plain {
            self.acknowledge_plainly(now, id);
        }
        let subflow = &mut self.subflows[id];
        subflow.wants_fin()
            && subflow.sender().is_idle()
            && subflow
                .fin_acknowledged(now, self.negotiation.is_multipath() || self.lifecycle.closed().is_some())
    }

    /// Limits the congestion window of a path with a standing queue (mechanism M4; Paasch et al., CSWS 2014, section
    /// 4.2). The limit is LAMBDA times the window that the propagation delay needs. It applies once per RTT, because
    /// the RTT reflects the old window until the queue has drained.
    #[inline(never)]
    fn cap_cwnd(&mut self, now: Instant, id: usize) {
        const LAMBDA: f64 = 3.0;
        let path = &mut self.congestion.paths[id];
        if let (Some(min), Some(srtt)) = (path.min_rtt, path.srtt) {
            if now < self.subflows[id].scheduling().next_cwnd_cap {
                return;
            }
            self.subflows[id].scheduling_mut().next_cwnd_cap = now + srtt;
            let cap = LAMBDA * min.as_secs_f64() / srtt.as_secs_f64().max(1e-9) * path.cwnd as f64;
            let cap = (cap as u64).max(2 * path.mss);
            if path.cwnd > cap {
                // Slow start ends, because it has filled the queue.
                path.cwnd = cap;
                path.ssthresh = path.ssthresh.min(cap);
            }
        }
    }

    /// The effect of a RST: it ends its subflow. With MP_FASTCLOSE it ends the connection, because the RSTs on other
    /// subflows may be lost (RFC 8684 section 3.5).
    #[cold]
    fn reset_error(&self, segment: &Segment) -> SubflowError {
        let fast_close = segment.options.mptcp.iter().any(
            |option| matches!(option, MptcpOption::FastClose(key) if *key == self.negotiation.local().value),
        );
        let reason = SubflowCloseReason::ResetByPeer(reset_reason(segment));
        if fast_close && self.negotiation.is_multipath() {
            return SubflowError::FastClose(Some(reason));
        }
        SubflowError::Over(reason)
    }

    /// Cuts TCP payload beyond the receive window. The peer retransmits these bytes, because they are not
    /// acknowledged (RFC 9293 section 3.10.7.4). Returns whether bytes were cut.
    #[inline(always)]
    pub(crate) fn trim_to_window(&mut self, id: usize, start: u64, payload: &mut Bytes) -> bool {
        if !self.negotiation.is_plain() {
            return false;
        }
        let subflow = &mut self.subflows[id];
        let end = subflow.mapper().data_at(start + payload.len() as u64);
        let excess = end.map_or(0, |end| self.recv.excess(end));
        if excess > 0 {
            payload.truncate(payload.len().saturating_sub(excess as usize));
            subflow.receiver_mut().acknowledge_now();
        }
        excess > 0
    }
}
