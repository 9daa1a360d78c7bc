//! The route of a path: the link directions that its data (`forth`) and its acknowledgements (`back`) take,
//! and their current state.
//!
//! Attribution divides the capacity of a path among the causes that used it or left it unused. To find the
//! causes, it needs the busy time, rate and delay of these links. Owns a list of directions; each is a hop.
//! Never changes the network.

use std::ops::Range;

use mptcp_clock::{Duration, Instant};
use netsim::{AddressId, DirectionId, Network, NodeId, Parameters, RateLimit};

use super::cut::Links;
use super::notes::Hop;
use crate::scenario::names::Side;
use crate::scenario::{LinkDirection, Scenario, Way};

/// Maximum number of hops; more are a loop.
const MAX_HOPS: usize = 64;

/// The route from the sender of a flow to its receiver, and back.
#[derive(Clone, Debug)]
pub(in crate::world) struct Route {
    pub(super) forth: Vec<DirectionId>,
    pub(super) back: Vec<DirectionId>,
    /// By hop of `forth`: its highest rate in this run, bit/s; `None` if no event changes it.
    best: Vec<Option<u64>>,
    /// Highest rate of the bottleneck hop, bit/s; `None` without a rate.
    pub(super) rate: Option<u64>,
    /// Highest rate of each hop, bit/s; empty if unknown.
    pub(in crate::world) best_links: Links,
    /// Whether a link is wireless, so that its capacity is unknown.
    pub(super) is_wireless: bool,
    /// The hop of `forth` with reordering.
    pub(super) reordering: Option<DirectionId>,
    /// By hop of `forth`: its shaper or policer.
    buckets: Vec<Option<RateLimit>>,
    /// By hop of `forth`: the classification of its drops.
    pub(super) kinds: Vec<Hop>,
    /// Whether only queues delay frames on the reverse path: no wireless MAC, no middlebox, no batching.
    has_plain_back: bool,
    /// Whether only queues delay frames on the forward path.
    has_plain_forth: bool,
    /// The interface of the opening host.
    pub(super) interface: u16,
}

/// The state of a route at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// Current rate as a fraction of the highest rate, 0 to 1.
    pub(super) share: f64,
    /// The index in `forth` of the hop that lowers the current rate; `None` at the highest rate.
    pub(super) slowed: Option<usize>,
    /// Whether all links are up.
    pub(super) up: bool,
    /// Maximum propagation RTT. Without reordering, a frame waits for the slowest of the frames before it;
    /// with many frames in flight, its RTT is this maximum.
    pub(super) delay: Duration,
    /// Mean propagation RTT.
    pub(super) mean_delay: Duration,
    /// Whether frames can be reordered.
    pub(super) reorders: bool,
    /// Whether delays vary between frames.
    pub(super) jitters: bool,
}

