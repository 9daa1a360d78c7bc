//! Handshakes: MP_CAPABLE (RFC 8684 section 3.1), MP_JOIN (section 3.2), and TCP's three steps (RFC 9293 section 3.5).
//!
//! Owns the handshake timer, the start of a subflow, and the admission of joins. Any host that has seen the token can
//! send the SYN of a join, and only its third ACK proves the keys. Half-open joins are therefore limited. Never creates
//! a connection: the endpoint does.

pub(crate) mod fast_open;
pub(crate) mod negotiation;
pub(crate) mod options;

use std::net::IpAddr;

use mptcp_clock::{Duration, Instant};
use mptcp_wire::crypto::Version;
use mptcp_wire::{MpCapable, MpJoin, MptcpOption, ResetReason, Segment};
use subtle::ConstantTimeEq;

use crate::congestion::Path;
use crate::connection::close::{Outcome, SubflowError};
use crate::connection::handshake::options::{CAPABLE_SYNS, capable, join};
use crate::connection::{Connection, EndpointEvent};
use crate::event::{EventKind, FallbackReason};
use crate::ids::SubflowId;
use crate::path_manager::Pair;
use crate::subflow::{Control, Origin, State, Subflow, SubflowCloseReason};

impl Connection {
    /// Client: sends the first SYN.
    pub(crate) fn open(&mut self, now: Instant, mut first: Subflow, local_id: u8, backup: bool) {
        self.addresses.add_first(first.addresses().remote);
        first.set_state(State::SynSent);
        first.handshake_mut().is_active_open = true;
        first.addresses_mut().local_id = local_id;
        first.addresses_mut().backup = backup;
        let id = self.add_subflow(first);
        self.start_handshake(now, id, Control::Syn);
    }

    /// Server: answers the first SYN.
    pub(crate) fn accept(&mut self, now: Instant, mut first: Subflow, syn: &Segment) {
        self.addresses.add_first(first.addresses().remote);
        if self.negotiation.is_open() {
            match capable(&syn.options).filter(|offer| acceptable_offer(offer, self.config.version)) {
                Some(offer) => {
                    self.negotiation.set_version(if offer.version == 0 { Version::V0 } else { Version::V1 });
                    // RFC 6824 section 3.1: in version 0 the SYN carries the key.
                    if let Some(key) = offer.sender_key {
                        self.negotiation.set_remote_key(key);
                    }
                    self.negotiation.set_checksum(
                        self.config.checksum || offer.flags & MpCapable::CHECKSUM_REQUIRED != 0,
                    );
                }
                None => self.negotiation.fall_back_to_tcp(),
            }
        }
        first.set_state(State::SynReceived);
        first.negotiate(syn, &self.config, self.window_scale());
        let multipath = self.negotiation.is_open();
        first.take_syn_data(syn, multipath);
        let id = self.add_subflow(first);
        self.note_window(now, id, syn);
        self.start_handshake(now, id, Control::SynAck);
        if self.deliver_syn_data(id) {
            // RFC 7413 section 4.2.2: the application need not wait for the end of the handshake.
            self.report_accepted();
        }
    }

    /// Notes that the SYN/ACK was a SYN cookie, and that the arriving segment answers it.
    pub(crate) fn on_cookie_answer(&mut self) {
        for subflow in &mut self.subflows {
            subflow.set_control(None);
            // The time of the SYN/ACK is unknown, so there is no RTT sample.
            subflow.handshake_mut().attempts = 2;
        }
    }

    /// Handles a SYN for a subflow in TIME-WAIT. If a new connection may replace the subflow, ends the
    /// subflow and returns the initial sequence number of the new connection.
    #[cold]
    pub(crate) fn may_be_replaced(&mut self, now: Instant, id: SubflowId, segment: &Segment) -> Option<u32> {
        let id = self.subflows.slot(id)?;
        let flags = segment.flags;
        if !flags.syn() || flags.ack() || flags.rst() || flags.fin() {
            return None;
        }
        let next = self.subflows[id].may_be_replaced(segment)?;
        self.end_subflow(now, id, SubflowError::Over(SubflowCloseReason::Finished));
        Some(next)
    }

