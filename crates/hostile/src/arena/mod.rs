//! Random cases: a host, its application, an honest neighbour, and a peer that does what the bytes of the case say.
//!
//! Owns time and the way of segments, and checks after each packet what must hold: no panic, memory within the budget, no
//! endless talk, no wakeups for nothing, no wrong byte to the neighbour; and at the end (`ending`) that nothing is left.
//! What the peer does is `moves`, `deviate` and `bursts`; what the application does is `application`.

mod application;
mod bursts;
mod deviate;
mod ending;
mod friend;
mod moves;
mod settings;

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use mptcp::{Config, ConnectionId, Endpoint, InterfaceId, Transmit};
use mptcp_clock::{Duration, Instant, Stream};
use mptcp_wire::{ChecksumMode, Packet, Segment};

use crate::budget::Budget;
use crate::draw::Draw;
use crate::meter;
use crate::peer::Peer;
use crate::scene::PORT;
use application::Application;
use friend::Friend;

/// Most segments that a host may say to one packet or timer.
const MOST_SAID: u64 = 300_000;
/// Most wakeups at one instant, and most in a row that change nothing.
const MOST_WAKEUPS: u32 = 1_000;
/// Most answers that the peer gives by itself in one step.
const MOST_ANSWERS: u32 = 3_000;
/// Most packets of a case after which the peer answers no more by itself.
const MOST_PACKETS: u64 = 200_000;
/// Most wakeups in one step: a longer time is cut short.
const LONGEST: u32 = 20_000;

/// What a case did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Things done, by the application, the peer and time.
    pub operations: u64,
    /// Packets that the host was given.
    pub packets: u64,
    /// Segments that it said.
    pub answers: u64,
    /// The most bytes that were held at once.
    pub peak: i64,
    /// Bytes left at the end.
    pub left: i64,
}

/// What the peer does by itself.
#[derive(Clone, Copy, Debug)]
struct Manners {
    /// It completes handshakes.
    shakes: bool,
    /// It acknowledges what comes.
    acknowledges: bool,
}

struct Arena<'a> {
    draw: Draw<'a>,
    now: Instant,
    victim: Endpoint,
    /// The host's addresses towards the peer.
    addresses: Vec<IpAddr>,
    peer: Peer,
    manners: Manners,
    friend: Option<Friend>,
    application: Application,
    /// Packets in the interfaces' queues.
    queued: VecDeque<(ConnectionId, usize, u64)>,
    departures: bool,
    budget: Budget,
    /// Bytes that lived before the host did.
    base: i64,
    report: Report,
    /// Answers of the peer's that are yet to be given.
    owed: VecDeque<usize>,
    /// The most connections at once.
    most: usize,
    bytes: Vec<u8>,
    told: bool,
    ports: u16,
}

/// An address of the peer's.
fn peer_address(number: u8, wide: bool) -> IpAddr {
    if wide {
        Ipv6Addr::new(0xfd66, 0, 0, 0, 0, 0, 0, u16::from(number) + 1).into()
    } else {
        [10, 66, 0, number + 1].into()
    }
}

/// Runs a case. Panics where something does not hold.
pub fn run(bytes: &[u8], budget: &Budget) -> Report {
    meter::reset_peak();
    let mut arena = Arena::new(bytes, *budget);
    while !arena.draw.is_empty() {
        arena.step();
        arena.report.operations += 1;
    }
    arena.finish()
}

/// Runs a case and holds it to the budget of time too: one that is over it three times is a fault.
pub fn judge(bytes: &[u8], budget: &Budget) -> Report {
    let mut tries = 0;
    loop {
        let begin = meter::thread_nanos();
        let report = run(bytes, budget);
        let each = (meter::thread_nanos() - begin) / (report.packets + report.answers).max(1_000);
        let Some(limit) = budget.nanos.filter(|&limit| each > limit) else { return report };
        tries += 1;
        assert!(tries < 3, "over time: {each} ns for each packet, {limit} allowed, {report:?}");
    }
}

