//! Random cases: simulated attacks of a peer on a host that also has an application and an honest neighbour.
//!
//! Owns a case. Bytes of a fuzzer or a seed choose every action. After each packet and wakeup, `exchange` and
//! `passage` check for panics, excess memory, endless sending, useless wakeups and corrupt data at the
//! neighbour. `ending` checks that nothing is left. The peer acts by `moves`, `deviate` and `bursts` with
//! choices from `choices`; the application acts by `acts`.

mod acts;
mod application;
mod bursts;
mod choices;
mod deviate;
mod ending;
mod exchange;
mod friend;
mod moves;
mod passage;
mod settings;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use mptcp::{Config, ConnectionId, Endpoint, InterfaceId, SubflowId};
use mptcp_clock::{Instant, Rng};

use crate::budget::Budget;
use crate::draw::Draw;
use crate::meter;
use crate::peer::Peer;
use crate::scene::PORT;
use application::Application;
use friend::Friend;

/// The statistics of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Actions of the application, the peer and the clock.
    pub operations: u64,
    /// Packets delivered to the host.
    pub packets: u64,
    /// Segments sent by the host.
    pub answers: u64,
    /// Peak heap of the case, in bytes.
    pub peak: i64,
    /// Heap left at the end, in bytes.
    pub left: i64,
}

/// The peer's automatic behaviour.
#[derive(Clone, Copy, Debug)]
struct Manners {
    /// The peer completes handshakes.
    shakes: bool,
    /// The peer acknowledges data.
    acknowledges: bool,
}

/// The state of a case: the attacked host (`victim`), the attacking `peer`, the honest neighbour (`friend`),
/// the application on the host, and the clock.
struct Arena<'a> {
    draw: Draw<'a>,
    now: Instant,
    victim: Endpoint,
    /// The host's addresses on the peer's side.
    addresses: Vec<IpAddr>,
    peer: Peer,
    manners: Manners,
    friend: Option<Friend>,
    application: Application,
    /// Packets in the interfaces' queues.
    queued: VecDeque<(ConnectionId, SubflowId, u64)>,
    /// Whether the host is notified when packets leave these queues.
    departures: bool,
    budget: Budget,
    /// Heap size before the host existed, in bytes.
    base: i64,
    report: Report,
    /// Subflows on which the peer still owes an answer.
    owed: VecDeque<usize>,
    /// Maximum number of simultaneous connections.
    most: usize,
    bytes: Vec<u8>,
    /// Whether to print a trace.
    told: bool,
    /// The peer's last port.
    ports: u16,
}

/// Runs a case. Panics if a check fails.
pub fn run(bytes: &[u8], budget: &Budget) -> Report {
    meter::reset_peak();
    let mut arena = Arena::new(bytes, *budget);
    while !arena.draw.is_empty() {
        arena.step();
        arena.report.operations += 1;
    }
    arena.finish()
}

/// Runs a case and also checks processor time. Panics if a check fails, or if three runs take too much time.
pub fn judge(bytes: &[u8], budget: &Budget) -> Report {
    let mut tries = 0;
    loop {
        let begin = meter::thread_nanos();
        let report = run(bytes, budget);
        let each = (meter::thread_nanos() - begin) / (report.packets + report.answers).max(1_000);
        let Some(limit) = budget.nanos.filter(|&limit| each > limit) else { return report };
        tries += 1;
        assert!(tries < 3, "time over the budget: {each} ns per packet, {limit} allowed, {report:?}");
    }
}

impl<'a> Arena<'a> {
    fn new(bytes: &'a [u8], budget: Budget) -> Self {
        let mut draw = Draw::new(bytes);
        let now = settings::start(&mut draw);
        let base = meter::live();
        let mut victim = Endpoint::new(Rng::new(draw.byte().into(), "victim"));
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

    /// Connects the neighbour to the victim.
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

    /// Performs one action.
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
}