    /// Retransmits a SYN, a SYN/ACK or the third ACK of a join. Errors: the attempts are used up, or the end of the
    /// subflow takes too long.
    #[cold]
    pub(crate) fn on_handshake_timeout(&mut self, now: Instant, id: usize) -> Outcome {
        let subflow = &mut self.subflows[id];
        let control = match subflow.state() {
            State::SynSent => Some(Control::Syn),
            State::SynReceived => Some(Control::SynAck),
            State::TimeWait | State::FinWait2 => {
                return Err(SubflowError::Over(SubflowCloseReason::Finished));
            }
            // The streams have ended, but the subflow did not finish in time.
            _ if self.lifecycle.closed().is_some() => return Err(SubflowError::RESET),
            _ if subflow.handshake().awaits_join_confirmation => None,
            _ => {
                subflow.liveness_mut().slow_timers.set_handshake(Instant::FAR_FUTURE);
                return Ok(());
            }
        };
        if subflow.handshake().attempts > self.config.syn_retries {
            return Err(SubflowError::Over(SubflowCloseReason::TimedOut));
        }
        let deadline = match self.congestion.paths[id].srtt.filter(|_| control.is_none()) {
            Some(srtt) if self.config.linux_compat.steady_join_ack => now + (srtt * 2).max(JOIN_ACK_PAUSE),
            _ => now + HANDSHAKE_TIMEOUT * (1 << subflow.handshake().attempts.min(16)),
        };
        subflow.liveness_mut().slow_timers.set_handshake(deadline);
        subflow.handshake_mut().attempts += 1;
        match control {
            Some(control) => subflow.set_control(Some(control)),
            // The third ACK of a join is repeated until the fourth arrives (RFC 8684 section 3.2).
            None => subflow.receiver_mut().acknowledge_now(),
        }
        Ok(())
    }

    /// Processes a segment in SYN-SENT (RFC 9293 section 3.10.7.3).
    #[cold]
    pub(crate) fn on_syn_sent(&mut self, now: Instant, id: usize, segment: &Segment) -> Outcome {
        let subflow = &mut self.subflows[id];
        let flags = segment.flags;
        let answers = subflow.is_answered_by(segment);
        if flags.rst() {
            if flags.ack() && answers {
                let reason = crate::connection::handshake::options::reset_reason(segment);
                return Err(SubflowError::Over(SubflowCloseReason::ResetByPeer(reason)));
            }
            return Ok(());
        }
        if flags.ack() && !answers {
            // RFC 9293 section 3.10.7.3: the segment belongs to an older connection, and the handshake continues.
            subflow.set_control(Some(Control::Refuse { sequence: segment.acknowledgment }));
            return Ok(());
        }
        if !flags.syn() {
            return Ok(());
        }
        if !flags.ack() {
            self.on_simultaneous_open(now, id, segment);
            return Ok(());
        }
        let scale = self.window_scale();
        let with_data = self.process_syn_data_ack(id, segment);
        let subflow = &mut self.subflows[id];
        subflow.negotiate(segment, &self.config, scale);
        subflow.establish(now, segment, self.config.rack, &mut self.congestion.paths[id]);
        subflow.receiver_mut().acknowledge_now();
        self.store_cookie(id, segment, with_data);
        match self.subflows[id].handshake().origin {
            Origin::Initial => self.on_capable_answer(now, id, segment),
            Origin::Join { nonce, .. } => self.on_join_answer(now, id, segment, nonce),
        }
    }

    fn on_capable_answer(&mut self, now: Instant, id: usize, segment: &Segment) -> Outcome {
        if self.negotiation.is_open() {
            // RFC 8684 section 3.1: an answer in another version is unusable.
            let answer = capable(&segment.options).filter(|answer| {
                acceptable_offer(answer, self.negotiation.version())
                    && answer.version == self.negotiation.version().number()
            });
            match answer.and_then(|answer| Some((answer.flags, answer.sender_key?))) {
                Some((flags, key)) => {
                    self.lifecycle.tell(EndpointEvent::Capable(true));
                    self.negotiation.agree();
                    self.negotiation.set_remote_key(key);
                    // RFC 8684 section 3.1: checksums are used if either side requests them.
                    self.negotiation
                        .set_checksum(self.config.checksum || flags & MpCapable::CHECKSUM_REQUIRED != 0);
                    if flags & MpCapable::NO_JOIN_HERE != 0 {
                        // RFC 8684 section 3.1: no subflow to this address and port.
                        self.addresses.forbid_join_to_initial();
                    }
                }
                // RFC 8684 section 3.7: a SYN/ACK without MP_CAPABLE means TCP.
                None => {
                    if self.subflows[id].handshake().attempts > CAPABLE_SYNS {
                        self.lifecycle.tell(EndpointEvent::Capable(false));
                    }
                    self.fall_back(id, FallbackReason::SynAck);
                }
            }
        }
        self.set_plain_mapping(id);
        self.activate(now, id);
        self.note_window(now, id, segment);
        self.lifecycle.note(EventKind::Connected);
        if self.negotiation.is_plain() && !segment.payload.is_empty() {
            // RFC 9293 section 3.10.7.3 step 4. In MPTCP this data would have no mapping.
            self.take_payload_of_syn(now, id, segment.payload.clone())?;
        }
        if self.negotiation.is_plain() && segment.flags.fin() {
            self.take_fin_of_syn(now, id, 1 + segment.payload.len() as u64);
        }
        Ok(())
    }

