//! A segment comes in: acknowledgements, options, data, FIN, in that order.

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

/// What came of a segment.
enum SegmentOutcome {
    Whole,
    /// It was the last of the handshake: what overtook it counts now.
    Opened,
}

/// How a segment that is accepted finds its subflow.
#[derive(Clone, Copy)]
struct AcceptedSegment {
    in_order: bool,
    /// That the peer is heard is to be noted, or confirms a join.
    awaited: bool,
    /// It had gone silent, and is asked whether it is back.
    probed: bool,
    /// A FIN has come, with the segment or before.
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
            awaited: (slow_timers.keepalive() != Instant::FAR_FUTURE) | subflow.handshake().unconfirmed,
            probed: slow_timers.path_probe() != Instant::FAR_FUTURE,
            ends: segment.flags.fin() | subflow.receiver().has_fin(),
        }
    }
}

impl Connection {
    /// Takes a segment of a subflow. Returns whether it was the last of its handshake and others have overtaken it: they are taken
    /// next, by [`Connection::process_early_data`].
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

    /// The handshake is over: data that overtook its last part counts now.
    #[cold]
    pub(crate) fn process_early_data(&mut self, now: Instant, id: SubflowId) {
        let Some(slot) = self.subflows.slot(id) else { return };
        for mut segment in self.subflows[slot].handshake_mut().early_data.take() {
            // Nothing is kept any more.
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
                // The SYN that seemed to open from the other side was somebody else's: ours is answered now, or theirs.
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
                let found = AcceptedSegment::of(subflow, now, segment, start);
                self.on_accepted(now, id, segment, (start, ack), found)?;
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
            // It answers our SYN/ACK: the peer knows nothing of the SYN that seemed to cross ours. Ours goes again.
            Verdict::Reset if subflow.state() == State::SynReceived && subflow.handshake().opened_here => {
                subflow.set_state(State::SynSent);
            }
            Verdict::Reset => return Err(self.reset_error(segment)),
        }
        Ok(SegmentOutcome::Whole)
    }

    /// The peer was heard, which was to be noted, or confirms a join.
    #[cold]
    fn on_peer_heard(&mut self, now: Instant, id: usize) {
        let subflow = &mut self.subflows[id];
        if subflow.liveness().slow_timers.keepalive() != Instant::FAR_FUTURE {
            subflow.keep_alive(now, self.config.keepalive);
        }
        if subflow.handshake().unconfirmed {
            // RFC 8684 section 3.2: any acknowledgement of our third ACK confirms the join.
            subflow.handshake_mut().unconfirmed = false;
            subflow.scheduling_mut().probation =
                self.config.join_probation.map(|span| Probation::Until(now + span));
            subflow.liveness_mut().slow_timers.set_handshake(Instant::FAR_FUTURE);
            self.activate(now, id);
        }
    }

    /// The last of the handshake, if it is that.
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
        let found = AcceptedSegment::of(&mut self.subflows[id], now, segment, start);
        self.on_accepted(now, id, segment, (start, ack), found)?;
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
        // Who cannot see the connection hits its window now and then, but hardly what comes next.
        let near = in_order || self.subflows[id].receiver().is_near(start);
        if near && !segment.options.mptcp.is_empty() {
            self.process_options(now, id, &segment.options, in_order)?;
        }
        if self.negotiation.is_multipath() {
            // Once confirmed, only a FIN without options tells that the peer has fallen back.
            let fallen = segment.flags.fin() && !segment.options.has_mptcp();
            let tells = in_order || near && segment.options.dss.is_some();
            if tells && (!self.negotiation.confirmed() || fallen) {
                self.confirm(now, id, segment, ack)?;
            }
        }
        if self.process_ack(now, id, segment, ack) {
            // The last word on this subflow; what it says of the data still counts.
            self.end_subflow(now, id, SubflowError::Over(SubflowCloseReason::Finished));
        }
        if probed {
            self.on_path_recovered(now, id);
        }
        let mut acknowledged = None;
        if let Some(dss) = &segment.options.dss
            && self.negotiation.is_multipath()
            && near
        {
            acknowledged = self.process_data_ack(now, dss);
        }
        if segment.flags.syn() {
            self.note_window(now, id, segment);
        } else if near || !self.negotiation.is_multipath() {
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
            && !self.process_mapping(now, id, mapping, (dss.data_fin, near), start, end)?
        {
            // It counts as lost: the peer sends it again. Without data there is nothing to be said.
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
                // What came before the fault may have been the last of the stream.
                self.end_subflow(now, id, error);
            }
        }
        // One without options may be the end of the stream of a peer that has fallen back: that is told in order only.
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

