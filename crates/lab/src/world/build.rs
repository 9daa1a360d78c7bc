//! From a scenario to a world: nodes, links, addresses, endpoints, flows, events.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use mptcp::congestion::CongestionKind;
use mptcp::path_manager::PathManagerKind;
use mptcp::scheduler::SchedulerKind;
use mptcp::{Config, Endpoint, InterfaceId, PenaltyRule};
use mptcp_clock::{Duration, Instant, Stream};
use netsim::CellId;
use netsim::{Change, DirectionId, Jitter, Labels, LinkId, Loss, Network, Rate, Spread, TopologyError};

use super::apps::{App, class_of};
use super::host::{self, Host};
use super::pool::Pool;
use super::sampler::Sampler;
use super::{Alarm, Appointment, FIRST_PORT, World};
use crate::scenario::names::{Congestion, Manner, Penalty, Scheduler, SendQueueRule, Side, Transport};
use crate::scenario::{Flow, Link, PathManagement, Scenario, Traffic, Way};

/// TCP and IPv4 headers without options, bytes: what the MSS leaves out of the MTU.
const HEADERS: u32 = 40;

impl World {
    /// Builds what `scenario` describes; all chance follows from `seed`.
    ///
    /// # Errors
    /// When the topology is impossible; a checked scenario's never is.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Self, TopologyError> {
        let mut builder = Builder::new(scenario, seed);
        builder.add_nodes();
        builder.add_cells()?;
        builder.add_links()?;
        builder.add_addresses()?;
        builder.add_flows();
        builder.add_filters()?;
        builder.add_events();
        builder.watch_queues();
        Ok(builder.finish())
    }
}

struct Builder<'a> {
    scenario: &'a Scenario,
    root: Stream,
    network: Network<u32>,
    nodes: Vec<(String, netsim::NodeId)>,
    hosts: Vec<Host>,
    cells: Vec<CellId>,
    links: Vec<LinkId>,
    own_queues: Vec<Option<usize>>,
    addresses: Vec<Vec<netsim::AddressId>>,
    apps: Vec<App>,
    alarms: Vec<Alarm>,
    appointments: BTreeSet<(Instant, Appointment)>,
}

impl<'a> Builder<'a> {
    fn new(scenario: &'a Scenario, seed: u64) -> Self {
        Self {
            scenario,
            root: Stream::new(seed, "lab"),
            network: Network::new(seed),
            nodes: Vec::new(),
            hosts: Vec::new(),
            cells: Vec::new(),
            links: Vec::new(),
            own_queues: Vec::new(),
            addresses: Vec::new(),
            apps: Vec::new(),
            alarms: Vec::new(),
            appointments: BTreeSet::new(),
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
            let node = if is_host { self.network.add_host() } else { self.network.add_router() };
            self.nodes.push((name.clone(), node));
            if is_host {
                let timer = self.alarm(Alarm::Endpoint(self.hosts.len()), None);
                let endpoint = Endpoint::new(self.root.child(&format!("host {name}")));
                self.hosts.push(Host::new(name, node, endpoint, timer));
            }
        }
    }

    fn add_links(&mut self) -> Result<(), TopologyError> {
        for link in &self.scenario.links {
            let ends = [0, 1].map(|end| self.node(&link.ends[end]));
            let [Some(a), Some(b)] = ends else { continue };
            let cell = link.station.as_ref().and_then(|station| self.cell(&station.cell));
            let id = match (cell, link.station_parameters()) {
                (Some(cell), Some(parameters)) => {
                    self.network.add_station(&link.name, a, cell, parameters)?
                }
                _ => {
                    let (forward, backward) = (link.forward.parameters(), link.backward.parameters());
                    self.network.add_link(&link.name, a, b, forward, backward)?
                }
            };
            self.links.push(id);
        }
        Ok(())
    }

    fn node(&self, name: &str) -> Option<netsim::NodeId> {
        self.nodes.iter().find(|(known, _)| known == name).map(|(_, id)| *id)
    }

    fn cell(&self, name: &str) -> Option<CellId> {
        let at = self.scenario.cells.iter().position(|cell| cell.name == name)?;
        self.cells.get(at).copied()
    }

    /// Cells, before their stations.
    fn add_cells(&mut self) -> Result<(), TopologyError> {
        self.network.set_interference(self.scenario.interference.parameters());
        for cell in &self.scenario.cells {
            let Some(node) = self.node(&cell.access_point) else { continue };
            let id = self.network.add_cell(&cell.name, node, cell.parameters())?;
            self.cells.push(id);
        }
        for coupling in &self.scenario.coupling {
            if let [Some(a), Some(b)] = [0, 1].map(|at| self.cell(&coupling.cells[at])) {
                self.network.couple(a, b, coupling.parameters())?;
            }
        }
        for background in &self.scenario.background {
            let Some(at) = self.scenario.cells.iter().position(|cell| cell.name == background.cell) else {
                continue;
            };
            let best = self.scenario.cells[at].parameters().rates().into_iter().max().unwrap_or_default();
            self.network.add_background(&background.name, self.cells[at], background.parameters(best))?;
        }
        Ok(())
    }

