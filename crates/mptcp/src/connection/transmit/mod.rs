//! Transmission: which segment a connection sends next. The endpoint calls `poll_transmit` until it returns
//! `None`.
//!
//! Owns the order: control segments, retransmissions, data, FINs, acknowledgements. Never chooses data or a
//! subflow for it (`data`), and never decides how a data segment looks (`segment`).

pub(crate) mod candidates;
pub(crate) mod data;
pub(crate) mod data_ack_lead;
pub(crate) mod pacing;
pub(crate) mod path_mtu;
pub(crate) mod scheduler_state;
pub(crate) mod segment;

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::crypto::Version;
use mptcp_wire::{Flags, MpTcpRst, MptcpOption, Options, Segment, Timestamps};

use crate::config::Ecn;
use crate::connection::Connection;
use crate::connection::transmit::segment::SentRange;
use crate::subflow::{Control, PendingSends, State, Subflow};

impl Connection {
    /// Writes the next segment into `out` and returns the slot of its subflow. `None` if nothing can be sent.
    /// `disturbed` means that anything but a transmission may have happened since the last call.
    #[inline(always)]
    pub(crate) fn poll_transmit(
        &mut self,
        now: Instant,
        disturbed: bool,
        out: &mut Segment,
    ) -> Option<usize> {
        if disturbed {
            self.scheduler.invalidate();
        }
        if self.config.linux_compat.echo_before_join
            && self.pending_options.address_first()
            && let Some(sent) = self.transmit_signal(now, out)
        {
            return Some(sent);
        }
        // If only new data was sent since the last call, no segment became pending.
        let due = if self.scheduler.is_valid(now) { PendingSends::default() } else { self.due() };
        let owes = !due.is_empty();
        if owes
            && due.has(PendingSends::CONTROL)
            && let Some(sent) = self.transmit_control(now, out)
        {
            return Some(sent);
        }
        if self.negotiation.version() == Version::V0 && self.must_send_keys() {
            // RFC 6824 section 3.1: data segments do not carry the keys.
            self.bare_segment(now, 0, out);
            return Some(0);
        }
        if owes
            && due.has(PendingSends::RETRANSMISSION)
            && let Some(sent) = self.transmit_retransmission(now, out)
        {
            return Some(sent);
        }
        let sent =
            if self.has_queues() { self.transmit_queued(now, out) } else { self.transmit_data(now, out) };
        if let Some(sent) = sent {
            if owes {
                self.scheduler.invalidate();
            }
            return Some(sent);
        }
        let ending =
            self.writer.is_closed() || self.lifecycle.closed().is_some() || due.has(PendingSends::FIN);
        if ending && let Some(sent) = self.transmit_fin(now, out) {
            return Some(sent);
        }
        self.transmit_acknowledgement(now, due, out)
    }

    /// Whether the connection only receives, nothing is pending, and no reason for blocking has to be recorded.
    #[inline]
    pub(crate) fn is_silent(&self) -> bool {
        self.send.written() == 0
            && !self.writer.is_closed()
            && self.lifecycle.closed().is_none()
            && self.subflows.iter().all(Subflow::has_nothing_pending)
            && self.pending_options.is_empty()
            && !self.timers.is_probe_wanted()
    }

    #[inline]
    fn due(&self) -> PendingSends {
        self.subflows.iter().fold(PendingSends::default(), |due, subflow| due | subflow.due())
    }

    /// Whether the third ACK, which carries both keys, has not been sent.
    #[cold]
    fn must_send_keys(&self) -> bool {
        let waits = self.negotiation.client()
            && !self.negotiation.confirmed()
            && self.negotiation.is_multipath()
            && self.send.next() == 0;
        waits
            && self
                .subflows
                .first()
                .is_some_and(|first| first.receiver().wants_ack() && first.is_synchronised())
    }