    /// Handles a simultaneous open (RFC 9293 section 3.5), which only TCP permits: MPTCP options have no place in it.
    /// Such a SYN may be forged, so no state is dropped before this host's SYN is acknowledged. A join has one opening
    /// side (RFC 8684 section 3.2).
    fn on_simultaneous_open(&mut self, now: Instant, id: usize, segment: &Segment) {
        if !self.is_initial(id) {
            return;
        }
        let scale = self.window_scale();
        let subflow = &mut self.subflows[id];
        subflow.negotiate(segment, &self.config, scale);
        subflow.set_state(State::SynReceived);
        self.start_handshake(now, id, Control::SynAck);
    }

    /// Processes an acknowledgement of the SYN/ACK. Returns whether the handshake is complete.
    #[cold]
    pub(crate) fn on_third_ack(
        &mut self,
        now: Instant,
        id: usize,
        segment: &Segment,
        ack: u64,
    ) -> Outcome<bool> {
        if ack != 1 {
            // RFC 9293 section 3.10.7.4: the segment is refused, and the handshake continues.
            self.subflows[id].set_control(Some(Control::Refuse { sequence: segment.acknowledgment }));
            return Ok(false);
        }
        let was_negotiating = self.negotiation.is_open();
        match self.subflows[id].handshake().origin {
            Origin::Initial if self.subflows[id].handshake().is_active_open => {
                self.fall_back(id, FallbackReason::SimultaneousOpen);
                let data = std::mem::take(&mut self.subflows[id].handshake_mut().syn_data);
                self.start_stream_with(data);
            }
            Origin::Initial => self.on_capable_third_ack(id, segment),
            Origin::Join { nonce, peer_nonce } => {
                self.on_join_third_ack(id, segment, nonce, peer_nonce)?;
            }
        }
        if self.negotiation.is_open() {
            let subflow = &mut self.subflows[id];
            let has_memory = !segment.payload.is_empty() && !self.recv.is_under_memory_pressure();
            if has_memory && subflow.handshake_mut().early_data.keep(segment) {
                subflow.record_mut().stats.on_early_data(segment.payload.len() as u64);
            }
            return Ok(false);
        }
        if was_negotiating && self.negotiation.is_plain() && !segment.flags.syn() {
            self.lifecycle.tell(EndpointEvent::FellBackOnThirdAck);
        }
        if self.is_initial(id) {
            self.lifecycle.tell(EndpointEvent::Answered);
        }
        let rack = self.config.rack;
        self.subflows[id].establish(now, segment, rack, &mut self.congestion.paths[id]);
        self.set_plain_mapping(id);
        self.activate(now, id);
        if self.subflows[id].handshake().is_active_open {
            self.lifecycle.note(EventKind::Connected);
        } else if self.is_initial(id) {
            self.report_accepted();
            if self.negotiation.is_multipath() && !self.config.linux_compat.quiet_after_handshake {
                // A DSS tells the peer that joins are possible (RFC 8684 section 3.2), if no data carries one earlier.
                self.subflows[id].receiver_mut().acknowledge_soon(now);
            }
            if self.config.linux_compat.early_announcements {
                self.announce_others(now);
            }
        }
        Ok(true)
    }

    /// Reports the connection to the application, once.
    fn report_accepted(&mut self) {
        if self.negotiation.report_accepted() {
            self.lifecycle.note(EventKind::Accepted);
        }
    }