    /// A host that opens connections has an address for each of its links; one that only accepts has
    /// a single one, reached by every way.
    fn add_addresses(&mut self) -> Result<(), TopologyError> {
        for at in 0..self.hosts.len() {
            let name = self.hosts[at].name.clone();
            let opens = self.scenario.flows.iter().any(|flow| flow.from == name);
            let mut addresses = Vec::new();
            if opens {
                for (index, link) in self.scenario.links.iter().enumerate() {
                    let Some(end) = link.ends.iter().position(|end| *end == name) else { continue };
                    let id = self.links[index];
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

    fn host(&self, name: &str) -> usize {
        self.hosts.iter().position(|host| host.name == name).unwrap_or(0)
    }

    fn interface_named(&self, host: usize, link: &str) -> Option<InterfaceId> {
        let at = self.hosts[host].interface_names.iter().position(|name| name == link)?;
        Some(InterfaceId(at as u32))
    }

    fn add_flows(&mut self) {
        for (index, flow) in self.scenario.flows.iter().enumerate() {
            let (from, to) = (self.host(&flow.from), self.host(&flow.to));
            let config = self.config(flow, from);
            let port = FIRST_PORT.wrapping_add(index as u16);
            // Ports of flows differ by construction.
            let accepting = Config { interfaces: None, backups: Vec::new(), ..config.clone() };
            let _ = self.hosts[to].endpoint.listen(port, accepting);
            let first = flow.paths.first().and_then(|path| self.interface_named(from, path));
            let remote = SocketAddr::new(host::address(to, 0), port);
            let app = App::new(index, flow, (from, to), first.unwrap_or_default(), remote, config);
            self.appointments.insert((at(flow.start), Appointment::Start(index)));
            if let Some(stop) = flow.stop {
                self.appointments.insert((at(stop), Appointment::Stop(index)));
            }
            self.apps.push(app);
        }
    }

    fn config(&self, flow: &Flow, from: usize) -> Config {
        let mtu = self.scenario.links.iter().map(|link| link.mtu).min().unwrap_or(1500);
        let interfaces = flow.paths.iter().filter_map(|path| self.interface_named(from, path));
        let backups = flow.backup.iter().filter_map(|path| self.interface_named(from, path));
        Config {
            multipath: flow.transport == Transport::Mptcp,
            checksum: flow.checksum,
            congestion: match flow.congestion {
                Congestion::Reno => CongestionKind::Reno,
                Congestion::Cubic => CongestionKind::Cubic,
                Congestion::Lia => CongestionKind::Lia,
                Congestion::Olia => CongestionKind::Olia,
                Congestion::Balia => CongestionKind::Balia,
                Congestion::Wvegas => CongestionKind::WVegas,
            },
            send_queue_rule: match flow.send_queue_rule {
                SendQueueRule::Off => None,
                SendQueueRule::Published => Some(mptcp::SendQueueRule::Published),
                SendQueueRule::Unacked => Some(mptcp::SendQueueRule::Unacked),
                SendQueueRule::Linked => Some(mptcp::SendQueueRule::Linked),
            },
            scheduler: match flow.scheduler {
                Scheduler::Minrtt => SchedulerKind::MinRtt,
                Scheduler::Roundrobin => SchedulerKind::RoundRobin,
                Scheduler::Redundant => SchedulerKind::Redundant,
            },
            path_manager: match flow.path_manager {
                PathManagement::Fullmesh => PathManagerKind::FullMesh,
                PathManagement::Ndiffports { subflows } => {
                    PathManagerKind::NdiffPorts { subflows: subflows as u8 }
                }
            },
            mechanisms: mptcp::Mechanisms {
                opportunistic_retransmission: flow.mechanisms.opportunistic_retransmission,
                penalisation: flow.mechanisms.penalisation,
                penalty_rule: match flow.mechanisms.penalty {
                    Penalty::Original => PenaltyRule::Original,
                    Penalty::Later => PenaltyRule::Later,
                },
                autotuning: flow.mechanisms.autotuning,
                cwnd_capping: flow.mechanisms.cwnd_capping,
            },
            interfaces: Some(interfaces.collect()),
            backups: backups.collect(),
            receive_buffer: flow.tcp.rcvbuf,
            send_buffer: flow.tcp.sndbuf,
            mss: flow.tcp.mss.unwrap_or(mtu - HEADERS).min(mtu - HEADERS).min(65_495) as u16,
            sack: flow.tcp.sack,
            timestamps: flow.tcp.timestamps,
            rack: flow.tcp.rack,
            byte_counting: flow.tcp.byte_counting,
            delayed_ack: flow.tcp.delayed_ack,
            nagle: flow.tcp.nagle,
            min_rto: flow.tcp.min_rto,
            initial_window: flow.tcp.initial_window,
            initial_ssthresh: flow.tcp.ssthresh,
            small_queues: flow.tcp.small_queues,
            max_subflows: 8,
        }
    }

    fn add_filters(&mut self) -> Result<(), TopologyError> {
        for filter in &self.scenario.filters {
            let labels = self.labels(filter);
            for direction in self.directions(&filter.link, filter.way) {
                let loss = if filter.loss > 0.0 { Loss::Bernoulli(filter.loss) } else { Loss::None };
                self.network.add_filter(direction, labels.clone(), filter.delay, loss)?;
            }
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

    fn directions(&self, link: &str, way: Way) -> Vec<DirectionId> {
        let Some(at) = self.scenario.links.iter().position(|known| known.name == link) else {
            return Vec::new();
        };
        let id = self.links[at];
        match way {
            Way::Both => vec![id.forward(), id.backward()],
            Way::One(Side::Forward) => vec![id.forward()],
            Way::One(Side::Backward) => vec![id.backward()],
        }
    }

    fn add_events(&mut self) {
        for event in &self.scenario.events {
            let when = at(event.at);
            for direction in self.directions(&event.link, event.way) {
                let set = &event.set;
                let changes = [
                    set.up.map(Change::Up),
                    set.rate.map(|rate| Change::Rate(rate.and_then(Rate::new))),
                    set.delay.map(Change::Delay),
                    set.loss.map(|loss| {
                        Change::Loss(if loss > 0.0 { Loss::Bernoulli(loss) } else { Loss::None })
                    }),
                    set.queue.map(Change::Queue),
                    set.distance.map(Change::Distance),
                    set.jitter.map(|jitter| Change::Jitter(self.jitter(direction, jitter))),
                ];
                for change in changes.into_iter().flatten() {
                    self.network.schedule_change(when, direction, change);
                }
            }
            if let (Some(up), Manner::Admin) = (event.set.up, event.how) {
                for host in 0..self.hosts.len() {
                    if let Some(interface) = self.interface_named(host, &event.link) {
                        self.appointments.insert((when, Appointment::Interface(host, interface, up)));
                    }
                }
            }
        }
    }

    fn jitter(&self, direction: DirectionId, spread: Duration) -> Option<Jitter> {
        let reorder = self.network.parameters(direction).jitter.is_some_and(|jitter| jitter.reorder);
        (!spread.is_zero()).then_some(Jitter { spread, shape: Spread::Uniform, reorder })
    }

    /// Asks for the departures from the queues of hosts with a wireless interface, and of those where
    /// somebody listens to them.
    fn watch_queues(&mut self) {
        for at in 0..self.hosts.len() {
            let name = self.hosts[at].name.clone();
            let listens = self.scenario.flows.iter().any(|flow| {
                let greedy = matches!(flow.traffic, Traffic::Datagrams { rate: None, .. });
                let rules = flow.tcp.small_queues.is_some() || flow.send_queue_rule != SendQueueRule::Off;
                (flow.from == name || flow.to == name) && (greedy || rules)
            });
            let own =
                || self.scenario.links.iter().zip(&self.links).filter(|(link, _)| link.ends.contains(&name));
            if !listens && !own().any(|(link, _)| link.station.is_some()) {
                continue;
            }
            let outward = |(link, id): (&Link, &LinkId)| {
                if link.ends[0] == name { id.forward() } else { id.backward() }
            };
            for direction in own().map(outward).collect::<Vec<_>>() {
                self.network.watch_departures(direction, true);
                if self.own_queues.len() <= direction.index() {
                    self.own_queues.resize(direction.index() + 1, None);
                }
                self.own_queues[direction.index()] = Some(at);
            }
            self.hosts[at].hears_departures = true;
            for interface in 0..self.hosts[at].interfaces.len() {
                self.hosts[at].endpoint.expect_departures(InterfaceId(interface as u32));
            }
        }
    }

    fn finish(mut self) -> World {
        self.network.keep_lost(true);
        let first_sample = at(self.scenario.sample);
        self.alarm(Alarm::Sample, Some(first_sample));
        let first_appointment = self.appointments.first().map(|(at, _)| *at);
        let appointments_timer = self.alarm(Alarm::Appointments, first_appointment);
        let mut host_of_node = Vec::new();
        for (at, host) in self.hosts.iter().enumerate() {
            let node = host.node.index();
            if host_of_node.len() <= node {
                host_of_node.resize(node + 1, None);
            }
            host_of_node[node] = Some(at);
        }
        World {
            sampler: Sampler::new(self.scenario, &self.links),
            scenario: self.scenario.clone(),
            has_labels: !self.scenario.filters.is_empty() || !self.own_queues.is_empty(),
            own_queues: self.own_queues,
            end: at(self.scenario.duration),
            network: self.network,
            pool: Pool::default(),
            hosts: self.hosts,
            host_of_node,
            addresses: self.addresses,
            apps: self.apps,
            alarms: self.alarms,
            appointments: self.appointments,
            appointments_timer,
            captures: None,
            data_packets: 0,
        }
    }
}

fn at(since_start: Duration) -> Instant {
    Instant::ZERO + since_start
}
