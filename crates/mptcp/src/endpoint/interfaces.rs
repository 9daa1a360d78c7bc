//! The interfaces of a host.

use std::net::{IpAddr, SocketAddr};

use crate::config::Config;
use crate::ids::InterfaceId;
use crate::path_manager::LocalAddress;
use crate::subflow::{Origin, Subflow};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Interface {
    pub(crate) address: IpAddr,
    pub(crate) up: bool,
    pub(crate) backup: bool,
    /// The driver tells when packets leave its queue.
    pub(crate) departures: bool,
    /// Payload of the largest segment that the device cuts into frames, bytes.
    pub(crate) gso_max: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Interfaces {
    list: Vec<Interface>,
}

impl Interfaces {
    pub(crate) fn add(&mut self, address: IpAddr, backup: bool) -> InterfaceId {
        self.list.push(Interface { address, up: true, backup, departures: false, gso_max: 0 });
        InterfaceId(self.list.len() as u32 - 1)
    }

    /// A new subflow of an interface.
    pub(crate) fn subflow(
        &self,
        id: InterfaceId,
        local: SocketAddr,
        remote: SocketAddr,
        origin: Origin,
        iss: u32,
        config: &Config,
    ) -> Subflow {
        let mut subflow = Subflow::new(id, local, remote, origin, iss, config);
        subflow.negotiated_mut().gso_max = self.get(id).map_or(0, |interface| interface.gso_max);
        subflow
    }

    pub(crate) fn get_mut(&mut self, id: InterfaceId) -> Option<&mut Interface> {
        self.list.get_mut(id.0 as usize)
    }

    pub(crate) fn get(&self, id: InterfaceId) -> Option<&Interface> {
        self.list.get(id.0 as usize)
    }

    /// The addresses that are up, numbered for a connection whose first subflow uses `first`: that
    /// one has id 0 (RFC 8684 section 3.4.1), the others their place and one.
    pub(crate) fn addresses_seen_from(&self, first: InterfaceId, config: &Config) -> Vec<LocalAddress> {
        let up = self.list.iter().enumerate().filter(|(_, interface)| interface.up);
        let allowed = up.filter(|(i, _)| config.allows(InterfaceId(*i as u32)));
        allowed
            .map(|(i, interface)| LocalAddress {
                id: address_id(InterfaceId(i as u32), first),
                interface: InterfaceId(i as u32),
                address: interface.address,
                backup: interface.backup || config.backups.contains(&InterfaceId(i as u32)),
            })
            .collect()
    }
}

/// The number of an interface's address, for a connection whose first subflow uses `first`.
pub(crate) fn address_id(interface: InterfaceId, first: InterfaceId) -> u8 {
    if interface == first { 0 } else { (interface.0 + 1).min(255) as u8 }
}
