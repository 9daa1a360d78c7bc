//! SYNs with MP_JOIN, which add a subflow to a connection (RFC 8684 section 3.2).
//!
//! The connection accepts a join while it has space for half-open subflows. Beyond that limit, this module
//! sends a stateless answer, so that a flood of forged joins does not keep out genuine ones. Never checks an
//! HMAC itself.

use mptcp_clock::Instant;
use mptcp_wire::crypto::Version;
use mptcp_wire::{Flags, MpJoin, ResetReason, Segment, Seq, Timestamps};

use crate::connection::{JoinRefusal, join_option};
use crate::endpoint::join_requests::JoinRequest;
use crate::endpoint::{Endpoint, Transmit};
use crate::ids::InterfaceId;
use crate::subflow::{Origin, Subflow, timestamp_clock};

/// Domain separators of the keyed hashes that give the values of a stateless answer.
const NONCE: u32 = 3;
const ISS: u32 = 4;
const BUCKET: u32 = 5;

impl Endpoint {
    /// Handles a SYN with MP_JOIN. Returns the reason of the reset if the join is refused.
    pub(crate) fn handle_join(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        segment: &Segment,
        token: u32,
    ) -> Option<ResetReason> {
        // RFC 8684 section 3.2: unknown token.
        let Some(slot) = self.demux.slot_of_token(token) else { return Some(ResetReason::MPTCP) };
        let iss = self.random.next_u32();
        let subflow = self.new_join_subflow(interface, segment, slot, iss)?;
        let connection = self.slots.connection_at(slot)?;
        match connection.accept_join(now, subflow, segment, None) {
            Ok(()) => {
                self.after_change(now, slot);
                None
            }
            Err(JoinRefusal::Busy) => {
                self.answer_join_from_table(now, interface, segment, slot);
                None
            }
            // RFC 6824 does not define MP_TCPRST.
            Err(JoinRefusal::Because(reason)) => {
                Some(if connection.version() == Version::V1 { reason } else { ResetReason::UNSPECIFIED })
            }
        }
    }

    fn new_join_subflow(
        &mut self,
        interface: InterfaceId,
        segment: &Segment,
        slot: u32,
        iss: u32,
    ) -> Option<Subflow> {
        let (local, remote) = (segment.destination, segment.source);
        let connection = self.slots.connection_at(slot)?;
        let origin = Origin::Join { nonce: 0, peer_nonce: 0 };
        let mut subflow = self.interfaces.subflow(interface, local, remote, origin, iss, connection.config());
        subflow.clock_mut().offset = self.secret.timestamp_offset(local, remote);
        Some(subflow)
    }

    fn join_number(&self, segment: &Segment, about: &[u32]) -> u64 {
        self.secret.number(segment.destination, segment.source, about)
    }

    /// Answers a join at the limit of half-open subflows, and stores its SYN in the table.
    fn answer_join_from_table(&mut self, now: Instant, interface: InterfaceId, syn: &Segment, slot: u32) {
        let Some(request) = JoinRequest::of(syn) else { return };
        if self.stateless_replies.len() >= self.bounds.stray_answers {
            self.counters.unanswered += 1;
            return;
        }
        let nonce = self.join_number(syn, &request.hash_input(NONCE)) as u32;
        let iss = self.join_number(syn, &request.hash_input(ISS)) as u32;
        let offset = self.secret.timestamp_offset(syn.destination, syn.source);
        let Some(connection) = self.slots.connection_at(slot) else { return };
        let option = connection.answer_to_join(syn.destination.ip(), nonce, request.nonce);
        let Some(option) = option else { return };
        let (config, scale) = (connection.config(), connection.scale_for_join());
        let mut answer = Segment::new(syn.destination, syn.source);
        answer.flags = Flags::SYN | Flags::ACK;
        (answer.sequence, answer.acknowledgment) = (Seq::new(iss), syn.sequence + 1);
        answer.window = config.receive_buffer.min(65_535) as u16;
        answer.options.mss = Some(config.mss);
        let timestamps = syn.options.timestamps.filter(|_| config.timestamps);
        answer.options.timestamps = timestamps
            .map(|timestamps| Timestamps { value: timestamp_clock(now, offset), echo: timestamps.value });
        answer.options.sack_permitted = config.sack && syn.options.sack_permitted;
        answer.options.window_scale = syn.options.window_scale.map(|_| scale);
        answer.options.mptcp.push(option);
        let bucket = self.join_number(syn, &[BUCKET]);
        self.joins.keep(now, bucket, request);
        self.rare_work = true;
        self.stateless_replies.push_back(Transmit { interface, subflow: None, segment: answer });
    }

    /// Completes a join from the table of requests if `segment` is the third ACK of that join. Returns
    /// whether a subflow was created.
    pub(crate) fn accept_join_answer(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        segment: &Segment,
    ) -> bool {
        if !matches!(join_option(&segment.options), Some(MpJoin::Ack { .. })) {
            return false;
        }
        let bucket = self.join_number(segment, &[BUCKET]);
        let Some(request) = self.joins.find(now, bucket, segment) else { return false };
        let nonce = self.join_number(segment, &request.hash_input(NONCE)) as u32;
        let iss = self.join_number(segment, &request.hash_input(ISS)) as u32;
        let syn = request.syn();
        let is_valid = segment.acknowledgment == Seq::new(iss) + 1 && segment.sequence == syn.sequence + 1;
        let Some(slot) = self.demux.slot_of_token(request.token).filter(|_| is_valid) else { return false };
        let Some(subflow) = self.new_join_subflow(interface, &syn, slot, iss) else { return false };
        let Some(connection) = self.slots.connection_at(slot) else { return false };
        if !connection.has_keys(segment, nonce, request.nonce) {
            return false;
        }
        let accepted = connection.accept_join(now, subflow, &syn, Some(nonce)).is_ok();
        self.joins.remove(bucket);
        self.after_change(now, slot);
        accepted
    }
}
