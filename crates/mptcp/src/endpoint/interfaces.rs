//! The interfaces of a host, whose addresses are the local ends of subflows.
//!
//! Owns the addresses and states. Never decides which interfaces a connection uses.

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
    /// Whether the driver reports when packets leave the queue of the interface.
    pub(crate) departures: bool,
    /// Payload of the largest segment that the device cuts into frames, bytes; 0 without segmentation
    /// offload.
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

    /// Creates a subflow on an interface.
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

    /// The addresses that are up and allowed by `config`, with their address IDs for a connection whose first
    /// subflow uses `first`.
    pub(crate) fn local_addresses(&self, first: InterfaceId, config: &Config) -> Vec<LocalAddress> {
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

/// Address ID of an interface: 0 if the first subflow uses it (RFC 8684 section 3.4.1), otherwise its index
/// plus one.
pub(crate) fn address_id(interface: InterfaceId, first: InterfaceId) -> u8 {
    if interface == first { 0 } else { (interface.0 + 1).min(255) as u8 }
}
