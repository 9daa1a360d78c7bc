//! A day of virtual time with many short connections to a server, some of them from an attacker, to find
//! leaks.
//!
//! Owns client and server, their link and their applications. The client sends a request, the server answers,
//! and both close. The server aborts connections after five minutes, as servers do. The result is the hourly
//! size of the heap, which must not grow.

mod harm;

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use bytes::Bytes;
use mptcp::{Config, ConnectionId, Endpoint, EventKind, InterfaceId};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::Segment;

use crate::meter;
use crate::peer::{Offer, Peer};
use crate::scene::PORT;

/// One-way delay of the link.
const DELAY: Duration = Duration::from_millis(5);
/// Age at which the server aborts a connection.
const OLD: Duration = Duration::from_secs(300);
/// Interval of heap samples.
const LOOK: Duration = Duration::from_secs(10);
/// Number of hours in the result.
const HOURS: u64 = 24;

/// Parameters of a run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Connections of the whole day.
    pub connections: u64,
    /// One of this many connections is hostile.
    pub hostile: u64,
    /// Length of the day.
    pub day: Duration,
}

/// Result of an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hour {
    /// Mean of live bytes.
    pub live: f64,
    /// Honest connections with a complete answer since the start of the run.
    pub complete: u64,
    /// Connections started since the start of the run.
    pub begun: u64,
    /// Open connections of the server at the end of the hour.
    pub open: usize,
}

/// The state of a run. `peer` is the attacker.
struct Soak {
    now: Instant,
    client: Endpoint,
    server: Endpoint,
    peer: Peer,
    /// Segments in flight to the server, and from it.
    wires: [VecDeque<(Instant, Segment)>; 2],
    asked: HashMap<ConnectionId, u64>,
    accepted: VecDeque<(Instant, ConnectionId)>,
    complete: u64,
    random: Rng,
    port: u16,
}

fn address(server: bool) -> SocketAddr {
    if server { ([10, 0, 0, 1], PORT).into() } else { ([10, 0, 1, 1], 0).into() }
}

/// Size of the server's answer, in bytes.
const ANSWER: usize = 8_000;
const REQUEST: &[u8] = &[1; 500];

/// Runs a day, and calls `told` after each hour.
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
            // Every hour repeats the same attacks, so that hours can be compared.
            soak.random = Rng::new(11, "soak");
            number = 0;
        }
    }
    hours
}

impl Soak {
    fn new() -> Self {
        let mut client = Endpoint::new(Rng::new(11, "client"));
        let mut server = Endpoint::new(Rng::new(11, "server"));
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
            random: Rng::new(11, "soak"),
            port: 1_024,
        }
    }

    /// Starts an honest connection.
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

    /// Aborts old connections of the server, and drops the peer's state.
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
        // An attack needs no virtual time, so none is active here.
        self.peer.clear();
        self.peer.renew_block(65_536);
    }
}

fn config() -> Config {
    Config { receive_buffer: 256 << 10, send_buffer: 256 << 10, ..Config::default() }
}
