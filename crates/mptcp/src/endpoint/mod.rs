//! A host: its interfaces, its connections, and the way from a segment to a subflow.
//!
//! Owns demultiplexing by four-tuple and token, listening ports, port numbers and the order in which
//! connections are served. The driver owns time and devices: `handle_*` takes what happened, `poll_*`
//! gives what to do. Never decides anything inside a connection.

mod answering;
mod connect;
mod cookies;
mod counters;
mod deadlines;
mod demux;
mod devices;
mod drive;
mod fast_open;
mod hear;
mod icmp;
mod interfaces;
mod listener;
mod listeners;
mod operations;
mod options;
mod secret;
mod slots;
mod strangers;
mod tuple;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use mptcp_clock::{Instant, Rng};
use mptcp_wire::{Cookie, Segment};
use rustc_hash::FxHashMap;

use crate::bounds::EndpointBounds;
use crate::connection::Connection;
use crate::ids::{ConnectionId, InterfaceId};
use crate::ration::Ration;
pub use connect::ConnectError;
pub use counters::Counters;
use deadlines::Deadlines;
use demux::Demux;
pub use devices::InterfaceChange;
pub use icmp::IcmpMessage;
use interfaces::Interfaces;
pub use listeners::ListenError;
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
    random: Rng,
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
    pub fn new(random: Rng) -> Self {
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

    pub(super) fn next_random(&mut self) -> Rng {
        self.opened += 1;
        self.random.child(&format!("connection {}", self.opened))
    }

    pub(super) fn free_port(&mut self, address: IpAddr, remote: SocketAddr) -> Option<SocketAddr> {
        // RFC 6056 section 3.3.1 over Linux's default range.
        const FIRST: u16 = 32_768;
        const COUNT: u64 = 28_232;
        let start = self.random.below(COUNT);
        (0..COUNT)
            .map(|i| SocketAddr::new(address, FIRST + ((start + i) % COUNT) as u16))
            .find(|local| !self.demux.is_taken(*local, remote))
    }

    pub(super) fn insert(&mut self, now: Instant, connection: Connection) -> ConnectionId {
        let place = self.slots.insert(connection);
        self.deadlines.add(place);
        self.hear(now, place);
        self.line_up(place);
        self.slots.id(place)
    }

    /// After anything that may have changed a connection: registry, events, readiness.
    pub(super) fn settle(&mut self, now: Instant, slot: u32) {
        self.settle_quietly(now, slot);
        let entry = self.slots.at(slot);
        let Some(connection) = entry.connection.as_deref() else { return };
        if connection.is_silent() {
            self.deadlines.set(slot, connection.deadline());
        } else if !entry.ready {
            entry.ready = true;
            self.ready.push_back(slot);
        }
    }

    #[inline]
    fn settle_quietly(&mut self, now: Instant, slot: u32) {
        let entry = self.slots.at(slot);
        let Some(connection) = entry.connection.as_deref_mut() else { return };
        if !connection.is_steady() {
            self.settle_news(now, slot);
        } else if !entry.eventful && !connection.pending().is_empty() {
            entry.eventful = true;
            self.eventful.push_back(slot);
        }
    }

    #[cold]
    fn settle_news(&mut self, now: Instant, slot: u32) {
        self.hear(now, slot);
        let entry = self.slots.at(slot);
        let Some(connection) = entry.connection.as_mut() else { return };
        if !connection.pending().is_empty() && !entry.eventful {
            entry.eventful = true;
            self.eventful.push_back(slot);
        }
        self.forget_if_finished(slot);
    }

    #[inline]
    fn forget_if_finished(&mut self, slot: u32) {
        if self.slots.at(slot).connection.as_ref().is_some_and(|connection| connection.closed().is_some()) {
            self.forget_if_all_is_told(slot);
        }
    }

    #[cold]
    fn forget_if_all_is_told(&mut self, slot: u32) {
        let entry = self.slots.at(slot);
        if let Some(connection) = entry.connection.as_ref().filter(|connection| connection.is_finished()) {
            self.demux.forget(slot, connection);
            self.stop_waiting(slot);
            self.slots.remove(slot);
        }
    }

    /// A connection that exists is to be asked for segments.
    #[inline]
    pub(super) fn line_up(&mut self, slot: u32) {
        let entry = self.slots.at(slot);
        if !entry.ready && entry.connection.is_some() {
            entry.ready = true;
            self.ready.push_back(slot);
        }
    }

    pub(super) fn stop_waiting(&mut self, place: u32) {
        let slot = self.slots.at(place);
        let (port, opening) = (slot.waits_at.take(), std::mem::take(&mut slot.opening));
        if let Some(listener) = port.and_then(|port| self.demux.listeners.get_mut(&port)) {
            listener.waiting -= 1;
            listener.opening -= usize::from(opening);
        }
    }
}
