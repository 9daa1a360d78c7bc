//! Joins at connections that exist: with a place, or from the table of requests.

use mptcp_clock::Instant;
use mptcp_wire::crypto::Version;
use mptcp_wire::{Flags, MpJoin, ResetReason, Segment, Seq, Timestamps};

use crate::connection::{JoinRefusal, join_option};
use crate::endpoint::join_requests::JoinRequest;
use crate::endpoint::{Endpoint, Transmit};
use crate::ids::InterfaceId;
use crate::subflow::{Origin, Subflow, timestamp_clock};

/// What the numbers of an answer follow from.
const NONCE: u32 = 3;
const ISS: u32 = 4;
const PLACE: u32 = 5;

impl Endpoint {
    /// A SYN that names a connection by its token. Returns why it is to be refused, if it is.
    pub(crate) fn handle_join(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        segment: &Segment,
        token: u32,
    ) -> Option<ResetReason> {
        // RFC 8684 section 3.2: an unknown token.
        let Some(slot) = self.demux.place_of_token(token) else { return Some(ResetReason::MPTCP) };
        let iss = self.random.next_u32();
        let subflow = self.pending_join(interface, segment, slot, iss)?;
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
            // RFC 6824 has no MP_TCPRST.
            Err(JoinRefusal::Because(reason)) => {
                Some(if connection.version() == Version::V1 { reason } else { ResetReason::UNSPECIFIED })
            }
        }
    }

    fn pending_join(
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

    /// Answers a join whose connection has no place for it, and keeps what the SYN said in the table.
    fn answer_join_from_table(&mut self, now: Instant, interface: InterfaceId, syn: &Segment, slot: u32) {
        let Some(request) = JoinRequest::of(syn) else { return };
        if self.stateless_replies.len() >= self.bounds.stray_answers {
            self.counters.unanswered += 1;
            return;
        }
        let nonce = self.join_number(syn, &request.about(NONCE)) as u32;
        let iss = self.join_number(syn, &request.about(ISS)) as u32;
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
        let place = self.join_number(syn, &[PLACE]);
        self.joins.keep(now, place, request);
        self.rare_work = true;
        self.stateless_replies.push_back(Transmit { interface, subflow: None, segment: answer });
    }

    /// Whether a segment of nobody that we know is the third ACK of such a join; it has its subflow then, and goes on with it.
    pub(crate) fn take_join_answer(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        segment: &Segment,
    ) -> bool {
        if !matches!(join_option(&segment.options), Some(MpJoin::Ack { .. })) {
            return false;
        }
        let place = self.join_number(segment, &[PLACE]);
        let Some(request) = self.joins.find(now, place, segment) else { return false };
        let nonce = self.join_number(segment, &request.about(NONCE)) as u32;
        let iss = self.join_number(segment, &request.about(ISS)) as u32;
        let syn = request.syn();
        let right = segment.acknowledgment == Seq::new(iss) + 1 && segment.sequence == syn.sequence + 1;
        let Some(slot) = self.demux.place_of_token(request.token).filter(|_| right) else { return false };
        let Some(subflow) = self.pending_join(interface, &syn, slot, iss) else { return false };
        let Some(connection) = self.slots.connection_at(slot) else { return false };
        if !connection.has_keys(segment, nonce, request.nonce) {
            return false;
        }
        let accepted = connection.accept_join(now, subflow, &syn, Some(nonce)).is_ok();
        self.joins.remove(place);
        self.after_change(now, slot);
        accepted
    }
}
