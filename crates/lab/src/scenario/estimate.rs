//! Estimates the size of a run before it starts: rows, blocks, events and memory.
//!
//! `resolve` refuses scenarios whose estimate exceeds their limits. Owns the arithmetic of the upper bounds,
//! which follow from link rates, delays and windows. The run enforces the same limits, in case an estimate is
//! too low.

use std::collections::{BTreeSet, HashMap};

use mptcp_clock::Duration;
use netsim::{QueueLimit, Rate};

use super::impaired;
use super::model::{Estimate, Flow, Link, LinkDirection, Scenario, Traffic};
use super::names::{DataDirection, Transport};
use super::reach::{Reach, Spans};
use super::units::QueueSize;

/// Length of the headers of a data frame, bytes.
const HEADERS: f64 = 66.0;
/// Events per data frame and link: arrivals of the frame and of its acknowledgement, timers, and departures.
const EVENTS: f64 = 6.0;
/// Maximum number of subflows of a connection.
const SUBFLOWS: f64 = 8.0;
/// Memory of a frame in flight, bytes: the segment, its queue entry, and the state of the sender.
const FRAME: f64 = 1_000.0;
/// Memory of an FQ-CoDel sub-queue, bytes; a flow may use one.
const QUEUE_ROW: f64 = 112.0;
/// Memory of a row of samples, with its part of the result tables, bytes.
const ROW: f64 = 60.0;
/// Memory of a row of traced events, with its part of the result tables, bytes; and number of rows per
/// simulator event.
const TRACED: (f64, f64) = (200.0, 2.0);
/// Memory of a measured block, with its part of the result tables, bytes.
const BLOCK: f64 = 100.0;
/// Memory of a flow, bytes: two connections, its application, and sampler state.
const FLOW: f64 = 30_000.0;
/// Memory of the summary of a flow, bytes.
const SUMMARY: f64 = 3_000.0;
/// Memory of the delay histogram of a UDP flow and of each send time, bytes; and maximum number of send times
/// (`world/datagram_delays.rs`).
const DELAYS: (f64, f64, f64) = (20_000.0, 16.0, 65_536.0);
/// Memory of a stream chunk in a buffer, bytes; and maximum length of a chunk.
const PIECE: (f64, f64) = (64.0, 1_048_576.0);
/// Minimum duration of an exchange on a WiFi medium, s.
const EXCHANGE: f64 = 50e-6;

impl Scenario {
    /// An upper bound on the size of a run.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        let reckoner = Estimator::new(self);
        let ticks = (self.duration.as_secs_f64() / self.sample.as_secs_f64()).floor();
        let flows = self.flows.len() as f64;
        let paths = self.links.len() as f64 + SUBFLOWS;
        let rows: f64 = self.flows.iter().map(|flow| reckoner.rows_of(flow)).sum::<f64>()
            + self.links.len() as f64 * if self.cells.is_empty() { 5.0 } else { 8.0 }
            + self.links.iter().filter(|link| link.marks()).count() as f64;
        let samples = ticks * rows;
        let load = reckoner.load();
        let (sent, background) = (EVENTS * load.frames + 2.0 * load.datagrams, self.background_events());
        // A sample visits every path of every flow.
        let events = sent + background + ticks * (1.0 + flows * paths / 16.0);
        let marks = flows * paths * 200.0;
        let results = samples * ROW + load.blocks * BLOCK + flows * SUMMARY;
        let memory =
            results + flows * FLOW + marks + load.waiting * FRAME + load.pieces * PIECE.0 + load.delays;
        Estimate {
            samples,
            blocks: load.blocks,
            events,
            at_once: 64.0 * load.windows + 16.0 * (load.files + load.together),
            memory,
            results,
            traced: (events * TRACED.1).min(self.limits.trace as f64) * TRACED.0,
            busiest: Some(load.busiest).filter(|_| background < sent),
        }
    }

    /// Number of events of background stations.
    fn background_events(&self) -> f64 {
        if self.background.is_empty() {
            return 0.0;
        }
        let seconds = self.duration.as_secs_f64();
        let mut turns = 0.0;
        let mut members = 2.0 * self.links.iter().filter(|link| link.station.is_some()).count() as f64;
        for group in &self.background {
            members += f64::from(group.stations);
            if let Some((on, off)) = group.activity {
                let [on, off] = [on, off].map(|span| span.as_secs_f64().max(1e-9));
                turns += f64::from(group.stations) * seconds * 2.0 / (on + off);
            }
        }
        let exchanges = seconds / EXCHANGE * self.cells.len() as f64;
        (turns + 3.0 * exchanges) * (1.0 + members / 32.0)
    }
}