impl Route {
    /// The route from `node`, starting with `first`, to an address. `None` if frames would not arrive.
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
            if hops.len() > MAX_HOPS {
                return None;
            }
        }
        (!hops.is_empty()).then_some(hops)
    }

    pub(in crate::world) fn new(
        scenario: &Scenario,
        forth: Vec<DirectionId>,
        back: Vec<DirectionId>,
        life: &Range<Duration>,
        interface: u16,
    ) -> Self {
        let best: Vec<Option<u64>> = forth.iter().map(|hop| best_rate(scenario, *hop, life)).collect();
        let buckets: Vec<Option<RateLimit>> = forth.iter().map(|hop| bucket_of(scenario, *hop)).collect();
        let rate = |((hop, best), bucket): ((&DirectionId, &Option<u64>), &Option<RateLimit>)| {
            bounded(best.or_else(|| first_rate(scenario, *hop)), *bucket)
        };
        let rates: Vec<Option<u64>> = forth.iter().zip(&best).zip(&buckets).map(rate).collect();
        let slowest = rates.iter().filter_map(|rate| *rate).min();
        let link = |hop: &DirectionId| &scenario.links[hop.link().index()];
        let is_wireless = forth.iter().any(|hop| link(hop).station.is_some());
        let is_recorded = forth.iter().any(|hop| line_of(scenario, *hop).recording.is_some());
        let is_known = !is_wireless && !is_recorded;
        let rate = slowest.filter(|_| is_known);
        let of_hop = |(hop, rate): (&DirectionId, &Option<u64>)| Some((*hop, (*rate)? as f64));
        let best_links =
            if is_known { forth.iter().zip(&rates).filter_map(of_hop).collect() } else { Links::new() };
        let is_plain = |hop: &DirectionId| {
            let (link, line) = (link(hop), line_of(scenario, *hop));
            let is_meddled = scenario.middleboxes.iter().any(|one| one.link == link.name);
            link.station.is_none() && line.batch.is_none() && line.recording.is_none() && !is_meddled
        };
        let kind = |hop: &DirectionId| {
            let polices = bucket_of(scenario, *hop).is_some_and(|bucket| bucket.drops);
            Hop { polices, tells: line_of(scenario, *hop).icmp }
        };
        let reorders = |hop: &&DirectionId| {
            let line = line_of(scenario, **hop);
            line.reorder && !line.jitter.is_zero()
        };
        let reordering = forth.iter().find(reorders).copied();
        let kinds = forth.iter().map(kind).collect();
        let [has_plain_forth, has_plain_back] = [&forth, &back].map(|hops| hops.iter().all(is_plain));
        Self {
            forth,
            back,
            best,
            rate,
            best_links,
            is_wireless,
            reordering,
            buckets,
            kinds,
            has_plain_back,
            has_plain_forth,
            interface,
        }
    }

    /// Time that a frame of `bytes` takes to the receiver without queueing, with the maximum jitter.
    pub(super) fn forth_unqueued(&self, network: &Network<u32>, bytes: u32) -> Duration {
        unqueued(&self.forth, network, bytes)
    }

    /// Time that an acknowledgement of `bytes` takes on the reverse path without queueing, with the maximum
    /// jitter.
    pub(super) fn back_unqueued(&self, network: &Network<u32>, bytes: u32) -> Duration {
        unqueued(&self.back, network, bytes)
    }

    /// Whether extra delay of data is queueing delay.
    pub(super) fn tells_waits_of_data(&self) -> bool {
        self.has_plain_forth
    }

    /// Whether extra delay of acknowledgements is queueing delay.
    pub(super) fn tells_waits(&self) -> bool {
        self.has_plain_back
    }

    /// The current state.
    pub(super) fn state(&self, network: &Network<u32>) -> State {
        let mut state = State { share: 1.0, up: true, ..State::default() };
        for (at, (hop, best)) in self.forth.iter().zip(&self.best).enumerate() {
            let parameters = network.parameters(*hop);
            state.up &= parameters.up;
            state.delay += held_delay(parameters);
            state.mean_delay += mean_delay(parameters);
            let spread = parameters.jitter.filter(|jitter| !jitter.spread.is_zero());
            state.reorders |= spread.is_some_and(|jitter| jitter.reorder);
            state.jitters |= spread.is_some();
            if let (Some(_), Some(rate), Some(most)) = (best, parameters.rate, self.rate) {
                let rate = bounded(Some(rate.bits_per_second()), self.buckets[at]).unwrap_or(most);
                let share = rate as f64 / most as f64;
                if share < state.share {
                    (state.share, state.slowed) = (share, Some(at));
                }
            }
        }
        for hop in &self.back {
            let parameters = network.parameters(*hop);
            state.up &= parameters.up;
            state.delay += held_delay(parameters);
            state.mean_delay += mean_delay(parameters);
            state.jitters |= parameters.jitter.is_some_and(|jitter| !jitter.spread.is_zero());
        }
        state
    }

    /// Busy time of each hop; for a policer, the time that corresponds to the used tokens.
    pub(super) fn busy(&self, network: &mut Network<u32>) -> Vec<Duration> {
        let busy = |(hop, bucket): (&DirectionId, &Option<RateLimit>)| match bucket {
            Some(bucket) if bucket.drops => {
                let bits = network.counters(*hop).sent_bytes as f64 * 8.0;
                Duration::from_secs(1).mul_f64(bits / bucket.rate.bits_per_second() as f64)
            }
            _ => network.link_use(*hop).busy,
        };
        self.forth.iter().zip(&self.buckets).map(busy).collect()
    }

    /// Mean capacity of the hop at `at`, bit/s. `line` is the mean rate of its link, and `part` the fraction
    /// of the time for which the link was up. A shaper or policer limits this rate. `None` without a rate.
    pub(super) fn carried_at_most(&self, at: usize, line: Option<f64>, part: f64) -> Option<f64> {
        let bucket = self.buckets.get(at).copied().flatten();
        let bucket = bucket.map(|bucket| bucket.rate.bits_per_second() as f64 * part);
        bucket.map_or(line, |bucket| Some(line.map_or(bucket, |line| line.min(bucket))))
    }
}

