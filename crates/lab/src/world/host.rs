//! A host of the scenario: an endpoint and the links its interfaces stand for.

use std::net::{IpAddr, Ipv4Addr};

use mptcp::{ConnectionId, Endpoint, InterfaceId};
use mptcp_clock::Instant;
use netsim::{AddressId, DirectionId, LinkId, Network, NodeId, TimerId};

#[derive(Debug)]
pub(super) struct Host {
    pub name: String,
    pub node: NodeId,
    pub endpoint: Endpoint,
    pub timer: TimerId,
    /// What the timer is set to.
    pub armed: Option<Instant>,
    /// The link and its direction outward, by interface; None for a host with one address for all.
    pub interfaces: Vec<Option<(LinkId, DirectionId)>>,
    /// Names of the interfaces: those of the links.
    pub interface_names: Vec<String>,
    /// Whether it is told of departures from its own queues.
    pub hears_departures: bool,
    /// Where its frames leave, if it is.
    pub own_queues: Vec<DirectionId>,
    /// Routes already looked up, for hosts whose interface does not say where to leave.
    routes: Vec<(AddressId, DirectionId)>,
    flows: Vec<Option<usize>>,
}

impl Host {
    pub(super) fn new(name: &str, node: NodeId, endpoint: Endpoint, timer: TimerId) -> Self {
        Self {
            name: name.to_owned(),
            node,
            endpoint,
            timer,
            armed: None,
            interfaces: Vec::new(),
            interface_names: Vec::new(),
            hears_departures: false,
            own_queues: Vec::new(),
            routes: Vec::new(),
            flows: Vec::new(),
        }
    }

    /// Which flow a connection belongs to.
    pub(super) fn flow_of(&self, connection: ConnectionId) -> Option<usize> {
        self.flows.get(connection.slot()).copied().flatten()
    }

    pub(super) fn own(&mut self, connection: ConnectionId, flow: usize) {
        let at = connection.slot();
        if self.flows.len() <= at {
            self.flows.resize(at + 1, None);
        }
        self.flows[at] = Some(flow);
    }

    /// Whether an interface says by itself where frames leave.
    pub(super) fn leaves_by(&self, interface: InterfaceId) -> bool {
        self.interfaces.get(interface.0 as usize).is_some_and(Option::is_some)
    }

    /// The link direction by which a segment leaves.
    pub(super) fn way_out(
        &mut self,
        network: &mut Network<u32>,
        interface: InterfaceId,
        to: AddressId,
    ) -> Option<DirectionId> {
        if let Some(Some((_, direction))) = self.interfaces.get(interface.0 as usize) {
            return Some(*direction);
        }
        if let Some((_, direction)) = self.routes.iter().find(|(address, _)| *address == to) {
            return Some(*direction);
        }
        let direction = network.route(self.node, to)?;
        self.routes.push((to, direction));
        Some(direction)
    }

    /// The same where nodes choose ways by labels.
    pub(super) fn choose_way(
        &self,
        network: &mut Network<u32>,
        interface: InterfaceId,
        to: AddressId,
        label: u32,
    ) -> Option<DirectionId> {
        let own = self.interfaces.get(interface.0 as usize).copied().flatten();
        own.map(|(_, direction)| direction).or_else(|| network.choose(self.node, to, label))
    }
}

/// The address of an interface: 10.host.interface.1.
pub(super) fn address(host: usize, interface: usize) -> IpAddr {
    Ipv4Addr::new(10, host as u8, interface as u8, 1).into()
}

/// The interface that has an address, at its host.
pub(super) fn interface_of(address: IpAddr) -> InterfaceId {
    InterfaceId(place(address).map_or(0, |(_, interface)| interface as u32))
}

/// Host and interface of an address.
pub(super) fn place(address: IpAddr) -> Option<(usize, usize)> {
    match address {
        IpAddr::V4(address) => {
            let [_, host, interface, _] = address.octets();
            Some((usize::from(host), usize::from(interface)))
        }
        IpAddr::V6(_) => None,
    }
}

pub(super) fn lookup(addresses: &[Vec<AddressId>], address: IpAddr) -> Option<AddressId> {
    let (host, interface) = place(address)?;
    addresses.get(host)?.get(interface).copied()
}
