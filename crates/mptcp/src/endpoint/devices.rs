//! What a driver tells of its devices: what they can, what left them, that they come and go.

use mptcp_clock::Instant;

use crate::congestion::Departure;
use crate::endpoint::Endpoint;
use crate::endpoint::interfaces::address_id;
use crate::ids::{ConnectionId, InterfaceId, SubflowId};
use crate::path_manager::LocalAddress;

/// What happened to an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceChange {
    /// It carries packets (again).
    Up,
    /// It does not, and its address cannot be used.
    Down,
    /// Its subflows are backups from now on, or are not.
    Backup(bool),
}

impl Endpoint {
    /// Says that the driver will call [`Endpoint::handle_departed`] for each packet of an interface, so
    /// that small queues and the send-queue rule know what waits in it.
    pub fn expect_departures(&mut self, id: InterfaceId) {
        if let Some(interface) = self.interfaces.get_mut(id) {
            interface.departures = true;
        }
    }

    /// Says that a device cuts segments into frames of [`Endpoint::gso_size`] bytes (generic segmentation
    /// offload): new subflows of the interface send up to `bytes` of payload in one segment, 65 535 at most
    /// less the longest headers: an IP packet has 65 535 in all, and so has a mapping (RFC 8684 section 3.3.1). 0 is how
    /// interfaces begin.
    pub fn set_gso_max(&mut self, id: InterfaceId, bytes: u16) {
        /// IPv4 and TCP headers with all options, bytes; IPv6's extension headers we never send.
        const HEADERS: u16 = 60 + 60;
        if let Some(interface) = self.interfaces.get_mut(id) {
            interface.gso_max = bytes.min(u16::MAX - HEADERS).into();
        }
    }

    /// The payload of a full frame of a subflow, bytes: how a device should cut a longer segment.
    #[must_use]
    pub fn gso_size(&self, connection: ConnectionId, subflow: SubflowId) -> Option<u64> {
        self.connection(connection).and_then(|connection| connection.frame_payload(subflow))
    }

    /// The queue of an interface let go of a packet of a subflow. Returns whether something may be sent now
    /// that could not before.
    pub fn handle_departed(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        subflow: SubflowId,
        departure: Departure,
    ) -> bool {
        let Some(place) = self.slots.place(connection) else { return false };
        let found = self.slots.connection_at(place);
        let more = found.is_some_and(|connection| connection.handle_departed(now, subflow, departure));
        if more {
            self.enqueue(place);
        }
        more
    }

    /// An interface changed. Connections learn of it, and open, close or move subflows.
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
