//! Sockets for the tokio runtime.
//!
//! Implements tokio's traits with the poll functions of [`crate::MptcpStream`], without a thread, timer or
//! reactor. The socket stores the waker of a waiting task, and the driver's thread wakes the task.
//! `tokio::io::split` gives a reading and a writing half.

use std::future::poll_fn;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use ::tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{Config, ConnectionInfo, Driver};

/// As [`crate::MptcpListener`], for tasks.
#[derive(Debug)]
pub struct MptcpListener(crate::MptcpListener);

impl MptcpListener {
    /// Listens on a port of all addresses of a driver; port 0 selects a free one.
    ///
    /// # Errors
    /// As [`crate::MptcpListener::bind`].
    pub fn bind(driver: &Driver, port: u16, config: Config) -> io::Result<Self> {
        crate::MptcpListener::bind(driver, port, config).map(Self)
    }

    /// Waits for a connection; returns it with the remote address. Cancel-safe.
    ///
    /// # Errors
    /// `NotConnected` if the driver has stopped.
    pub async fn accept(&self) -> io::Result<(MptcpStream, SocketAddr)> {
        let (stream, peer) = poll_fn(|context| self.0.poll_accept(context)).await?;
        Ok((MptcpStream(stream), peer))
    }

    /// The local address, with the actual port.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.0.local_addr()
    }

    /// The blocking listener.
    #[must_use]
    pub fn into_blocking(self) -> crate::MptcpListener {
        self.0
    }
}

impl From<crate::MptcpListener> for MptcpListener {
    fn from(listener: crate::MptcpListener) -> Self {
        Self(listener)
    }
}

/// As [`crate::MptcpStream`], for tasks.
#[derive(Debug)]
pub struct MptcpStream(crate::MptcpStream);

impl MptcpStream {
    /// Connects, as [`crate::MptcpStream::connect`]. Dropping the future cancels the attempt.
    ///
    /// # Errors
    /// As [`crate::MptcpStream::connect`].
    pub async fn connect(driver: &Driver, remote: SocketAddr, config: Config) -> io::Result<Self> {
        let stream = crate::MptcpStream::open(driver, remote, config)?;
        poll_fn(|context| stream.poll_connected(context)).await?;
        Ok(Self(stream))
    }

    /// State of the connection and its subflows.
    ///
    /// # Errors
    /// As [`crate::MptcpStream::info`].
    pub fn info(&self) -> io::Result<ConnectionInfo> {
        self.0.info()
    }

    /// The blocking socket, for its options.
    #[must_use]
    pub fn get_ref(&self) -> &crate::MptcpStream {
        &self.0
    }

    /// The blocking socket.
    #[must_use]
    pub fn into_blocking(self) -> crate::MptcpStream {
        self.0
    }
}

impl From<crate::MptcpStream> for MptcpStream {
    fn from(stream: crate::MptcpStream) -> Self {
        Self(stream)
    }
}

impl AsyncRead for MptcpStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.poll_read(context, buffer.initialize_unfilled()).map_ok(|count| buffer.advance(count))
    }
}

impl AsyncWrite for MptcpStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.0.poll_write(context, data)
    }

    /// Nothing is buffered here: the connection sends data as soon as its windows allow.
    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.shutdown(Shutdown::Write))
    }
}
