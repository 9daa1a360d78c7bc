//! Construction of a world, the running simulation, from a scenario: nodes, links, addresses, endpoints,
//! flows, events.
//!
//! Owns the order in which these parts are built, because later parts refer to earlier ones. Links see only
//! the length and the label of a frame; the label is a number that identifies flow, interface and subflow.

mod lookup;
mod queues;
mod routes;

use std::collections::BTreeSet;
use std::net::SocketAddr;

use mptcp::{Config, Endpoint, EndpointBounds, InterfaceId};
use mptcp_clock::{Duration, Instant, Rng};
use netsim::{Labels, Loss, Network, TopologyError};

use super::apps::App;
use super::host::{self, Host};
use super::middleboxes::Middleboxes;
use super::narrow::Narrow;
use super::pool::Pool;
use super::ports::FIRST_PORT;
use super::sampler::Sampler;
use super::{Alarm, ScheduledAction, World};
use crate::classes::class_of;
use crate::flow_config::{accepting_config, flow_config};
use crate::scenario::names::DownMode;
use crate::scenario::{Event, Link, Scenario};
use crate::wiring::Wiring;

impl World {
    /// Builds the world of `scenario`; all random streams derive from `seed`.
    ///
    /// # Errors
    /// If the topology is invalid. A resolved scenario never causes this.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Self, TopologyError> {
        let scenario = &scenario.drawn(seed);
        let mut builder = Builder::new(scenario, seed);
        builder.add_nodes();
        builder.add_links()?;
        builder.add_addresses()?;
        builder.add_routing()?;
        builder.add_flows();
        builder.add_filters()?;
        builder.add_middleboxes()?;
        builder.add_events();
        builder.watch_queues();
        builder.slow_hosts();
        Ok(builder.finish())
    }
}

struct Builder<'a> {
    scenario: &'a Scenario,
    seed: u64,
    root: Rng,
    network: Network<u32>,
    nodes: Vec<(String, netsim::NodeId)>,
    hosts: Vec<Host>,
    wiring: Wiring,
    middleboxes: Middleboxes,
    middleboxes_timer: Option<netsim::TimerId>,
    own_queues: Vec<Option<usize>>,
    addresses: Vec<Vec<netsim::AddressId>>,
    apps: Vec<App>,
    alarms: Vec<Alarm>,
    scheduled: BTreeSet<(Instant, ScheduledAction)>,
}

impl<'a> Builder<'a> {
    fn new(scenario: &'a Scenario, seed: u64) -> Self {
        Self {
            scenario,
            seed,
            root: Rng::new(seed, "lab"),
            network: Network::new(seed),
            nodes: Vec::new(),
            hosts: Vec::new(),
            wiring: Wiring::default(),
            middleboxes: Middleboxes::default(),
            middleboxes_timer: None,
            own_queues: Vec::new(),
            addresses: Vec::new(),
            apps: Vec::new(),
            alarms: Vec::new(),
            scheduled: BTreeSet::new(),
        }
    }

    fn alarm(&mut self, alarm: Alarm, at: Option<Instant>) -> netsim::TimerId {
        let timer = self.network.add_timer();
        self.alarms.push(alarm);
        self.network.set_timer(timer, at);
        timer
    }

    fn add_nodes(&mut self) {
        let lone = self.scenario.cells.iter().map(|cell| &cell.access_point);
        for name in self.scenario.links.iter().flat_map(|link| &link.ends).chain(lone) {
            if self.nodes.iter().any(|(known, _)| known == name) {
                continue;
            }
            let is_host = self.scenario.flows.iter().any(|flow| flow.from == *name || flow.to == *name);
            let passes = !is_host || self.scenario.relays.contains(name);
            let node = if passes { self.network.add_router() } else { self.network.add_host() };
            self.nodes.push((name.clone(), node));
            if is_host {
                let timer = self.alarm(Alarm::Endpoint(self.hosts.len()), None);
                let mut endpoint = Endpoint::new(self.root.child(&format!("host {name}")));
                // Hosts have the buffers of the scenario, without a further limit.
                endpoint.set_bounds(EndpointBounds { receive_memory: u64::MAX, ..endpoint.bounds() });
                self.hosts.push(Host::new(name, node, endpoint, timer));
            }
        }
    }

