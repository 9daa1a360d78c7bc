//! A scenario of the record, and its run.

use mptcp::{Config, EventKind};
use mptcp_clock::{Duration, Instant};

use super::app::App;
use super::event_counter::Hash;
use super::link::Link;
use super::report::{self, Part};
use super::world::{Act, CLIENT, Middlebox, PORT, SERVER, World};

/// Number of segments between two hashes of the state of both ends.
const LOOKS: u64 = 20;
/// Times at which the progress is recorded, milliseconds.
const SAMPLES: [u64; 3] = [150, 600, 2000];

/// Results of a run.
pub struct RunResult {
    /// All details, for the hash.
    pub lines: Vec<String>,
    /// Time at which all data had arrived.
    pub completed: Option<Instant>,
    /// Segments sent by both endpoints.
    pub segments: u64,
    /// Retransmissions until the completion.
    pub retransmitted: u64,
    /// Reinjected bytes until the completion.
    pub reinjected: u64,
}

pub struct Scenario {
    pub name: String,
    configs: [Config; 2],
    links: Vec<Link>,
    servers: Vec<bool>,
    pub apps: [App; 2],
    acts: Vec<(u64, Act)>,
    middlebox: Option<Middlebox>,
    seed: u64,
    until: u64,
    observed: bool,
    arrives: bool,
    listens: bool,
    connects: bool,
    brief: bool,
}

impl Scenario {
    /// Creates a scenario in which the client sends 150 kB to the server.
    pub fn new(name: impl Into<String>, config: Config, links: &[Link]) -> Self {
        Self {
            name: name.into(),
            configs: [config.clone(), config],
            links: links.to_vec(),
            servers: vec![links.iter().all(|link| link.v6)],
            apps: [App { goal: 150_000, ..App::default() }, App::default()],
            acts: Vec::new(),
            middlebox: None,
            seed: 1,
            until: 200_000,
            observed: true,
            arrives: true,
            listens: true,
            connects: true,
            brief: false,
        }
    }

    /// Sets the bytes that the client writes.
    pub fn up(mut self, bytes: u64) -> Self {
        self.apps[CLIENT].goal = bytes;
        self
    }

    /// Sets the bytes that the server writes.
    pub fn down(mut self, bytes: u64) -> Self {
        self.apps[SERVER].goal = bytes;
        self
    }

    /// The client writes a block of `bytes` every `ms` milliseconds.
    pub fn blocks(mut self, bytes: u64, ms: u64) -> Self {
        (self.apps[CLIENT].block, self.apps[CLIENT].every) = (bytes, Duration::from_millis(ms));
        self
    }

    /// The server reads `bytes` every `ms` milliseconds.
    pub fn slow(mut self, bytes: u64, ms: u64) -> Self {
        self.apps[SERVER].slow = Some((bytes, Duration::from_millis(ms)));
        self
    }

    pub fn app(mut self, side: usize, change: impl FnOnce(&mut App)) -> Self {
        change(&mut self.apps[side]);
        self
    }

    pub fn server(mut self, config: Config) -> Self {
        self.configs[SERVER] = config;
        self
    }

    /// Sets the addresses of the server: `true` for IPv6.
    pub fn servers(mut self, servers: &[bool]) -> Self {
        self.servers = servers.to_vec();
        self
    }

    /// Executes `act` after `ms` milliseconds.
    pub fn at(mut self, ms: u64, act: impl FnOnce(&mut World) + 'static) -> Self {
        self.acts.push((ms, Box::new(act)));
        self
    }

    pub fn middlebox(mut self, middlebox: Middlebox) -> Self {
        self.middlebox = Some(middlebox);
        self
    }

    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the maximum duration, milliseconds.
    pub fn until(self, until: u64) -> Self {
        Self { until, ..self }
    }

    /// Runs without an observer.
    pub fn unobserved(self) -> Self {
        Self { observed: false, ..self }
    }

    /// Not all written data arrives, as expected.
    pub fn ends_otherwise(self) -> Self {
        Self { arrives: false, ..self }
    }

    /// Records fewer details.
    pub fn brief(self) -> Self {
        Self { brief: true, ..self }
    }

    /// The server does not listen; an act may start a listener.
    pub fn deaf(self) -> Self {
        Self { listens: false, ..self }
    }

    /// The client does not connect; an act may connect.
    pub fn mute(self) -> Self {
        Self { connects: false, ..self }
    }

