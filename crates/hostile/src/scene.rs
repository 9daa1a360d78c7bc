//! A host under attack and one peer, with nothing between them.
//!
//! Owns what named attacks and their tests have in common: a listening host, handshakes, a clock that only moves when told.
//! Random cases have a stage of their own, with more on it (`arena`).

use std::net::{IpAddr, SocketAddr};

use mptcp::{Config, ConnectionId, Endpoint, EventKind, InterfaceId};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::Segment;

use crate::meter;
use crate::peer::{Offer, Peer};

/// Where the host listens.
pub const PORT: u16 = 80;
/// Most segments that a host may say to one packet.
const MOST_ANSWERS: usize = 2_000_000;

/// A host and its enemy.
#[derive(Debug)]
pub struct Scene {
    /// The time.
    pub now: Instant,
    /// Who is attacked.
    pub victim: Endpoint,
    /// Who attacks.
    pub peer: Peer,
    /// The host's addresses, by interface.
    pub addresses: Vec<IpAddr>,
    /// Connections that the host accepted or opened and that live, in their order.
    pub connections: Vec<ConnectionId>,
    /// Packets that the host was given.
    pub packets: u64,
    /// Segments that it said.
    pub answers: u64,
    /// Processor time of the host, nanoseconds, where [`Scene::strike`] measured it.
    pub nanos: u64,
    /// The application reads what comes.
    pub reads: bool,
    /// It takes connections from their listener.
    pub accepts: bool,
}

impl Scene {
    /// A host on one address that listens.
    #[must_use]
    pub fn new(config: Config, offer: Offer) -> Self {
        Self::listening(config, offer, None)
    }

    /// The same with room for a number of connections that wait.
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

    /// The host's address that first subflows go to.
    #[must_use]
    pub fn host(&self) -> SocketAddr {
        (self.addresses[0], PORT).into()
    }

    /// An address of the peer's, as many as wanted.
    #[must_use]
    pub fn caller(number: u32) -> SocketAddr {
        let [high, low] = ((number / 50_000) as u16).to_be_bytes();
        ([10, 66, high, low], 10_000 + (number % 50_000) as u16).into()
    }

    /// Gives the host a segment, and takes nothing from it.
    pub fn deliver(&mut self, segment: Segment) {
        let at = self.addresses.iter().position(|&address| address == segment.destination.ip());
        self.packets += 1;
        self.victim.handle_segment(self.now, InterfaceId(at.unwrap_or(0) as u32), segment);
    }

    /// Lets the host say what it has to say; the peer takes note of it.
    pub fn collect(&mut self) -> Vec<Segment> {
        let mut said = Vec::new();
        while let Some(transmit) = self.victim.poll_transmit(self.now) {
            self.answers += 1;
            self.peer.take(&transmit.segment);
            said.push(transmit.segment);
            assert!(said.len() < MOST_ANSWERS, "the host sends without end");
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

    /// Gives the host a segment; returns what it says.
    pub fn hit(&mut self, segment: Segment) -> Vec<Segment> {
        self.deliver(segment);
        self.collect()
    }

    /// Gives the host many segments, one after the other, and measures its time; what it says is counted and forgotten.
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

    /// A connection that the peer begins, open.
    pub fn open(&mut self, number: u32) -> usize {
        let (id, syn) = self.peer.call(self.now, Self::caller(number), self.host());
        self.hit(syn);
        let third = self.peer.third_ack(self.now, id);
        self.hit(third);
        id
    }

    /// A further subflow of the peer's, open.
    pub fn join(&mut self, link: usize, number: u32) -> usize {
        let (id, syn) = self.peer.join(self.now, link, Self::caller(number), self.host());
        self.hit(syn);
        let third = self.peer.third_ack(self.now, id);
        self.hit(third);
        id
    }

    /// A connection that the host opens to the peer, open, with the peer's subflow.
    ///
    /// # Errors
    /// When the host does not call.
    pub fn call(&mut self, config: Config) -> Result<(ConnectionId, usize), &'static str> {
        let interface = InterfaceId(0);
        let remote = SocketAddr::from(([10, 66, 0, 1], 443));
        let connection = self.victim.connect(self.now, interface, remote, config).map_err(|_| "no way")?;
        self.collect();
        let id = self.peer.flows.len().checked_sub(1).ok_or("no SYN")?;
        let answer = self.peer.syn_ack(self.now, id);
        self.hit(answer);
        Ok((connection, id))
    }

    /// Lets time pass; returns what the host says meanwhile, and how often it woke up.
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