    /// The peer is heard again on a subflow that had gone silent.
    #[cold]
    fn on_path_recovered(&mut self, now: Instant, id: usize) {
        let subflow = &mut self.subflows[id];
        if subflow.liveness().slow_timers.path_probe() != Instant::FAR_FUTURE {
            subflow.liveness_mut().slow_timers.set_path_probe(Instant::FAR_FUTURE);
            subflow.sender_mut().revive(now, &self.congestion.paths[id]);
        }
    }

    /// Returns whether that was the last word on the subflow: our FIN is acknowledged, and the peer's was before.
    #[inline(always)]
    fn process_ack(&mut self, now: Instant, id: usize, segment: &Segment, ack: u64) -> bool {
        let subflow = &mut self.subflows[id];
        let last_window = std::mem::replace(&mut subflow.window_mut().last, segment.window);
        let reports = !segment.options.sack.is_empty() || subflow.sender().awaits_probe_answer();
        if subflow.sender().is_idle() && !(reports && subflow.sender().hears_late_reports()) {
            // A pure receiver: nothing of ours is left to be acknowledged. Duplicates may yet be reported.
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
        // RFC 5681 section 2: a window update is no duplicate; RFC 8684 section 3.3.5: nor is what
        // carries another MPTCP option than the DSS.
        let updates = self.negotiation.is_plain() && segment.window > last_window;
        let empty = segment.payload.is_empty() && !segment.flags.fin();
        let bare = empty && !updates && segment.options.mptcp.is_empty();
        let echoes = segment.flags.contains(Flags::ECE);
        let ack = Ack { now, number: ack, blocks: &blocks, echo, bare, empty, echoes };
        let advanced = subflow.sender_mut().on_ack(ack, id, &mut self.congestion);
        if advanced == 0 {
            return false;
        }
        // Only news tells: an old segment with options may come after the first without.
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

    /// Mechanism M4: a path whose round-trip time has grown by its own queue gets no larger window
    /// than LAMBDA times what its propagation needs (Paasch et al., CSWS 2014, section 4.2). Once in a
    /// round trip: until the queue has drained, the round-trip time speaks of the window before.
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
                // The queue has been found, so slow start has nothing more to find.
                path.cwnd = cap;
                path.ssthresh = path.ssthresh.min(cap);
            }
        }
    }

    /// What a RST of the peer ends: its subflow, or by MP_FASTCLOSE all, for the RSTs of the others may be lost
    /// (RFC 8684 section 3.5).
    #[cold]
    fn reset_error(&self, segment: &Segment) -> SubflowError {
        let fast_close = segment.options.mptcp.iter().any(
            |option| matches!(option, MptcpOption::FastClose(key) if *key == self.negotiation.local().value),
        );
        let why = SubflowCloseReason::ResetByPeer(reset_reason(segment));
        if fast_close && self.negotiation.is_multipath() {
            return SubflowError::FastClose(Some(why));
        }
        SubflowError::Over(why)
    }

    /// In TCP, where an acknowledgement of the subflow is one of the stream, what lies beyond the window is cut off: it is not
    /// acknowledged, and comes again (RFC 9293 section 3.10.7.4). Says whether anything was.
    #[inline(always)]
    pub(crate) fn trim_to_window(&mut self, id: usize, start: u64, payload: &mut Bytes) -> bool {
        if !self.negotiation.is_plain() {
            return false;
        }
        let subflow = &mut self.subflows[id];
        let end = subflow.mapper().data_at(start + payload.len() as u64);
        let over = end.map_or(0, |end| self.recv.excess(end));
        if over > 0 {
            payload.truncate(payload.len().saturating_sub(over as usize));
            subflow.receiver_mut().acknowledge_now();
        }
        over > 0
    }
}
