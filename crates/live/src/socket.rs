//! Sockets that block, in the manner of `std::net`.
//!
//! Owns waiting and the mapping of endings to `io::Error`. A socket may be used from several threads, and
//! reading and writing go on side by side through `&MptcpStream`. Never sees a packet.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use bytes::{Buf, Bytes};
use mptcp::{Closed, Config, ConnectError, ConnectionId, ConnectionInfo, ListenError, SubflowInfo};

use crate::Driver;
use crate::shared::{Core, Shared, Status};

/// A port that accepts connections on all addresses of a driver, from MPTCP and TCP alike.
#[derive(Debug)]
pub struct MptcpListener {
    shared: Arc<Shared>,
    port: u16,
}

impl MptcpListener {
    /// Listens on a port; `config` holds for the connections that come.
    ///
    /// # Errors
    /// `AddrInUse` when the port has a listener, `InvalidInput` for port 0.
    pub fn bind(driver: &Driver, port: u16, config: Config) -> io::Result<Self> {
        if port == 0 {
            let what = "port 0 names no port: choose one from 1 to 65535";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let shared = Arc::clone(&driver.shared);
        let config = fitted(&shared, config, |_| true);
        let mut core = shared.lock();
        core.endpoint.listen(port, config).map_err(|error| match error {
            ListenError::InUse(_) => io::Error::new(io::ErrorKind::AddrInUse, error),
        })?;
        core.backlogs.insert(port, std::collections::VecDeque::new());
        drop(core);
        Ok(Self { shared, port })
    }

    /// Waits for a connection; returns it with the address that it came from.
    ///
    /// # Errors
    /// `NotConnected` when the driver has stopped.
    pub fn accept(&self) -> io::Result<(MptcpStream, SocketAddr)> {
        let mut core = self.shared.lock();
        loop {
            if let Some(id) = core.backlogs.get_mut(&self.port).and_then(|backlog| backlog.pop_front()) {
                drop(core);
                let stream = MptcpStream { shared: Arc::clone(&self.shared), id };
                let peer = stream.peer_addr()?;
                return Ok((stream, peer));
            }
            core = self.shared.wait(core, None)?;
        }
    }
}

impl Drop for MptcpListener {
    fn drop(&mut self) {
        let now = self.shared.now();
        let mut core = self.shared.lock();
        core.endpoint.unlisten(self.port);
        for id in core.backlogs.remove(&self.port).into_iter().flatten() {
            core.endpoint.abort(now, id);
            core.abandon(now, id);
        }
        self.shared.ring();
    }
}

/// A connection. Dropping it closes it in the background, or resets it when data was left unread.
#[derive(Debug)]
pub struct MptcpStream {
    shared: Arc<Shared>,
    id: ConnectionId,
}

impl MptcpStream {
    /// Connects from the first address of the same family that `config` allows, and waits until the
    /// connection can carry data. The MSS is lowered to what the devices carry.
    ///
    /// # Errors
    /// `AddrNotAvailable` without an address of that family, `ConnectionRefused`, `TimedOut`.
    pub fn connect(driver: &Driver, remote: SocketAddr, config: Config) -> io::Result<Self> {
        let shared = Arc::clone(&driver.shared);
        let same = |address: IpAddr| address.is_ipv4() == remote.is_ipv4();
        let usable = |&&(id, address, _): &&(_, IpAddr, _)| same(address) && config.allows(id);
        let Some(&(interface, ..)) = shared.addresses.iter().find(usable) else {
            let what =
                format!("no address of the endpoint can reach {remote}: give it one of that IP version");
            return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, what));
        };
        let config = fitted(&shared, config, same);
        let mut core = shared.lock();
        let id = core.endpoint.connect(shared.now(), interface, remote, config).map_err(|error| {
            let kind = match error {
                ConnectError::Down(_) => io::ErrorKind::NetworkDown,
                ConnectError::NoPort(_) => io::ErrorKind::AddrInUse,
                ConnectError::NoInterface(_) | ConnectError::Family(..) => io::ErrorKind::AddrNotAvailable,
            };
            io::Error::new(kind, error)
        })?;
        core.sockets.insert(id, Status::default());
        shared.ring();
        drop(core);
        // Dropping it on the way out tidies up, and takes the lock.
        let stream = Self { shared, id };
        stream.wait_opened()?;
        Ok(stream)
    }

    fn wait_opened(&self) -> io::Result<()> {
        let mut core = self.shared.lock();
        loop {
            let status = self.status(&mut core)?;
            match status.closed {
                _ if status.opened => return Ok(()),
                Some(how) => return Err(ended(how)),
                None => core = self.shared.wait(core, None)?,
            }
        }
    }

    /// Says that no more will be written; what was written still arrives, and reading goes on.
    ///
    /// # Errors
    /// How the connection ended, if it was not in order.
    pub fn shutdown_write(&self) -> io::Result<()> {
        let mut core = self.shared.lock();
        let status = self.status(&mut core)?;
        status.write_closed = true;
        if let Some(how) = status.closed.filter(|how| *how != Closed::Finished) {
            return Err(ended(how));
        }
        core.endpoint.close(self.shared.now(), self.id);
        self.shared.ring();
        Ok(())
    }

    /// How long a read waits before it fails with `WouldBlock`; None is for ever.
    ///
    /// # Errors
    /// `NotConnected` when nothing is known of the connection any more.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.status(&mut self.shared.lock())?.read_timeout = timeout;
        Ok(())
    }

    /// How long a write waits before it fails with `WouldBlock`; None is for ever.
    ///
    /// # Errors
    /// `NotConnected` when nothing is known of the connection any more.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.status(&mut self.shared.lock())?.write_timeout = timeout;
        Ok(())
    }

    /// State of the connection and its subflows, as now or, once it is over, as it was at the end.
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

    fn status<'a>(&self, core: &'a mut MutexGuard<'_, Core>) -> io::Result<&'a mut Status> {
        core.sockets.get_mut(&self.id).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Drop for MptcpStream {
    fn drop(&mut self) {
        let mut core = self.shared.lock();
        core.abandon(self.shared.now(), self.id);
        self.shared.ring();
    }
}

impl Read for &MptcpStream {
    /// Reads what is there, or waits; 0 at the end of the peer's stream.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let mut core = self.shared.lock();
        let deadline = after(self.status(&mut core)?.read_timeout);
        loop {
            let count = fill(&mut core, self.shared.now(), self.id, buffer)?;
            if count > 0 {
                // The peer may have waited for the room.
                self.shared.ring();
                return Ok(count);
            }
            let status = self.status(&mut core)?;
            match status.closed {
                _ if status.finished => return Ok(0),
                Some(Closed::Finished) => return Ok(0),
                Some(how) => return Err(ended(how)),
                None => core = self.shared.wait(core, deadline)?,
            }
        }
    }
}

