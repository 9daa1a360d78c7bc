//! A day of virtual time: very many short connections between two endpoints of ours, and now and then a hostile caller.
//!
//! Owns the two hosts, the link between them and their applications: the client sends a request, the server answers and both
//! close. The server's application gives up connections that are older than five minutes, as servers do. What is looked at
//! is how much memory lives, hour by hour: nothing may pile up.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use bytes::Bytes;
use mptcp::{Config, ConnectionId, Endpoint, EventKind, InterfaceId};
use mptcp_clock::{Duration, Instant, Stream};
use mptcp_wire::{Flags, Segment};

use crate::meter;
use crate::peer::{Offer, Peer};
use crate::scene::PORT;

/// One way over the link.
const DELAY: Duration = Duration::from_millis(5);
/// How old a connection may become at the server.
const OLD: Duration = Duration::from_secs(300);
/// How often memory is looked at.
const LOOK: Duration = Duration::from_secs(10);
/// Hours of the day.
const HOURS: u64 = 24;

/// What is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Connections over the whole day.
    pub connections: u64,
    /// One of so many is hostile.
    pub hostile: u64,
    /// How long the day is.
    pub day: Duration,
}

/// An hour of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hour {
    /// Bytes that lived, on average over the hour.
    pub live: f64,
    /// Honest connections whose answer was complete, up to its end.
    pub complete: u64,
    /// Connections begun, up to its end.
    pub begun: u64,
    /// Connections of the server at its end.
    pub open: usize,
}

struct Soak {
    now: Instant,
    client: Endpoint,
    server: Endpoint,
    peer: Peer,
    /// What is on its way to the server, and from it.
    wires: [VecDeque<(Instant, Segment)>; 2],
    asked: HashMap<ConnectionId, u64>,
    accepted: VecDeque<(Instant, ConnectionId)>,
    complete: u64,
    random: Stream,
    port: u16,
}

fn address(server: bool) -> SocketAddr {
    if server { ([10, 0, 0, 1], PORT).into() } else { ([10, 0, 1, 1], 0).into() }
}

/// Bytes that the server answers with.
const ANSWER: usize = 8_000;
const REQUEST: &[u8] = &[1; 500];

/// Runs a day, and tells of each hour.
pub fn run(plan: Plan, mut told: impl FnMut(u64, Hour)) -> Vec<Hour> {
    let base = meter::live();
    let mut soak = Soak::new();
    let (mut hours, mut hour): (Vec<Hour>, Hour) = (Vec::with_capacity(HOURS as usize), Hour::default());
    let (every, length) = (plan.day / plan.connections.max(1), plan.day / HOURS);
    let (mut next_call, mut next_look, mut looks) = (Instant::ZERO, Instant::ZERO + LOOK, 0);
    let (mut hour_ends, mut number) = (Instant::ZERO + length, 0_u64);
    while (hours.len() as u64) < HOURS {
        soak.run_until(next_call.min(next_look).min(hour_ends));
        if soak.now >= next_call {
            hour.begun += 1;
            number += 1;
            if number.is_multiple_of(plan.hostile) {
                soak.attack(number / plan.hostile);
            } else {
                soak.call();
            }
            next_call += every;
        }
        if soak.now >= next_look {
            hour.live += (meter::live() - base) as f64;
            looks += 1;
            soak.clean();
            next_look += LOOK;
        }
        if soak.now >= hour_ends {
            hour.live /= f64::from(looks);
            (hour.complete, hour.open) = (soak.complete, soak.server.connections().count());
            told(hours.len() as u64 + 1, hour);
            hours.push(hour);
            (hour.live, looks) = (0.0, 0);
            hour_ends += length;
            // Every hour has the same attacks, so that hours can be compared.
            soak.random = Stream::new(11, "soak");
            number = 0;
        }
    }
    hours
}

