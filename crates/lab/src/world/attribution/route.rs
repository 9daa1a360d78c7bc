//! The directions that the data of a path takes through the network, and what is known of them at an instant.
//!
//! Owns a list of directions. Changes nothing in the network.

use mptcp_clock::{Duration, Instant};
use netsim::{AddressId, DirectionId, Network, NodeId};

use crate::scenario::names::Side;
use crate::scenario::{Line, Scenario, Way};

/// Hops after which a route is taken to be a loop.
const MOST_HOPS: usize = 64;

/// From the sender of a flow to its receiver, and back.
#[derive(Clone, Debug)]
pub(in crate::world) struct Route {
    pub(super) forth: Vec<DirectionId>,
    pub(super) back: Vec<DirectionId>,
    /// By hop of `forth`: the highest rate that the hop has in this run, bit/s; `None` where no event changes it.
    best: Vec<Option<u64>>,
    /// The rate of its slowest hop at its best, bit/s; `None` where no hop has one.
    pub(super) rate: Option<u64>,
    /// That hop, as a place in `forth`.
    pub(super) bottleneck: usize,
    /// One of its links is wireless: nothing says what that carries.
    pub(super) is_wireless: bool,
}

/// What a route is at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// Its rate over its best rate in this run, from 0 to 1.
    pub(super) share: f64,
    /// All its links are up.
    pub(super) up: bool,
    /// Propagation to the receiver and back.
    pub(super) delay: Duration,
}

impl Route {
    /// From the node where `first` begins, or from `node`, to an address. `None` where frames would not arrive.
    pub(in crate::world) fn trace(
        network: &mut Network<u32>,
        node: NodeId,
        first: Option<DirectionId>,
        to: (NodeId, AddressId),
    ) -> Option<Vec<DirectionId>> {
        let mut hops = Vec::new();
        let mut here = node;
        while here != to.0 {
            let hop = first.filter(|_| hops.is_empty()).or_else(|| network.route(here, to.1))?;
            here = network.head(hop);
            hops.push(hop);
            if hops.len() > MOST_HOPS {
                return None;
            }
        }
        (!hops.is_empty()).then_some(hops)
    }

    pub(in crate::world) fn new(
        scenario: &Scenario,
        forth: Vec<DirectionId>,
        back: Vec<DirectionId>,
    ) -> Self {
        let best: Vec<Option<u64>> = forth.iter().map(|hop| best_rate(scenario, *hop)).collect();
        let rate =
            |(at, hop): (usize, &DirectionId)| Some((best[at].or_else(|| first_rate(scenario, *hop))?, at));
        let slowest = forth.iter().enumerate().filter_map(rate).min();
        let bottleneck = slowest.map_or(0, |(_, at)| at);
        let link = |hop: &DirectionId| &scenario.links[hop.link().index()];
        let is_wireless = forth.iter().any(|hop| link(hop).station.is_some());
        let is_recorded = forth.iter().any(|hop| line_of(scenario, *hop).recording.is_some());
        let rate = slowest.map(|(rate, _)| rate).filter(|_| !is_wireless && !is_recorded);
        Self { forth, back, best, rate, bottleneck, is_wireless }
    }

    /// What it is now.
    pub(super) fn state(&self, network: &Network<u32>) -> State {
        let mut state = State { share: 1.0, up: true, delay: Duration::ZERO };
        for (hop, best) in self.forth.iter().zip(&self.best) {
            let parameters = network.parameters(*hop);
            state.up &= parameters.up;
            state.delay += parameters.delay;
            if let (Some(_), Some(rate), Some(most)) = (best, parameters.rate, self.rate) {
                state.share = state.share.min(rate.bits_per_second() as f64 / most as f64);
            }
        }
        for hop in &self.back {
            let parameters = network.parameters(*hop);
            state.up &= parameters.up;
            state.delay += parameters.delay;
        }
        state
    }

    /// How long each hop had been busy by now.
    pub(super) fn busy(&self, network: &mut Network<u32>) -> Vec<Duration> {
        self.forth.iter().map(|hop| network.line_use(*hop).busy).collect()
    }
}

fn line_of(scenario: &Scenario, direction: DirectionId) -> &Line {
    let link = &scenario.links[direction.link().index()];
    if direction == direction.link().forward() { &link.forward } else { &link.backward }
}

/// The rate that a direction has where no event changes it, bit/s; `None` where a recording changes it.
fn first_rate(scenario: &Scenario, direction: DirectionId) -> Option<u64> {
    let line = line_of(scenario, direction);
    line.rate.filter(|_| line.recording.is_none())
}

/// The highest rate that events give a direction, or that it begins with; `None` where none changes it, or it has none.
fn best_rate(scenario: &Scenario, direction: DirectionId) -> Option<u64> {
    let link = &scenario.links[direction.link().index()];
    let forward = direction == direction.link().forward();
    let other = if forward { Side::Backward } else { Side::Forward };
    let changes =
        scenario.events.iter().filter(|event| event.link == link.name && event.way != Way::One(other));
    let rates: Vec<Option<u64>> = changes.filter_map(|event| event.set.rate).collect();
    if rates.is_empty() {
        return None;
    }
    rates
        .into_iter()
        .chain([line_of(scenario, direction).rate])
        .collect::<Option<Vec<u64>>>()?
        .into_iter()
        .max()
}

/// Instants at which something about a link changes by the scenario.
pub(in crate::world) fn turning_points(scenario: &Scenario) -> impl Iterator<Item = Instant> + '_ {
    scenario.events.iter().map(|event| Instant::ZERO + event.at)
}
