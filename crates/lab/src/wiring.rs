//! The network of a scenario without its hosts: cells, links, and changes by recordings and events.
//!
//! The simulator (`world`) and the emulator on real packets both build their network here, so that a scenario
//! means the same in both. Owns the mapping from cells and links of the scenario to those of the network. The
//! caller owns hosts, addresses and payload.

use mptcp_clock::{Duration, Instant, Rng};
use netsim::{
    CellId, Change, DirectionId, Jitter, LinkId, Loss, Network, NodeId, Rate, Spread, Spreading,
    TopologyError,
};

use crate::scenario::names::{DownMode, Routing, Side};
use crate::scenario::{Event, Link, LinkDirection, Scenario, Way, way_out};

/// Length of the Ethernet header, which is part of a frame, bytes.
pub const ETHERNET: usize = 14;

/// The cells and links of a scenario in a network.
#[derive(Clone, Debug, Default)]
pub struct Wiring {
    cells: Vec<CellId>,
    links: Vec<LinkId>,
}

impl Wiring {
    /// Adds the cells of `scenario`, then its links. `node` maps names to nodes; links with an unknown end are
    /// skipped. Random starts of recordings come from streams of `root`.
    ///
    /// # Errors
    /// If the topology is invalid. A resolved scenario never causes this.
    pub fn lay<P>(
        network: &mut Network<P>,
        scenario: &Scenario,
        root: &Rng,
        node: impl Fn(&str) -> Option<NodeId>,
    ) -> Result<Self, TopologyError> {
        let mut wiring = Self::default();
        wiring.add_cells(network, scenario, &node)?;
        wiring.add_links(network, scenario, root, &node)?;
        Ok(wiring)
    }

    /// Links, in the order of the scenario.
    #[must_use]
    pub fn links(&self) -> &[LinkId] {
        &self.links
    }

    /// The selected directions of a link; empty for an unknown link.
    #[must_use]
    pub fn directions(&self, scenario: &Scenario, link: &str, way: Way) -> Vec<DirectionId> {
        let at = scenario.links.iter().position(|known| known.name == link);
        let Some(id) = at.and_then(|at| self.links.get(at)) else { return Vec::new() };
        match way {
            Way::Both => vec![id.forward(), id.backward()],
            Way::One(Side::Forward) => vec![id.forward()],
            Way::One(Side::Backward) => vec![id.backward()],
        }
    }

    /// Schedules the changes by recordings, then those by events.
    pub fn schedule<P>(&self, network: &mut Network<P>, scenario: &Scenario, root: &Rng) {
        self.add_recordings(network, scenario, root);
        for event in &scenario.events {
            self.schedule_event(network, scenario, event);
        }
    }

    /// Schedules the changes of one event.
    pub fn schedule_event<P>(&self, network: &mut Network<P>, scenario: &Scenario, event: &Event) {
        for direction in self.directions(scenario, &event.link, way_of(scenario, event)) {
            for change in changes(scenario, event, direction) {
                network.schedule_change(at(event.at), direction, change);
            }
        }
    }

    fn add_cells<P>(
        &mut self,
        network: &mut Network<P>,
        scenario: &Scenario,
        node: &impl Fn(&str) -> Option<NodeId>,
    ) -> Result<(), TopologyError> {
        network.set_interference(scenario.interference.parameters());
        for cell in &scenario.cells {
            let Some(node) = node(&cell.access_point) else { continue };
            self.cells.push(network.add_cell(&cell.name, node, cell.parameters())?);
        }
        for coupling in &scenario.coupling {
            if let [Some(a), Some(b)] = [0, 1].map(|at| self.cell(scenario, &coupling.cells[at])) {
                network.couple(a, b, coupling.parameters())?;
            }
        }
        for background in &scenario.background {
            let Some(at) = scenario.cells.iter().position(|cell| cell.name == background.cell) else {
                continue;
            };
            let best = scenario.cells[at].parameters().rates().into_iter().max().unwrap_or_default();
            network.add_background(&background.name, self.cells[at], background.parameters(best))?;
        }
        Ok(())
    }