    fn on_capable_third_ack(&mut self, id: usize, segment: &Segment) {
        if !self.negotiation.is_open() {
            return;
        }
        // RFC 8684 section 3.1: an invalid option counts as missing.
        let keys = capable(&segment.options)
            .filter(|keys| {
                acceptable_offer(keys, self.negotiation.version())
                    && keys.version == self.negotiation.version().number()
            })
            // The third ACK must repeat this host's key.
            .filter(|keys| keys.receiver_key == Some(self.negotiation.local().value));
        match keys.and_then(|capable| Some((capable.flags, capable.sender_key?))) {
            Some((flags, key)) => {
                // A flag here enables checksums even without one in the SYN/ACK, as in Linux.
                let checksum = self.negotiation.checksum() || flags & MpCapable::CHECKSUM_REQUIRED != 0;
                self.negotiation.set_checksum(checksum);
                self.negotiation.set_remote_key(key);
                self.negotiation.agree();
            }
            // In version 0 the SYN carried the key.
            None if self.negotiation.version() == Version::V0 && segment.options.dss.is_some() => {
                self.negotiation.agree()
            }
            // The options pass, but the keys are late or lost and will be repeated. Data waits for them, because
            // dropping it would look like congestion.
            None if segment.options.dss.is_some() && !self.withholds_keys(id, segment) => {}
            None => self.fall_back(id, FallbackReason::ThirdAck),
        }
    }

    /// Whether the peer closes without data and sends a DATA_FIN instead of its keys, although the SYN/ACK was
    /// repeated. Linux's client does so if the application closes during the handshake. Linux's server treats the
    /// connection as TCP.
    fn withholds_keys(&self, id: usize, segment: &Segment) -> bool {
        let handshake = self.subflows[id].handshake();
        let closes_without_data = segment.options.dss.as_ref().is_some_and(|dss| dss.data_fin)
            && segment.payload.is_empty()
            && segment.sequence == handshake.irs + 1;
        closes_without_data && handshake.attempts > 1
    }
}

/// Whether an MP_CAPABLE is usable (RFC 8684 section 3.1): a supported version, the HMAC algorithm, and no extension.
/// Version 0 includes a key (RFC 6824 section 3.1), and must be configured.
fn acceptable_offer(offer: &MpCapable, version: Version) -> bool {
    let supported = offer.version >= 1 || (version == Version::V0 && offer.sender_key.is_some());
    supported && offer.flags & MpCapable::HMAC != 0 && offer.flags & MpCapable::EXTENSIBILITY == 0
}

/// The initial RTO (RFC 6298 section 2.1).
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(1);
/// The minimum interval between third ACKs of a join.
pub(crate) const JOIN_ACK_PAUSE: Duration = Duration::from_millis(10);

impl Connection {
    pub(crate) fn start_handshake(&mut self, now: Instant, id: usize, control: Control) {
        let subflow = &mut self.subflows[id];
        subflow.set_control(Some(control));
        subflow.handshake_mut().sent_at = now;
        subflow.record_mut().opened_at = now;
        subflow.handshake_mut().attempts = 1;
        subflow.liveness_mut().slow_timers.set_handshake(now + HANDSHAKE_TIMEOUT);
    }

    /// Prepares a synchronised subflow for data.
    #[cold]
    pub(crate) fn activate(&mut self, now: Instant, id: usize) {
        let multipath = !self.negotiation.is_plain();
        self.start_path_mtu(id);
        let subflow = &self.subflows[id];
        let mss = subflow.payload_size(&self.config, multipath);
        let keepalive = self.config.keepalive;
        let subflow = &mut self.subflows[id];
        subflow.handshake_mut().was_established = true;
        subflow.keep_alive(now, keepalive);
        subflow.begin_marks(self.congestion.needs_marks());
        subflow.sender_mut().enable_rate_samples(self.congestion.needs_samples(), id, &mut self.congestion);
        // RFC 5681 section 3.1: one segment after a lost SYN. As in Linux, this does not apply after the first loss,
        // because RFC 6298's timeout may be too early.
        let segments = if subflow.handshake().attempts > 2 { 1 } else { self.config.initial_window };
        let path = &mut self.congestion.paths[id];
        path.cwnd = mss * u64::from(segments);
        path.mss = mss;
        path.ssthresh = self.config.initial_ssthresh.map_or(u64::MAX, |ssthresh| ssthresh.max(2 * mss));
        self.congestion.set_active(id, true);
        if self.config.mechanisms.receive_buffer_per_path {
            let paths = self.subflows.iter().filter(|subflow| subflow.is_synchronised());
            self.recv.begin_paths(paths.count() as u64);
        }
        self.lifecycle.note(EventKind::Subflows);
        self.notify_opened(now, id);
        self.timers.on_subflow_opened();
        self.reinject_stalled();
    }

