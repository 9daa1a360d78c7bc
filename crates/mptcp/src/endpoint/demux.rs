//! From a segment to its connection: four-tuples, tokens (RFC 8684 section 3.2), listening ports.

use std::net::{IpAddr, SocketAddr};

use mptcp_clock::Instant;
use mptcp_wire::crypto::Version;
use mptcp_wire::{Flags, MpJoin, MpTcpRst, MptcpOption, ResetReason, Segment};
use rustc_hash::FxHashMap;

use super::fast_open::read_syn;
use super::listeners::Listener;
use super::{Endpoint, InterfaceId, Transmit};
use crate::connection::Connection;
use crate::connection::join_option;
use crate::subflow::Origin;

/// Both addresses and ports of a subflow, ours first, as numbers that compare and hash fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Tuple {
    local: u128,
    remote: u128,
    ports: u32,
}

impl Tuple {
    fn new(local: SocketAddr, remote: SocketAddr) -> Self {
        let number = |address: IpAddr| match address {
            IpAddr::V4(address) => 0xffff << 32 | u128::from(u32::from(address)),
            IpAddr::V6(address) => u128::from(address),
        };
        let ports = u32::from(local.port()) << 16 | u32::from(remote.port());
        Self { local: number(local.ip()), remote: number(remote.ip()), ports }
    }
}

#[derive(Debug, Default)]
pub(super) struct Demux {
    tuples: FxHashMap<Tuple, (u32, u32)>,
    tokens: FxHashMap<u32, u32>,
    pub(super) listeners: FxHashMap<u16, Listener>,
}

impl Demux {
    pub(super) fn find(&self, segment: &Segment) -> Option<(u32, u32)> {
        self.tuples.get(&Tuple::new(segment.destination, segment.source)).copied()
    }

    pub(super) fn is_taken(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        self.tuples.contains_key(&Tuple::new(local, remote))
    }

    fn has_token(&self, token: u32) -> bool {
        self.tokens.contains_key(&token)
    }

    /// Brings the tuples and the token of a connection up to date.
    pub(super) fn register(&mut self, slot: u32, connection: &Connection) {
        for (id, local, remote, closed) in connection.tuples() {
            let (tuple, ours) = (Tuple::new(local, remote), (slot, id as u32));
            if !closed {
                self.tuples.insert(tuple, ours);
            } else if self.tuples.get(&tuple) == Some(&ours) {
                self.tuples.remove(&tuple);
            }
        }
        if connection.closed().is_none() {
            self.tokens.insert(connection.token(), slot);
        } else if self.tokens.get(&connection.token()) == Some(&slot) {
            self.tokens.remove(&connection.token());
        }
    }

    pub(super) fn forget(&mut self, slot: u32, connection: &Connection) {
        for (_, local, remote, _) in connection.tuples() {
            let tuple = Tuple::new(local, remote);
            if self.tuples.get(&tuple).is_some_and(|owner| owner.0 == slot) {
                self.tuples.remove(&tuple);
            }
        }
        if self.tokens.get(&connection.token()) == Some(&slot) {
            self.tokens.remove(&connection.token());
        }
    }
}

impl Endpoint {
    /// A segment that belongs to no subflow: a SYN for a listener, a join, or an error.
    pub(super) fn handle_stranger(&mut self, now: Instant, interface: InterfaceId, segment: &Segment) {
        if segment.flags.rst() {
            return;
        }
        let opens = segment.flags.syn() && !segment.flags.ack() && !segment.flags.fin();
        let known_interface = self.interfaces.get(interface).is_some();
        if !opens || !known_interface {
            return self.refuse(interface, segment, None);
        }
        let (local, remote) = (segment.destination, segment.source);
        if let Some(&MpJoin::Syn { token, .. }) = join_option(&segment.options) {
            let Some(&slot) = self.demux.tokens.get(&token) else {
                // RFC 8684 section 3.2: an unknown token.
                return self.refuse(interface, segment, Some(ResetReason::MPTCP));
            };
            let iss = self.random.next_u32();
            let Some(connection) = self.slots.connection_at(slot) else { return };
            let origin = Origin::Join { nonce: 0, peer_nonce: 0 };
            let subflow = self.interfaces.subflow(interface, local, remote, origin, iss, connection.config());
            match connection.accept_join(now, subflow, segment) {
                Ok(()) => self.settle(now, slot),
                Err(reason) => {
                    // RFC 6824 has no MP_TCPRST.
                    let reason = Some(reason).filter(|_| connection.version() == Version::V1);
                    self.refuse(interface, segment, reason);
                }
            }
            return;
        }
        let Some(listener) = self.demux.listeners.get(&local.port()).filter(|it| it.hears(interface)) else {
            return self.refuse(interface, segment, None);
        };
        let config = listener.config.clone();
        if !self.make_room(now, local.port()) {
            // Linux's way: who asks again may find room.
            return;
        }
        let addresses = self.interfaces.addresses_seen_from(interface, &config);
        // Tokens name connections: a key whose token is taken is drawn again (RFC 8684 section 3.1).
        let mut connection = loop {
            let random = self.next_random();
            let connection = Connection::new(now, config.clone(), false, random, addresses.clone());
            if !self.demux.has_token(connection.token()) {
                break connection;
            }
        };
        let iss = self.random.next_u32();
        let mut subflow = self.interfaces.subflow(interface, local, remote, Origin::Initial, iss, &config);
        if let Some(settings) = config.fast_open {
            read_syn(&mut subflow, segment, settings);
        }
        connection.accept(now, subflow, segment);
        self.counters.capable_syns_received += u64::from(connection.is_negotiating());
        let id = self.insert(connection);
        if let Some(place) = self.slots.place(id) {
            self.keep_waiting(place, local.port());
        }
    }

    /// RFC 9293 section 3.5.2: a reset that the sender of `segment` will believe.
    fn refuse(&mut self, interface: InterfaceId, segment: &Segment, reason: Option<ResetReason>) {
        let mut reset = Segment::new(segment.destination, segment.source);
        if segment.flags.ack() {
            reset.flags = Flags::RST;
            reset.sequence = segment.acknowledgment;
        } else {
            reset.flags = Flags::RST | Flags::ACK;
            reset.acknowledgment = segment.sequence + segment.sequence_length();
        }
        if let Some(reason) = reason {
            reset.options.mptcp.push(MptcpOption::TcpRst(MpTcpRst { flags: 0, reason }));
        }
        self.strays.push_back(Transmit { interface, subflow: None, segment: reset });
    }
}