    fn add_links<P>(
        &mut self,
        network: &mut Network<P>,
        scenario: &Scenario,
        root: &Rng,
        node: &impl Fn(&str) -> Option<NodeId>,
    ) -> Result<(), TopologyError> {
        for link in &scenario.links {
            let ends = [0, 1].map(|end| node(&link.ends[end]));
            let [Some(a), Some(b)] = ends else { continue };
            let cell = link.station.as_ref().and_then(|station| self.cell(scenario, &station.cell));
            let id = match (cell, link.station_parameters()) {
                (Some(cell), Some(parameters)) => network.add_station(&link.name, a, cell, parameters)?,
                _ => {
                    let [forward, backward] = played(scenario, link, root).map(|line| line.parameters());
                    network.add_link(&link.name, a, b, forward, backward)?
                }
            };
            self.links.push(id);
        }
        Ok(())
    }

    fn cell(&self, scenario: &Scenario, name: &str) -> Option<CellId> {
        let at = scenario.cells.iter().position(|cell| cell.name == name)?;
        self.cells.get(at).copied()
    }

    /// Schedules the changes by recordings, without the first step, which is part of the initial parameters.
    fn add_recordings<P>(&self, network: &mut Network<P>, scenario: &Scenario, root: &Rng) {
        for (link, id) in scenario.links.iter().zip(&self.links) {
            let lines = played(scenario, link, root);
            for (line, direction) in lines.iter().zip([id.forward(), id.backward()]) {
                for (when, change) in line.recorded_changes() {
                    if when <= scenario.duration {
                        network.schedule_change(at(when), direction, change);
                    }
                }
            }
        }
    }
}

/// Sets the path selection of nodes. Each node derives its hash salt or random stream from its name under
/// `root`, so an additional node changes no path.
///
/// # Errors
/// If a node belongs to another network.
pub fn spread<'a, P>(
    network: &mut Network<P>,
    scenario: &Scenario,
    root: &Rng,
    nodes: impl Iterator<Item = (&'a str, NodeId)>,
) -> Result<(), TopologyError> {
    for (name, node) in nodes {
        let mut stream = root.child("routing").child(name);
        let spreading = match scenario.routing {
            Routing::First => continue,
            Routing::Ecmp => Spreading::ByFlow { salt: stream.next_u64() },
            Routing::Spray => Spreading::ByFrame(stream),
        };
        network.set_spreading(node, spreading)?;
    }
    Ok(())
}

impl Scenario {
    /// Whether nodes select paths by the labels of frames, which identify flow and subflow.
    #[must_use]
    pub fn spreads(&self) -> bool {
        self.routing != Routing::First || !self.routes.is_empty()
    }
}

/// The directions that an event changes. For a lost route, these are the directions in which a host that
/// opens flows sends.
fn way_of(scenario: &Scenario, event: &Event) -> Way {
    let link = scenario.links.iter().find(|link| link.name == event.link);
    match link {
        Some(link) if event.how == DownMode::Route => way_out(link, &scenario.flows).unwrap_or(event.way),
        _ => event.way,
    }
}

/// The changes of a direction by an event.
fn changes(
    scenario: &Scenario,
    event: &Event,
    direction: DirectionId,
) -> impl Iterator<Item = Change> + use<> {
    let set = &event.set;
    let link = scenario.links.iter().find(|link| link.name == event.link);
    let is_forward = direction == direction.link().forward();
    let reorder =
        link.is_some_and(|link| if is_forward { link.forward.reorder } else { link.backward.reorder });
    let jitter =
        |spread: Duration| (!spread.is_zero()).then_some(Jitter { spread, shape: Spread::Uniform, reorder });
    let changes = [
        set.up.and_then(|up| match event.how {
            DownMode::Admin | DownMode::Blackhole => Some(Change::Up(up)),
            DownMode::Route => Some(Change::Open(up)),
            DownMode::Endpoint => None,
        }),
        set.rate.map(|rate| Change::Rate(rate.and_then(Rate::new))),
        set.delay.map(Change::Delay),
        set.loss.map(|loss| Change::Loss(if loss > 0.0 { Loss::Bernoulli(loss) } else { Loss::None })),
        set.queue.map(Change::Queue),
        set.path_mtu.map(|mtu| Change::Longest(Some(mtu + ETHERNET as u32))),
        set.distance.map(Change::Distance),
        set.jitter.map(|spread| Change::Jitter(jitter(spread))),
    ];
    changes.into_iter().flatten()
}

/// The directions of a link, with their recordings from the start position of this run. A random position is
/// the same fraction of both recordings.
fn played(scenario: &Scenario, link: &Link, root: &Rng) -> [LinkDirection; 2] {
    let draw = root.child("recording").child(&link.name).unit();
    [&link.forward, &link.backward].map(|line| line.played(draw, scenario.duration))
}

fn at(since_start: Duration) -> Instant {
    Instant::ZERO + since_start
}
