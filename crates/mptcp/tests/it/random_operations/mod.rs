//! Two endpoints on which random operations are executed, with checks of invariants.

#![allow(clippy::unwrap_used, reason = "a harness")]

mod case;
mod invariants;

use std::collections::BTreeMap;

use bytes::Bytes;
use mptcp::{CloseReason, ConnectionId, Endpoint, EventKind, InterfaceChange, InterfaceId, Mode};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::{Codepoint, Packet, Segment};

use super::pair::{PORT, client_address, frames, server_address};
#[allow(unused_imports, reason = "each test file uses its own part")]
pub use case::{Gso, Operation, Path, Settings, Side, Strip, random_case};
use invariants::Invariants;

/// Maximum payload of a joined segment: an IPv4 packet of 65,535 bytes less headers of up to 120 bytes.
const MAX_JOINED: usize = 65_415;

/// Maximum number of consecutive wakeups that neither send, deliver nor report anything.
const IDLE_WAKEUPS: u32 = 200;
/// Maximum time to finish on an error-free network: longer than several timers at maximum backoff.
const PATIENCE: Duration = Duration::from_secs(4000);

/// One side of the connection.
struct End {
    endpoint: Endpoint,
    connection: Option<ConnectionId>,
    written: u64,
    read: u64,
    closing: bool,
    paused: bool,
    finished: bool,
    closed: Option<CloseReason>,
    up: Vec<bool>,
    /// Bytes that the send buffer has not yet accepted.
    pending: u64,
}

impl End {
    fn new(endpoint: Endpoint, interfaces: usize) -> Self {
        Self {
            endpoint,
            connection: None,
            written: 0,
            read: 0,
            closing: false,
            paused: false,
            finished: false,
            closed: None,
            up: vec![true; interfaces],
            pending: 0,
        }
    }
}

/// Segments in flight.
type Wires = BTreeMap<(Instant, u64), (Side, usize, Segment)>;

/// A segment in flight: (arrival time, order), (receiver, path, segment).
type InFlight = ((Instant, u64), (Side, usize, Segment));

pub struct OperationRunner {
    now: Instant,
    ends: [End; 2],
    wires: Wires,
    sequence: u64,
    segments: u64,
    paths: Vec<Path>,
    /// Time at which each link is free again, by path and side.
    busy: Vec<[Instant; 2]>,
    strips: Vec<Strip>,
    random: Rng,
    watch: Invariants,
    idle_wakeups: u32,
    error_free: bool,
    checksum: bool,
    tampered: bool,
    gso: Gso,
}

