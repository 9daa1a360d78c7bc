//! Client connections: [`Endpoint::connect`] and its errors.
//!
//! Owns the choice of local address, port and initial sequence number. Never handles a segment.

use std::net::{IpAddr, SocketAddr};

use mptcp_clock::Instant;

use crate::config::Config;
use crate::connection::Connection;
use crate::endpoint::Endpoint;
use crate::ids::{ConnectionId, InterfaceId};
use crate::subflow::{Origin, Subflow};

/// Why a connection could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The interface does not exist.
    #[error("interface {0:?} does not exist")]
    NoInterface(InterfaceId),
    /// The interface is down.
    #[error("interface {0:?} is down: bring it up first")]
    Down(InterfaceId),
    /// The local and the remote address belong to different IP versions.
    #[error("interface address {0} cannot reach {1}: different IP versions")]
    Family(IpAddr, IpAddr),
    /// All ephemeral ports towards that peer are in use.
    #[error("no free port towards {0}")]
    NoPort(SocketAddr),
}

impl Endpoint {
    /// Opens a connection from an interface and returns its id.
    ///
    /// # Errors
    ///
    /// If the interface does not exist, is down, has an address of the other IP version, or has no free port.
    pub fn connect(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        remote: SocketAddr,
        config: Config,
    ) -> Result<ConnectionId, ConnectError> {
        self.open(now, interface, remote, config, |_| {})
    }

    /// Opens a connection; `prepare` changes its first subflow before the SYN is built.
    pub(crate) fn open(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        remote: SocketAddr,
        config: Config,
        prepare: impl FnOnce(&mut Subflow),
    ) -> Result<ConnectionId, ConnectError> {
        let mut config = config.within_limits();
        let found = self.interfaces.get(interface).ok_or(ConnectError::NoInterface(interface))?;
        if !found.up {
            return Err(ConnectError::Down(interface));
        }
        let (address, backup) = (found.address, found.backup || config.backups.contains(&interface));
        if address.is_ipv4() != remote.is_ipv4() {
            return Err(ConnectError::Family(address, remote.ip()));
        }
        let local = self.free_port(address, remote).ok_or(ConnectError::NoPort(remote))?;
        let timeout = config.linux_stack.blackhole_timeout;
        config.multipath &= timeout.is_none_or(|timeout| !self.blackhole.is_active(now, timeout));
        let addresses = self.interfaces.local_addresses(interface, &config);
        let random = self.next_random();
        let iss = self.random.next_u32();
        let mut subflow = self.interfaces.subflow(interface, local, remote, Origin::Initial, iss, &config);
        subflow.clock_mut().offset = self.secret.timestamp_offset(local, remote);
        prepare(&mut subflow);
        let mut connection = Connection::new(now, config, true, random, addresses, None);
        connection.open(now, subflow, 0, backup);
        Ok(self.insert(now, connection))
    }
}