    #[cold]
    fn transmit_control(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        let id = self.subflows.iter().position(|subflow| subflow.control().is_some())?;
        let control = self.subflows[id].take_control()?;
        if control == Control::Probe {
            self.bare_segment(now, id, out);
            out.sequence = self.subflows[id].sequence_at(self.subflows[id].sender().board.una) - 1;
            return Some(id);
        }
        if control == Control::Acknowledge {
            self.header(now, id, out);
            out.sequence = self.subflows[id].sequence_at(self.subflows[id].sender().board.next.max(1));
            return Some(id);
        }
        let options = self.handshake_options(id, control);
        let window = self.recv.window().min(65_535) as u16;
        let scale = self.window_scale();
        let subflow = &mut self.subflows[id];
        let segment = out;
        segment.reset(subflow.addresses().local, subflow.addresses().remote);
        segment.options.mptcp.extend(options);
        match control {
            Control::Syn | Control::SynAck => {
                let answering = control == Control::SynAck;
                segment.flags = Flags::SYN
                    | if answering {
                        subflow.answering()
                    } else {
                        subflow.asking(self.config.ecn == Some(Ecn::On))
                    };
                segment.sequence = subflow.handshake().iss;
                segment.window = window;
                segment.options.mss = Some(self.config.mss);
                segment.options.fast_open.clone_from(&subflow.handshake().cookie);
                segment.options.fast_open_experimental = subflow.handshake().cookie_experimental;
                // A SYN/ACK offers only options that the SYN offered (RFC 7323 section 1.3).
                if !answering || subflow.clock().on {
                    let echo = if answering { subflow.clock().recent } else { 0 };
                    let value = subflow.clock_at(now);
                    segment.options.timestamps =
                        (answering || self.config.timestamps).then_some(Timestamps { value, echo });
                }
                segment.options.sack_permitted =
                    if answering { subflow.negotiated().sack } else { self.config.sack };
                segment.options.window_scale = (!answering
                    || subflow.negotiated().receive_scale > 0
                    || subflow.negotiated().send_scale > 0)
                    .then_some(scale);
                if answering {
                    segment.flags |= Flags::ACK;
                    segment.acknowledgment = subflow.handshake().irs + subflow.receiver().next() as u32;
                } else if subflow.handshake().attempts == 1 {
                    // RFC 7413 section 4.2.1. Retransmitted SYNs carry neither data nor cookie, because a middlebox may
                    // drop them.
                    segment.payload = subflow.handshake().syn_data.clone();
                } else {
                    segment.options.fast_open = None;
                }
                // A cookie and a key of RFC 6824 exceed the option space. The connection works without the cookie.
                if segment.options.length() > Options::SPACE {
                    segment.options.fast_open = None;
                    segment.payload = Bytes::new();
                }
            }
            Control::Probe | Control::Acknowledge => {}
            Control::Refuse { sequence } => {
                segment.flags = Flags::RST;
                segment.sequence = sequence;
                segment.options.timestamps = subflow.timestamps_at(now);
            }
            Control::Reset { reason, fast_close, failed } => {
                segment.flags = Flags::RST | Flags::ACK;
                segment.sequence = subflow.sequence_at(subflow.sender().board.next.max(1));
                segment.acknowledgment = subflow.handshake().irs + subflow.receiver().next() as u32;
                // RFC 7323 section 3.2.
                segment.options.timestamps = subflow.timestamps_at(now);
                if fast_close && let Some(remote) = self.negotiation.remote() {
                    segment.options.mptcp.push(MptcpOption::FastClose(remote.value));
                }
                // RFC 8684 section 3.7: MP_FAIL accompanies the reset.
                segment.options.mptcp.extend(failed.map(MptcpOption::Fail));
                // RFC 6824 has no MP_TCPRST.
                if let Some(reason) = reason.filter(|_| self.negotiation.version() == Version::V1) {
                    segment.options.mptcp.push(MptcpOption::TcpRst(MpTcpRst { flags: 0, reason }));
                }
            }
        }
        subflow.record_mut().stats.segments_sent += 1;
        Some(id)
    }

    #[inline(never)]
    fn transmit_retransmission(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        for id in 0..self.subflows.len() {
            let probing = self.subflows[id].sender().wants_probe();
            if self.subflows[id].sender().board.lost == 0 && !probing || self.retransmission_is_paced(now, id)
            {
                continue;
            }
            if self.subflows[id].sender().spurious.tries_new_data() {
                if let Some(size) = self.new_data_for_trial(id) {
                    return self.transmit_unscheduled(now, id, size, out);
                }
                if !self.subflows[id].sender_mut().spurious.abandon_frto_trial() {
                    continue;
                }
            }
            if probing && let Some(size) = self.new_data_for_probe(id) {
                return self.transmit_unscheduled(now, id, size, out);
            }
            let largest = self.subflows[id].negotiated().gso_max;
            let sender = self.subflows[id].sender_mut();
            let path = &self.congestion.paths[id];
            if let Some(sent) = sender.retransmit(now, path, largest) {
                let (whole, payload) = (sent.whole.clone(), sent.payload.clone());
                let piece = SentRange { start: sent.start, data: sent.data, whole, fin: sent.fin };
                if self.subflows[id].sender().has_rate_samples() {
                    self.pace(now, id, payload.len() as u64);
                }
                self.retransmitted_segment(now, id, &piece, payload, out);
                if self.observer.is_some() {
                    self.observe_retransmission(now, id, piece.start, piece.data, out.payload.len());
                }
                return Some(id);
            }
        }
        None
    }

    /// Bytes of new data for a tail loss probe: one segment if the peer's window permits (RFC 8985 section 7.3). With
    /// several usable subflows there are none: as in Linux, the probe retransmits the subflow's own data. The scheduler
    /// sends new data on a path that is known to work.
    #[inline(never)]
    fn new_data_for_probe(&self, id: usize) -> Option<u64> {
        self.new_unscheduled_data(id).filter(|_| self.subflows[id].sender().board.lost == 0)
    }

    /// Bytes of new data that F-RTO sends instead of data that seems lost (RFC 5682 section 2.1 step 2b).
    fn new_data_for_trial(&self, id: usize) -> Option<u64> {
        let (sender, path) = (self.subflows[id].sender(), &self.congestion.paths[id]);
        let wanted = sender.spurious.wants_trial_data() && sender.in_flight() + path.mss <= path.cwnd;
        self.new_unscheduled_data(id).filter(|_| wanted)
    }

