//! A host with interfaces, connections and listening ports: the type that drivers and applications call.
//!
//! Owns demultiplexing, port numbers and the order in which connections send. The driver owns the clock and
//! the devices: it calls `handle_*` with events, and `poll_*` for work. Never decides anything inside a
//! connection.

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

/// A segment and the interface to send it on.
#[derive(Clone, Debug)]
pub struct Transmit {
    /// The interface to send it on.
    pub interface: InterfaceId,
    /// The connection and the subflow; `None` for a stateless reply.
    pub subflow: Option<(ConnectionId, SubflowId)>,
    /// The segment.
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
    connections_created: u64,
    cookies: ServerCookies,
    blackhole: Blackhole,
    counters: Counters,
    pool: Pool,
    joins: JoinRequests,
    bounds: EndpointBounds,
    /// Rate limit of resets to unknown hosts.
    reset_limit: RateLimiter,
    secret: Secret,
    observer: Option<(Arc<dyn Observer>, Wanted)>,
    /// Whether segments and polls are reported to the observer; `false` inside a reported call.
    observing: bool,
    /// Whether an observer is set or a stateless reply waits.
    rare_work: bool,
    /// Scratch buffer: the polled slots.
    polled: Vec<u32>,
    /// The slots polled with an observer since [`Endpoint::take_polled`] was called, each once.
    polled_since: Vec<u32>,
}

impl Endpoint {
    /// Creates a host without interfaces. `random` determines keys, nonces, ports and sequence numbers.
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
            connections_created: 0,
            cookies: ServerCookies::default(),
            blackhole: Blackhole::default(),
            counters: Counters::default(),
            pool: Pool::default(),
            joins: JoinRequests::default(),
            reset_limit: bounds.reset_limiter(),
            bounds,
            secret,
            observer: None,
            observing: false,
            rare_work: false,
            polled: Vec::new(),
            polled_since: Vec::new(),
        }
    }

    /// Notifies `observer` of the `wanted` events on every connection created from now on.
    pub fn set_observer(&mut self, observer: Arc<dyn Observer>, wanted: Wanted) {
        self.observer = Some((observer, wanted));
        (self.observing, self.rare_work) = (true, true);
    }

    /// Adds an interface that is up.
    pub fn add_interface(&mut self, address: IpAddr, backup: bool) -> InterfaceId {
        self.interfaces.add(address, backup)
    }

    /// Random stream of a new connection.
    pub(crate) fn next_random(&mut self) -> Rng {
        self.connections_created += 1;
        self.random.child(&format!("connection {}", self.connections_created))
    }

    /// A random free ephemeral port; `None` if all are in use.
    pub(crate) fn free_port(&mut self, address: IpAddr, remote: SocketAddr) -> Option<SocketAddr> {
        // RFC 6056 section 3.3.1, over Linux's default port range.
        const FIRST: u16 = 32_768;
        const COUNT: u64 = 28_232;
        let start = self.random.below(COUNT);
        (0..COUNT)
            .map(|i| SocketAddr::new(address, FIRST + ((start + i) % COUNT) as u16))
            .find(|local| !self.demux.is_taken(*local, remote))
    }

    /// Appends a connection to the ready queue, unless it is there or does not exist.
    #[inline]
    pub(crate) fn enqueue(&mut self, slot: u32) {
        let entry = self.slots.at(slot);
        if !entry.ready && entry.connection.is_some() {
            entry.ready = true;
            self.ready.push(slot);
        }
    }

    /// Removes a connection from the queues of its listener.
    pub(crate) fn leave_listener_queues(&mut self, slot: u32) {
        let entry = self.slots.at(slot);
        let (port, opening) = (entry.listener_port.take(), std::mem::take(&mut entry.opening));
        if let Some(listener) = port.and_then(|port| self.demux.listeners.get_mut(&port)) {
            listener.waiting -= 1;
            listener.opening -= usize::from(opening);
        }
    }

    /// Moves a connection from the SYN queue to the accept queue of its listener.
    pub(crate) fn on_handshake_finished(&mut self, slot: u32) {
        let entry = self.slots.at(slot);
        if std::mem::take(&mut entry.opening)
            && let Some(listener) = entry.listener_port.and_then(|port| self.demux.listeners.get_mut(&port))
        {
            listener.opening -= 1;
        }
    }
}
