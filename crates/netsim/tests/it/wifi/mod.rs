//! A test bench for cells with saturated stations.

use mptcp_clock::{Duration, Instant};
use netsim::{
    AddressId, CellId, CellParameters, DirectionId, Event, Frame, LinkId, MacCounters, Network, NodeId,
    StationParameters, StationRate,
};

pub fn seconds(n: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(n)
}

/// A network of cells with saturated directions.
pub struct Bench {
    pub network: Network<u32>,
    cells: Vec<(CellId, NodeId, AddressId)>,
    pub flows: Vec<Flow>,
}

/// A saturated direction, and its delivered frames.
pub struct Flow {
    pub link: LinkId,
    pub direction: DirectionId,
    to: AddressId,
    pub bytes: u32,
    pub arrived: u64,
    pub active: bool,
}

impl Bench {
    pub fn new(seed: u64) -> Self {
        Self { network: Network::new(seed), cells: Vec::new(), flows: Vec::new() }
    }

    pub fn cell(&mut self, parameters: CellParameters) -> CellId {
        let access_point = self.network.add_host();
        let name = format!("cell {}", self.cells.len());
        let cell = self.network.add_cell(&name, access_point, parameters).expect("a good cell");
        let address = self.network.add_address(access_point, None).expect("known");
        self.cells.push((cell, access_point, address));
        cell
    }

    pub fn cell_id(&self, cell: usize) -> CellId {
        self.cells[cell].0
    }

    /// Adds a station to a cell that sends frames of `bytes` (IP + 14) as fast as the medium allows.
    pub fn station(&mut self, cell: CellId, parameters: StationParameters, bytes: u32) -> usize {
        let node = self.network.add_host();
        let name = format!("station {}", self.flows.len());
        let link = self.network.add_station(&name, node, cell, parameters).expect("a fresh name");
        let (direction, to) = (link.forward(), self.cells[cell.index()].2);
        self.flows.push(Flow { link, direction, to, bytes, arrived: 0, active: true });
        self.flows.len() - 1
    }

    /// As `station`, with frames from the access point.
    pub fn listener(&mut self, cell: CellId, parameters: StationParameters, bytes: u32) -> usize {
        let flow = self.station(cell, parameters, bytes);
        let link = self.flows[flow].link;
        let node = self.network.head(link.backward());
        self.flows[flow].to = self.network.add_address(node, None).expect("known");
        self.flows[flow].direction = link.backward();
        flow
    }

    /// Puts `frames` frames into the queue of each active flow.
    pub fn fill(&mut self, frames: u32) {
        for flow in 0..self.flows.len() {
            for _ in 0..if self.flows[flow].active { frames } else { 0 } {
                self.send(flow);
            }
        }
    }

    pub fn send(&mut self, flow: usize) {
        let now = self.network.now();
        let Flow { direction, to, bytes, .. } = self.flows[flow];
        self.network.send(
            now,
            direction,
            Frame { bytes, destination: to, label: 0, ecn: netsim::Codepoint::NotEct, payload: flow as u32 },
        );
    }

    /// Advances time; every frame that leaves a queue is replaced.
    pub fn run_until(&mut self, end: Instant) {
        for flow in 0..self.flows.len() {
            self.network.watch_departures(self.flows[flow].direction, true);
        }
        while let Some((_, event)) = self.network.next_until(end) {
            match event {
                Event::Arrived { frame, .. } => self.flows[frame.payload as usize].arrived += 1,
                Event::Departed { direction, .. } => {
                    let flow = self.flows.iter().position(|flow| flow.direction == direction);
                    if let Some(flow) = flow.filter(|&flow| self.flows[flow].active) {
                        self.send(flow);
                    }
                }
                Event::Timer(_) | Event::Tapped { .. } | Event::Impaired { .. } => {}
            }
        }
    }

    /// Frames delivered since the last call, by flow.
    pub fn take_arrived(&mut self) -> Vec<u64> {
        self.flows.iter_mut().map(|flow| std::mem::take(&mut flow.arrived)).collect()
    }

    pub fn destination(&self, flow: usize) -> AddressId {
        self.flows[flow].to
    }

    pub fn mac(&self, flow: usize) -> MacCounters {
        self.network.mac(self.flows[flow].direction).expect("wireless")
    }
}

pub fn fixed(bits_per_second: u64) -> StationParameters {
    StationParameters { rate: StationRate::Fixed(bits_per_second), ..Default::default() }
}

/// Results of `n` saturated stations in one cell.
pub struct Saturation {
    pub frames: Vec<u64>,
    pub frames_per_second: f64,
    pub collision_probability: f64,
    pub retry_drops: u64,
}

pub fn saturate(seed: u64, cell: &CellParameters, n: usize, rate: u64, bytes: u32, secs: u64) -> Saturation {
    let mut bench = Bench::new(seed);
    let id = bench.cell(cell.clone());
    for _ in 0..n {
        bench.station(id, fixed(rate), bytes);
    }
    bench.fill(2);
    bench.run_until(seconds(1));
    bench.take_arrived();
    let before: Vec<_> = (0..n).map(|flow| bench.mac(flow)).collect();
    bench.run_until(seconds(1 + secs));
    let frames = bench.take_arrived();
    let total = |count: fn(&MacCounters) -> u64| {
        (0..n).map(|flow| count(&bench.mac(flow)) - count(&before[flow])).sum::<u64>()
    };
    Saturation {
        frames_per_second: frames.iter().sum::<u64>() as f64 / secs as f64,
        frames,
        collision_probability: total(|mac| mac.collisions) as f64 / total(|mac| mac.transmissions) as f64,
        retry_drops: total(|mac| mac.retry_drops),
    }
}

/// Jain's index of fairness.
pub fn jain(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|&share| share as f64).sum();
    let squares: f64 = shares.iter().map(|&share| (share as f64).powi(2)).sum();
    sum * sum / (squares * shares.len() as f64)
}