    fn new_unscheduled_data(&self, id: usize) -> Option<u64> {
        if self.has_queues() {
            return Some(self.window_space_for_backlog(id))
                .filter(|&size| size > 0 && self.subflows[id].can_send());
        }
        let subflow = &self.subflows[id];
        let single = self.subflows.iter().filter(|subflow| subflow.can_send()).count() == 1;
        let size = self.send.unsent().min(self.congestion.paths[id].mss);
        let fits = size > 0 && self.send.next() + size <= self.send.edge();
        (single && fits && subflow.can_send()).then_some(size)
    }

    fn transmit_unscheduled(
        &mut self,
        now: Instant,
        id: usize,
        size: u64,
        out: &mut Segment,
    ) -> Option<usize> {
        if self.has_queues() {
            return self.send_queued(now, id, out);
        }
        Some(self.send_unscheduled(now, id, size, out))
    }

    fn transmit_acknowledgement(
        &mut self,
        now: Instant,
        due: PendingSends,
        out: &mut Segment,
    ) -> Option<usize> {
        if !self.pending_options.is_empty()
            && let Some(sent) = self.transmit_signal(now, out)
        {
            return Some(sent);
        }
        if self.timers.take_probe_wanted()
            && let Some(sent) = self.transmit_window_probe(now, out)
        {
            return Some(sent);
        }
        if !due.has(PendingSends::ACKNOWLEDGEMENT) {
            return None;
        }
        let id = self.subflows.iter().position(|s| s.receiver().wants_ack() && s.is_synchronised())?;
        if let Some((before, echoes)) = self.subflows[id].echo_mut().take_before() {
            self.acknowledge_before(now, id, before, echoes, out);
        } else {
            self.acknowledgement(now, id, out);
        }
        Some(id)
    }

    /// Acknowledges the data before a change of the CE mark with the old ECE flag. A second acknowledgement covers the
    /// rest (RFC 8257 section 3.2).
    #[cold]
    fn acknowledge_before(&mut self, now: Instant, id: usize, before: u64, echoes: bool, out: &mut Segment) {
        self.bare_segment(now, id, out);
        let subflow = &mut self.subflows[id];
        out.acknowledgment = subflow.handshake().irs + before as u32;
        let flags = out.flags.bits() & !Flags::ECE.bits();
        out.flags = Flags::from_bits(flags | if echoes { Flags::ECE.bits() } else { 0 });
        subflow.receiver_mut().acknowledge_now();
    }

    /// Sends a window probe (RFC 9293 section 3.8.6.1) in Linux's form: an old sequence number, so that the peer only
    /// answers with its window. If the window has space for part of a segment, sends that part instead (section
    /// 3.8.6.2.1).
    #[cold]
    fn transmit_window_probe(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        let id = self.control_subflow(self.timers.probes())?;
        if let Some(size) = self.small_window_payload(id) {
            return Some(self.send_unscheduled(now, id, size, out));
        }
        self.bare_segment(now, id, out);
        out.sequence = out.sequence - 1;
        self.arm(now, true);
        Some(id)
    }

    /// Bytes of new data that fit into a window smaller than the next segment.
    fn small_window_payload(&self, id: usize) -> Option<u64> {
        let size = self.segment_size(id, self.congestion.paths[id].mss).min(self.send.window_space());
        (size > 0 && !self.has_queues() && self.subflows[id].can_send()).then_some(size)
    }

    #[cold]
    fn transmit_signal(&mut self, now: Instant, out: &mut Segment) -> Option<usize> {
        let usable = |s: &Subflow| {
            s.is_synchronised() && !s.handshake().awaits_join_confirmation && s.state() != State::TimeWait
        };
        let subflows = &self.subflows;
        let (on, option) = self.pending_options.take(|on| match on {
            Some(on) => subflows.slot(on).is_some_and(|slot| usable(&subflows[slot])),
            None => subflows.iter().any(usable),
        })?;
        let id = match on.and_then(|on| self.subflows.slot(on)) {
            Some(slot) => slot,
            None => self.control_subflow(0).or_else(|| self.subflows.iter().position(usable))?,
        };
        let receiver = self.subflows[id].receiver();
        let owes = receiver.wants_ack() || receiver.has_delayed_ack();
        self.bare_segment(now, id, out);
        // RFC 8684 section 3.4.1 and the option space: ADD_ADDR is sent without other options. MP_FAIL accompanies an
        // acknowledgement.
        if matches!(option, MptcpOption::AddAddress(_)) {
            if owes {
                // The DATA_ACK is sent next (RFC 8684 section 3.3.2). Without it the peer would retransmit at the data
                // level.
                self.subflows[id].receiver_mut().acknowledge_now();
            }
            out.options.dss = None;
            out.options.sack.clear();
            out.options.mptcp.clear();
        }
        out.options.mptcp.push(option);
        while out.options.length() > mptcp_wire::Options::SPACE && out.options.sack.pop().is_some() {}
        Some(id)
    }
}
