//! The link of an interface: a TUN device, an Ethernet interface, or a pipe within this process.
//!
//! Owns only the choice between them, so that a driver handles all alike. Pipes need no privileges.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use bytes::{Bytes, BytesMut};
use mptcp_wire::ChecksumMode;

use crate::{Ethernet, Offload, Pipe, Tun, ethernet};

/// A non-blocking source and sink of whole IP packets.
#[derive(Debug)]
pub enum Link {
    /// A network interface of the kernel.
    Tun(Tun),
    /// An Ethernet interface of the kernel, through a packet socket.
    Ethernet(Ethernet),
    /// One end of a link inside this process.
    Pipe(Pipe),
}

impl Link {
    /// The name of the network interface or pipe.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Tun(tun) => tun.name(),
            Self::Ethernet(ethernet) => ethernet.name(),
            Self::Pipe(pipe) => pipe.name(),
        }
    }

    /// Maximum IP packet, bytes.
    #[must_use]
    pub fn mtu(&self) -> usize {
        match self {
            Self::Tun(tun) => tun.mtu(),
            Self::Ethernet(ethernet) => ethernet.mtu(),
            Self::Pipe(pipe) => pipe.mtu(),
        }
    }

    /// The offloads; none for a pipe, all for an Ethernet interface.
    #[must_use]
    pub fn offload(&self) -> Offload {
        match self {
            Self::Tun(tun) => tun.offload(),
            Self::Ethernet(_) => Offload::Full,
            Self::Pipe(_) => Offload::None,
        }
    }

    /// Reads one packet, as [`Tun::read`] without offload, truncated to `buffer`.
    ///
    /// # Errors
    /// `WouldBlock` without a packet, device errors, `Unsupported` for Ethernet, or `BrokenPipe` for a pipe whose other end is closed.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tun(tun) => tun.read(buffer),
            Self::Ethernet(_) => Err(io::ErrorKind::Unsupported.into()),
            Self::Pipe(pipe) => pipe.take().map(|packet| {
                let length = packet.len().min(buffer.len());
                buffer[..length].copy_from_slice(&packet[..length]);
                length
            }),
        }
    }

    /// Writes one packet, as [`Tun::write`] without offload.
    ///
    /// # Errors
    /// Device errors, `Unsupported` for Ethernet, or `WouldBlock` for a pipe that is full or whose other end is closed.
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        match self {
            Self::Tun(tun) => tun.write(packet),
            Self::Ethernet(_) => Err(io::ErrorKind::Unsupported.into()),
            Self::Pipe(pipe) => pipe.put(Bytes::copy_from_slice(packet)),
        }
    }

    /// Appends one packet to `buffer`, or fails with `WouldBlock`. Returns the state of its checksum.
    pub(crate) fn receive(&self, buffer: &mut BytesMut) -> io::Result<ChecksumMode> {
        match self {
            Self::Tun(tun) => tun.receive(buffer),
            Self::Ethernet(ethernet) => ethernet.receive(buffer),
            Self::Pipe(pipe) => pipe.receive(buffer).map(|()| ChecksumMode::Complete),
        }
    }

    /// The link-layer header of an IP packet; `None` for links that carry bare packets.
    pub(crate) fn header(&self, v4: bool) -> Option<[u8; ethernet::HEADER]> {
        match self {
            Self::Ethernet(ethernet) => Some(ethernet.header(v4)),
            Self::Tun(_) | Self::Pipe(_) => None,
        }
    }

    /// Writes one packet. With offload, `headers` must begin with the header from [`crate::vnet::outgoing`], followed
    /// by [`Self::header`].
    pub(crate) fn send(&self, headers: &[u8], payload: &[u8]) -> io::Result<()> {
        match self {
            Self::Tun(tun) => tun.send(headers, payload),
            Self::Ethernet(ethernet) => ethernet.send(headers, payload),
            Self::Pipe(pipe) => pipe.send(headers, payload),
        }
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tun(tun) => tun.as_fd(),
            Self::Ethernet(ethernet) => ethernet.as_fd(),
            Self::Pipe(pipe) => pipe.as_fd(),
        }
    }
}

impl From<Tun> for Link {
    fn from(tun: Tun) -> Self {
        Self::Tun(tun)
    }
}

impl From<Ethernet> for Link {
    fn from(ethernet: Ethernet) -> Self {
        Self::Ethernet(ethernet)
    }
}

impl From<Pipe> for Link {
    fn from(pipe: Pipe) -> Self {
        Self::Pipe(pipe)
    }
}
