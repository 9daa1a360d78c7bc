//! A host: its interfaces, its connections, and the way from a segment to a subflow.
//!
//! Owns demultiplexing by four-tuple and token, listening ports, port numbers and the order in which
//! connections are served. The driver owns time and devices: `handle_*` takes what happened, `poll_*`
//! gives what to do. Never decides anything inside a connection.

mod after_change;
mod blackhole;
mod connect;
mod cookies;
mod counters;
mod demux;
mod devices;
mod drive;
mod fast_open;
mod icmp;
mod interfaces;
mod join;
mod join_requests;
mod listener;
mod listeners;
mod operations;
mod options;
mod pool;
mod replies;
mod server_cookies;
mod table;
mod unmatched;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use mptcp_clock::Rng;
use mptcp_wire::Segment;

use crate::bounds::EndpointBounds;
use crate::endpoint::blackhole::Blackhole;
pub use crate::endpoint::connect::ConnectError;
pub use crate::endpoint::counters::Counters;
use crate::endpoint::demux::{Demux, Secret};
pub use crate::endpoint::devices::InterfaceChange;
pub use crate::endpoint::icmp::IcmpMessage;
use crate::endpoint::interfaces::Interfaces;
use crate::endpoint::join_requests::JoinRequests;
pub use crate::endpoint::listeners::ListenError;
use crate::endpoint::pool::Pool;
use crate::endpoint::server_cookies::ServerCookies;
use crate::endpoint::table::{ConnectionTable, Deadlines, ReadyQueue};
use crate::ids::{ConnectionId, InterfaceId, SubflowId};
use crate::observe::{Observer, Wanted};
use crate::rate_limiter::RateLimiter;

/// A segment and the interface it leaves by.
#[derive(Clone, Debug)]
pub struct Transmit {
    /// Where it leaves.
    pub interface: InterfaceId,
    /// The connection and its subflow; None for an answer to a stranger.
    pub subflow: Option<(ConnectionId, SubflowId)>,
    /// What leaves.
    pub segment: Segment,
}

/// One host.
#[derive(Debug)]
pub struct Endpoint {
    interfaces: Interfaces,
    slots: ConnectionTable,
    demux: Demux,
    ready: ReadyQueue,
    eventful: ReadyQueue,
    stateless_replies: VecDeque<Transmit>,
    deadlines: Deadlines,
    random: Rng,
    opened: u64,
    cookies: ServerCookies,
    blackhole: Blackhole,
    counters: Counters,
    pool: Pool,
    joins: JoinRequests,
    bounds: EndpointBounds,
    /// Resets for strangers.
    refusals: RateLimiter,
    secret: Secret,
    observer: Option<(Arc<dyn Observer>, Wanted)>,
    /// There is an observer, and it is to hear of what is done now.
    observing: bool,
    /// That, or an answer to a stranger waits.
    rare_work: bool,
    /// Scratch: who was asked for segments.
    asked: Vec<u32>,
}

impl Endpoint {
    /// A host without interfaces. Keys, nonces, ports and sequence numbers follow from `random`.
    #[must_use]
    pub fn new(random: Rng) -> Self {
        let (bounds, secret) = (EndpointBounds::default(), Secret::new(random.child("secret")));
        Self {
            interfaces: Interfaces::default(),
            slots: ConnectionTable::default(),
            demux: Demux::new(secret),
            ready: ReadyQueue::default(),
            eventful: ReadyQueue::default(),
            stateless_replies: VecDeque::new(),
            deadlines: Deadlines::default(),
            random,
            opened: 0,
            cookies: ServerCookies::default(),
            blackhole: Blackhole::default(),
            counters: Counters::default(),
            pool: Pool::default(),
            joins: JoinRequests::default(),
            refusals: bounds.refusals(),
            bounds,
            secret,
            observer: None,
            observing: false,
            rare_work: false,
            asked: Vec::new(),
        }
    }

    /// Tells `observer` of what happens on every connection that begins from now on, as far as it is `wanted`.
    pub fn set_observer(&mut self, observer: Arc<dyn Observer>, wanted: Wanted) {
        self.observer = Some((observer, wanted));
        (self.observing, self.rare_work) = (true, true);
    }

    /// Adds an interface that is up.
    pub fn add_interface(&mut self, address: IpAddr, backup: bool) -> InterfaceId {
        self.interfaces.add(address, backup)
    }

    pub(crate) fn next_random(&mut self) -> Rng {
        self.opened += 1;
        self.random.child(&format!("connection {}", self.opened))
    }

    pub(crate) fn free_port(&mut self, address: IpAddr, remote: SocketAddr) -> Option<SocketAddr> {
        // RFC 6056 section 3.3.1 over Linux's default range.
        const FIRST: u16 = 32_768;
        const COUNT: u64 = 28_232;
        let start = self.random.below(COUNT);
        (0..COUNT)
            .map(|i| SocketAddr::new(address, FIRST + ((start + i) % COUNT) as u16))
            .find(|local| !self.demux.is_taken(*local, remote))
    }

    /// A connection that exists is to be asked for segments.
    #[inline]
    pub(crate) fn enqueue(&mut self, slot: u32) {
        let entry = self.slots.at(slot);
        if !entry.ready && entry.connection.is_some() {
            entry.ready = true;
            self.ready.push(slot);
        }
    }

    pub(crate) fn stop_waiting(&mut self, place: u32) {
        let slot = self.slots.at(place);
        let (port, opening) = (slot.listener_port.take(), std::mem::take(&mut slot.opening));
        if let Some(listener) = port.and_then(|port| self.demux.listeners.get_mut(&port)) {
            listener.waiting -= 1;
            listener.opening -= usize::from(opening);
        }
    }

    /// A handshake is over: its place is among those that wait to be accepted now.
    pub(crate) fn note_opened(&mut self, place: u32) {
        let slot = self.slots.at(place);
        if std::mem::take(&mut slot.opening)
            && let Some(listener) = slot.listener_port.and_then(|port| self.demux.listeners.get_mut(&port))
        {
            listener.opening -= 1;
        }
    }
}
