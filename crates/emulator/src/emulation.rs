//! The emulated network without devices and clock, so that tests can run it in virtual time.
//!
//! Owns the simulated links and the packets on them. A device is the end of a link at a host, and a port is
//! the index of a device; the plan lists both hosts and devices. Never waits: `driver` passes the time and
//! the packets, and asks for the next event.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use mptcp_clock::{Duration, Instant, Rng};
use mptcp_lab::scenario::Scenario;
use mptcp_lab::wiring::{ETHERNET, Wiring, spread};
use netsim::{
    AddressId, Codepoint, Counters, DirectionId, Event, Frame, Labels, LinkUse, Loss, Network, NodeId,
};

use crate::error::EmulatorError;
use crate::header;
use crate::plan::{Plan, Route};
use crate::slots::Slots;

/// A packet for a device.
#[derive(Debug)]
pub struct Delivery<'a> {
    /// Time at which the packet left the network.
    pub due: Instant,
    /// Index of the device.
    pub port: usize,
    /// The packet.
    pub packet: &'a [u8],
}

/// The network of a scenario with external hosts.
#[derive(Debug)]
pub struct Emulation {
    plan: Plan,
    pub(crate) network: Network<u32>,
    pub(crate) wiring: Wiring,
    slots: Slots,
    /// Buffer of the next packet.
    next: Option<u32>,
    /// Buffer for packets that are read while no memory is free, and then dropped.
    spare: Box<[u8]>,
    /// Outgoing direction, by device index.
    outward: Vec<DirectionId>,
    /// Device at the end of each direction.
    port_of: Vec<Option<usize>>,
    /// Sorted by address.
    addresses: Vec<(u32, AddressId)>,
    /// Whether packets get a label by connection, for queue disciplines and multipath routing.
    has_labels: bool,
    /// Packets that left the network, in order: time, device and buffer.
    ready: VecDeque<(Instant, usize, u32)>,
    /// The packet that was delivered last.
    gone: Option<u32>,
    ignored: u64,
    refused: u64,
    shortest: Duration,
}