impl<'a> Arena<'a> {
    fn new(bytes: &'a [u8], budget: Budget) -> Self {
        let mut draw = Draw::new(bytes);
        let now = settings::start(&mut draw);
        let base = meter::live();
        let mut victim = Endpoint::new(Stream::new(draw.byte().into(), "victim"));
        let count = 1 + draw.byte() % 3;
        let families = draw.byte();
        let gso = draw.pick(&[0, 0, 3_000, 65_535]);
        let departures = draw.chance(80);
        let addresses: Vec<IpAddr> =
            (0..count).map(|number| settings::address(number, families >> number & 3 == 1)).collect();
        for &address in &addresses {
            let id = victim.add_interface(address, draw.chance(30));
            victim.set_gso_max(id, gso);
            if departures {
                victim.expect_departures(id);
            }
        }
        let quiet = victim.add_interface([10, 99, 0, 1].into(), false);
        let configs: Vec<Config> = (0..2)
            .map(|_| {
                let mut config = settings::config(&mut draw, count);
                config.interfaces = Some((0..count.into()).map(InterfaceId).collect());
                config
            })
            .collect();
        let (accepts, habits) = (!draw.chance(40), draw.byte());
        let (reads, closes) = (habits < 128, habits.is_multiple_of(2));
        let application = Application { accepts, reads, closes, configs, ..Default::default() };
        let peer = Peer::new(settings::offer(&mut draw));
        let manners = Manners { shakes: !draw.chance(40), acknowledges: !draw.chance(90) };
        let mut arena = Self {
            draw,
            now,
            victim,
            addresses,
            peer,
            manners,
            friend: None,
            application,
            queued: VecDeque::new(),
            departures,
            budget,
            base,
            report: Report::default(),
            owed: VecDeque::new(),
            most: 0,
            bytes: Vec::with_capacity(256),
            told: std::env::var("HOSTILE_TRACE").is_ok(),
            ports: 20_000,
        };
        arena.listen(PORT);
        arena.listen(PORT + 1);
        arena.meet(quiet);
        arena
    }

    /// The neighbour calls.
    fn meet(&mut self, quiet: InterfaceId) {
        let config = Config {
            interfaces: Some(vec![quiet]),
            receive_buffer: 200_000,
            send_buffer: 200_000,
            ..Config::default()
        };
        let _ = self.victim.listen_on(friend::PORT, config.clone(), Some(vec![quiet]), None);
        let host = SocketAddr::from(([10, 99, 0, 1], friend::PORT));
        self.friend = Friend::new(self.now, quiet, host, Config { interfaces: None, ..config });
        let up = u64::from(self.draw.byte()) * 300;
        self.friend.iter_mut().for_each(|friend| friend.counts[0].wanted = up);
        self.settle();
    }

    fn tell(&self, words: impl FnOnce() -> String) {
        if self.told {
            eprintln!("{} {}", self.now, words());
        }
    }

    /// One thing happens.
    fn step(&mut self) {
        match self.draw.byte() {
            0..40 => {
                let span = self.draw.span();
                self.pass(span);
            }
            40..80 => self.act(),
            80..150 => self.play(),
            150..230 => self.deviate(),
            _ => self.burst(),
        }
        self.settle();
        self.most = self.most.max(self.victim.connections().count());
    }

    /// Gives the host a segment of the peer's, if it has a form on the wire.
    fn deliver(&mut self, segment: Segment) {
        let at = self.addresses.iter().position(|&address| address == segment.destination.ip());
        self.bytes.clear();
        let packet = Packet::new(segment);
        if packet.emit_headers(&mut self.bytes, ChecksumMode::Offloaded).is_err() {
            return;
        }
        let segment = packet.segment;
        self.tell(|| format!("> {}", words(&segment)));
        self.report.packets += 1;
        self.victim.handle_segment(self.now, InterfaceId(at.unwrap_or(0) as u32), segment);
        self.listen_to_victim();
        self.check_memory();
    }

    /// Takes what the host says to one packet or timer; returns whether it said anything.
    fn listen_to_victim(&mut self) -> bool {
        let mut said = 0;
        let mut told = false;
        loop {
            while let Some(transmit) = self.victim.poll_transmit(self.now) {
                said += 1;
                assert!(said < MOST_SAID, "the host sends without end at {}", self.now);
                self.route(transmit);
            }
            let Some(event) = self.victim.poll_event() else { break };
            told = true;
            self.tell(|| format!("event {event:?}"));
            self.take_event(event);
        }
        self.report.answers += said;
        said > 0 || told
    }

