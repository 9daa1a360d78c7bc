//! A host of the scenario: an MPTCP endpoint, and the links of its interfaces.
//!
//! Owns the mapping from interfaces to outgoing link directions, from connections to flows, and from
//! addresses to hosts. Endpoints know only IP addresses, and the network only nodes and directions.

use std::net::{IpAddr, Ipv4Addr};

use mptcp::{ConnectionId, Endpoint, InterfaceId};
use mptcp_clock::Instant;
use netsim::{AddressId, DirectionId, LinkId, Network, NodeId, TimerId};

use crate::middlebox::nat::LAST_BYTES;

#[derive(Debug)]
pub(super) struct Host {
    pub name: String,
    pub node: NodeId,
    pub endpoint: Endpoint,
    pub timer: TimerId,
    /// Current expiry of the timer.
    pub armed: Option<Instant>,
    /// Link and outgoing direction by interface; `None` for a host with one address for all links.
    pub interfaces: Vec<Option<(LinkId, DirectionId)>>,
    /// Interface names: those of the links, or `any` for the address that all links reach.
    pub interface_names: Vec<String>,
    /// Whether the endpoint is notified of departures from the local queues of the host.
    pub hears_departures: bool,
    /// Outgoing directions whose departures are reported.
    pub own_queues: Vec<DirectionId>,
    /// Cached routes, for hosts whose interfaces do not determine the outgoing direction.
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

    /// The flow of a connection; `None` before the connection is accepted.
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

    /// Whether an interface determines the outgoing direction.
    pub(super) fn leaves_by(&self, interface: InterfaceId) -> bool {
        self.interfaces.get(interface.0 as usize).is_some_and(Option::is_some)
    }

    /// The outgoing direction of a segment.
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

    /// As `way_out`, for scenarios in which nodes select paths by the label of a frame: its flow and subflow.
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

/// The address of an interface: 10.host.interface.1. For each further 256 hosts, the last byte is larger by 1.
pub(super) fn address(host: usize, interface: usize) -> IpAddr {
    Ipv4Addr::new(10, host as u8, interface as u8, 1 + (host >> 8) as u8).into()
}

/// The interface with an address.
pub(super) fn interface_of(address: IpAddr) -> InterfaceId {
    InterfaceId(place(address).map_or(0, |(_, interface)| interface as u32))
}

/// Host and interface of an address.
pub(super) fn place(address: IpAddr) -> Option<(usize, usize)> {
    match address {
        IpAddr::V4(address) => {
            let [_, host, interface, group] = address.octets();
            // The upper half are outside addresses of NATs.
            let group = group.min(LAST_BYTES - group).checked_sub(1)?;
            Some((usize::from(group) << 8 | usize::from(host), usize::from(interface)))
        }
        IpAddr::V6(_) => None,
    }
}

pub(super) fn lookup(addresses: &[Vec<AddressId>], address: IpAddr) -> Option<AddressId> {
    let (host, interface) = place(address)?;
    addresses.get(host)?.get(interface).copied()
}