impl Write for &MptcpStream {
    /// Puts as much as there is room for into the send buffer, or waits for room.
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if data.is_empty() {
            return Ok(0);
        }
        let mut core = self.shared.lock();
        let deadline = after(self.status(&mut core)?.write_timeout);
        loop {
            let status = self.status(&mut core)?;
            match status.closed {
                _ if status.write_closed => return Err(io::ErrorKind::BrokenPipe.into()),
                Some(Closed::Finished) => return Err(io::ErrorKind::BrokenPipe.into()),
                Some(how) => return Err(ended(how)),
                None => {}
            }
            // One byte more than nothing, so that the endpoint knows of a writer that waits.
            let room = usize::try_from(core.endpoint.writable(self.id)).unwrap_or(usize::MAX).max(1);
            let some = Bytes::copy_from_slice(&data[..data.len().min(room)]);
            let taken = core.endpoint.write(self.shared.now(), self.id, some);
            if taken > 0 {
                self.shared.ring();
                return Ok(taken);
            }
            core = self.shared.wait(core, deadline)?;
        }
    }

    /// Nothing waits here: what is written is sent as soon as windows allow.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for MptcpStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}

impl Write for MptcpStream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        (&*self).write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Copies as much of the stream as there is.
fn fill(
    core: &mut Core,
    now: mptcp_clock::Instant,
    id: ConnectionId,
    buffer: &mut [u8],
) -> io::Result<usize> {
    let Core { endpoint, sockets, .. } = core;
    let status = sockets.get_mut(&id).ok_or(io::ErrorKind::NotConnected)?;
    let mut count = 0;
    while count < buffer.len() {
        if status.unread.is_empty() {
            let Some(more) = endpoint.read(now, id) else { break };
            status.unread = more;
        }
        let part = status.unread.len().min(buffer.len() - count);
        status.unread.copy_to_slice(&mut buffer[count..count + part]);
        count += part;
    }
    Ok(count)
}

fn after(timeout: Option<Duration>) -> Option<std::time::Instant> {
    timeout.and_then(|span| std::time::Instant::now().checked_add(span))
}

/// The MSS that the devices of these addresses can carry (RFC 9293 section 3.7.1).
fn fitted(shared: &Shared, mut config: Config, of: impl Fn(IpAddr) -> bool) -> Config {
    for &(_, address, mtu) in shared.addresses.iter().filter(|(_, address, _)| of(*address)) {
        let headers = if address.is_ipv4() { 40 } else { 60 };
        config.mss = config.mss.min(u16::try_from(mtu.saturating_sub(headers)).unwrap_or(u16::MAX));
    }
    config
}

fn ended(how: Closed) -> io::Error {
    match how {
        Closed::Finished => io::ErrorKind::BrokenPipe.into(),
        Closed::Refused => io::ErrorKind::ConnectionRefused.into(),
        Closed::Reset(None) => io::ErrorKind::ConnectionReset.into(),
        Closed::Reset(Some(reason)) => io::Error::new(
            io::ErrorKind::ConnectionReset,
            format!("connection reset by peer, MP_TCPRST reason {reason:?}"),
        ),
        Closed::Aborted => io::ErrorKind::ConnectionAborted.into(),
        Closed::TimedOut => io::ErrorKind::TimedOut.into(),
    }
}