impl Emulation {
    /// The network of `scenario` at time zero; all random streams derive from `seed`.
    ///
    /// # Errors
    /// If the scenario is not possible with real packets.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Self, EmulatorError> {
        if let Some(middlebox) = scenario.middleboxes.first() {
            return Err(EmulatorError::Middlebox(middlebox.name.clone()));
        }
        if let Some(change) = scenario.policy_changes.first() {
            return Err(EmulatorError::PolicyChange(change.flow.clone()));
        }
        if let Some(route) = scenario.routes.first() {
            return Err(EmulatorError::Route(route.from.clone(), route.to.clone()));
        }
        let mut plan = Plan::of(scenario)?;
        let (root, mut network) = (Rng::new(seed, "lab"), Network::new(seed));
        network.keep_lost(true);
        let nodes = add_nodes(&mut network, scenario, &plan);
        let node = |name: &str| nodes.iter().find(|(known, _)| *known == name).map(|(_, id)| *id);
        let wiring = Wiring::lay(&mut network, scenario, &root, node)?;
        spread(&mut network, scenario, &root, nodes.iter().copied())?;
        let addresses = add_addresses(&mut network, scenario, &wiring, &plan, node)?;
        find_routes(&mut network, scenario, &wiring, &mut plan, &addresses, node);
        for filter in &scenario.filters {
            if filter.flows.is_some() || filter.paths.is_some() {
                return Err(EmulatorError::Filter(filter.link.clone()));
            }
            for direction in wiring.directions(scenario, &filter.link, filter.way) {
                let loss = if filter.loss > 0.0 { Loss::Bernoulli(filter.loss) } else { Loss::None };
                network.add_filter(direction, Labels::All, filter.delay, loss)?;
            }
        }
        wiring.schedule(&mut network, scenario, &root);
        let mut outward = Vec::new();
        let mut port_of = vec![None; 2 * wiring.links().len()];
        for (port, (host, device)) in plan.ports().enumerate() {
            let direction = outward_of(scenario, &wiring, &plan, host, device);
            outward.extend(direction);
            if let Some(place) = direction.and_then(|own| port_of.get_mut(own.reverse().index())) {
                *place = Some(port);
            }
        }
        let mut sorted = addresses;
        sorted.sort_unstable_by_key(|(address, _)| *address);
        let longest = plan.hosts.iter().flat_map(|host| &host.devices).map(|device| device.mtu).max();
        let round_trip = |link: &mptcp_lab::scenario::Link| link.forward.delay + link.backward.delay;
        Ok(Self {
            plan,
            network,
            slots: Slots::new(longest.unwrap_or_default() as usize),
            next: None,
            spare: vec![0; longest.unwrap_or_default() as usize].into_boxed_slice(),
            outward,
            port_of,
            addresses: sorted,
            has_labels: scenario.spreads()
                || scenario.links.iter().any(mptcp_lab::scenario::Link::has_discipline),
            ready: VecDeque::new(),
            gone: None,
            ignored: 0,
            refused: 0,
            shortest: scenario.links.iter().map(round_trip).min().unwrap_or(Duration::ZERO),
            wiring,
        })
    }

    /// The hosts and devices that the emulation needs.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The minimum RTT of all links, each without queues.
    #[must_use]
    pub fn shortest_round_trip(&self) -> Duration {
        self.shortest
    }

    /// The buffer to read the next packet into, before [`Self::offer`]. Without free memory, `offer` drops
    /// the packet and counts it as refused.
    pub fn room(&mut self) -> &mut [u8] {
        if self.next.is_none() {
            self.next = self.slots.take();
        }
        match self.next {
            Some(place) => self.slots.room(place),
            None => &mut self.spare,
        }
    }

    /// Whether there is no memory for another packet.
    pub fn is_full(&mut self) -> bool {
        self.room();
        self.next.is_none()
    }

    /// Accepts a packet of `length` bytes that a device sent at `now`. Times must not decrease.
    pub fn offer(&mut self, now: Instant, port: usize, length: usize) {
        // The network requires that earlier events are handled first.
        self.advance(now);
        let Some(place) = self.next.take() else {
            self.refused += 1;
            return;
        };
        self.slots.set_length(place, length);
        let packet = self.slots.packet(place);
        let address = header::destination(packet).and_then(|to| self.address(to));
        let (Some(destination), Some(&direction)) = (address, self.outward.get(port)) else {
            self.ignored += 1;
            self.next = Some(place);
            return;
        };
        let packet = self.slots.packet(place);
        let label = if self.has_labels { Frame::label_of(header::flow(packet), 0) } else { 0 };
        let (bytes, ecn) = ((packet.len() + ETHERNET) as u32, header::codepoint(packet));
        let now = now.max(self.network.now());
        self.network.send(now, direction, Frame { bytes, destination, label, ecn, payload: place });
        self.bury();
    }

    /// A packet that left the network by `now`. Call it until it returns `None`.
    pub fn deliver(&mut self, now: Instant) -> Option<Delivery<'_>> {
        if let Some(place) = self.gone.take() {
            self.slots.give_back(place);
        }
        if self.ready.is_empty() {
            self.advance(now);
        }
        let (due, port, place) = self.ready.pop_front()?;
        self.gone = Some(place);
        Some(Delivery { due, port, packet: self.slots.packet(place) })
    }

    /// Time at which a packet may next leave the network; `None` if no event is pending.
    #[must_use]
    pub fn next_time(&self) -> Option<Instant> {
        self.ready.front().map(|(due, ..)| *due).or_else(|| self.network.next_time())
    }

    /// Counters of both directions of a link, by its index in the scenario.
    pub fn counters(&mut self, link: usize) -> Option<[Counters; 2]> {
        let id = *self.wiring.links().get(link)?;
        Some([id.forward(), id.backward()].map(|direction| self.network.counters(direction)))
    }

    /// Use of both directions of a link, by its index in the scenario.
    pub fn link_use(&mut self, link: usize) -> Option<[LinkUse; 2]> {
        let id = *self.wiring.links().get(link)?;
        Some([id.forward(), id.backward()].map(|direction| self.network.link_use(direction)))
    }

    /// Current parameters of both directions of a link, by its index in the scenario.
    #[must_use]
    pub fn parameters(&self, link: usize) -> Option<[netsim::Parameters; 2]> {
        let id = *self.wiring.links().get(link)?;
        Some([id.forward(), id.backward()].map(|direction| self.network.parameters(direction).clone()))
    }

    /// Packets without a destination, such as router solicitations of kernels.
    #[must_use]
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Packets dropped for lack of memory.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Number of packets in the network.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.slots.taken() - usize::from(self.next.is_some()) - usize::from(self.gone.is_some())
    }

    /// Advances the network to `now`.
    pub(crate) fn advance(&mut self, now: Instant) {
        while let Some((at, event)) = self.network.next_until(now) {
            match event {
                Event::Impaired { direction, frame, duplicated, corrupted } => {
                    for frame in self.impaired(frame, duplicated, corrupted).into_iter().flatten() {
                        let next = self.network.go_on(at, direction, frame);
                        next.into_iter().for_each(|event| self.take_out(at, event));
                    }
                }
                other => self.take_out(at, other),
            }
        }
        self.bury();
    }

    /// Queues a packet that left the network for its device.
    fn take_out(&mut self, at: Instant, event: Event<u32>) {
        let Event::Arrived { by, frame, .. } = event else { return };
        let place = frame.payload;
        let Some(port) = self.port_of.get(by.index()).copied().flatten() else {
            return self.slots.give_back(place);
        };
        let packet = self.slots.packet(place);
        if frame.ecn == Codepoint::Ce && header::codepoint(packet) != Codepoint::Ce {
            header::mark(packet);
        }
        self.ready.push_back((at, port, place));
    }

    /// The frame, possibly corrupted, and its intact copy; no copy without free memory.
    #[cold]
    fn impaired(&mut self, frame: Frame<u32>, duplicated: bool, corrupted: bool) -> [Option<Frame<u32>>; 2] {
        let copy = if duplicated { self.slots.copy(frame.payload) } else { None };
        self.refused += u64::from(duplicated && copy.is_none());
        let copy = copy.map(|payload| Frame { payload, ..frame.clone() });
        if corrupted {
            header::damage(self.slots.packet(frame.payload));
        }
        [Some(frame), copy]
    }

    /// Frees the buffers of dropped packets.
    fn bury(&mut self) {
        if self.network.lost_count() > 0 {
            for lost in self.network.lost() {
                self.slots.give_back(lost.frame.payload);
            }
        }
    }

    fn address(&self, to: u32) -> Option<AddressId> {
        let at = self.addresses.binary_search_by_key(&to, |(address, _)| *address).ok()?;
        self.addresses.get(at).map(|(_, id)| *id)
    }
}