    /// Runs the scenario.
    pub fn run(self) -> RunResult {
        let mut world = World::new(self.seed, self.links, &self.servers, self.observed);
        world.middlebox = self.middlebox;
        let [near, far] = self.configs;
        if self.listens {
            world.ends[SERVER].listen(PORT, far).expect("nobody else listens");
        }
        for (ms, act) in self.acts {
            world.at(Instant::ZERO + Duration::from_millis(ms), act);
        }
        if self.connects {
            world.connect(0, near, PORT, self.apps);
        }
        let mut lines = Vec::new();
        let mut looks = Hash::default();
        let (mut next_look, mut whole) = (LOOKS, None);
        let mut repairs = (0, 0);
        let samples = SAMPLES.map(|ms| Instant::ZERO + Duration::from_millis(ms));
        let mut samples = samples.into_iter().peekable();
        let end = Instant::ZERO + Duration::from_millis(self.until);
        world.settle();
        while let Some(at) = world.next().filter(|&at| at <= end) {
            while whole.is_none()
                && !self.brief
                && let Some(sample) = samples.next_if(|&sample| sample <= at)
            {
                lines.extend(progress(&world, sample));
            }
            world.go(at);
            if world.segments >= next_look {
                next_look = world.segments + LOOKS;
                look(&world, &mut looks);
                if whole.is_none() {
                    repairs = repairs_of(&world, repairs);
                }
            }
            let all_here = |side: usize| {
                world.flows.iter().all(|flow| flow.apps[side].received >= flow.apps[1 - side].goal)
            };
            if whole.is_none() && !world.flows.is_empty() && all_here(CLIENT) && all_here(SERVER) {
                whole = Some(world.now);
                repairs = repairs_of(&world, repairs);
                look(&world, &mut looks);
                if self.brief {
                    lines.extend(windows(&world));
                } else {
                    lines.push(format!("whole at {}", world.now));
                    lines.extend(state(&world));
                }
            }
        }
        if self.arrives {
            assert!(whole.is_some(), "not all of it arrived: {}", said_of_rest(&world));
        }
        look(&world, &mut looks);
        if whole.is_none() {
            lines.push("never whole".into());
            lines.extend(if self.brief { windows(&world) } else { state(&world) });
        }
        lines.extend(if self.brief { numbers(&world, looks, whole) } else { ending(&world, looks) });
        let (retransmitted, reinjected) = repairs;
        RunResult { lines, completed: whole, segments: world.segments, retransmitted, reinjected }
    }
}

/// Retransmissions and reinjected bytes of all connections, at both ends; at least the `known` ones, because closed connections
/// report nothing.
fn repairs_of(world: &World, known: (u64, u64)) -> (u64, u64) {
    let infos = [CLIENT, SERVER].into_iter().flat_map(|side| {
        let ids = world.flows.iter().filter_map(move |flow| flow.ids[side]);
        ids.filter_map(move |id| world.ends[side].info(world.now, id))
    });
    let (mut retransmitted, mut reinjected) = (0, 0);
    for info in infos {
        let subflows = info.subflows.iter().chain(&info.past);
        retransmitted += subflows.map(|subflow| subflow.retransmissions).sum::<u64>();
        reinjected += info.reinjected_bytes;
    }
    (retransmitted.max(known.0), reinjected.max(known.1))
}

fn said_of_rest(world: &World) -> String {
    let received = |side: usize| world.flows.iter().map(|flow| flow.apps[side].received).collect::<Vec<_>>();
    format!(
        "{:?} up, {:?} down at {}\n{}",
        received(SERVER),
        received(CLIENT),
        world.now,
        state(world).join("\n")
    )
}

/// The progress: a line for each end that sends data.
fn progress(world: &World, at: Instant) -> Vec<String> {
    let mut lines = vec![format!("at {at} {} segments {:016x}", world.segments, world.hash.0)];
    for (side, name) in [(CLIENT, "client"), (SERVER, "server")] {
        let writers =
            world.flows.iter().filter(|flow| flow.apps[side].goal > 0).filter_map(|flow| flow.ids[side]);
        for info in writers.filter_map(|id| world.ends[side].info(at, id)).take(2) {
            lines.push(format!("  {name} {}", report::short(&info)));
        }
    }
    lines
}

