//! A host: its interfaces, its connections, and the way from a segment to a subflow.
//!
//! Owns demultiplexing by four-tuple and token, listening ports, port numbers and the order in which
//! connections are served. The driver owns time and devices: `handle_*` takes what happened, `poll_*`
//! gives what to do. Never decides anything inside a connection.

mod cookies;
mod deadlines;
mod demux;
mod fast_open;
mod icmp;
mod interfaces;
mod listeners;
mod operations;
mod options;
mod secret;
mod slots;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use mptcp_clock::{Instant, Stream};
use mptcp_wire::{Cookie, Segment};
use rustc_hash::FxHashMap;

use crate::bounds::EndpointBounds;
use crate::config::Config;
use crate::connection::Connection;
use crate::event::Event;
use crate::ids::{ConnectionId, InterfaceId};
use crate::ration::Ration;
use crate::subflow::{Origin, Subflow};
use deadlines::Deadlines;
use demux::Demux;
pub use icmp::IcmpMessage;
pub use interfaces::InterfaceChange;
use interfaces::Interfaces;
pub use listeners::ListenError;
pub use options::Counters;
use secret::Secret;
use slots::Slots;

/// A segment and the interface it leaves by.
#[derive(Clone, Debug)]
pub struct Transmit {
    /// Where it leaves.
    pub interface: InterfaceId,
    /// Index of the subflow in its connection; None for an answer to a stranger.
    pub subflow: Option<(ConnectionId, usize)>,
    /// What leaves.
    pub segment: Segment,
}

/// Why a connection could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// No interface of that number exists.
    #[error("interface {0:?} does not exist")]
    NoInterface(InterfaceId),
    /// The interface is down.
    #[error("interface {0:?} is down: bring it up first")]
    Down(InterfaceId),
    /// Addresses of different families.
    #[error("interface address {0} cannot reach {1}: different IP versions")]
    Family(IpAddr, IpAddr),
    /// All ephemeral ports to that peer are taken.
    #[error("no free port towards {0}")]
    NoPort(SocketAddr),
}

/// One host.
#[derive(Debug)]
pub struct Endpoint {
    interfaces: Interfaces,
    slots: Slots,
    demux: Demux,
    ready: VecDeque<u32>,
    eventful: VecDeque<u32>,
    strays: VecDeque<Transmit>,
    deadlines: Deadlines,
    random: Stream,
    opened: u64,
    /// Cookies of TCP Fast Open and the MSS that goes with each, by server.
    cookies: FxHashMap<IpAddr, (Cookie, u16)>,
    counters: Counters,
    bounds: EndpointBounds,
    /// Resets for strangers.
    refusals: Ration,
    secret: Secret,
}

impl Endpoint {
    /// A host without interfaces. Keys, nonces, ports and sequence numbers follow from `random`.
    #[must_use]
    pub fn new(random: Stream) -> Self {
        let (bounds, secret) = (EndpointBounds::default(), Secret::new(random.child("secret")));
        Self {
            interfaces: Interfaces::default(),
            slots: Slots::default(),
            demux: Demux::new(secret),
            ready: VecDeque::new(),
            eventful: VecDeque::new(),
            strays: VecDeque::new(),
            deadlines: Deadlines::default(),
            random,
            opened: 0,
            cookies: FxHashMap::default(),
            counters: Counters::default(),
            refusals: bounds.refusals(),
            bounds,
            secret,
        }
    }

    /// Adds an interface that is up.
    pub fn add_interface(&mut self, address: IpAddr, backup: bool) -> InterfaceId {
        self.interfaces.add(address, backup)
    }

    /// Opens a connection from an interface.
    ///
    /// # Errors
    /// When the interface cannot reach the address.
    pub fn connect(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        remote: SocketAddr,
        config: Config,
    ) -> Result<ConnectionId, ConnectError> {
        self.open(now, interface, remote, config, |_| {})
    }

