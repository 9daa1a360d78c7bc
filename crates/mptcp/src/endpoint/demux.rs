//! From a segment to its connection: four-tuples, tokens (RFC 8684 section 3.2), listening ports.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

use mptcp_clock::Instant;
use mptcp_wire::crypto::Version;
use mptcp_wire::{Flags, MpJoin, MpTcpRst, MptcpOption, ResetReason, Segment};
use rustc_hash::FxHashMap;

use super::fast_open::read_syn;
use super::listeners::Listener;
use super::secret::Secret;
use super::{Endpoint, Transmit};
use crate::config::Config;
use crate::connection::{Connection, JoinRefusal, join_option};
use crate::ids::InterfaceId;
use crate::subflow::{Origin, Subflow};

/// Both addresses and ports of a subflow, ours first, as numbers that compare and hash fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tuple {
    local: u128,
    remote: u128,
    ports: u32,
}

impl Tuple {
    pub(super) fn new(local: SocketAddr, remote: SocketAddr) -> Self {
        let number = |address: IpAddr| match address {
            IpAddr::V4(address) => 0xffff << 32 | u128::from(u32::from(address)),
            IpAddr::V6(address) => u128::from(address),
        };
        let ports = u32::from(local.port()) << 16 | u32::from(remote.port());
        Self { local: number(local.ip()), remote: number(remote.ip()), ports }
    }
}

impl Hash for Tuple {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut bytes = [0; 36];
        let (local, rest) = bytes.split_at_mut(16);
        let (remote, ports) = rest.split_at_mut(16);
        local.copy_from_slice(&self.local.to_ne_bytes());
        remote.copy_from_slice(&self.remote.to_ne_bytes());
        ports.copy_from_slice(&self.ports.to_ne_bytes());
        state.write(&bytes);
    }
}

/// Tables under a key of the endpoint's own: others choose what stands in them, and must not know where.
#[derive(Debug)]
pub(super) struct Demux {
    tuples: HashMap<Tuple, (u32, u32), Secret>,
    tokens: HashMap<u32, u32, Secret>,
    pub(super) listeners: FxHashMap<u16, Listener>,
}

impl Demux {
    pub(super) fn new(secret: Secret) -> Self {
        let (tuples, tokens) = (HashMap::with_hasher(secret), HashMap::with_hasher(secret));
        Self { tuples, tokens, listeners: FxHashMap::default() }
    }

    pub(super) fn find(&self, segment: &Segment) -> Option<(u32, u32)> {
        self.tuples.get(&Tuple::new(segment.destination, segment.source)).copied()
    }

    pub(super) fn owner(&self, local: SocketAddr, remote: SocketAddr) -> Option<(u32, u32)> {
        self.tuples.get(&Tuple::new(local, remote)).copied()
    }

    pub(super) fn is_taken(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        self.tuples.contains_key(&Tuple::new(local, remote))
    }