impl Soak {
    fn new() -> Self {
        let mut client = Endpoint::new(Stream::new(11, "client"));
        let mut server = Endpoint::new(Stream::new(11, "server"));
        client.add_interface(address(false).ip(), false);
        server.add_interface(address(true).ip(), false);
        // A new endpoint has no listener.
        let _ = server.listen_on(PORT, config(), None, Some(1_024));
        Self {
            now: Instant::ZERO,
            client,
            server,
            peer: Peer::new(Offer::default()),
            wires: [VecDeque::new(), VecDeque::new()],
            asked: HashMap::new(),
            accepted: VecDeque::new(),
            complete: 0,
            random: Stream::new(11, "soak"),
            port: 1_024,
        }
    }

    /// An honest client.
    fn call(&mut self) {
        if let Ok(id) = self.client.connect(self.now, InterfaceId(0), address(true), config()) {
            self.client.write(self.now, id, Bytes::from_static(REQUEST));
            self.client.close(self.now, id);
            self.asked.insert(id, 0);
        }
        self.settle();
    }

    fn run_until(&mut self, end: Instant) {
        self.settle();
        loop {
            let wires = self.wires.iter().filter_map(|wire| wire.front().map(|(at, _)| *at));
            let timers = [self.client.poll_timeout(), self.server.poll_timeout()];
            let next = wires.chain(timers.into_iter().flatten()).min();
            let Some(next) = next.filter(|&at| at <= end) else { break };
            self.now = self.now.max(next);
            self.client.handle_timeout(self.now);
            self.server.handle_timeout(self.now);
            while let Some((_, segment)) = self.wires[0].pop_front_if(|(at, _)| *at <= self.now) {
                self.server.handle_segment(self.now, InterfaceId(0), segment);
            }
            while let Some((_, segment)) = self.wires[1].pop_front_if(|(at, _)| *at <= self.now) {
                self.client.handle_segment(self.now, InterfaceId(0), segment);
            }
            self.settle();
        }
        self.now = self.now.max(end);
    }

    fn settle(&mut self) {
        let arrival = self.now + DELAY;
        loop {
            let mut quiet = true;
            while let Some(sent) = self.client.poll_transmit(self.now) {
                self.wires[0].push_back((arrival, sent.segment));
                quiet = false;
            }
            while let Some(sent) = self.server.poll_transmit(self.now) {
                quiet = false;
                if sent.segment.destination.ip() == address(false).ip() {
                    self.wires[1].push_back((arrival, sent.segment));
                } else {
                    self.peer.take(&sent.segment);
                }
            }
            while let Some(event) = self.client.poll_event() {
                quiet = false;
                self.take_client(event.connection, event.kind);
            }
            while let Some(event) = self.server.poll_event() {
                quiet = false;
                self.take_server(event.connection, event.kind);
            }
            if quiet {
                return;
            }
        }
    }

    fn take_client(&mut self, id: ConnectionId, kind: EventKind) {
        if matches!(kind, EventKind::Readable) {
            while let Some(data) = self.client.read(self.now, id) {
                let Some(read) = self.asked.get_mut(&id) else { continue };
                *read += data.len() as u64;
            }
        }
        if matches!(kind, EventKind::Closed(_)) && self.asked.remove(&id) == Some(ANSWER as u64) {
            self.complete += 1;
        }
    }

    fn take_server(&mut self, id: ConnectionId, kind: EventKind) {
        match kind {
            EventKind::Accepted => {
                self.server.accept(id);
                self.accepted.push_back((self.now, id));
                self.server.write(self.now, id, Bytes::from(vec![2; ANSWER]));
            }
            EventKind::Readable => while self.server.read(self.now, id).is_some() {},
            EventKind::Finished => self.server.close(self.now, id),
            _ => {}
        }
    }

    /// The server's application gives up what is old; the peer forgets it.
    fn clean(&mut self) {
        while let Some(&(since, id)) = self.accepted.front() {
            if self.now.since(since) < OLD {
                break;
            }
            self.accepted.pop_front();
            while self.server.read(self.now, id).is_some() {}
            self.server.abort(self.now, id);
        }
        self.settle();
        // Each attack is over within its instant.
        self.peer.clear();
        self.peer.renew_block(65_536);
    }

    fn hit(&mut self, segment: Segment) {
        self.server.handle_segment(self.now, InterfaceId(0), segment);
        self.settle();
    }