    fn add_links(&mut self) -> Result<(), TopologyError> {
        let nodes = &self.nodes;
        let node = |name: &str| nodes.iter().find(|(known, _)| known == name).map(|(_, id)| *id);
        self.wiring = Wiring::lay(&mut self.network, self.scenario, &self.root, node)?;
        Ok(())
    }

    /// A host that opens connections has one address per link. A host that only accepts has one address, which
    /// all links reach.
    fn add_addresses(&mut self) -> Result<(), TopologyError> {
        for at in 0..self.hosts.len() {
            let name = self.hosts[at].name.clone();
            let opens = self.scenario.flows.iter().any(|flow| flow.from == name);
            let mut addresses = Vec::new();
            if opens {
                for (index, link) in self.scenario.links.iter().enumerate() {
                    let Some(end) = link.ends.iter().position(|end| *end == name) else { continue };
                    let id = self.wiring.links()[index];
                    let outward = if end == 0 { id.forward() } else { id.backward() };
                    addresses.push(self.network.add_address(self.hosts[at].node, Some(id))?);
                    let host = &mut self.hosts[at];
                    host.endpoint.add_interface(host::address(at, host.interfaces.len()), false);
                    host.interfaces.push(Some((id, outward)));
                    host.interface_names.push(link.name.clone());
                }
            } else {
                addresses.push(self.network.add_address(self.hosts[at].node, None)?);
                let host = &mut self.hosts[at];
                host.endpoint.add_interface(host::address(at, 0), false);
                host.interfaces.push(None);
                host.interface_names.push("any".to_owned());
            }
            self.addresses.push(addresses);
        }
        Ok(())
    }

    fn add_flows(&mut self) {
        for (index, flow) in self.scenario.flows.iter().enumerate() {
            let (from, to) = (self.host(&flow.from), self.host(&flow.to));
            let config = Config {
                // All payload is slices of one static pattern, so a slice keeps no additional memory.
                receive_block: 0,
                ..flow_config(self.scenario, flow, |path| self.interface_named(from, path))
            };
            let port = FIRST_PORT.wrapping_add(index as u16);
            // Each flow has its own port, so the listener needs only this flow's configuration.
            let accepting = accepting_config(flow, &config);
            let _ = self.hosts[to].endpoint.listen(port, accepting);
            let first = flow.paths.first().and_then(|path| self.interface_named(from, path));
            let remote = SocketAddr::new(host::address(to, 0), port);
            let (interface, warm) = (first.unwrap_or_default(), Instant::ZERO + self.scenario.warmup);
            let mut app = App::new(index, flow, (from, to), interface, remote, config, warm);
            if let (Some(datagrams), Some(means)) = (&mut app.datagrams, flow.activity()) {
                datagrams.pause(means, self.root.child(&format!("datagrams {}", flow.name)));
            }
            self.scheduled.insert((at(flow.start), ScheduledAction::Start(index)));
            if let Some(stop) = flow.stop {
                self.scheduled.insert((at(stop), ScheduledAction::Stop(index)));
            }
            self.apps.push(app);
        }
    }

    fn add_filters(&mut self) -> Result<(), TopologyError> {
        for filter in &self.scenario.filters {
            let labels = self.labels(filter);
            for direction in self.wiring.directions(self.scenario, &filter.link, filter.way) {
                let loss = if filter.loss > 0.0 { Loss::Bernoulli(filter.loss) } else { Loss::None };
                self.network.add_filter(direction, labels.clone(), filter.delay, loss)?;
            }
        }
        Ok(())
    }

    fn add_middleboxes(&mut self) -> Result<(), TopologyError> {
        for spec in &self.scenario.middleboxes {
            let named = self.scenario.links.iter().position(|link| link.name == spec.link);
            let Some(&link) = named.and_then(|at| self.wiring.links().get(at)) else { continue };
            self.network.tap(link)?;
            let stream = self.root.child(&format!("middlebox {}", spec.name));
            self.middleboxes.add(spec, link, stream);
        }
        if !self.scenario.middleboxes.is_empty() {
            self.middleboxes_timer = Some(self.alarm(Alarm::Middleboxes, None));
        }
        for (number, switch) in self.scenario.switches.iter().enumerate() {
            self.scheduled.insert((at(switch.at), ScheduledAction::Switch(number)));
        }
        for (number, change) in self.scenario.policy_changes.iter().enumerate() {
            self.scheduled.insert((at(change.at), ScheduledAction::Policy(number)));
        }
        Ok(())
    }

