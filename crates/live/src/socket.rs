//! [`MptcpStream`], the blocking socket of an application for one connection. It resembles
//! `std::net::TcpStream`.
//!
//! Owns opening, reading, writing and closing. Several threads can use a socket, and read and write
//! concurrently through `&MptcpStream`. `waiting.rs` implements waiting, `poll.rs` polling, `transfer.rs`
//! copying. Never sees a packet.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use mptcp::{CloseReason, Config, ConnectError, ConnectionId, WriteFlags};

use crate::Driver;
use crate::shared::{Core, Shared, Status};
use crate::transfer::{copy, ended, put, room, take};
use crate::waiting::{Interest, wake};

/// RTT below which new data is not paced. Timers are too coarse for such a path, whose acknowledgements arrive within a
/// few packets.
const MIN_PACED_RTT: mptcp_clock::Duration = mptcp_clock::Duration::from_millis(1);

/// A connection. Dropping this value closes the connection in the background, or resets it if data is unread.
#[derive(Debug)]
pub struct MptcpStream {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: ConnectionId,
}

impl MptcpStream {
    /// Connects from the first address of the remote's family that `config` allows and whose interface is up.
    /// Waits until the connection can carry data. The MSS is limited to the MTU of the devices.
    ///
    /// # Errors
    /// `AddrNotAvailable` without an address of that family, `NetworkDown`, `ConnectionRefused`, `TimedOut`.
    pub fn connect(driver: &Driver, remote: SocketAddr, config: Config) -> io::Result<Self> {
        let stream = Self::open(driver, remote, config)?;
        stream.wait_connected(None)?;
        Ok(stream)
    }

    /// As [`Self::connect`], with a timeout.
    ///
    /// # Errors
    /// `TimedOut` after the timeout, and those of [`Self::connect`].
    pub fn connect_timeout(
        driver: &Driver,
        remote: SocketAddr,
        config: Config,
        timeout: Duration,
    ) -> io::Result<Self> {
        let stream = Self::open(driver, remote, config)?;
        if stream.wait_connected(Some(timeout))? {
            return Ok(stream);
        }
        let what = format!("no answer from {remote} in {timeout:?}");
        Err(io::Error::new(io::ErrorKind::TimedOut, what))
    }

    /// Starts to connect without waiting; [`Self::wait_connected`] and [`Self::poll_connected`] wait.
    ///
    /// # Errors
    /// `AddrNotAvailable` without an address of the remote's family, `NetworkDown` if none of those is up.
    pub fn open(driver: &Driver, remote: SocketAddr, config: Config) -> io::Result<Self> {
        let shared = Arc::clone(&driver.shared);
        let same = |address: IpAddr| address.is_ipv4() == remote.is_ipv4();
        let config = fitted(&shared, config, same);
        let mut core = shared.lock();
        core.check_running()?;
        let what = format!("no address of the endpoint can reach {remote}: add one of that IP version");
        let mut opened = Err(io::Error::new(io::ErrorKind::AddrNotAvailable, what));
        for known in shared.addresses.iter().filter(|a| same(a.address) && config.allows(a.interface)) {
            opened = core.endpoint.connect(shared.now(), known.interface, remote, config.clone()).map_err(
                |error| {
                    let kind = match error {
                        ConnectError::Down(_) => io::ErrorKind::NetworkDown,
                        ConnectError::NoPort(_) => io::ErrorKind::AddrInUse,
                        ConnectError::NoInterface(_) | ConnectError::Family(..) => {
                            io::ErrorKind::AddrNotAvailable
                        }
                    };
                    io::Error::new(kind, error)
                },
            );
            if opened.is_ok() {
                break;
            }
        }
        let id = opened?;
        core.sockets.insert(id, Status::default());
        shared.ring(&core);
        drop(core);
        Ok(Self { shared, id })
    }

    pub(crate) fn of(shared: &Arc<Shared>, id: ConnectionId) -> Self {
        Self { shared: Arc::clone(shared), id }
    }

