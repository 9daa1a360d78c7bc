//! A listening port, similar to `std::net::TcpListener`.
//!
//! Owns the port until it is dropped. Never sees a packet: the endpoint creates connections, and drops SYNs
//! while the backlog is full.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use mptcp::{Config, ListenError};

use crate::shared::{Backlog, Core, Shared};
use crate::socket::{after, fitted};
use crate::waiting::{Interest, Waiters};
use crate::{Driver, MptcpStream};

/// Default backlog: `net.core.somaxconn` of Linux.
pub const SOMAXCONN: usize = 4096;
/// Candidates for port 0: the default `net.ipv4.ip_local_port_range` of Linux.
const EPHEMERAL: std::ops::RangeInclusive<u16> = 32_768..=60_999;

/// A listening port for MPTCP and TCP connections. Dropping the listener resets unaccepted connections.
#[derive(Debug)]
pub struct MptcpListener {
    shared: Arc<Shared>,
    address: SocketAddr,
    nonblocking: AtomicBool,
}

impl MptcpListener {
    /// Listens on a port of all addresses of a driver. `config` applies to accepted connections. Port 0
    /// selects a free port.
    ///
    /// # Errors
    /// `AddrInUse` if the port has a listener.
    pub fn bind(driver: &Driver, port: u16, config: Config) -> io::Result<Self> {
        let six = driver.shared.addresses.iter().all(|known| known.address.is_ipv6());
        let any: IpAddr = if six { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
        Self::bind_to(driver, SocketAddr::new(any, port), config, SOMAXCONN)
    }

    /// Listens on one address of a driver. An unspecified address (`0.0.0.0`, `::`) means all addresses of
    /// both families. Additional subflows can arrive at any address. At most `backlog` + 1 connections wait
    /// for acceptance, as on Linux; further SYNs are dropped.
    ///
    /// # Errors
    /// `AddrInUse` if the port has a listener, `AddrNotAvailable` if the driver lacks the address.
    pub fn bind_to(
        driver: &Driver,
        mut address: SocketAddr,
        config: Config,
        backlog: usize,
    ) -> io::Result<Self> {
        let shared = Arc::clone(&driver.shared);
        let anywhere = address.ip().is_unspecified();
        let here = |ip: IpAddr| anywhere || ip == address.ip();
        let of = shared.addresses.iter().filter(|known| here(known.address)).map(|known| known.interface);
        let interfaces: Vec<_> = of.collect();
        if interfaces.is_empty() {
            let all: Vec<String> = shared.addresses.iter().map(|known| known.address.to_string()).collect();
            let what = format!("{} is no address of the endpoint: it has {}", address.ip(), all.join(", "));
            return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, what));
        }
        let config = fitted(&shared, config, |_| true);
        let mut core = shared.lock();
        core.check_running()?;
        if address.port() == 0 {
            let free = EPHEMERAL.into_iter().find(|port| !core.backlogs.contains_key(port));
            address.set_port(free.ok_or(io::ErrorKind::AddrInUse)?);
        }
        let some = (!anywhere).then_some(interfaces);
        // The accept queue of Linux holds one more than its backlog (sk_acceptq_is_full).
        let most = Some(backlog.saturating_add(1));
        core.endpoint.listen_on(address.port(), config, some, most).map_err(|error| match error {
            ListenError::InUse(_) => io::Error::new(io::ErrorKind::AddrInUse, error),
        })?;
        core.backlogs.insert(address.port(), Backlog::default());
        drop(core);
        Ok(Self { shared, address, nonblocking: AtomicBool::new(false) })
    }

    /// Waits for a connection; returns it with the remote address.
    ///
    /// # Errors
    /// `NotConnected` if the driver has stopped, `WouldBlock` in non-blocking mode without a connection.
    pub fn accept(&self) -> io::Result<(MptcpStream, SocketAddr)> {
        let patience = self.nonblocking.load(Ordering::Relaxed).then_some(Duration::ZERO);
        self.accept_within(patience)
    }

    /// As [`Self::accept`], with a timeout.
    ///
    /// # Errors
    /// `WouldBlock` after the timeout, `NotConnected` if the driver has stopped.
    pub fn accept_timeout(&self, timeout: Duration) -> io::Result<(MptcpStream, SocketAddr)> {
        self.accept_within(Some(timeout))
    }

    fn accept_within(&self, timeout: Option<Duration>) -> io::Result<(MptcpStream, SocketAddr)> {
        let deadline = after(timeout);
        let mut core = self.shared.lock();
        loop {
            if let Some(stream) = self.pop(&mut core) {
                drop(core);
                let peer = stream.peer_addr()?;
                return Ok((stream, peer));
            }
            core = self.shared.wait(core, deadline, |core| self.waiters(core))?;
        }
    }

    /// Accepts a waiting connection, or registers the task for the next one, for asynchronous runtimes.
    ///
    /// # Errors
    /// `NotConnected` if the driver has stopped.
    pub fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<(MptcpStream, SocketAddr)>> {
        let mut core = self.shared.lock();
        let Some(stream) = self.pop(&mut core) else {
            core.check_running()?;
            if let Some(waiters) = self.waiters(&mut core) {
                waiters.register(Interest::Read, context);
            }
            return Poll::Pending;
        };
        drop(core);
        let peer = stream.peer_addr()?;
        Poll::Ready(Ok((stream, peer)))
    }

    fn pop(&self, core: &mut Core) -> Option<MptcpStream> {
        let id = core.backlogs.get_mut(&self.address.port())?.queue.pop_front()?;
        if let Some(status) = core.sockets.get_mut(&id) {
            status.waits_at = None;
        }
        core.endpoint.accept(id);
        // The freed buffer may allow a window update.
        self.shared.ring(core);
        Some(MptcpStream::of(&self.shared, id))
    }

    fn waiters<'a>(&self, core: &'a mut Core) -> Option<&'a mut Waiters> {
        core.backlogs.get_mut(&self.address.port()).map(|backlog| &mut backlog.waiters)
    }

    /// An endless iterator over connections; errors do not end it.
    pub fn incoming(&self) -> impl Iterator<Item = io::Result<MptcpStream>> + '_ {
        std::iter::repeat_with(|| self.accept().map(|(stream, _)| stream))
    }

    /// Sets whether [`Self::accept`] returns `WouldBlock` instead of waiting.
    pub fn set_nonblocking(&self, nonblocking: bool) {
        self.nonblocking.store(nonblocking, Ordering::Relaxed);
    }

    /// The local address, with the actual port.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MptcpListener {
    fn drop(&mut self) {
        let now = self.shared.now();
        let mut core = self.shared.lock();
        core.endpoint.unlisten(self.address.port());
        let backlog = core.backlogs.remove(&self.address.port());
        for id in backlog.into_iter().flat_map(|backlog| backlog.queue) {
            core.endpoint.abort(now, id);
            core.abandon(now, id);
        }
        self.shared.ring(&core);
    }
}
