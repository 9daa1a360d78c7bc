//! Methods of [`Driver`] that control the interfaces of a running endpoint, and list its addresses, resource
//! usage and connections.
//!
//! Stateless. Never touches the devices: an interface that is taken down is down only for the endpoint, as if
//! its address were deleted.

use std::io;
use std::sync::atomic::Ordering;

use mptcp::{ConnectionInfo, EndpointUse, InterfaceChange, InterfaceId};

use crate::Driver;
use crate::shared::Address;

impl Driver {
    /// The addresses of the endpoint, with their devices.
    #[must_use]
    pub fn addresses(&self) -> &[Address] {
        &self.shared.addresses
    }

    /// Brings an interface up or down for all connections. Down ends the subflows of the interface and
    /// removes its address at the peers (REMOVE_ADDR, RFC 8684 section 3.4.2). Up joins from the interface or
    /// announces its address.
    ///
    /// # Errors
    /// `NotFound` for an unknown interface, `NotConnected` if the driver has stopped.
    pub fn set_interface(&self, interface: InterfaceId, up: bool) -> io::Result<()> {
        self.change(interface, if up { InterfaceChange::Up } else { InterfaceChange::Down })
    }

    /// Sets the backup priority of the subflows of an interface, and notifies the peers (MP_PRIO, RFC 8684
    /// section 3.3.8).
    ///
    /// # Errors
    /// As [`Self::set_interface`].
    pub fn set_backup(&self, interface: InterfaceId, backup: bool) -> io::Result<()> {
        self.change(interface, InterfaceChange::Backup(backup))
    }

    /// Simulates an outage: the device of an interface drops all packets in both directions, or carries them
    /// again. Neither end is notified.
    ///
    /// # Errors
    /// `NotFound` for an unknown interface.
    pub fn set_silent(&self, interface: InterfaceId, silent: bool) -> io::Result<()> {
        self.shared.silent[self.position(interface)?].store(silent, Ordering::Relaxed);
        Ok(())
    }

    /// Resource usage of the endpoint; docs/security.md lists the limits.
    #[must_use]
    pub fn usage(&self) -> EndpointUse {
        self.shared.lock().endpoint.usage()
    }

    /// All connections, including those without sockets, as `ss -Mi` lists them on Linux.
    #[must_use]
    pub fn connections(&self) -> Vec<ConnectionInfo> {
        let (now, core) = (self.shared.now(), self.shared.lock());
        core.endpoint.connections().filter_map(|id| core.endpoint.info(now, id)).collect()
    }

    /// The index of an interface among the addresses.
    fn position(&self, interface: InterfaceId) -> io::Result<usize> {
        let known = &self.shared.addresses;
        known.iter().position(|known| known.interface == interface).ok_or_else(|| {
            let what =
                format!("the endpoint has no {interface:?}: it has 0 to {}", known.len().saturating_sub(1));
            io::Error::new(io::ErrorKind::NotFound, what)
        })
    }

    fn change(&self, interface: InterfaceId, change: InterfaceChange) -> io::Result<()> {
        self.position(interface)?;
        let mut core = self.shared.lock();
        core.check_running()?;
        core.endpoint.handle_interface(self.shared.now(), interface, change);
        self.shared.ring(&core);
        Ok(())
    }
}