    fn open(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        remote: SocketAddr,
        config: Config,
        prepare: impl FnOnce(&mut Subflow),
    ) -> Result<ConnectionId, ConnectError> {
        let found = self.interfaces.get(interface).ok_or(ConnectError::NoInterface(interface))?;
        if !found.up {
            return Err(ConnectError::Down(interface));
        }
        let (address, backup) = (found.address, found.backup || config.backups.contains(&interface));
        if address.is_ipv4() != remote.is_ipv4() {
            return Err(ConnectError::Family(address, remote.ip()));
        }
        let local = self.free_port(address, remote).ok_or(ConnectError::NoPort(remote))?;
        let addresses = self.interfaces.addresses_seen_from(interface, &config);
        let random = self.next_random();
        let iss = self.random.next_u32();
        let mut subflow = self.interfaces.subflow(interface, local, remote, Origin::Initial, iss, &config);
        subflow.timestamp_offset = self.secret.timestamp_offset(local, remote);
        prepare(&mut subflow);
        let mut connection = Connection::new(now, config, true, random, addresses, None);
        connection.open(now, subflow, 0, backup);
        Ok(self.insert(connection))
    }

    fn next_random(&mut self) -> Stream {
        self.opened += 1;
        self.random.child(&format!("connection {}", self.opened))
    }

    fn free_port(&mut self, address: IpAddr, remote: SocketAddr) -> Option<SocketAddr> {
        // RFC 6056 section 3.3.1 over Linux's default range.
        const FIRST: u16 = 32_768;
        const COUNT: u64 = 28_232;
        let start = self.random.below(COUNT);
        (0..COUNT)
            .map(|i| SocketAddr::new(address, FIRST + ((start + i) % COUNT) as u16))
            .find(|local| !self.demux.is_taken(*local, remote))
    }

    fn insert(&mut self, connection: Connection) -> ConnectionId {
        let place = self.slots.insert(connection);
        self.deadlines.add(place);
        self.touch(place);
        self.slots.id(place)
    }

    /// A segment arrived on an interface.
    pub fn handle_segment(&mut self, now: Instant, interface: InterfaceId, mut segment: Segment) {
        self.handle_segment_in_place(now, interface, &mut segment);
    }

    /// As [`Endpoint::handle_segment`], for drivers that use their segments again: the payload is
    /// taken out, the rest stays.
    pub fn handle_segment_in_place(&mut self, now: Instant, interface: InterfaceId, segment: &mut Segment) {
        let Some((slot, subflow)) = self.demux.find(segment) else {
            return self.handle_stranger(now, interface, segment);
        };
        if let Some(connection) = self.slots.connection_at(slot) {
            if let Some(iss) = connection.gives_way(now, subflow as usize, segment) {
                // RFC 9293 section 3.10.7.4: a new connection may follow an old one from TIME-WAIT.
                self.settle(now, slot);
                return self.handle_first(now, interface, segment, Some(iss));
            }
            let unsettled = connection.is_negotiating() && segment.flags.ack() && !segment.flags.syn();
            connection.handle_segment(now, subflow as usize, segment);
            let fallen = unsettled && !connection.is_negotiating() && !connection.is_multipath();
            self.counters.capable_fallback_acks += u64::from(fallen);
            if let Some(cookie) = connection.take_cookie() {
                self.keep_cookie(segment.source.ip(), cookie);
            }
            self.note_opened(slot);
        }
        self.settle(now, slot);
    }