    /// Handshakes at listeners that are not over, and all that wait there.
    pub(super) fn waiting(&self) -> (usize, usize) {
        self.listeners.values().map(Listener::waits).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    pub(super) fn has_token(&self, token: u32) -> bool {
        self.tokens.contains_key(&token)
    }

    /// Brings the tuples and the token of a connection up to date.
    pub(super) fn register(&mut self, slot: u32, connection: &mut Connection) {
        for (id, local, remote) in connection.take_retired() {
            let tuple = Tuple::new(local, remote);
            if self.tuples.get(&tuple) == Some(&(slot, id as u32)) {
                self.tuples.remove(&tuple);
            }
        }
        for (id, local, remote, open) in connection.tuple_changes() {
            let (tuple, ours) = (Tuple::new(local, remote), (slot, id as u32));
            if open {
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
    /// A segment that belongs to no subflow: a SYN for a listener, a join, the answer to a cookie, or an error.
    pub(super) fn handle_stranger(&mut self, now: Instant, interface: InterfaceId, segment: &mut Segment) {
        if segment.flags.rst() {
            return;
        }
        let opens = segment.flags.syn() && !segment.flags.ack() && !segment.flags.fin();
        if self.interfaces.get(interface).is_none() {
            return self.refuse(now, interface, segment, None);
        }
        if opens {
            return self.handle_first(now, interface, segment, None);
        }
        if !self.take_cookie_answer(now, interface, segment) {
            self.refuse(now, interface, segment, None);
        }
    }

    /// A SYN from nobody that we know; our own sequence numbers begin at `iss` where that is given.
    pub(super) fn handle_first(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        segment: &Segment,
        iss: Option<u32>,
    ) {
        if let Some(&MpJoin::Syn { token, .. }) = join_option(&segment.options) {
            return self.handle_join(now, interface, segment, token);
        }
        let port = segment.destination.port();
        let Some(listener) = self.demux.listeners.get(&port).filter(|it| it.hears(interface)) else {
            return self.refuse(now, interface, segment, None);
        };
        if listener.accept_queue_is_full() {
            // Nobody takes them: who asks again may find room, as in Linux.
            self.counters.unanswered += 1;
            return;
        }
        let config = listener.config.clone();
        if !self.make_room(now, port) {
            return self.answer_by_cookie(now, interface, segment, &config);
        }
        let iss = iss.unwrap_or_else(|| self.random.next_u32());
        let Some((mut connection, mut subflow)) =
            self.answering(now, interface, segment, &config, Answering { iss, key: None })
        else {
            return;
        };
        if let Some(settings) = config.fast_open {
            read_syn(&mut subflow, segment, settings);
        }
        connection.accept(now, subflow, segment);
        self.counters.capable_syns_received += u64::from(connection.is_negotiating());
        let id = self.insert(connection);
        if let Some(place) = self.slots.place(id) {
            self.keep_waiting(now, place, port);
        }
    }

    /// A connection for a SYN at a listener, and its first subflow.
    pub(super) fn answering(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        syn: &Segment,
        config: &Config,
        with: Answering,
    ) -> Option<(Connection, Subflow)> {
        let addresses = self.interfaces.addresses_seen_from(interface, config);
        // Tokens name connections: a key whose token is taken is drawn again (RFC 8684 section 3.1).
        let connection = loop {
            let random = self.next_random();
            let connection = Connection::new(now, config.clone(), false, random, addresses.clone(), with.key);
            if !self.demux.has_token(connection.token()) {
                break connection;
            }
            if with.key.is_some() {
                return None;
            }
        };
        let (local, remote) = (syn.destination, syn.source);
        let mut subflow =
            self.interfaces.subflow(interface, local, remote, Origin::Initial, with.iss, config);
        subflow.timestamp_offset = self.secret.timestamp_offset(local, remote);
        Some((connection, subflow))
    }

    fn handle_join(&mut self, now: Instant, interface: InterfaceId, segment: &Segment, token: u32) {
        let Some(&slot) = self.demux.tokens.get(&token) else {
            // RFC 8684 section 3.2: an unknown token.
            return self.refuse(now, interface, segment, Some(ResetReason::MPTCP));
        };
        let (local, remote) = (segment.destination, segment.source);
        let iss = self.random.next_u32();
        let Some(connection) = self.slots.connection_at(slot) else { return };
        let origin = Origin::Join { nonce: 0, peer_nonce: 0 };
        let mut subflow = self.interfaces.subflow(interface, local, remote, origin, iss, connection.config());
        subflow.timestamp_offset = self.secret.timestamp_offset(local, remote);
        match connection.accept_join(now, subflow, segment) {
            Ok(()) => self.settle(now, slot),
            Err(JoinRefusal::Busy) => {}
            Err(JoinRefusal::Because(reason)) => {
                // RFC 6824 has no MP_TCPRST.
                let reason = Some(reason).filter(|_| connection.version() == Version::V1);
                self.refuse(now, interface, segment, reason);
            }
        }
    }

    /// RFC 9293 section 3.5.2: a reset that the sender of `segment` will believe. Rationed: whoever sends to closed ports
    /// gets no more answers than the endpoint's bounds say.
    pub(super) fn refuse(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        segment: &Segment,
        reason: Option<ResetReason>,
    ) {
        if self.strays.len() >= self.bounds.stray_answers || !self.refusals.take(now) {
            self.counters.unanswered += 1;
            return;
        }
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

/// What a connection begins with that answers a SYN.
pub(super) struct Answering {
    pub(super) iss: u32,
    /// Our key; drawn where none is given.
    pub(super) key: Option<u64>,
}
