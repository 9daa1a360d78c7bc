//! The interfaces of a running endpoint: which there are, and changing them.
//!
//! Owns no state. Never touches the devices: an interface that is taken down here is down for the endpoint only, as when
//! its address were deleted.

use std::io;

use mptcp::{InterfaceChange, InterfaceId};

use crate::Driver;
use crate::shared::Address;

impl Driver {
    /// The addresses of the endpoint, with their devices.
    #[must_use]
    pub fn addresses(&self) -> &[Address] {
        &self.shared.addresses
    }

    /// Brings an interface up or takes it down, for all connections. Down ends its subflows and removes its address at
    /// the peers (REMOVE_ADDR, RFC 8684 section 3.4.2); up joins from it or announces it.
    ///
    /// # Errors
    /// `NotFound` for an interface that the endpoint does not have, `NotConnected` when the driver has stopped.
    pub fn set_interface(&self, interface: InterfaceId, up: bool) -> io::Result<()> {
        self.change(interface, if up { InterfaceChange::Up } else { InterfaceChange::Down })
    }

    /// Makes the subflows of an interface backups, or regular ones again, and tells the peers (MP_PRIO, RFC 8684
    /// section 3.3.8).
    ///
    /// # Errors
    /// As [`Self::set_interface`].
    pub fn set_backup(&self, interface: InterfaceId, backup: bool) -> io::Result<()> {
        self.change(interface, InterfaceChange::Backup(backup))
    }

    fn change(&self, interface: InterfaceId, change: InterfaceChange) -> io::Result<()> {
        if !self.shared.addresses.iter().any(|known| known.interface == interface) {
            let what = format!(
                "the endpoint has no {interface:?}: it has 0 to {}",
                self.shared.addresses.len().saturating_sub(1)
            );
            return Err(io::Error::new(io::ErrorKind::NotFound, what));
        }
        let mut core = self.shared.lock();
        core.check_running()?;
        core.endpoint.handle_interface(self.shared.now(), interface, change);
        self.shared.ring(&core);
        Ok(())
    }
}