    /// Adds a subflow and its path. Returns its slot.
    pub(crate) fn add_subflow(&mut self, subflow: Subflow) -> usize {
        let mss = subflow.payload_size(&self.config, self.config.multipath);
        let Some(id) = self.subflows.reusable_slot() else {
            self.subflows.push(subflow, &mut self.lifecycle);
            return self.congestion.add_path(mss, self.config.initial_window);
        };
        let past = self.subflow_info(id);
        self.subflows.replace(id, subflow, past, &mut self.lifecycle);
        self.congestion.paths[id] = Path::new(mss, self.config.initial_window);
        id
    }
}

/// The maximum of half-open joins.
const HALF_OPEN_JOINS: usize = 8;

/// The reason why a join is not answered by a SYN/ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JoinRefusal {
    /// The join is reset with this reason.
    Because(ResetReason),
    /// There is no slot for the join until it proves the keys.
    Busy,
}

impl Connection {
    /// Client: opens an additional subflow.
    pub(crate) fn open_join(&mut self, now: Instant, mut subflow: Subflow, pair: Pair) {
        if self.lifecycle.closed().is_some() || !self.subflows.has_free_slot() {
            return;
        }
        subflow.set_state(State::SynSent);
        subflow.handshake_mut().is_active_open = true;
        subflow.addresses_mut().local_id = pair.local.id;
        subflow.addresses_mut().remote_id = pair.remote.id;
        subflow.addresses_mut().backup = pair.local.backup;
        subflow.addresses_mut().peer_backup = pair.local.backup;
        subflow.handshake_mut().origin = Origin::Join { nonce: self.negotiation.nonce(), peer_nonce: 0 };
        let id = self.add_subflow(subflow);
        self.start_handshake(now, id, Control::Syn);
    }

    /// Answers a SYN with this connection's token. If the endpoint already sent the SYN/ACK without storing a subflow,
    /// and the third ACK has now arrived, `answered` is the nonce of that SYN/ACK. Errors: the reason for refusal.
    pub(crate) fn accept_join(
        &mut self,
        now: Instant,
        mut subflow: Subflow,
        syn: &Segment,
        answered: Option<u32>,
    ) -> Result<(), JoinRefusal> {
        let Some(&MpJoin::Syn { backup, address_id, nonce: peer_nonce, .. }) = join(&syn.options) else {
            return Err(JoinRefusal::Because(ResetReason::MPTCP));
        };
        if !self.negotiation.is_multipath() || self.lifecycle.closed().is_some() {
            return Err(JoinRefusal::Because(ResetReason::MPTCP));
        }
        // A join proves the keys in its third ACK (RFC 8684 section 3.2), and is counted from then on.
        let joined = self.subflows.iter().filter(|s| !s.is_closed() && !s.is_half_open_join()).count();
        if joined > usize::from(self.max_join_subflows()) {
            return Err(JoinRefusal::Because(ResetReason::PROHIBITED));
        }
        if !self.config.join_initial_address
            && self.subflows.first().is_some_and(|f| f.addresses().local == subflow.addresses().local)
        {
            return Err(JoinRefusal::Because(ResetReason::PROHIBITED));
        }
        if answered.is_none() && !self.has_slot_for_join() || !self.subflows.has_free_slot() {
            return Err(JoinRefusal::Busy);
        }
        subflow.set_state(State::SynReceived);
        subflow.addresses_mut().remote_id = address_id;
        subflow.addresses_mut().local_id = self.local_id_of(subflow.addresses().local.ip());
        subflow.addresses_mut().peer_backup = backup;
        let nonce = answered.unwrap_or_else(|| self.negotiation.nonce());
        subflow.handshake_mut().origin = Origin::Join { nonce, peer_nonce };
        subflow.negotiate(syn, &self.config, self.window_scale());
        let id = self.add_subflow(subflow);
        self.start_handshake(now, id, Control::SynAck);
        if answered.is_some() {
            self.subflows[id].set_control(None);
            // The time of the SYN/ACK is unknown, so there is no RTT sample.
            self.subflows[id].handshake_mut().attempts = 2;
        }
        Ok(())
    }

