//! Calls by which the driver (the simulator, or the code for real packets) describes its interfaces: state
//! changes, departures of packets, segmentation offload.
//!
//! After a state change, connections open, close or change subflows. Departures show how much data of each
//! path is queued in this host. Never sends a segment.

use mptcp_clock::Instant;

use crate::congestion::Departure;
use crate::endpoint::Endpoint;
use crate::endpoint::interfaces::address_id;
use crate::ids::{ConnectionId, InterfaceId, SubflowId};
use crate::path_manager::LocalAddress;

/// A state change of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceChange {
    /// The interface is up.
    Up,
    /// The interface is down; its address cannot be used.
    Down,
    /// The new backup flag of the subflows on the interface (RFC 8684 section 3.3.8).
    Backup(bool),
}

impl Endpoint {
    /// Announces that the driver will call [`Endpoint::handle_departed`] for each packet of an interface. TCP
    /// small queues and [`crate::SendQueueRule`] learn the length of the local queue from these calls.
    pub fn expect_departures(&mut self, id: InterfaceId) {
        if let Some(interface) = self.interfaces.get_mut(id) {
            interface.departures = true;
        }
    }

    /// Sets the maximum payload of one segment for new subflows of an interface, in bytes: generic
    /// segmentation offload. The device cuts such segments into frames of [`Endpoint::gso_size`] bytes.
    /// Larger values are reduced until headers and payload fit into 65,535 bytes, the maximum of an IP packet
    /// and of a mapping (RFC 8684 section 3.3.1). Default: 0, which disables offload.
    pub fn set_gso_max(&mut self, id: InterfaceId, bytes: u16) {
        /// IPv4 and TCP headers with all options, bytes. IPv6 extension headers are never sent.
        const HEADERS: u16 = 60 + 60;
        if let Some(interface) = self.interfaces.get_mut(id) {
            interface.gso_max = bytes.min(u16::MAX - HEADERS).into();
        }
    }

    /// Payload of a full-sized frame of a subflow, bytes; `None` if the subflow does not exist.
    #[must_use]
    pub fn gso_size(&self, connection: ConnectionId, subflow: SubflowId) -> Option<u64> {
        self.connection(connection).and_then(|connection| connection.frame_payload(subflow))
    }

    /// Reports that a packet of a subflow has left the queue of its interface. Returns whether the connection
    /// may send more because of that.
    pub fn handle_departed(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        subflow: SubflowId,
        departure: Departure,
    ) -> bool {
        let Some(slot) = self.slots.slot(connection) else { return false };
        let found = self.slots.connection_at(slot);
        let more = found.is_some_and(|connection| connection.handle_departed(now, subflow, departure));
        if more {
            self.enqueue(slot);
        }
        more
    }

    /// Applies a state change of an interface. The connections then open, close or change subflows.
    pub fn handle_interface(&mut self, now: Instant, id: InterfaceId, change: InterfaceChange) {
        let Some(interface) = self.interfaces.get_mut(id) else { return };
        match change {
            InterfaceChange::Up => interface.up = true,
            InterfaceChange::Down => interface.up = false,
            InterfaceChange::Backup(backup) => interface.backup = backup,
        }
        let interface = *interface;
        for slot in 0..self.slots.count() {
            let Some(connection) = self.slots.connection_at(slot) else { continue };
            if !connection.config().allows(id) {
                continue;
            }
            let first = connection.interface_of(0);
            match change {
                InterfaceChange::Up => {
                    let address = LocalAddress {
                        id: address_id(id, first),
                        interface: id,
                        address: interface.address,
                        backup: interface.backup || connection.config().backups.contains(&id),
                    };
                    connection.add_local_address(now, address);
                }
                InterfaceChange::Down => connection.remove_local_address(now, id),
                InterfaceChange::Backup(backup) => connection.set_backup(id, backup),
            }
            self.after_change(now, slot);
        }
    }
}
