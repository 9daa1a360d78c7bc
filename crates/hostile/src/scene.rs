//! A host under attack and one peer, connected directly.
//!
//! Owns the setup of named attacks and their tests: a listening host, handshakes, and a clock that only
//! callers advance. Random cases, whose steps random bytes control, use the larger setup of `arena`.

use std::net::{IpAddr, SocketAddr};

use mptcp::{Config, ConnectionId, Endpoint, EventKind, InterfaceId};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::Segment;

use crate::meter;
use crate::peer::{Offer, Peer};

/// The host's port.
pub const PORT: u16 = 80;
/// Maximum number of segments that the host may send after one packet.
const MOST_ANSWERS: usize = 2_000_000;

/// A host and its attacker.
#[derive(Debug)]
pub struct Scene {
    /// The current time.
    pub now: Instant,
    /// The host under attack.
    pub victim: Endpoint,
    /// The attacker.
    pub peer: Peer,
    /// The host's addresses, by interface.
    pub addresses: Vec<IpAddr>,
    /// The host's live connections, in order.
    pub connections: Vec<ConnectionId>,
    /// Packets delivered to the host.
    pub packets: u64,
    /// Segments sent by the host.
    pub answers: u64,
    /// Processor time of the host in [`Scene::strike`], in nanoseconds.
    pub nanos: u64,
    /// Whether the application reads data.
    pub reads: bool,
    /// Whether the application accepts connections.
    pub accepts: bool,
}

impl Scene {
    /// A host that listens, with the default backlog.
    #[must_use]
    pub fn new(config: Config, offer: Offer) -> Self {
        Self::listening(config, offer, None)
    }

    /// A host that listens with a backlog.
    #[must_use]
    pub fn listening(config: Config, offer: Offer, backlog: Option<usize>) -> Self {
        let mut victim = Endpoint::new(Rng::new(7, "victim"));
        let addresses = vec![[10, 0, 0, 1].into(), "fd00::1".parse().unwrap_or(IpAddr::from([10, 0, 1, 1]))];
        addresses.iter().for_each(|&address| {
            victim.add_interface(address, false);
        });
        // A new endpoint has no listener, so the port is free.
        let _ = victim.listen_on(PORT, config, None, backlog);
        Self {
            now: Instant::ZERO + Duration::from_secs(1_000),
            victim,
            peer: Peer::new(offer),
            addresses,
            connections: Vec::new(),
            packets: 0,
            answers: 0,
            nanos: 0,
            reads: true,
            accepts: true,
        }
    }

    /// The host's address for first subflows.
    #[must_use]
    pub fn host(&self) -> SocketAddr {
        (self.addresses[0], PORT).into()
    }

    /// An address of the peer; each number gives a different one.
    #[must_use]
    pub fn caller(number: u32) -> SocketAddr {
        let [high, low] = ((number / 50_000) as u16).to_be_bytes();
        ([10, 66, high, low], 10_000 + (number % 50_000) as u16).into()
    }

    /// Delivers a segment to the host, and leaves its answers queued.
    pub fn deliver(&mut self, segment: Segment) {
        let at = self.addresses.iter().position(|&address| address == segment.destination.ip());
        self.packets += 1;
        self.victim.handle_segment(self.now, InterfaceId(at.unwrap_or(0) as u32), segment);
    }

    /// Takes the host's segments and passes them to the peer.
    pub fn collect(&mut self) -> Vec<Segment> {
        let mut said = Vec::new();
        while let Some(transmit) = self.victim.poll_transmit(self.now) {
            self.answers += 1;
            self.peer.take(&transmit.segment);
            said.push(transmit.segment);
            assert!(said.len() < MOST_ANSWERS, "the host sends endlessly");
        }
        self.take_events();
        said
    }

    fn take_events(&mut self) {
        while let Some(event) = self.victim.poll_event() {
            match event.kind {
                EventKind::Accepted | EventKind::Connected => {
                    if self.accepts {
                        self.victim.accept(event.connection);
                    }
                    self.connections.push(event.connection);
                }
                EventKind::Readable if self.reads => {
                    while self.victim.read(self.now, event.connection).is_some() {}
                }
                EventKind::Closed(_) => self.connections.retain(|&id| id != event.connection),
                _ => {}
            }
        }
    }

    /// Delivers a segment to the host and returns its answers.
    pub fn hit(&mut self, segment: Segment) -> Vec<Segment> {
        self.deliver(segment);
        self.collect()
    }

    /// Delivers segments to the host and measures its processor time. Counts the answers and drops them.
    pub fn strike(&mut self, segments: Vec<Segment>) {
        let ((), nanos) = meter::clocked(|| {
            for segment in segments {
                self.deliver(segment);
                while self.victim.poll_transmit(self.now).is_some() {
                    self.answers += 1;
                }
            }
        });
        self.nanos += nanos;
        self.take_events();
    }

    /// Opens a connection from the peer. Returns its subflow.
    pub fn open(&mut self, number: u32) -> usize {
        let (id, syn) = self.peer.call(self.now, Self::caller(number), self.host());
        self.hit(syn);
        let third = self.peer.third_ack(self.now, id);
        self.hit(third);
        id
    }

    /// Opens another subflow from the peer.
    pub fn join(&mut self, link: usize, number: u32) -> usize {
        let (id, syn) = self.peer.join(self.now, link, Self::caller(number), self.host());
        self.hit(syn);
        let third = self.peer.third_ack(self.now, id);
        self.hit(third);
        id
    }

    /// Opens a connection from the host. Returns the connection and the peer's subflow.
    ///
    /// # Errors
    /// When the host sends no SYN.
    pub fn call(&mut self, config: Config) -> Result<(ConnectionId, usize), &'static str> {
        let interface = InterfaceId(0);
        let remote = SocketAddr::from(([10, 66, 0, 1], 443));
        let connection =
            self.victim.connect(self.now, interface, remote, config).map_err(|_| "connect failed")?;
        self.collect();
        let id = self.peer.flows.len().checked_sub(1).ok_or("no SYN")?;
        let answer = self.peer.syn_ack(self.now, id);
        self.hit(answer);
        Ok((connection, id))
    }

    /// Advances the clock. Returns the host's segments and the number of wakeups.
    pub fn wait(&mut self, span: Duration) -> (Vec<Segment>, u64) {
        let (end, mut said, mut wakeups) = (self.now + span, Vec::new(), 0);
        while let Some(at) = self.victim.poll_timeout().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.victim.handle_timeout(self.now);
            said.extend(self.collect());
            wakeups += 1;
        }
        self.now = end;
        (said, wakeups)
    }
}
