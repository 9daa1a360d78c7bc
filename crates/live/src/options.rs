//! What a running connection tells of itself, and what can be changed about it.
//!
//! Owns no state. What holds from the start is in [`Config`](mptcp::Config).

use std::io;
use std::net::SocketAddr;

use mptcp::congestion::CongestionControl;
use mptcp::policy::Factory;
use mptcp::scheduler::Scheduler;
use mptcp::{Config, ConnectionInfo, InterfaceId, Keepalive, SubflowId, SubflowInfo};
use mptcp_clock::Duration;

use crate::MptcpStream;

impl MptcpStream {
    /// State of the connection and its subflows, as now or, once it is over, as it was at the end; what
    /// `struct mptcp_info` and `struct tcp_info` give on Linux. Subflows that are over are there too.
    ///
    /// # Errors
    /// `NotConnected` when nothing is known any more.
    pub fn info(&self) -> io::Result<ConnectionInfo> {
        let now = self.shared.now();
        let core = self.shared.lock();
        let last = core.sockets.get(&self.id).and_then(|status| status.last.clone());
        last.or_else(|| core.endpoint.info(now, self.id)).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Our address and port of the first subflow.
    ///
    /// # Errors
    /// As [`Self::info`].
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.first_subflow().map(|subflow| subflow.local)
    }

    /// The peer's address and port of the first subflow.
    ///
    /// # Errors
    /// As [`Self::info`].
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.first_subflow().map(|subflow| subflow.remote)
    }

    fn first_subflow(&self) -> io::Result<SubflowInfo> {
        self.info()?.subflows.into_iter().next().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Turns Nagle's algorithm off or on, as `TCP_NODELAY`.
    ///
    /// # Errors
    /// `NotConnected` when the connection is over.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.running()?;
        let mut core = self.shared.lock();
        core.endpoint.set_nodelay(self.shared.now(), self.id, nodelay);
        self.shared.ring(&core);
        Ok(())
    }

    /// Holds small segments back for more to come, or no longer, as `TCP_CORK`: for a retransmission timeout at most.
    ///
    /// # Errors
    /// `NotConnected` when the connection is over.
    pub fn set_cork(&self, corked: bool) -> io::Result<()> {
        self.running()?;
        let mut core = self.shared.lock();
        core.endpoint.set_cork(self.shared.now(), self.id, corked);
        self.shared.ring(&core);
        Ok(())
    }

    /// Whether Nagle's algorithm is off.
    ///
    /// # Errors
    /// `NotConnected` when the connection is over.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.running().map(|config| !config.nagle)
    }

    /// Asks a silent peer whether it is there, on each subflow, or stops doing so: `SO_KEEPALIVE` with `TCP_KEEPIDLE`,
    /// `TCP_KEEPINTVL` and `TCP_KEEPCNT`. None is the default, unless the [`Config`] says otherwise.
    ///
    /// # Errors
    /// `NotConnected` when the connection is over.
    pub fn set_keepalive(&self, keepalive: Option<Keepalive>) -> io::Result<()> {
        self.running()?;
        let mut core = self.shared.lock();
        core.endpoint.set_keepalive(self.shared.now(), self.id, keepalive);
        self.shared.ring(&core);
        Ok(())
    }

    /// What [`Self::set_keepalive`] or the [`Config`] has set.
    ///
    /// # Errors
    /// `NotConnected` when the connection is over.
    pub fn keepalive(&self) -> io::Result<Option<Keepalive>> {
        self.running().map(|config| config.keepalive)
    }

    /// Ends a subflow whose data stays unacknowledged for so long, as `TCP_USER_TIMEOUT` (RFC 5482); None, the default, leaves
    /// it to the number of retransmissions.
    ///
    /// # Errors
    /// `NotConnected` when the connection is over.
    pub fn set_user_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.running()?;
        let mut core = self.shared.lock();
        core.endpoint.set_user_timeout(self.shared.now(), self.id, timeout);
        self.shared.ring(&core);
        Ok(())
    }

    /// Takes no more from the application while so many bytes wait unsent, as `TCP_NOTSENT_LOWAT`; None, the default, takes
    /// what the send buffer holds.
    ///
    /// # Errors
    /// `NotConnected` when the connection is over.
    pub fn set_notsent_lowat(&self, most: Option<u64>) -> io::Result<()> {
        self.running()?;
        let mut core = self.shared.lock();
        core.endpoint.set_notsent_lowat(self.shared.now(), self.id, most);
        self.shared.ring(&core);
        Ok(())
    }

    /// Changes the congestion control; the windows stay as they are.
    ///
    /// # Errors
    /// `NotConnected` when the connection is over.
    pub fn set_congestion(&self, congestion: &Factory<dyn CongestionControl>) -> io::Result<()> {
        self.running()?;
        self.shared.lock().endpoint.set_policies(self.id, Some(congestion.build()), None);
        Ok(())
    }

    /// Changes the scheduler.
    ///
    /// # Errors
    /// `NotConnected` when the connection is over.
    pub fn set_scheduler(&self, scheduler: &Factory<dyn Scheduler>) -> io::Result<()> {
        self.running()?;
        self.shared.lock().endpoint.set_policies(self.id, None, Some(scheduler.build()));
        Ok(())
    }

    /// Opens a further subflow, from an interface of ours to an address of the peer's; [`Self::info`] shows what
    /// becomes of it.
    ///
    /// # Errors
    /// `NotConnected` when the connection is over; `InvalidInput` on TCP, beyond the limit of subflows, from an
    /// interface that is down or of the other IP version.
    pub fn open_subflow(&self, from: InterfaceId, to: SocketAddr) -> io::Result<()> {
        self.running()?;
        let mut core = self.shared.lock();
        if !core.endpoint.open_subflow(self.shared.now(), self.id, from, to) {
            let what = format!(
                "no subflow to {to} from {from:?}: it takes MPTCP, an interface that is up and has an address of that \
                 IP version, and room below max_subflows"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        self.shared.ring(&core);
        Ok(())
    }

    /// Ends a subflow; the connection goes on over the others.
    ///
    /// # Errors
    /// `NotConnected` when the connection is over, `NotFound` when it has no such subflow that is open.
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

    /// What it was told, as long as it is not over.
    fn running(&self) -> io::Result<Config> {
        let core = self.shared.lock();
        let connection = core.endpoint.connection(self.id).map(|connection| connection.config().clone());
        connection.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}