/// A scenario, with lookup tables for flows.
struct Estimator<'a> {
    scenario: &'a Scenario,
    /// Link index by name.
    places: HashMap<&'a str, usize>,
    /// Hosts that open connections.
    openers: BTreeSet<&'a str>,
    /// bit/s by link, forward and backward.
    rates: Vec<[f64; 2]>,
    /// By first link and host: for every other node, the rate of the fastest path in bit/s, and the minimum
    /// RTT in nanoseconds.
    ways: HashMap<(usize, &'a str), Spans<'a>>,
    mtu: u32,
    /// Maximum number of copies of a frame.
    copies: f64,
}

impl<'a> Estimator<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let rates: Vec<[f64; 2]> = scenario.links.iter().map(|link| rates(scenario, link)).collect();
        let relays: BTreeSet<&str> = scenario.relays.iter().map(String::as_str).collect();
        let hosts = scenario.flows.iter().flat_map(|flow| [flow.from.as_str(), flow.to.as_str()]);
        let reach = Reach::new(&scenario.links, &hosts.filter(|host| !relays.contains(host)).collect());
        let rate = |at: usize| rates[at][0].max(rates[at][1]) as u64;
        let delay = |at: usize| trip(&scenario.links[at]);
        let openers: BTreeSet<&str> = scenario.flows.iter().map(|flow| flow.from.as_str()).collect();
        let mut ways = HashMap::new();
        for (at, link) in scenario.links.iter().enumerate() {
            for end in link.ends.iter().map(String::as_str).filter(|end| openers.contains(end)) {
                ways.insert((at, end), reach.spans(link, end, rate, delay));
            }
        }
        Self {
            scenario,
            ways,
            places: scenario.links.iter().enumerate().map(|(at, link)| (link.name.as_str(), at)).collect(),
            openers,
            rates,
            mtu: scenario.links.iter().map(|link| link.mtu).min().unwrap_or(1500),
            copies: impaired::copies(scenario, &reach),
        }
    }

    /// Rows per sample of a flow.
    fn rows_of(&self, flow: &Flow) -> f64 {
        if flow.transport == Transport::Udp {
            return 5.0;
        }
        let paths = flow.ports().map_or(flow.paths.len() as f64, f64::from);
        6.0 + paths * 3.0 + self.subflows(flow) * 6.0
    }

    /// Maximum number of subflows of a connection: one from each path to each address of the other host.
    fn subflows(&self, flow: &Flow) -> f64 {
        match (flow.transport, flow.ports()) {
            (Transport::Mptcp, Some(subflows)) => f64::from(subflows),
            (Transport::Mptcp, None) => {
                let addresses = if self.openers.contains(flow.to.as_str()) { SUBFLOWS } else { 1.0 };
                (flow.paths.len() as f64 * addresses).min(SUBFLOWS)
            }
            _ => 1.0,
        }
    }

    /// Maximum payload that a flow can send over its first link without competition, bytes.
    fn offered(&self, flow: &Flow, place: usize) -> f64 {
        let link = &self.scenario.links[place];
        let until = flow.stop.unwrap_or(self.scenario.duration).min(self.scenario.duration);
        let seconds = (until - flow.start).as_secs_f64();
        let with_link = (link.ends[0] == flow.from) == (flow.direction == DataDirection::Upload);
        let line = self.rates[place][usize::from(!with_link)];
        let way = self.ways.get(&(place, flow.from.as_str())).and_then(|ways| ways.get(flow.to.as_str()));
        let &(narrowest, trip) = way.unwrap_or(&(u64::MAX, 0));
        let rate = line.min(if narrowest == u64::MAX { f64::INFINITY } else { narrowest as f64 }) / 8.0;
        let trip = trip as f64 / 1e9;
        let by_window = if trip > 0.0 { window(flow) / trip } else { f64::INFINITY };
        let rate = rate.min(by_window);
        match flow.traffic {
            Traffic::Bulk | Traffic::Custom(_) => rate * seconds,
            // Twice the size, for retransmissions.
            Traffic::File { bytes } => (rate * seconds).min(bytes as f64 * 2.0),
            Traffic::Blocks { rate: own, .. } => {
                rate.min(own.map_or(f64::INFINITY, |own| own as f64 / 4.0)) * seconds
            }
            Traffic::Datagrams { rate: Some(own), .. } => own as f64 / 8.0 * seconds,
            Traffic::Datagrams { rate: None, .. } => line / 8.0 * seconds,
        }
    }

    /// The load of all flows on the links.
    fn load(&self) -> Load {
        let mut load = Load::default();
        let mut first = vec![0.0; self.rates.len()];
        let (mut total, mut most, mut rated) = (0.0, -1.0, 0.0);
        let (mut frame, mut block) = (f64::INFINITY, f64::INFINITY);
        for (number, flow) in self.scenario.flows.iter().enumerate() {
            let size = payload(flow, self.mtu);
            frame = f64::min(frame, size);
            let mut frames = 0.0;
            for &place in flow.paths.iter().filter_map(|path| self.places.get(path.as_str())) {
                let offered = self.offered(flow, place) / size;
                first[place] += offered;
                frames += offered;
            }
            total += frames;
            if frames > most {
                (most, load.busiest) = (frames, number);
            }
            if matches!(flow.traffic, Traffic::Datagrams { .. }) {
                load.delays += DELAYS.0 + DELAYS.1 * frames.min(DELAYS.2);
            }
            let mut piece = PIECE.1;
            match flow.traffic {
                Traffic::Datagrams { rate: Some(rate), activity, .. } => {
                    load.datagrams += frames + pauses(activity, self.scenario.duration);
                    rated += rate as f64 / 8.0 / size;
                }
                Traffic::Blocks { bytes, .. } => {
                    block = block.min(bytes as f64);
                    piece = piece.min(bytes as f64);
                    load.blocks += frames * size / bytes as f64;
                }
                _ => {}
            }
            load.windows += window(flow) / size * self.copies;
            if let Traffic::File { bytes } = flow.traffic {
                load.files += bytes as f64 / size * self.copies;
            }
            load.pieces += buffered(flow) / piece;
        }
        let seconds = self.scenario.duration.as_secs_f64();
        let (mut held, mut bytes) = (0.0, 0.0);
        for (place, link) in self.scenario.links.iter().enumerate() {
            // The traffic that a relay forwards was counted at its origin.
            let began = link
                .ends
                .iter()
                .any(|end| self.openers.contains(end.as_str()) && !self.scenario.relays.contains(end));
            let asked = self.copies * if began { first[place] } else { total };
            let carried = self.rates[place][0].max(self.rates[place][1]) / 8.0 * seconds;
            load.frames += asked.min(carried / (frame + HEADERS) * impaired::doubled(link));
            bytes += carried;
            let flows = self.scenario.flows.len() as f64;
            for (line, rate) in [&link.forward, &link.backward].into_iter().zip(self.rates[place]) {
                held += holds(line, frame, flows);
                // Frames of UDP flows with a rate propagate, however many they are.
                let sent = (rated * self.copies).min(rate / 8.0 / (frame + HEADERS));
                load.propagating += sent * line.delay.as_secs_f64().min(seconds);
                // UDP flows with a rate have no window.
                let offered = rated * self.copies;
                load.together += impaired::together(line, frame + HEADERS, offered) * impaired::doubled(link);
            }
        }
        load.waiting = load.windows.min(held) + load.together + load.propagating;
        load.blocks = load.blocks.min(bytes / block);
        load
    }
}