    fn route(&mut self, transmit: Transmit) {
        let Transmit { subflow, segment, interface } = transmit;
        self.tell(|| format!("< {}", words(&segment)));
        let options = segment.options.length();
        assert!(options <= mptcp_wire::Options::SPACE, "{options} bytes of options: {segment:?}");
        if let Some((id, subflow)) =
            subflow.filter(|_| self.departures && interface.0 < self.addresses.len() as u32)
        {
            self.queued.push_back((id, subflow, segment.packet_length() as u64));
            if self.queued.len() > 2_000 {
                self.queued.pop_front();
            }
        }
        if let Some(friend) =
            self.friend.as_mut().filter(|friend| friend.address.ip() == segment.destination.ip())
        {
            friend.endpoint.handle_segment(self.now, InterfaceId(0), segment);
            return;
        }
        if let Some(id) = self.peer.take(&segment)
            && !self.owed.contains(&id)
            && self.owed.len() < 64
        {
            self.owed.push_back(id);
        }
    }

    /// Lets the neighbour and the peer's good manners go on until nothing moves.
    fn settle(&mut self) {
        self.listen_to_victim();
        let mut answers = 0;
        loop {
            let mut quiet = true;
            if let Some(friend) = &mut self.friend {
                friend.work(self.now, &mut self.victim);
                let interface = friend.interface;
                while let Some(sent) =
                    self.friend.as_mut().and_then(|friend| friend.endpoint.poll_transmit(self.now))
                {
                    quiet = false;
                    self.victim.handle_segment(self.now, interface, sent.segment);
                    self.listen_to_victim();
                }
            }
            quiet &= !self.listen_to_victim();
            while let Some(id) = self.owed.pop_front() {
                if answers < MOST_ANSWERS && self.report.packets < MOST_PACKETS && self.answer(id) {
                    answers += 1;
                    quiet = false;
                }
            }
            if quiet {
                return self.check_memory();
            }
        }
    }

    fn check_memory(&mut self) {
        let held = meter::live() - self.base;
        self.report.peak = self.report.peak.max(held);
        // The peer's own state counts too, and is no fault of the host's.
        let own = self.peer.flows.len() as i64 * 600 + (1 << 20);
        if !self.budget.memory || held <= self.budget.endpoint + own {
            return;
        }
        let connections = self.victim.connections().filter_map(|id| self.victim.connection(id));
        let allowed: i64 = connections.map(|connection| self.budget.of(connection.config())).sum();
        let friend = 3 * 400_000 + (1 << 20);
        let limit = self.budget.endpoint + own + friend + allowed;
        assert!(held <= limit, "over memory: {held} bytes held, {limit} allowed, {:?}", self.report);
    }

    /// Time passes.
    fn pass(&mut self, span: Duration) -> u32 {
        let end = self.now + span;
        self.tell(|| format!("time until {end}"));
        let (mut wakeups, mut same, mut idle) = (0, 0, 0);
        loop {
            let theirs = self.friend.as_ref().and_then(|friend| friend.endpoint.poll_timeout());
            let next = [self.victim.poll_timeout(), theirs].into_iter().flatten().min();
            let Some(next) = next.filter(|&at| at <= end) else { break };
            same = if next <= self.now { same + 1 } else { 0 };
            assert!(same < MOST_WAKEUPS || !self.budget.wakeups, "endless wakeups at {}", self.now);
            self.now = self.now.max(next);
            let said = self.report.answers;
            self.victim.handle_timeout(self.now);
            if let Some(friend) = &mut self.friend {
                friend.endpoint.handle_timeout(self.now);
            }
            self.settle();
            idle = if self.report.answers == said { idle + 1 } else { 0 };
            assert!(
                idle < MOST_WAKEUPS || !self.budget.wakeups,
                "{idle} wakeups in a row for nothing at {}",
                self.now
            );
            wakeups += 1;
            if wakeups == LONGEST {
                return wakeups;
            }
        }
        self.now = end;
        wakeups
    }
}

/// A segment in a line.
fn words(segment: &Segment) -> String {
    let Segment { source, destination, flags, sequence, acknowledgment, window, options, payload, .. } =
        segment;
    format!(
        "{flags:?} {source} -> {destination} seq {} ack {} win {window} len {} dss {:?} mptcp {:?} ts {:?} sack {:?} mss {:?} ws {:?} tfo {:?}",
        sequence.value(),
        acknowledgment.value(),
        payload.len(),
        options.dss,
        options.mptcp,
        options.timestamps,
        options.sack,
        options.mss,
        options.window_scale,
        options.fast_open,
    )
}