    /// Waits until the connection can carry data, at most for `timeout` (`None` is unlimited). Returns whether
    /// it can.
    ///
    /// # Errors
    /// `ConnectionRefused`, `TimedOut`, or another cause that ended the connection.
    pub fn wait_connected(&self, timeout: Option<Duration>) -> io::Result<bool> {
        let deadline = after(timeout);
        let mut core = self.shared.lock();
        loop {
            if self.is_connected(&mut core)? {
                return Ok(true);
            }
            core = match self.wait(core, deadline) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                other => other?,
            };
        }
    }

    pub(crate) fn is_connected(&self, core: &mut MutexGuard<'_, Core>) -> io::Result<bool> {
        core.check_running()?;
        let status = self.status(core)?;
        match status.closed {
            Some(how) if !status.opened => Err(ended(how)),
            _ => Ok(status.opened),
        }
    }

    /// Closes one or both directions. After `Write`, written data and then the end of the stream are still
    /// delivered. After `Read`, reads return buffered data and then the end; as on Linux, the peer is not
    /// notified.
    ///
    /// # Errors
    /// An abnormal end of the connection.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let mut core = self.shared.lock();
        let status = self.status(&mut core)?;
        status.write_closed |= how != Shutdown::Read;
        status.read_closed |= how != Shutdown::Write;
        if let Some(how) = status.closed.filter(|how| *how != CloseReason::Finished) {
            return Err(ended(how));
        }
        // Wakes waiters in other threads.
        let mut woken = Vec::new();
        status.waiters.all(&mut woken);
        if how != Shutdown::Read {
            core.endpoint.close(self.shared.now(), self.id);
            self.shared.ring(&core);
        }
        drop(core);
        wake(woken);
        Ok(())
    }

    /// As [`Self::shutdown`], for writing.
    ///
    /// # Errors
    /// As [`Self::shutdown`].
    pub fn shutdown_write(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }

    /// Aborts the connection on all subflows, and notifies the peer with MP_FASTCLOSE (RFC 8684 section 3.5).
    /// Unsent and unread data is lost. Later calls fail with `ConnectionAborted`.
    ///
    /// # Errors
    /// `NotConnected` if the connection is no longer known.
    pub fn abort(&self) -> io::Result<()> {
        let mut core = self.shared.lock();
        let status = self.status(&mut core)?;
        status.unread = Bytes::new();
        core.endpoint.abort(self.shared.now(), self.id);
        while core.endpoint.read(self.shared.now(), self.id).is_some() {}
        self.shared.ring(&core);
        Ok(())
    }

    /// Timeout of reads, which then fail with `WouldBlock`; `None` is unlimited.
    ///
    /// # Errors
    /// `NotConnected` if the connection is no longer known.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.status(&mut self.shared.lock())?.read_timeout = timeout;
        Ok(())
    }

    /// Timeout of writes, which then fail with `WouldBlock`; `None` is unlimited.
    ///
    /// # Errors
    /// `NotConnected` if the connection is no longer known.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.status(&mut self.shared.lock())?.write_timeout = timeout;
        Ok(())
    }

    /// Whether reads and writes block.
    ///
    /// # Errors
    /// `NotConnected` if the connection is no longer known.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.status(&mut self.shared.lock())?.nonblocking = nonblocking;
        Ok(())
    }

    /// Reads up to `most` bytes without copying, or blocks. Returns no slice at the end of the stream.
    ///
    /// # Errors
    /// `WouldBlock` after the timeout or in non-blocking mode, or an abnormal end of the connection.
    pub fn read_slices(&self, most: usize) -> io::Result<Vec<Bytes>> {
        if most == 0 {
            return Ok(Vec::new());
        }
        let mut core = self.shared.lock();
        let deadline = self.patience(&mut core, Interest::Read)?;
        loop {
            if let Some(slices) = take(&self.shared, &mut core, self.id, most)? {
                return Ok(slices);
            }
            core = self.wait(core, deadline)?;
        }
    }

    /// Writes without copying, or blocks. Returns the number of accepted bytes. The memory is kept until the
    /// peer acknowledges the data.
    ///
    /// # Errors
    /// `WouldBlock` after the timeout or in non-blocking mode, `BrokenPipe` after closing, or the end of the
    /// connection.
    pub fn write_bytes(&self, data: &Bytes) -> io::Result<usize> {
        self.write_bytes_with(data, WriteFlags::default())
    }

    /// As [`Self::write_bytes`], with flags of send(2): more data follows (MSG_MORE), or a record ends here
    /// (MSG_EOR) if everything is accepted.
    ///
    /// # Errors
    /// As [`Self::write_bytes`].
    pub fn write_bytes_with(&self, data: &Bytes, flags: WriteFlags) -> io::Result<usize> {
        self.write_with(data.len(), flags, |some| data.slice(..some))
    }

    fn write_with(
        &self,
        length: usize,
        flags: WriteFlags,
        make: impl Fn(usize) -> Bytes,
    ) -> io::Result<usize> {
        if length == 0 {
            return Ok(0);
        }
        let mut core = self.shared.lock();
        let deadline = self.patience(&mut core, Interest::Write)?;
        loop {
            if let Some(room) = room(&self.shared, &mut core, self.id)? {
                drop(core);
                let part = length.min(room);
                // The rest follows later, so no record ends yet.
                let flags = WriteFlags { end_of_record: flags.end_of_record && part == length, ..flags };
                if let Some(taken) = put(&self.shared, self.id, make(part), flags)? {
                    return Ok(taken);
                }
                core = self.shared.lock();
            } else {
                core = self.wait(core, deadline)?;
            }
        }
    }

    pub(crate) fn status<'a>(&self, core: &'a mut MutexGuard<'_, Core>) -> io::Result<&'a mut Status> {
        core.sockets.get_mut(&self.id).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    fn wait<'a>(
        &'a self,
        core: MutexGuard<'a, Core>,
        deadline: Option<Instant>,
    ) -> io::Result<MutexGuard<'a, Core>> {
        self.shared
            .wait(core, deadline, |core| core.sockets.get_mut(&self.id).map(|status| &mut status.waiters))
    }

    /// The deadline of a call; `None` is unlimited.
    fn patience(&self, core: &mut MutexGuard<'_, Core>, interest: Interest) -> io::Result<Option<Instant>> {
        let status = self.status(core)?;
        let timeout = if interest == Interest::Read { status.read_timeout } else { status.write_timeout };
        Ok(after(if status.nonblocking { Some(Duration::ZERO) } else { timeout }))
    }
}