/// RTT of a link from propagation and batching, nanoseconds. With a delay of zero, jitter adds a quarter of
/// its half-width on average.
fn trip(link: &Link) -> u64 {
    let one = |line: &LinkDirection| {
        impaired::wait(line) + if line.delay.is_zero() { line.jitter / 4 } else { line.delay }
    };
    (one(&link.forward) + one(&link.backward)).as_nanos()
}

/// Rates of both directions, bit/s; for a station, the highest rate of its cell.
fn rates(scenario: &Scenario, link: &Link) -> [f64; 2] {
    if let Some(station) = &link.station {
        let cell = scenario.cells.iter().find(|cell| cell.name == station.cell);
        let best = cell.and_then(|cell| cell.parameters().rates().into_iter().max());
        return [best.unwrap_or(1_000_000_000) as f64; 2];
    }
    [&link.forward, &link.backward].map(|line| line.rate.map_or(f64::INFINITY, |rate| rate as f64))
}

#[derive(Default)]
struct Load {
    /// Data frames on all links.
    frames: f64,
    /// Memory of the delays and send times of datagrams, bytes.
    delays: f64,
    /// Datagrams offered at a rate.
    datagrams: f64,
    blocks: f64,
    /// Maximum number of frames in flight that the windows allow.
    windows: f64,
    /// Frames of finite transfers. Without rate and delay, all of them arrive at one instant.
    files: f64,
    /// Maximum number of frames that links deliver in one batch, for UDP flows with a rate.
    together: f64,
    /// Maximum number of frames of UDP flows with a rate that propagate on links.
    propagating: f64,
    /// Maximum number of frames in flight, by windows, links, delays and batches.
    waiting: f64,
    /// Stream chunks in buffers.
    pieces: f64,
    /// Index of the flow with most frames.
    busiest: usize,
}