/// Byte at offset `at` of the stream sent by `side`.
fn byte(side: Side, at: u64) -> u8 {
    let mixed = (at ^ (side as u64) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as u8 ^ at as u8
}

impl OperationRunner {
    pub fn new(settings: &Settings) -> Self {
        let now = Instant::ZERO;
        let mut client = Endpoint::new(Rng::new(settings.seed, "client"));
        let mut server = Endpoint::new(Rng::new(settings.seed, "server"));
        for path in 0..settings.paths.len() {
            client.add_interface(client_address(path), false);
        }
        server.add_interface(server_address(), false);
        for endpoint in [&mut client, &mut server] {
            (0..settings.paths.len() as u32)
                .for_each(|id| endpoint.set_gso_max(InterfaceId(id), settings.gso.most));
        }
        server.listen(PORT, settings.server.clone()).unwrap();
        let remote = (server_address(), PORT).into();
        let connection = client.connect(now, InterfaceId(0), remote, settings.client.clone()).unwrap();
        let mut ends = [End::new(client, settings.paths.len()), End::new(server, 1)];
        ends[0].connection = Some(connection);
        let mut runner = Self {
            now,
            ends,
            wires: Wires::new(),
            sequence: 0,
            segments: 0,
            busy: vec![[Instant::ZERO; 2]; settings.paths.len()],
            strips: vec![Strip::default(); settings.paths.len()],
            paths: settings.paths.clone(),
            random: Rng::new(settings.seed, "network"),
            watch: Invariants::new(
                [&settings.client, &settings.server].map(|side| side.linux_stack.windows_by_subflow),
            ),
            idle_wakeups: 0,
            error_free: false,
            checksum: settings.client.checksum || settings.server.checksum,
            tampered: false,
            gso: settings.gso,
        };
        runner.settle();
        runner
    }

    pub fn now(&self) -> Instant {
        self.now
    }

    pub fn segments(&self) -> u64 {
        self.segments
    }

    pub fn execute(&mut self, operation: &Operation) {
        match *operation {
            Operation::Advance { ms } => self.run(Duration::from_millis(u64::from(ms))),
            Operation::Step => {
                self.step();
            }
            Operation::Write { side, .. } if self.ends[side as usize].closing => {}
            Operation::Write { side, bytes } => {
                self.ends[side as usize].pending += u64::from(bytes);
                self.write(side);
            }
            Operation::Pause { side, paused } => self.ends[side as usize].paused = paused,
            Operation::Close { side } => self.ends[side as usize].closing = true,
            Operation::Abort { side } => {
                let now = self.now;
                let end = &mut self.ends[side as usize];
                if let Some(connection) = end.connection {
                    end.endpoint.abort(now, connection);
                    // An application that aborts reads no more, even if both streams had ended.
                    if end.closed == Some(CloseReason::Finished) {
                        end.closed = Some(CloseReason::Aborted);
                    }
                }
            }
            Operation::Drop { at } => drop(self.take_wire(at)),
            Operation::Duplicate { at } => {
                if let Some((_, item)) = self.peek_wire(at) {
                    self.put(Duration::from_millis(1), item);
                }
            }
            Operation::Delay { at, ms } => {
                if let Some((_, item)) = self.take_wire(at) {
                    self.put(Duration::from_millis(u64::from(ms)), item);
                }
            }
            Operation::Corrupt { at, position, bit } => self.corrupt(at, position, bit),
            Operation::Interface { side, path, up } => self.interface(side, path, up),
            Operation::Backup { side, path, backup } => {
                let now = self.now;
                let end = &mut self.ends[side as usize];
                let id = InterfaceId((usize::from(path) % end.up.len()) as u32);
                end.endpoint.handle_interface(now, id, InterfaceChange::Backup(backup));
            }
            Operation::Path { path, ref to } => {
                let path = usize::from(path) % self.paths.len();
                self.paths[path] = to.clone();
            }
            Operation::Split { at, position } => self.split(at, position),
            Operation::Join { at } => self.join(at),
            Operation::Strip { path, what } => {
                let path = usize::from(path) % self.paths.len();
                self.strips[path] = what;
            }
        }
        self.settle();
    }

    fn interface(&mut self, side: Side, path: u8, up: bool) {
        let now = self.now;
        let end = &mut self.ends[side as usize];
        let at = usize::from(path) % end.up.len();
        end.up[at] = up;
        let change = if up { InterfaceChange::Up } else { InterfaceChange::Down };
        end.endpoint.handle_interface(now, InterfaceId(at as u32), change);
    }

    fn write(&mut self, side: Side) {
        let now = self.now;
        let end = &mut self.ends[side as usize];
        let Some(connection) = end.connection else { return };
        if end.pending > 0 {
            // One byte more than fits, so that a writable event follows.
            let offered = end.pending.min(end.endpoint.writable(connection) + 1);
            let data: Vec<u8> = (end.written..end.written + offered).map(|at| byte(side, at)).collect();
            let taken = end.endpoint.write(now, connection, Bytes::from(data)) as u64;
            end.written += taken;
            end.pending -= taken;
        }
        if end.closing && end.pending == 0 {
            end.endpoint.close(now, connection);
        }
    }

    fn read(&mut self, side: Side) -> bool {
        let now = self.now;
        let end = &mut self.ends[side as usize];
        let Some(connection) = end.connection.filter(|_| !end.paused) else { return false };
        let mut any = false;
        while let Some(data) = end.endpoint.read(now, connection) {
            for (i, &found) in data.iter().enumerate() {
                let at = end.read + i as u64;
                assert!(
                    self.tampered || found == byte(side.other(), at),
                    "byte {at} towards {side:?} is wrong"
                );
            }
            end.read += data.len() as u64;
            any = true;
        }
        any
    }

    fn peek_wire(&self, at: u16) -> Option<InFlight> {
        let count = self.wires.len().max(1);
        self.wires.iter().nth(usize::from(at) % count).map(|(key, item)| (*key, item.clone()))
    }

    fn take_wire(&mut self, at: u16) -> Option<InFlight> {
        let found = self.peek_wire(at)?;
        self.wires.remove(&found.0);
        Some(found)
    }

    fn put(&mut self, delay: Duration, mut item: (Side, usize, Segment)) {
        self.sequence += 1;
        if item.2.ecn.is_capable() && self.sequence.is_multiple_of(7) {
            item.2.ecn = Codepoint::Ce;
        }
        self.wires.insert((self.now + delay, self.sequence), item);
    }

    /// Flips a bit in flight. The TCP checksum detects it, and the segment is dropped. A middlebox that changes
    /// payload also corrects that checksum, so only the DSS checksum detects it.
    fn corrupt(&mut self, at: u16, position: u16, bit: u8) {
        let Some((key, (side, path, mut segment))) = self.take_wire(at) else { return };
        let mut bytes = Vec::new();
        Packet::new(segment.clone()).emit(&mut bytes).unwrap();
        let spot = usize::from(position) % bytes.len();
        bytes[spot] ^= 1 << (bit % 8);
        assert!(Packet::parse(&Bytes::from(bytes)).is_err(), "the flipped bit was not detected");
        let mapped = segment.options.dss.is_some_and(|dss| dss.mapping.is_some_and(|m| m.checksum.is_some()));
        if self.checksum && mapped && !segment.payload.is_empty() && position.is_multiple_of(2) {
            let mut payload = segment.payload.to_vec();
            let spot = usize::from(position) % payload.len();
            payload[spot] ^= 1 << (bit % 8);
            segment.payload = Bytes::from(payload);
            // On the only subflow, the changed data is delivered (RFC 8684 section 3.7).
            self.tampered = true;
            self.wires.insert(key, (side, path, segment));
        }
    }

    fn split(&mut self, at: u16, position: u16) {
        let Some((key, (side, path, mut first))) = self.take_wire(at) else { return };
        if first.payload.len() > 1 {
            let mut second = first.clone();
            let cut = 1 + usize::from(position) % (first.payload.len() - 1);
            second.payload = first.payload.split_off(cut);
            second.sequence = first.sequence + cut as u32;
            first.flags = mptcp_wire::Flags::ACK;
            self.put(key.0.since(self.now) + Duration::from_micros(1), (side, path, second));
        }
        self.wires.insert(key, (side, path, first));
    }

    fn join(&mut self, at: u16) {
        let Some((key, (side, path, mut first))) = self.take_wire(at) else { return };
        let end = first.sequence + first.payload.len() as u32;
        let follows = |item: &(Side, usize, Segment)| {
            let (other, _, segment) = item;
            let same = *other == side && segment.source == first.source;
            let fits = first.payload.len() + segment.payload.len() <= MAX_JOINED;
            same && segment.sequence == end && !segment.payload.is_empty() && !segment.flags.syn() && fits
        };
        let plain = !first.payload.is_empty() && !first.flags.syn() && !first.flags.fin();
        let next = self.wires.iter().find(|(_, item)| plain && follows(item)).map(|(key, _)| *key);
        if let Some((.., second)) = next.and_then(|key| self.wires.remove(&key)) {
            first.payload = [first.payload, second.payload].concat().into();
            first.flags |= second.flags;
        }
        self.wires.insert(key, (side, path, first));
    }

    fn post(&mut self, side: Side, mut segment: Segment) {
        self.segments += 1;
        if std::env::var("TRACE").is_ok() {
            let s = &segment;
            eprintln!(
                "{} {side:?} {:?} {:?}->{:?} seq {} ack {} len {} win {} {:?} {:?}",
                self.now,
                s.flags,
                s.source,
                s.destination,
                s.sequence.value(),
                s.acknowledgment.value(),
                s.payload.len(),
                s.window,
                s.options.dss,
                s.options.mptcp
            );
        }
        self.watch.on_sent(side, &segment);
        let address = if side == Side::Client { segment.source.ip() } else { segment.destination.ip() };
        let path = (0..self.paths.len()).find(|&path| client_address(path) == address).unwrap();
        let properties = self.paths[path].clone();
        if !self.error_free && self.random.chance(properties.loss()) {
            return;
        }
        let strip = self.strips[path];
        if if segment.flags.syn() { strip.syn } else { strip.other }[side as usize] {
            segment.options.dss = None;
            segment.options.mptcp.clear();
        }
        let begin = self.busy[path][side as usize].max(self.now);
        let length = segment.packet_length() as u64;
        let done = begin + Duration::from_nanos(length * 8 * 1_000_000_000 / properties.rate);
        if done.since(self.now) > Duration::from_millis(u64::from(properties.queue_ms)) && begin > self.now {
            return;
        }
        self.busy[path][side as usize] = done;
        let jitter = self.random.below(u64::from(properties.jitter_us) + 1);
        let delay = done.since(self.now) + Duration::from_millis(u64::from(properties.delay_ms));
        self.put(delay + Duration::from_micros(jitter), (side.other(), path, segment));
    }

    fn settle(&mut self) {
        loop {
            let mut quiet = true;
            for side in [Side::Client, Side::Server] {
                self.write(side);
                let mut sent = 0;
                while let Some(transmit) = self.ends[side as usize].endpoint.poll_transmit(self.now) {
                    let endpoint = &self.ends[side as usize].endpoint;
                    let size = transmit.subflow.and_then(|(id, subflow)| endpoint.gso_size(id, subflow));
                    match size.filter(|_| !self.gso.whole) {
                        Some(size) => frames(&transmit.segment, size as usize)
                            .into_iter()
                            .for_each(|frame| self.post(side, frame)),
                        None => self.post(side, transmit.segment),
                    }
                    quiet = false;
                    sent += 1;
                    assert!(sent < 100_000, "{side:?} sends without end at {}", self.now);
                }
                while let Some(event) = self.ends[side as usize].endpoint.poll_event() {
                    self.on_event(side, event.connection, event.kind);
                    quiet = false;
                }
                quiet &= !self.read(side);
            }
            if quiet {
                return;
            }
            self.idle_wakeups = 0;
        }
    }

    fn on_event(&mut self, side: Side, connection: ConnectionId, kind: EventKind) {
        let end = &mut self.ends[side as usize];
        if kind == EventKind::Accepted && end.connection.is_none() {
            end.connection = Some(connection);
            end.closed = None;
        }
        if let (EventKind::Closed(how), None) = (kind, end.connection) {
            // Closed before it was accepted; another connection may follow.
            end.closed = Some(how);
            return;
        }
        if end.connection != Some(connection) {
            return;
        }
        match kind {
            EventKind::Finished => {
                assert!(!end.finished, "finished twice");
                end.finished = true;
            }
            EventKind::Closed(how) => {
                assert_eq!(end.closed, None, "closed twice");
                end.closed = Some(how);
            }
            _ => {}
        }
    }

    fn next_time(&self) -> Option<Instant> {
        let wire = self.wires.keys().next().map(|(at, _)| *at);
        let timeouts = self.ends.iter().filter_map(|end| end.endpoint.poll_timeout());
        timeouts.chain(wire).min().filter(|&at| at < Instant::FAR_FUTURE)
    }

    /// Advances to the next arrival or timer; returns `false` if there is none.
    fn step(&mut self) -> bool {
        let Some(next) = self.next_time() else { return false };
        self.now = self.now.max(next);
        self.idle_wakeups += 1;
        assert!(self.idle_wakeups < IDLE_WAKEUPS, "woke up without reason at {}", self.now);
        for end in &mut self.ends {
            if end.endpoint.poll_timeout().is_some_and(|at| at <= self.now) {
                end.endpoint.handle_timeout(self.now);
            }
        }
        while let Some(entry) = self.wires.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (to, path, segment) = entry.remove();
            self.watch.on_arrival(to, &segment);
            let interface = InterfaceId(if to == Side::Client { path as u32 } else { 0 });
            let end = &mut self.ends[to as usize];
            // An interface that is down receives nothing.
            if end.up[interface.0 as usize] {
                end.endpoint.handle_segment(self.now, interface, segment);
            }
            self.idle_wakeups = 0;
            self.settle();
        }
        self.settle();
        true
    }

    fn run(&mut self, span: Duration) {
        let end = self.now + span;
        while self.next_time().is_some_and(|at| at <= end) && self.step() {}
        self.now = self.now.max(end);
        self.settle();
    }

    /// Whether all data has arrived, or the connection has ended early.
    fn is_done(&self) -> bool {
        let [client, server] = &self.ends;
        let ended = |end: &End| end.closed.is_some_and(|how| how != CloseReason::Finished);
        if ended(client) || ended(server) {
            return true;
        }
        client.read == server.written && server.read == client.written && client.pending + server.pending == 0
    }

    fn mode(&self, side: Side) -> Option<Mode> {
        let end = &self.ends[side as usize];
        end.endpoint.info(self.now, end.connection?).map(|info| info.mode)
    }

    /// Makes the network error-free, waits for the streams, then closes the connection and waits for its end.
    pub fn finish(&mut self) {
        self.error_free = true;
        for side in [Side::Client, Side::Server] {
            for at in 0..self.ends[side as usize].up.len() {
                if !self.ends[side as usize].up[at] {
                    self.interface(side, at as u8, true);
                }
            }
            self.ends[side as usize].paused = false;
        }
        let deadline = self.now + PATIENCE;
        self.settle();
        while !self.is_done() && self.now < deadline && self.step() {}
        let words = |end: &End| {
            format!("wrote {} read {} pending {} {:?}", end.written, end.read, end.pending, end.closed)
        };
        assert!(
            self.is_done(),
            "stalled at {}: client {}, server {}, {:?} {:?}",
            self.now,
            words(&self.ends[0]),
            words(&self.ends[1]),
            self.mode(Side::Client),
            self.mode(Side::Server)
        );
        for side in [Side::Client, Side::Server] {
            let early = self.ends[side as usize].closed.is_some_and(|how| how != CloseReason::Finished);
            let theirs = self.ends[side.other() as usize].written;
            assert!(self.ends[side as usize].read <= theirs, "more was read than written");
            if !early && self.ends[side as usize].finished {
                assert_eq!(self.ends[side as usize].read, theirs, "{side:?} finished early");
            }
        }
        self.end();
    }

    /// Closes the connection and checks that no connection, timer or segment is left.
    fn end(&mut self) {
        for end in &mut self.ends {
            end.closing = true;
        }
        self.settle();
        let deadline = self.now + PATIENCE;
        while self.now < deadline && self.step() {}
        // One side may not know that the other gave up, because it sends nothing. Its application aborts.
        let one_sided =
            self.ends.iter().any(|end| end.closed.is_some_and(|how| how != CloseReason::Finished))
                || self.ends.iter().any(|end| end.connection.is_none());
        if one_sided {
            for end in &mut self.ends {
                if let Some(connection) = end.connection {
                    end.endpoint.abort(self.now, connection);
                }
            }
            self.settle();
            while self.now < deadline && self.step() {}
        }
        for (end, side) in self.ends.iter().zip(["client", "server"]) {
            let left = end.endpoint.connections().next().and_then(|id| end.endpoint.info(self.now, id));
            assert!(left.is_none(), "the {side} keeps a connection at {}: {left:#?}", self.now);
        }
        assert!(self.wires.is_empty(), "segments are still in flight");
    }
}