    fn labels(&self, filter: &crate::scenario::Filter) -> Labels {
        if filter.flows.is_none() && filter.paths.is_none() {
            return Labels::All;
        }
        let mut classes = Vec::new();
        for app in &self.apps {
            if filter.flows.as_ref().is_some_and(|flows| !flows.contains(&app.name)) {
                continue;
            }
            for (interface, name) in self.hosts[app.from].interface_names.iter().enumerate() {
                if filter.paths.as_ref().is_none_or(|paths| paths.contains(name)) {
                    classes.push(class_of(app.flow, interface));
                }
            }
        }
        Labels::Only(classes)
    }

    /// Schedules changes of links, and notifications of hosts.
    fn add_events(&mut self) {
        self.wiring.schedule(&mut self.network, self.scenario, &self.root);
        for event in &self.scenario.events {
            let notices = notices_of(&self.hosts, event).map(|notice| (at(event.at), notice));
            self.scheduled.extend(notices);
        }
    }

    /// Sets the processing time of received frames in hosts.
    fn slow_hosts(&mut self) {
        let most = self.scenario.jitter.processing;
        if most.is_zero() {
            return;
        }
        for link in self.wiring.links() {
            for direction in [link.forward(), link.backward()] {
                let head = self.network.head(direction);
                if self.hosts.iter().any(|host| host.node == head) {
                    self.network.set_processing(direction, most);
                }
            }
        }
    }

    fn finish(mut self) -> World {
        self.network.keep_lost(true);
        let (warmup, sample) = (self.scenario.warmup, self.scenario.sample);
        if warmup.as_nanos() % sample.as_nanos().max(1) != 0 {
            self.scheduled.insert((at(warmup), ScheduledAction::EndWarmUp));
        }
        let first_sample = at(self.scenario.sample);
        self.alarm(Alarm::Sample, Some(first_sample));
        let first_scheduled = self.scheduled.first().map(|(at, _)| *at);
        let scheduled_timer = self.alarm(Alarm::Scheduled, first_scheduled);
        let mut host_of_node = Vec::new();
        for (at, host) in self.hosts.iter().enumerate() {
            let node = host.node.index();
            if host_of_node.len() <= node {
                host_of_node.resize(node + 1, None);
            }
            host_of_node[node] = Some(at);
        }
        let budget = super::end::budget(self.scenario);
        self.network.set_budget(budget);
        World {
            budget,
            seed: self.seed,
            sampler: Sampler::new(self.scenario, self.wiring.links()),
            wiring: self.wiring,
            failure: None,
            scenario: self.scenario.clone(),
            spreads: self.scenario.spreads(),
            impairs: self.scenario.links.iter().any(Link::impairs),
            has_labels: self.scenario.spreads()
                || !self.scenario.filters.is_empty()
                || !self.own_queues.is_empty()
                || self.scenario.links.iter().any(Link::has_discipline),
            own_queues: self.own_queues,
            end: at(self.scenario.duration),
            network: self.network,
            pool: Pool::default(),
            hosts: self.hosts,
            host_of_node,
            addresses: self.addresses,
            apps: self.apps,
            narrow: Narrow::of(self.scenario),
            middleboxes: self.middleboxes,
            middleboxes_timer: self.middleboxes_timer,
            alarms: self.alarms,
            scheduled: self.scheduled,
            scheduled_timer,
            captures: None,
            segments: None,
            recorder: None,
            attribution: None,
            data_packets: 0,
            polled: Vec::new(),
        }
    }
}

/// The notifications of hosts by an event.
pub(super) fn notices_of(hosts: &[Host], event: &Event) -> impl Iterator<Item = ScheduledAction> {
    let is_told = matches!(event.how, DownMode::Admin | DownMode::Endpoint);
    event.set.up.filter(|_| is_told).into_iter().flat_map(move |up| {
        hosts.iter().enumerate().filter_map(move |(host, known)| {
            let interface = known.interface_names.iter().position(|name| *name == event.link)?;
            Some(ScheduledAction::Interface(host, InterfaceId(interface as u32), up))
        })
    })
}

fn at(since_start: Duration) -> Instant {
    Instant::ZERO + since_start
}
