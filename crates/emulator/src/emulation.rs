//! Packets into a network and out of it, whatever the clock: the emulator without devices and without time of its own.
//!
//! Owns the network and the packets in it. Never waits: who drives it says what time it is, and asks when to come
//! back.

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

/// A packet that a device is to get now.
#[derive(Debug)]
pub struct Delivery<'a> {
    /// When it came out of the network.
    pub due: Instant,
    /// The device, by its place among all of them.
    pub port: usize,
    /// The packet.
    pub packet: &'a [u8],
}

/// A network of a scenario whose hosts are outside.
#[derive(Debug)]
pub struct Emulation {
    plan: Plan,
    pub(crate) network: Network<u32>,
    pub(crate) wiring: Wiring,
    slots: Slots,
    /// Where the next packet is read to.
    next: Option<u32>,
    /// Where it is read to when there is no memory for it: it has to leave its device all the same.
    spare: Box<[u8]>,
    /// The direction into which a device's packets go, by its place.
    outward: Vec<DirectionId>,
    /// The device at whose host a direction ends.
    port_of: Vec<Option<usize>>,
    /// By address, sorted.
    addresses: Vec<(u32, AddressId)>,
    /// A queue tells connections apart.
    has_labels: bool,
    /// What came out, in order.
    ready: VecDeque<(Instant, usize, u32)>,
    /// What was handed out last.
    gone: Option<u32>,
    ignored: u64,
    refused: u64,
    shortest: Duration,
}

impl Emulation {
    /// The network of `scenario`, at time zero; all chance follows from `seed`.
    ///
    /// # Errors
    /// When the scenario asks for what real packets cannot have.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Self, EmulatorError> {
        if let Some(middlebox) = scenario.middleboxes.first() {
            return Err(EmulatorError::Middlebox(middlebox.name.clone()));
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

    /// What there has to be around it.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The shortest round trip over one link, without queues.
    #[must_use]
    pub fn shortest_round_trip(&self) -> Duration {
        self.shortest
    }

    /// Where the next packet is to be written, then [`Self::offer`]ed. Without memory for it that counts it as refused.
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

    /// Takes the packet of `length` bytes that a device sent at `now`, which is never earlier than before.
    pub fn offer(&mut self, now: Instant, port: usize, length: usize) {
        // The network takes frames when all before them has happened.
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

    /// Something that came out of the network by `now`; ask again until there is nothing.
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

    /// When something may come out; `None` when nothing will by itself.
    #[must_use]
    pub fn next_time(&self) -> Option<Instant> {
        self.ready.front().map(|(due, ..)| *due).or_else(|| self.network.next_time())
    }

    /// The counters of both directions of a link of the scenario, by its place.
    pub fn counters(&mut self, link: usize) -> Option<[Counters; 2]> {
        let id = *self.wiring.links().get(link)?;
        Some([id.forward(), id.backward()].map(|direction| self.network.counters(direction)))
    }

    /// How both directions of a link of the scenario were used, by its place.
    pub fn link_use(&mut self, link: usize) -> Option<[LinkUse; 2]> {
        let id = *self.wiring.links().get(link)?;
        Some([id.forward(), id.backward()].map(|direction| self.network.link_use(direction)))
    }

    /// Packets that were for nobody here: what kernels send without being asked, such as router solicitations.
    #[must_use]
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Packets that found no memory.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Packets in the network.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.slots.taken() - usize::from(self.next.is_some()) - usize::from(self.gone.is_some())
    }

    /// Lets the network come to `now`.
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

    /// What has come out of the network waits for its device.
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

    /// The frame, damaged or not, and its copy, which is whole; without one where there is no memory for it.
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

    /// Takes back the places of what was lost.
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

/// Hosts are hosts; all else passes packets on, and so do hosts that are relays.
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

/// An address for each device. Where connections are opened it is reached by its own link only, as in the simulator.
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

/// By which device a host reaches each address of the others, where no subnet says it.
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

/// The direction that leads away from a device.
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