impl Drop for MptcpStream {
    fn drop(&mut self) {
        let mut core = self.shared.lock();
        core.abandon(self.shared.now(), self.id);
        self.shared.ring(&core);
    }
}

impl Read for &MptcpStream {
    /// Reads available data, or blocks; 0 at the end of the stream.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(copy(self.read_slices(buffer.len())?, buffer))
    }
}

impl Write for &MptcpStream {
    /// Copies data into the send buffer, or blocks until it has space.
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.write_with(data.len(), WriteFlags::default(), |some| Bytes::copy_from_slice(&data[..some]))
    }

    /// Nothing is buffered here: the connection sends data as soon as its windows allow.
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

pub(crate) fn after(timeout: Option<Duration>) -> Option<Instant> {
    timeout.and_then(|span| Instant::now().checked_add(span))
}

/// The configuration with the MSS that the devices of these addresses support (RFC 9293 section 3.7.1).
/// Settings that are `None` get the defaults of this crate, which suit Linux peers.
pub(crate) fn fitted(shared: &Shared, mut config: Config, of: impl Fn(IpAddr) -> bool) -> Config {
    for known in shared.addresses.iter().filter(|known| of(known.address)) {
        let headers = if known.address.is_ipv4() { 40 } else { 60 };
        config.mss = config.mss.min(u16::try_from(known.mtu.saturating_sub(headers)).unwrap_or(u16::MAX));
    }
    config.join_probation.get_or_insert(mptcp::JOIN_PROBATION);
    config.spurious_loss.get_or_insert(mptcp::SpuriousLoss::LINUX);
    config.ecn.get_or_insert(mptcp::Ecn::Passive);
    config.restart_after_idle.get_or_insert(true);
    config.receive_block = crate::blocks::BLOCK as u64;
    config.min_paced_rtt = config.min_paced_rtt.max(MIN_PACED_RTT);
    config
}