/// Adds all nodes: the plan's hosts as hosts, other nodes and hosts that relay as routers.
fn add_nodes<'a>(network: &mut Network<u32>, scenario: &'a Scenario, plan: &Plan) -> Vec<(&'a str, NodeId)> {
    let lone = scenario.cells.iter().map(|cell| &cell.access_point);
    let mut nodes: Vec<(&str, NodeId)> = Vec::new();
    for name in scenario.links.iter().flat_map(|link| &link.ends).chain(lone) {
        if nodes.iter().any(|(known, _)| known == name) {
            continue;
        }
        let passes = scenario.relays.contains(name) || plan.hosts.iter().all(|host| host.name != *name);
        nodes.push((name, if passes { network.add_router() } else { network.add_host() }));
    }
    nodes
}

/// Adds one address per device. If the host opens connections, only the device's link reaches the address,
/// as in the simulator.
fn add_addresses(
    network: &mut Network<u32>,
    scenario: &Scenario,
    wiring: &Wiring,
    plan: &Plan,
    node: impl Fn(&str) -> Option<NodeId>,
) -> Result<Vec<(u32, AddressId)>, EmulatorError> {
    let mut addresses = Vec::new();
    for host in &plan.hosts {
        let Some(owner) = node(&host.name) else { continue };
        for device in &host.devices {
            let link = scenario.links.iter().position(|link| link.name == device.link);
            let by = link.and_then(|at| wiring.links().get(at)).copied().filter(|_| host.opens);
            addresses.push((u32::from(device.address), network.add_address(owner, by)?));
        }
    }
    Ok(addresses)
}

/// Adds routes to the plan: the device by which a host reaches each address outside its subnets.
fn find_routes(
    network: &mut Network<u32>,
    scenario: &Scenario,
    wiring: &Wiring,
    plan: &mut Plan,
    addresses: &[(u32, AddressId)],
    node: impl Fn(&str) -> Option<NodeId>,
) {
    for at in 0..plan.hosts.len() {
        let Some(own) = node(&plan.hosts[at].name) else { continue };
        let ways: Vec<_> = (0..plan.hosts[at].devices.len())
            .map(|device| outward_of(scenario, wiring, plan, at, device))
            .collect();
        let devices = &plan.hosts[at].devices;
        let near =
            |to: Ipv4Addr| devices.iter().any(|device| device.address.octets()[..3] == to.octets()[..3]);
        let mut routes = Vec::new();
        for &(to, id) in addresses {
            let to = Ipv4Addr::from(to);
            let leaving = if near(to) { None } else { network.route(own, id) };
            let device = leaving.and_then(|leaving| ways.iter().position(|way| *way == Some(leaving)));
            routes.extend(device.map(|device| Route { to, device }));
        }
        plan.hosts[at].routes = routes;
    }
}

/// The outgoing direction of a device.
fn outward_of(
    scenario: &Scenario,
    wiring: &Wiring,
    plan: &Plan,
    host: usize,
    device: usize,
) -> Option<DirectionId> {
    let host = plan.hosts.get(host)?;
    let name = &host.devices.get(device)?.link;
    let at = scenario.links.iter().position(|link| link.name == *name)?;
    let id = wiring.links().get(at)?;
    Some(if scenario.links[at].ends[0] == host.name { id.forward() } else { id.backward() })
}
