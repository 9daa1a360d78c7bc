//! Opening further subflows: MP_JOIN (RFC 8684 section 3.2).
//!
//! Owns who may join, and how many at the same time: anybody who has seen the token can send the first step, and only the
//! third shows the keys. The three steps themselves are `handshake`'s.

use std::net::IpAddr;

use mptcp_clock::Instant;
use mptcp_wire::{MpJoin, MptcpOption, ResetReason, Segment};
use subtle::ConstantTimeEq;

use super::Connection;
use super::begin::JOIN_ACK_PAUSE;
use super::offers::join;
use super::subflow_error::{Outcome, SubflowError};
use crate::path_manager::Pair;
use crate::subflow::{Control, Origin, State, Subflow};

/// Joins that are half open at the same time, at most.
const HALF_OPEN_JOINS: usize = 8;

/// Why a join is not answered by a SYN/ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JoinRefusal {
    /// It is told why.
    Because(ResetReason),
    /// There is no place for it until it shows its HMAC.
    Busy,
}

impl Connection {
    /// Client: opens a further subflow.
    pub(crate) fn open_join(&mut self, now: Instant, mut subflow: Subflow, pair: Pair) {
        if self.fate.closed().is_some() || !self.subflows.has_place() {
            return;
        }
        subflow.set_state(State::SynSent);
        subflow.opening_mut().opened_here = true;
        subflow.ends_mut().local_id = pair.local.id;
        subflow.ends_mut().remote_id = pair.remote.id;
        subflow.ends_mut().backup = pair.local.backup;
        subflow.ends_mut().peer_backup = pair.local.backup;
        subflow.opening_mut().origin = Origin::Join { nonce: self.negotiation.nonce(), peer_nonce: 0 };
        let id = self.add_subflow(subflow);
        self.start_handshake(now, id, Control::Syn);
    }

    /// A SYN with our token: answers it, or says why not. Where `answered` is given it was answered with that nonce before the
    /// join had a place, and its third ACK is here.
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
        if !self.negotiation.is_multipath() || self.fate.closed().is_some() {
            return Err(JoinRefusal::Because(ResetReason::MPTCP));
        }
        // Who joins shows only in the third ACK that it may (RFC 8684 section 3.2), and counts from then on.
        let joined = self.subflows.iter().filter(|s| !s.is_closed() && !s.is_half_open_join()).count();
        if joined > usize::from(self.most_subflows()) {
            return Err(JoinRefusal::Because(ResetReason::PROHIBITED));
        }
        if !self.config.join_initial_address
            && self.subflows.first().is_some_and(|f| f.ends().local == subflow.ends().local)
        {
            return Err(JoinRefusal::Because(ResetReason::PROHIBITED));
        }
        if answered.is_none() && !self.has_place_for_join() || !self.subflows.has_place() {
            return Err(JoinRefusal::Busy);
        }
        subflow.set_state(State::SynReceived);
        subflow.ends_mut().remote_id = address_id;
        subflow.ends_mut().local_id = self.local_id_of(subflow.ends().local.ip());
        subflow.ends_mut().peer_backup = backup;
        let nonce = answered.unwrap_or_else(|| self.negotiation.nonce());
        subflow.opening_mut().origin = Origin::Join { nonce, peer_nonce };
        subflow.negotiate(syn, &self.config, self.window_scale());
        let id = self.add_subflow(subflow);
        self.start_handshake(now, id, Control::SynAck);
        if answered.is_some() {
            self.subflows[id].set_control(None);
            // Nobody knows when that left: it gives no round-trip time.
            self.subflows[id].opening_mut().attempts = 2;
        }
        Ok(())
    }

    /// What answers a join that has no place: MP_JOIN for the SYN/ACK, with this `nonce`.
    pub(crate) fn answer_to_join(&self, local: IpAddr, nonce: u32, peer_nonce: u32) -> Option<MptcpOption> {
        let (ours, remote) = (self.negotiation.local().value, self.negotiation.remote()?);
        let hmac = self.negotiation.version().join_hmac_truncated(ours, remote.value, nonce, peer_nonce);
        let address_id = self.local_id_of(local);
        Some(MptcpOption::Join(MpJoin::SynAck { backup: false, address_id, hmac, nonce }))
    }

    /// Whether a third ACK shows that its sender has the keys.
    pub(crate) fn has_keys(&self, segment: &Segment, nonce: u32, peer_nonce: u32) -> bool {
        match (join(&segment.options), self.negotiation.remote()) {
            (Some(MpJoin::Ack { hmac }), Some(remote)) => {
                let (ours, theirs) = (self.negotiation.local().value, remote.value);
                hmac.ct_eq(&self.negotiation.version().join_hmac(theirs, ours, peer_nonce, nonce)).into()
            }
            _ => false,
        }
    }

    /// The window scale for subflows.
    pub(crate) fn scale_for_join(&self) -> u8 {
        self.window_scale()
    }

    /// Whether one more join may have a place before it shows its HMAC. None gives way: a flood would take each place that becomes
    /// free, and the endpoint answers the others from its table.
    fn has_place_for_join(&self) -> bool {
        self.subflows.iter().filter(|subflow| subflow.is_half_open_join()).count() < HALF_OPEN_JOINS
    }

    fn local_id_of(&self, local: IpAddr) -> u8 {
        let known = self.addresses.local().iter().find(|known| known.address == local).map(|known| known.id);
        let mut announced = self.config.announce.iter().flatten();
        known.or_else(|| announced.find(|a| a.address == local).map(|a| a.id)).unwrap_or(0)
    }

    /// The SYN/ACK of a join of ours.
    pub(super) fn on_join_answer(
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
        subflow.opening_mut().origin = Origin::Join { nonce, peer_nonce };
        subflow.ends_mut().remote_id = address_id;
        subflow.ends_mut().peer_backup |= backup;
        subflow.opening_mut().unconfirmed = true;
        subflow.opening_mut().attempts = 1;
        let deadline = match path.srtt {
            Some(srtt) if self.config.linux_compat.steady_join_ack => now + (srtt * 2).max(JOIN_ACK_PAUSE),
            _ => now + subflow.sender().timeout.after(path),
        };
        subflow.watch_mut().rare.set_opening(deadline);
        Ok(())
    }

    /// The third step of a join of the peer's, which shows that it has the keys.
    pub(super) fn on_join_third_ack(
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
        if joined > usize::from(self.most_subflows()) {
            return Err(SubflowError::because(ResetReason::PROHIBITED));
        }
        // The fourth ACK, which lets the peer send.
        self.subflows[id].receiver_mut().acknowledge_now();
        Ok(())
    }
}
