//! Two endpoints in virtual time, joined by paths with configurable impairments.

#![allow(clippy::unwrap_used, reason = "a harness")]

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use mptcp::{Config, ConnectionId, Endpoint, EventKind, InterfaceChange, InterfaceId};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::{Flags, Segment};

/// The fate of a segment on a path.
#[derive(Clone, Debug)]
pub enum Fate {
    Deliver,
    Drop,
    Replace(Box<Segment>),
    /// Delivers these segments instead, in this order.
    Several(Vec<Segment>),
}

/// Decides the fate of each segment: direction (`true` towards the server), path, segment.
pub type Rule = Box<dyn FnMut(bool, usize, &Segment) -> Fate>;

pub struct Pair {
    pub now: Instant,
    pub client: Endpoint,
    pub server: Endpoint,
    pub latency: Vec<Duration>,
    pub rule: Rule,
    wires: BTreeMap<(Instant, u64), (bool, usize, Segment)>,
    sequence: u64,
    pub connection: ConnectionId,
    pub accepted: Option<ConnectionId>,
    pub events: Vec<(bool, EventKind)>,
    pub received: [Vec<u8>; 2],
    pub segments: u64,
    pub log: Vec<(Instant, bool, usize, Segment)>,
    pub keep_log: bool,
    /// Whether each segment is encoded and decoded.
    pub check_encoding: bool,
    pub paused: [bool; 2],
}

/// Builder of a [`Pair`].
#[must_use]
pub struct Builder {
    seed: u64,
    links: Vec<u64>,
    client: Config,
    server: Config,
}

impl Builder {
    /// Sets the seed of keys, nonces and sequence numbers.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the one-way latencies of the paths, milliseconds.
    pub fn links(self, latency: &[u64]) -> Self {
        Self { links: latency.to_vec(), ..self }
    }

    /// Sets the settings of both ends.
    pub fn config(self, config: Config) -> Self {
        Self { client: config.clone(), server: config, ..self }
    }

    pub fn client(self, client: Config) -> Self {
        Self { client, ..self }
    }

    pub fn server(self, server: Config) -> Self {
        Self { server, ..self }
    }

    /// Starts the connection; the first step sends the SYN.
    pub fn connect(self) -> Pair {
        Pair::new(self)
    }
}

pub const PORT: u16 = 5001;

pub fn server_address() -> IpAddr {
    Ipv4Addr::new(10, 9, 0, 1).into()
}

pub fn client_address(path: usize) -> IpAddr {
    Ipv4Addr::new(10, path as u8, 0, 2).into()
}

impl Pair {
    /// Default: a client connects to a server over one path of 10 ms.
    pub fn builder() -> Builder {
        Builder { seed: 1, links: vec![10], client: Config::default(), server: Config::default() }
    }

    fn new(Builder { seed, links: latency, client, server }: Builder) -> Self {
        let mut near = Endpoint::new(Rng::new(seed, "client"));
        let mut far = Endpoint::new(Rng::new(seed, "server"));
        for path in 0..latency.len() {
            near.add_interface(client_address(path), false);
        }
        far.add_interface(server_address(), false);
        far.listen(PORT, server).unwrap();
        let now = Instant::ZERO;
        let connection = near.connect(now, InterfaceId(0), (server_address(), PORT).into(), client).unwrap();
        Self {
            now,
            client: near,
            server: far,
            latency: latency.iter().map(|&ms| Duration::from_millis(ms)).collect(),
            rule: Box::new(|_, _, _| Fate::Deliver),
            wires: BTreeMap::new(),
            sequence: 0,
            connection,
            accepted: None,
            events: Vec::new(),
            received: [Vec::new(), Vec::new()],
            segments: 0,
            log: Vec::new(),
            keep_log: false,
            check_encoding: true,
            paused: [false; 2],
        }
    }

    fn path_of(segment: &Segment, to_server: bool) -> usize {
        let address = if to_server { segment.source.ip() } else { segment.destination.ip() };
        match address {
            IpAddr::V4(address) => usize::from(address.octets()[1]),
            IpAddr::V6(_) => 0,
        }
    }

    /// Delivers a segment to an endpoint, as if from the network.
    pub fn inject(&mut self, to_server: bool, path: usize, segment: Segment) {
        if to_server {
            self.server.handle_segment(self.now, InterfaceId(0), segment);
        } else {
            self.client.handle_segment(self.now, InterfaceId(path as u32), segment);
        }
        self.settle();
    }

    /// Checks that a segment is unchanged after encoding and decoding.
    fn check_encoding(segment: &Segment) {
        let length = segment.options.length();
        assert!(length <= mptcp_wire::Options::SPACE, "{length} bytes of options: {segment:?}");
        let mut bytes = Vec::new();
        mptcp_wire::Packet::new(segment.clone()).emit(&mut bytes).unwrap();
        let back = mptcp_wire::Packet::parse(&Bytes::from(bytes)).unwrap();
        assert_eq!(back.segment, *segment, "encoding changed it");
    }

