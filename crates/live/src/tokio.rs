//! Sockets for the tokio runtime.
//!
//! Owns tokio's traits over [`poll`](crate::MptcpStream::poll_read), nothing else: no thread, no timer, no reactor. A
//! task that waits is kept with its socket, and the driver's thread wakes it. `tokio::io::split` gives two halves.

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
    /// Listens on a port of all addresses of a driver; port 0 is one that is free.
    ///
    /// # Errors
    /// As [`crate::MptcpListener::bind`].
    pub fn bind(driver: &Driver, port: u16, config: Config) -> io::Result<Self> {
        crate::MptcpListener::bind(driver, port, config).map(Self)
    }

    /// Waits for a connection; returns it with the address that it came from. Nothing is lost when the future is
    /// dropped.
    ///
    /// # Errors
    /// `NotConnected` when the driver has stopped.
    pub async fn accept(&self) -> io::Result<(MptcpStream, SocketAddr)> {
        let (stream, peer) = poll_fn(|context| self.0.poll_accept(context)).await?;
        Ok((MptcpStream(stream), peer))
    }

    /// The address that it was bound to, with the port that it got.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.0.local_addr()
    }

    /// The listener that blocks.
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
    /// Connects, as [`crate::MptcpStream::connect`] does. Dropping the future gives up.
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

    /// The socket that blocks: for options that can be changed while it runs, too.
    #[must_use]
    pub fn get_ref(&self) -> &crate::MptcpStream {
        &self.0
    }

    /// The socket that blocks.
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

    /// Nothing waits here: what is written is sent as soon as windows allow.
    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.shutdown(Shutdown::Write))
    }
}