fn look(world: &World, hash: &mut Hash) {
    for side in [CLIENT, SERVER] {
        for id in world.flows.iter().filter_map(|flow| flow.ids[side]) {
            for line in report::of(Part::All, &world.ends[side], world.now, id) {
                hash.bytes(line.as_bytes());
            }
        }
        hash.bytes(format!("{:?}", world.ends[side].usage()).as_bytes());
    }
}

/// The state of the first two connections at both ends.
fn state(world: &World) -> Vec<String> {
    let mut lines = Vec::new();
    for (side, name) in [(CLIENT, "client"), (SERVER, "server")] {
        for id in world.flows.iter().filter_map(|flow| flow.ids[side]).take(2) {
            let mut said = report::of(Part::Most, &world.ends[side], world.now, id).into_iter();
            lines.extend(said.next().map(|line| format!("  {name}{line}")));
            lines.extend(said.map(|line| format!("    {line}")));
        }
    }
    lines
}

/// The windows at both ends.
fn windows(world: &World) -> Vec<String> {
    let mut lines = Vec::new();
    for (side, name) in [(CLIENT, "client"), (SERVER, "server")] {
        let writers =
            world.flows.iter().filter(|flow| flow.apps[side].goal > 0).filter_map(|flow| flow.ids[side]);
        let infos = writers.filter_map(|id| world.ends[side].info(world.now, id)).take(2);
        lines.extend(infos.map(|info| format!("  {name} {}", report::windows(&info))));
    }
    lines
}

/// The numbers of a run in one line.
fn numbers(world: &World, looks: Hash, whole: Option<Instant>) -> Vec<String> {
    let mut hash = Hash::default();
    told(world).iter().for_each(|line| hash.bytes(line.as_bytes()));
    let whole = whole.map_or_else(String::new, |at| format!("whole at {at}, "));
    let lost: Vec<_> = world.ways.iter().map(|[up, down]| format!("{}+{}", up.lost, down.lost)).collect();
    vec![format!(
        "{whole}over at {}, {} segments, lost {}; {:016x} {:016x} {:016x}",
        world.last_segment,
        world.segments,
        lost.join(", "),
        world.hash.0,
        looks.0,
        hash.0
    )]
}

/// The final numbers and events.
fn ending(world: &World, looks: Hash) -> Vec<String> {
    let mut lines = vec![format!(
        "over at {} after {} segments {:016x}, looks {:016x}",
        world.last_segment, world.segments, world.hash.0, looks.0
    )];
    for (path, [up, down]) in world.ways.iter().enumerate() {
        let way = |way: &super::link::Way| {
            let marked = if way.marked > 0 { format!(" {} marked", way.marked) } else { String::new() };
            format!("{} with {} bytes, {} lost{marked}", way.segments, way.bytes, way.lost)
        };
        lines.push(format!("  path {path}: {} up, {} down", way(up), way(down)));
    }
    lines.extend(told(world));
    lines
}

/// The events of both ends for applications and observers.
fn told(world: &World) -> Vec<String> {
    let mut lines = Vec::new();
    for (side, name) in [(CLIENT, "client"), (SERVER, "server")] {
        let end = &world.ends[side];
        let (mut readable, mut writable, mut told) = (0, 0, Vec::new());
        for (at, flow, kind) in &world.events[side] {
            match kind {
                EventKind::Readable => readable += 1,
                EventKind::Writable => writable += 1,
                _ if *flow == 0 => told.push(format!("{at} {kind:?}")),
                _ => told.push(format!("{at} {flow}:{kind:?}")),
            }
        }
        let more = told.len().saturating_sub(40);
        told.truncate(40);
        let left = end.connections().count();
        lines.push(format!(
            "  {name} told: {}{}; readable {readable}, writable {writable}; {left} left",
            told.join(", "),
            if more == 0 { String::new() } else { format!(", {more} more") }
        ));
        let counters = format!("{:?}", end.counters());
        if end.counters() != mptcp::Counters::default() {
            lines.push(format!("  {name} {counters}"));
        }
        let server = super::hosts::server_address(0, false);
        if side == CLIENT && end.has_cookie(server) {
            lines.push(format!(
                "  {name} has a cookie, {} bytes fit beside it",
                end.room_in_syn(server, 1460)
            ));
        }
        lines.extend(world.counters[side].text().map(|text| format!("  {name} heard: {text}")));
    }
    lines
}
