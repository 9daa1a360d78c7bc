//! Methods of [`MptcpStream`] that read the state of a connection and change its options, as getsockopt(2)
//! and setsockopt(2) do for kernel sockets.
//!
//! Stateless: the endpoint has the options, and [`Config`](mptcp::Config) their initial values.

use std::io;
use std::net::SocketAddr;

use mptcp::congestion::CongestionControl;
use mptcp::policy::Factory;
use mptcp::scheduler::Scheduler;
use mptcp::{Config, ConnectionInfo, InterfaceId, Keepalive, SubflowId, SubflowInfo};
use mptcp_clock::Duration;

use crate::MptcpStream;

impl MptcpStream {
    /// The current or final state of the connection and its subflows, similar to `struct mptcp_info` and
    /// `struct tcp_info` on Linux. Includes closed subflows.
    ///
    /// # Errors
    /// `NotConnected` if the state is no longer known.
    pub fn info(&self) -> io::Result<ConnectionInfo> {
        let now = self.shared.now();
        let core = self.shared.lock();
        let last = core.sockets.get(&self.id).and_then(|status| status.last.clone());
        last.or_else(|| core.endpoint.info(now, self.id)).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Local address and port of the first subflow.
    ///
    /// # Errors
    /// As [`Self::info`].
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.first_subflow().map(|subflow| subflow.local)
    }

    /// Remote address and port of the first subflow.
    ///
    /// # Errors
    /// As [`Self::info`].
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.first_subflow().map(|subflow| subflow.remote)
    }

    fn first_subflow(&self) -> io::Result<SubflowInfo> {
        self.info()?.subflows.into_iter().next().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Disables or enables the Nagle algorithm, as `TCP_NODELAY`.
    ///
    /// # Errors
    /// `NotConnected` after the end of the connection.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.running()?;
        let mut core = self.shared.lock();
        core.endpoint.set_nodelay(self.shared.now(), self.id, nodelay);
        self.shared.ring(&core);
        Ok(())
    }

    /// Delays small segments while corked, as `TCP_CORK`, for at most one retransmission timeout.
    ///
    /// # Errors
    /// `NotConnected` after the end of the connection.
    pub fn set_cork(&self, corked: bool) -> io::Result<()> {
        self.running()?;
        let mut core = self.shared.lock();
        core.endpoint.set_cork(self.shared.now(), self.id, corked);
        self.shared.ring(&core);
        Ok(())
    }

    /// Whether the Nagle algorithm is disabled.
    ///
    /// # Errors
    /// `NotConnected` after the end of the connection.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.running().map(|config| !config.nagle)
    }

    /// Enables keepalives on each subflow, or disables them with `None`: `SO_KEEPALIVE` with `TCP_KEEPIDLE`,
    /// `TCP_KEEPINTVL` and `TCP_KEEPCNT`. Disabled by default, unless [`Config`] enables them.
    ///
    /// # Errors
    /// `NotConnected` after the end of the connection.
    pub fn set_keepalive(&self, keepalive: Option<Keepalive>) -> io::Result<()> {
        self.running()?;
        let mut core = self.shared.lock();
        core.endpoint.set_keepalive(self.shared.now(), self.id, keepalive);
        self.shared.ring(&core);
        Ok(())
    }

    /// The current keepalive setting.
    ///
    /// # Errors
    /// `NotConnected` after the end of the connection.
    pub fn keepalive(&self) -> io::Result<Option<Keepalive>> {
        self.running().map(|config| config.keepalive)
    }

    /// Sets the time after which a subflow with unacknowledged data ends, as `TCP_USER_TIMEOUT` (RFC 5482).
    /// With `None`, the default, the number of retransmissions is the limit.
    ///
    /// # Errors
    /// `NotConnected` after the end of the connection.
    pub fn set_user_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.running()?;
        let mut core = self.shared.lock();
        core.endpoint.set_user_timeout(self.shared.now(), self.id, timeout);
        self.shared.ring(&core);
        Ok(())
    }

    /// Limits the unsent bytes in the send buffer, as `TCP_NOTSENT_LOWAT`. With `None`, the default, the send
    /// buffer is the limit.
    ///
    /// # Errors
    /// `NotConnected` after the end of the connection.
    pub fn set_notsent_lowat(&self, most: Option<u64>) -> io::Result<()> {
        self.running()?;
        let mut core = self.shared.lock();
        core.endpoint.set_notsent_lowat(self.shared.now(), self.id, most);
        self.shared.ring(&core);
        Ok(())
    }

    /// Changes the congestion controller and keeps the congestion windows.
    ///
    /// # Errors
    /// `NotConnected` after the end of the connection.
    pub fn set_congestion(&self, congestion: &Factory<dyn CongestionControl>) -> io::Result<()> {
        self.running()?;
        self.shared.lock().endpoint.set_policies(self.id, Some(congestion.build()), None);
        Ok(())
    }

    /// Changes the scheduler.
    ///
    /// # Errors
    /// `NotConnected` after the end of the connection.
    pub fn set_scheduler(&self, scheduler: &Factory<dyn Scheduler>) -> io::Result<()> {
        self.running()?;
        self.shared.lock().endpoint.set_policies(self.id, None, Some(scheduler.build()));
        Ok(())
    }

    /// Opens another subflow from a local interface to a remote address; [`Self::info`] shows its state.
    ///
    /// # Errors
    /// `NotConnected` after the end of the connection. `InvalidInput` for a TCP connection, beyond the limit
    /// of subflows, or for an interface that is down or has another IP version.
    pub fn open_subflow(&self, from: InterfaceId, to: SocketAddr) -> io::Result<()> {
        self.running()?;
        let mut core = self.shared.lock();
        if !core.endpoint.open_subflow(self.shared.now(), self.id, from, to) {
            let what = format!(
                "no subflow to {to} from {from:?}: the connection must use MPTCP and have fewer than \
                 max_subflows subflows; the interface must be up, with an address of that IP version"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        self.shared.ring(&core);
        Ok(())
    }

    /// Ends a subflow; the connection continues over the others.
    ///
    /// # Errors
    /// `NotConnected` after the end of the connection, `NotFound` without such an open subflow.
    pub fn close_subflow(&self, subflow: SubflowId) -> io::Result<()> {
        self.running()?;
        let mut core = self.shared.lock();
        if !core.endpoint.close_subflow(self.shared.now(), self.id, subflow) {
            let what = format!("the connection has no open subflow {subflow}");
            return Err(io::Error::new(io::ErrorKind::NotFound, what));
        }
        self.shared.ring(&core);
        Ok(())
    }

    /// The configuration of an open connection.
    fn running(&self) -> io::Result<Config> {
        let core = self.shared.lock();
        let connection = core.endpoint.connection(self.id).map(|connection| connection.config().clone());
        connection.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}