/// Maximum bytes in flight of a flow.
fn window(flow: &Flow) -> f64 {
    let buffers = flow.tcp.sndbuf.min(flow.tcp.rcvbuf) as f64;
    match flow.traffic {
        Traffic::File { bytes } => buffers.min(bytes as f64),
        Traffic::Datagrams { .. } => flow.tcp.sndbuf as f64,
        _ => buffers,
    }
}

/// Bytes in the buffers of a flow.
fn buffered(flow: &Flow) -> f64 {
    match flow.traffic {
        Traffic::File { bytes } => (flow.tcp.sndbuf as f64).min(bytes as f64),
        Traffic::Datagrams { .. } => 0.0,
        _ => flow.tcp.sndbuf as f64,
    }
}

/// Payload per frame, bytes.
fn payload(flow: &Flow, mtu: u32) -> f64 {
    let largest = f64::from(flow.tcp.mss.unwrap_or(mtu.saturating_sub(40)).clamp(1, 65_495));
    match flow.traffic {
        Traffic::Datagrams { bytes, .. } => f64::from(bytes),
        Traffic::Blocks { bytes, .. } if !flow.tcp.nagle => largest.min(bytes as f64),
        _ => largest,
    }
}

/// Number of off periods of a UDP flow.
fn pauses(activity: Option<(Duration, Duration)>, duration: Duration) -> f64 {
    activity.map_or(0.0, |(on, off)| duration.as_secs_f64() / (on + off).as_secs_f64().max(1e-9))
}

/// Limit of a queue, number of sub-queues with this limit, and memory of its tables in units of [`FRAME`].
/// If a discipline sets no limit, the limit is the largest default of tc.
fn limit_of(line: &LinkDirection, flows: f64) -> (QueueLimit, f64, f64) {
    let Some(table) = line.discipline_table() else { return (line.queue, 1.0, 0.0) };
    let limit = table.get("limit").and_then(toml::Value::as_str);
    let limit = limit.and_then(|limit| limit.parse::<QueueSize>().ok());
    let limit = limit.map_or(QueueLimit::Packets(10_240), QueueLimit::from);
    let rows = match table.get("kind").and_then(toml::Value::as_str) {
        Some("drr" | "round_robin" | "prio") => 1.0 + flows * SUBFLOWS,
        _ => 1.0,
    };
    let own = table.get("flows").and_then(toml::Value::as_integer).unwrap_or(0);
    (limit, rows, own as f64 * QUEUE_ROW / FRAME)
}

/// Maximum number of frames that a link direction holds: queued and in flight.
fn holds(line: &LinkDirection, payload: f64, flows: f64) -> f64 {
    let frame = payload + HEADERS;
    let carries = |span: Duration| {
        line.rate.and_then(Rate::new).map_or(f64::INFINITY, |rate| rate.bytes_in(span) as f64 / frame)
    };
    let (limit, rows, own) = limit_of(line, flows);
    let queue = match limit {
        QueueLimit::Packets(packets) => packets as f64,
        QueueLimit::Bytes(bytes) => bytes as f64 / frame,
        QueueLimit::Time(time) => carries(time),
        QueueLimit::Unlimited => f64::INFINITY,
    };
    let flying = if line.delay.is_zero() { 0.0 } else { carries(line.delay) };
    own + rows * queue + flying + impaired::together(line, frame, f64::INFINITY)
}