    /// The time given by [`Endpoint::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(slot) = self.deadlines.pop_due(now) {
            let Some(connection) = self.slots.connection_at(slot) else { continue };
            if connection.deadline() <= now {
                connection.handle_timeout(now);
                self.settle(now, slot);
            } else {
                let at = connection.deadline();
                self.deadlines.set(slot, at);
            }
        }
    }

    /// When to call [`Endpoint::handle_timeout`]; at times earlier than needed, never later.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.deadlines.earliest()
    }

    /// The next segment to send.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        let mut segment = Segment::new(nowhere, nowhere);
        let (interface, subflow) = self.poll_transmit_into(now, &mut segment)?;
        Some(Transmit { interface, subflow, segment })
    }

    /// As [`Endpoint::poll_transmit`], into a segment of the driver's; returns where it leaves and
    /// the subflow it belongs to. Without a return value the segment is in no particular state.
    pub fn poll_transmit_into(
        &mut self,
        now: Instant,
        out: &mut Segment,
    ) -> Option<(InterfaceId, Option<(ConnectionId, usize)>)> {
        if let Some(stray) = self.strays.pop_front() {
            *out = stray.segment;
            return Some((stray.interface, stray.subflow));
        }
        while let Some(&slot) = self.ready.front() {
            let entry = self.slots.at(slot);
            if let Some(connection) = &mut entry.connection {
                if let Some(subflow) = connection.poll_transmit(now, out) {
                    let interface = connection.interface_of(subflow);
                    if self.interfaces.get(interface).is_some_and(|interface| interface.departures) {
                        connection.note_queued(subflow, out.packet_length() as u64);
                    }
                    return Some((interface, Some((self.slots.id(slot), subflow))));
                }
                let at = connection.deadline();
                self.deadlines.set(slot, at);
            }
            entry.ready = false;
            self.ready.pop_front();
            self.settle_quietly(now, slot);
        }
        None
    }

    /// Whether [`Endpoint::poll_transmit`] may have something: what a driver has to be woken for.
    #[must_use]
    pub fn wants_transmit(&self) -> bool {
        !self.ready.is_empty() || !self.strays.is_empty()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        while let Some(&slot) = self.eventful.front() {
            let entry = self.slots.at(slot);
            if let Some(connection) = &mut entry.connection
                && let Some(kind) = connection.happenings().take()
            {
                return Some(Event { connection: self.slots.id(slot), kind });
            }
            entry.eventful = false;
            self.eventful.pop_front();
            self.forget_if_finished(slot);
        }
        None
    }

    /// After anything that may have changed a connection: registry, events, readiness.
    fn settle(&mut self, now: Instant, slot: u32) {
        self.settle_quietly(now, slot);
        self.touch(slot);
    }

    fn settle_quietly(&mut self, now: Instant, slot: u32) {
        let Some(connection) = self.slots.connection_at(slot) else { return };
        if connection.has_wanted() {
            self.open_wanted(now, slot);
        }
        let Some(connection) = self.slots.connection_at(slot) else { return };
        if connection.take_registry_change() {
            self.demux.register(slot, connection);
        }
        let entry = self.slots.at(slot);
        let Some(connection) = entry.connection.as_mut() else { return };
        if !connection.happenings().is_empty() && !entry.eventful {
            entry.eventful = true;
            self.eventful.push_back(slot);
        }
        self.forget_if_finished(slot);
    }

    fn forget_if_finished(&mut self, slot: u32) {
        let entry = self.slots.at(slot);
        if let Some(connection) =
            entry.connection.as_ref().filter(|c| c.closed().is_some() && c.is_finished())
        {
            self.demux.forget(slot, connection);
            self.stop_waiting(slot);
            self.slots.remove(slot);
        }
    }

    fn touch(&mut self, slot: u32) {
        let entry = self.slots.at(slot);
        if let Some(connection) = entry.connection.as_mut() {
            if connection.take_registry_change() {
                self.demux.register(slot, connection);
            }
            if !entry.ready {
                entry.ready = true;
                self.ready.push_back(slot);
            }
        }
    }

    fn open_wanted(&mut self, now: Instant, slot: u32) {
        let Some(connection) = self.slots.connection_at(slot) else { return };
        for pair in connection.take_wanted() {
            let Some(local) = self.free_port(pair.local.address, pair.remote.address) else { continue };
            let iss = self.random.next_u32();
            let Some(connection) = self.slots.connection_at(slot) else { return };
            let origin = Origin::Join { nonce: 0, peer_nonce: 0 };
            let mut subflow = self.interfaces.subflow(
                pair.local.interface,
                local,
                pair.remote.address,
                origin,
                iss,
                connection.config(),
            );
            subflow.timestamp_offset = self.secret.timestamp_offset(local, pair.remote.address);
            connection.open_join(now, subflow, pair);
            if connection.take_registry_change() {
                self.demux.register(slot, connection);
            }
        }
        self.touch(slot);
    }
}