    fn post(&mut self, to_server: bool, segment: Segment) {
        if self.check_encoding {
            Self::check_encoding(&segment);
        }
        let path = Self::path_of(&segment, to_server);
        self.segments += 1;
        if self.keep_log {
            self.log.push((self.now, to_server, path, segment.clone()));
        }
        let latency = self.latency[path];
        let fate = (self.rule)(to_server, path, &segment);
        let mut put = |delay: Duration, segment: Segment| {
            self.sequence += 1;
            self.wires.insert((self.now + delay, self.sequence), (to_server, path, segment));
        };
        match fate {
            Fate::Deliver => put(latency, segment),
            Fate::Drop => {}
            Fate::Replace(other) => put(latency, *other),
            Fate::Several(others) => others.into_iter().for_each(|other| put(latency, other)),
        }
    }

    /// Lets both sides send and read until nothing more happens at this time.
    pub fn settle(&mut self) {
        loop {
            let mut quiet = true;
            while let Some(sent) = self.client.poll_transmit(self.now) {
                quiet = false;
                self.post(true, sent.segment);
            }
            while let Some(sent) = self.server.poll_transmit(self.now) {
                quiet = false;
                self.post(false, sent.segment);
            }
            while let Some(event) = self.client.poll_event() {
                quiet = false;
                self.events.push((true, event.kind));
            }
            while let Some(event) = self.server.poll_event() {
                quiet = false;
                if event.kind == EventKind::Accepted {
                    self.accepted = Some(event.connection);
                }
                self.events.push((false, event.kind));
            }
            quiet &= !self.read();
            if quiet {
                return;
            }
        }
    }

    fn read(&mut self) -> bool {
        let mut any = false;
        if let Some(accepted) = self.accepted.filter(|_| !self.paused[0]) {
            while let Some(data) = self.server.read(self.now, accepted) {
                self.received[0].extend_from_slice(&data);
                any = true;
            }
        }
        while let Some(data) =
            Some(()).filter(|()| !self.paused[1]).and_then(|()| self.client.read(self.now, self.connection))
        {
            self.received[1].extend_from_slice(&data);
            any = true;
        }
        any
    }

    /// Advances to the next arrival or timer; returns `false` if there is none.
    pub fn step(&mut self) -> bool {
        self.settle();
        let wire = self.wires.keys().next().map(|(at, _)| *at);
        let next = [wire, self.client.poll_timeout(), self.server.poll_timeout()].into_iter().flatten().min();
        let Some(next) = next.filter(|&at| at < Instant::FAR_FUTURE) else { return false };
        self.now = self.now.max(next);
        if self.client.poll_timeout().is_some_and(|at| at <= self.now) {
            self.client.handle_timeout(self.now);
        }
        if self.server.poll_timeout().is_some_and(|at| at <= self.now) {
            self.server.handle_timeout(self.now);
        }
        while let Some(entry) = self.wires.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (to_server, path, segment) = entry.remove();
            if to_server {
                self.server.handle_segment(self.now, InterfaceId(0), segment);
            } else {
                self.client.handle_segment(self.now, InterfaceId(path as u32), segment);
            }
        }
        self.settle();
        true
    }

    /// Runs for `span`.
    pub fn run(&mut self, span: Duration) {
        let end = self.now + span;
        self.settle();
        while self.next_time().is_some_and(|at| at <= end) && self.step() {}
        self.now = self.now.max(end);
        self.settle();
    }

    fn next_time(&self) -> Option<Instant> {
        let wire = self.wires.keys().next().map(|(at, _)| *at);
        [wire, self.client.poll_timeout(), self.server.poll_timeout()].into_iter().flatten().min()
    }

    /// Sends `data` from the client, and runs until it has arrived or `limit` has passed. Returns the duration.
    pub fn transfer(&mut self, data: &[u8], limit: Duration) -> Duration {
        let begin = self.now;
        let mut left = Bytes::copy_from_slice(data);
        let goal = self.received[0].len() + data.len();
        while self.received[0].len() < goal && self.now.since(begin) < limit {
            if !left.is_empty() {
                let taken = self.client.write(self.now, self.connection, left.clone());
                left = left.slice(taken..);
            }
            if !self.step() {
                break;
            }
        }
        self.now.since(begin)
    }

    pub fn interface(&mut self, path: usize, change: InterfaceChange) {
        self.client.handle_interface(self.now, InterfaceId(path as u32), change);
        self.settle();
    }

    pub fn happened(&self, client: bool, kind: EventKind) -> bool {
        self.events.contains(&(client, kind))
    }
}

/// Splits a segment like a device with segmentation offload, into frames of `size` payload bytes with its options.
pub fn frames(segment: &Segment, size: usize) -> Vec<Segment> {
    let last = segment.payload.len().saturating_sub(1) / size;
    let frame = |at: usize| {
        let payload = segment.payload.slice(at * size..((at + 1) * size).min(segment.payload.len()));
        let mut frame = Segment { payload, ..segment.clone() };
        frame.sequence = segment.sequence + (at * size) as u32;
        if at < last {
            frame.flags = Flags::ACK;
        }
        frame
    };
    (0..=last).map(frame).collect()
}

/// A test pattern whose bytes depend on their offset.
pub fn pattern(length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8 ^ i as u8).collect()
}