    fn caller(&mut self) -> SocketAddr {
        self.port = self.port.wrapping_add(1).max(1_024);
        ([10, 66, 0, 1], self.port).into()
    }

    /// A hostile connection: opened as far as `number` says, attacked, and left alone.
    fn attack(&mut self, number: u64) {
        let now = self.now;
        self.peer.offer = Offer {
            multipath: !number.is_multiple_of(7),
            window: if number.is_multiple_of(5) { 0 } else { 60_000 },
            scale: if number.is_multiple_of(5) { None } else { Some(7) },
            checksum: number.is_multiple_of(11),
            ..Offer::default()
        };
        let caller = self.caller();
        let (id, syn) = self.peer.call(now, caller, address(true));
        self.hit(syn);
        if number.is_multiple_of(16) {
            return;
        }
        let third = self.peer.third_ack(now, id);
        self.hit(third);
        let first = self.peer.data(now, id, 10);
        self.hit(first);
        if number.is_multiple_of(3) {
            return self.strand(id);
        }
        for _ in 0..self.random.below(30) {
            self.harm(id);
        }
    }

    /// MP_FAIL comes when both streams have ended and before the host's FIN is acknowledged: what shall end it now?
    fn strand(&mut self, id: usize) {
        let end = self.peer.data_fin(self.now, id);
        self.hit(end);
        let ack = self.peer.bare(self.now, id);
        self.hit(ack);
        let mut fail = self.peer.bare(self.now, id);
        fail.acknowledgment = self.peer.flows[id].host_next - 1;
        fail.options.mptcp.push(self.peer.fail(id, 0));
        self.hit(fail);
        let ack = self.peer.bare(self.now, id);
        self.hit(ack);
    }

    fn harm(&mut self, id: usize) {
        let now = self.now;
        let some = self.random.below(1_000) as u32;
        let segment = match self.random.below(16) {
            0 => self.peer.data_at(now, id, 1 + some, self.peer.payload(0, 700)),
            1 => self.peer.data_at(now, id, 1 + 2 * some, self.peer.payload(0, 1)),
            2 => self.peer.data_fin(now, id),
            3 => self.peer.fin(now, id),
            4 if some < 200 => self.peer.reset(now, id),
            5 | 6 => {
                let link = self.peer.flows[id].link;
                let caller = self.caller();
                let (joined, syn) = self.peer.join(now, link, caller, address(true));
                self.hit(syn);
                if some < 300 {
                    return;
                }
                let third = self.peer.third_ack(now, joined);
                self.hit(third);
                self.peer.data_at(now, joined, 1 + some, self.peer.payload(0, 700))
            }
            7 => {
                let mut segment = self.peer.bare(now, id);
                segment.options.dss = None;
                let option =
                    self.peer.add_address(id, 1 + (some % 9) as u8, [10, 9, 9, some as u8].into(), None);
                segment.options.mptcp.push(option);
                segment
            }
            8 if some < 300 => {
                let mut segment = self.peer.bare(now, id);
                segment.acknowledgment = segment.acknowledgment - 1;
                segment.options.mptcp.push(self.peer.fail(id, 0));
                segment
            }
            9 => {
                let mut segment = self.peer.bare(now, id);
                segment.sequence = segment.sequence + (1 << 30);
                segment
            }
            10 => {
                let mut segment = Segment::new(self.caller(), ([10, 0, 0, 1], 9).into());
                segment.flags = Flags::ACK;
                segment
            }
            11 => {
                let mut segment = self.peer.bare(now, id);
                segment.acknowledgment = self.peer.flows[id].host_iss + 1;
                segment
            }
            12 if some < 200 => {
                let mut segment = self.peer.bare(now, id);
                segment.options.mptcp.push(self.peer.fast_close(id));
                segment
            }
            13 => self.peer.data(now, id, 1),
            _ => self.peer.data(now, id, 700),
        };
        self.hit(segment);
    }
}

fn config() -> Config {
    Config { receive_buffer: 256 << 10, send_buffer: 256 << 10, ..Config::default() }
}