    /// MP_JOIN for the SYN/ACK of a join without a slot. `None` if the peer's key is unknown.
    pub(crate) fn answer_to_join(&self, local: IpAddr, nonce: u32, peer_nonce: u32) -> Option<MptcpOption> {
        let (local_key, remote) = (self.negotiation.local().value, self.negotiation.remote()?);
        let hmac = self.negotiation.version().join_hmac_truncated(local_key, remote.value, nonce, peer_nonce);
        let address_id = self.local_id_of(local);
        Some(MptcpOption::Join(MpJoin::SynAck { backup: false, address_id, hmac, nonce }))
    }

    /// Whether a third ACK proves that its sender has the keys.
    pub(crate) fn has_keys(&self, segment: &Segment, nonce: u32, peer_nonce: u32) -> bool {
        match (join(&segment.options), self.negotiation.remote()) {
            (Some(MpJoin::Ack { hmac }), Some(remote)) => {
                let (local_key, remote_key) = (self.negotiation.local().value, remote.value);
                hmac.ct_eq(&self.negotiation.version().join_hmac(remote_key, local_key, peer_nonce, nonce))
                    .into()
            }
            _ => false,
        }
    }

    /// The window scale that this host announces on additional subflows.
    pub(crate) fn scale_for_join(&self) -> u8 {
        self.window_scale()
    }

    /// Whether another half-open join may have a slot. No half-open join is evicted for a new one, because a flood
    /// would at once occupy the free slot. The endpoint answers further joins without a slot.
    fn has_slot_for_join(&self) -> bool {
        self.subflows.iter().filter(|subflow| subflow.is_half_open_join()).count() < HALF_OPEN_JOINS
    }

    fn local_id_of(&self, local: IpAddr) -> u8 {
        let known = self.addresses.local().iter().find(|known| known.address == local).map(|known| known.id);
        let mut announced = self.config.announce.iter().flatten();
        known.or_else(|| announced.find(|a| a.address == local).map(|a| a.id)).unwrap_or(0)
    }

    /// Client: processes the SYN/ACK of a join. Errors: a missing option or a wrong HMAC.
    pub(crate) fn on_join_answer(
        &mut self,
        now: Instant,
        id: usize,
        segment: &Segment,
        nonce: u32,
    ) -> Outcome {
        let (Some(&MpJoin::SynAck { backup, address_id, hmac, nonce: peer_nonce }), Some(remote)) =
            (join(&segment.options), self.negotiation.remote())
        else {
            return Err(SubflowError::because(ResetReason::MPTCP));
        };
        let expected = self.negotiation.version().join_hmac_truncated(
            remote.value,
            self.negotiation.local().value,
            peer_nonce,
            nonce,
        );
        if !bool::from(hmac.ct_eq(&expected)) {
            return Err(SubflowError::because(ResetReason::MPTCP));
        }
        let (subflow, path) = (&mut self.subflows[id], &self.congestion.paths[id]);
        subflow.handshake_mut().origin = Origin::Join { nonce, peer_nonce };
        subflow.addresses_mut().remote_id = address_id;
        subflow.addresses_mut().peer_backup |= backup;
        subflow.handshake_mut().awaits_join_confirmation = true;
        subflow.handshake_mut().attempts = 1;
        let deadline = match path.srtt {
            Some(srtt) if self.config.linux_compat.steady_join_ack => now + (srtt * 2).max(JOIN_ACK_PAUSE),
            _ => now + subflow.sender().timeout.after(path),
        };
        subflow.liveness_mut().slow_timers.set_handshake(deadline);
        Ok(())
    }

    /// Server: processes the third ACK of a join.
    pub(crate) fn on_join_third_ack(
        &mut self,
        id: usize,
        segment: &Segment,
        nonce: u32,
        peer_nonce: u32,
    ) -> Outcome {
        if !self.has_keys(segment, nonce, peer_nonce) {
            // RFC 8684 section 3.2: a wrong HMAC resets the subflow, not the connection.
            return Err(SubflowError::because(ResetReason::MPTCP));
        }
        let joined = self.subflows.iter().filter(|s| !s.is_closed() && !s.is_half_open_join()).count();
        if joined > usize::from(self.max_join_subflows()) {
            return Err(SubflowError::because(ResetReason::PROHIBITED));
        }
        // The fourth ACK, which permits the peer to send.
        self.subflows[id].receiver_mut().acknowledge_now();
        Ok(())
    }
}