/// Time that a frame of `bytes` takes over `hops` without queueing, with the maximum jitter.
fn unqueued(hops: &[DirectionId], network: &Network<u32>, bytes: u32) -> Duration {
    let hop = |hop: &DirectionId| {
        let parameters = network.parameters(*hop);
        let jitter = parameters.jitter.map_or(Duration::ZERO, |jitter| jitter.spread);
        let service = parameters.rate.map_or(Duration::ZERO, |rate| rate.serialisation(bytes));
        parameters.delay + jitter + service
    };
    hops.iter().fold(Duration::ZERO, |sum, one| sum + hop(one))
}

/// Mean propagation delay of a frame, with jitter and without queueing.
fn mean_delay(parameters: &Parameters) -> Duration {
    parameters.jitter.map_or(parameters.delay, |jitter| jitter.mean(parameters.delay))
}

/// Propagation delay with many frames in flight, without queueing. Without reordering, each frame waits for
/// the slowest one, so the maximum of the jitter applies.
fn held_delay(parameters: &Parameters) -> Duration {
    let held =
        parameters.jitter.filter(|jitter| !jitter.reorder).map_or(Duration::ZERO, |jitter| jitter.spread);
    parameters.delay + held
}

/// The shaper or policer of a direction.
fn bucket_of(scenario: &Scenario, direction: DirectionId) -> Option<RateLimit> {
    line_of(scenario, direction).discipline.as_ref()?.rate_limit()
}

/// A rate limited by a shaper or policer, bit/s.
fn bounded(rate: Option<u64>, bucket: Option<RateLimit>) -> Option<u64> {
    let bucket = bucket.map(|bucket| bucket.rate.bits_per_second());
    rate.map(|rate| bucket.map_or(rate, |bucket| rate.min(bucket))).or(bucket)
}

fn line_of(scenario: &Scenario, direction: DirectionId) -> &LinkDirection {
    let link = &scenario.links[direction.link().index()];
    if direction == direction.link().forward() { &link.forward } else { &link.backward }
}

/// The initial rate of a direction, bit/s; `None` for a recording.
fn first_rate(scenario: &Scenario, direction: DirectionId) -> Option<u64> {
    let line = line_of(scenario, direction);
    line.rate.filter(|_| line.recording.is_none())
}

/// The highest rate of a direction within `life`; `None` if no event changes it, or without a rate.
fn best_rate(scenario: &Scenario, direction: DirectionId, life: &Range<Duration>) -> Option<u64> {
    let link = &scenario.links[direction.link().index()];
    let forward = direction == direction.link().forward();
    let other = if forward { Side::Backward } else { Side::Forward };
    let changes =
        scenario.events.iter().filter(|event| event.link == link.name && event.way != Way::One(other));
    let changes: Vec<(Duration, Option<u64>)> =
        changes.filter_map(|event| Some((event.at, event.set.rate?))).collect();
    if changes.is_empty() {
        return None;
    }
    let before = changes.iter().rev().find(|(at, _)| *at <= life.start);
    let at_start = before.map_or(line_of(scenario, direction).rate, |(_, rate)| *rate);
    let later = changes.iter().filter(|(at, _)| *at > life.start && *at < life.end).map(|(_, rate)| *rate);
    later.chain([at_start]).collect::<Option<Vec<u64>>>()?.into_iter().max()
}

/// Times at which the scenario changes a link.
pub(in crate::world) fn turning_points(scenario: &Scenario) -> impl Iterator<Item = Instant> + '_ {
    scenario.events.iter().map(|event| Instant::ZERO + event.at)
}
