//! The link of an interface: a TUN device, or a pipe within this process.
//!
//! Owns only the choice between them, so that a driver handles both alike. Pipes need no privileges.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use bytes::{Bytes, BytesMut};
use mptcp_wire::ChecksumMode;

use crate::{Offload, Pipe, Tun};

/// A non-blocking source and sink of whole IP packets.
#[derive(Debug)]
pub enum Link {
    /// A network interface of the kernel.
    Tun(Tun),
    /// One end of a link inside this process.
    Pipe(Pipe),
}

impl Link {
    /// The name of the network interface or pipe.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Tun(tun) => tun.name(),
            Self::Pipe(pipe) => pipe.name(),
        }
    }

    /// Maximum IP packet, bytes.
    #[must_use]
    pub fn mtu(&self) -> usize {
        match self {
            Self::Tun(tun) => tun.mtu(),
            Self::Pipe(pipe) => pipe.mtu(),
        }
    }

    /// The offloads; none for a pipe.
    #[must_use]
    pub fn offload(&self) -> Offload {
        match self {
            Self::Tun(tun) => tun.offload(),
            Self::Pipe(_) => Offload::None,
        }
    }

    /// Reads one packet, as [`Tun::read`] without offload, truncated to `buffer`.
    ///
    /// # Errors
    /// `WouldBlock` without a packet, device errors, or `BrokenPipe` for a pipe whose other end is closed.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tun(tun) => tun.read(buffer),
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
    /// Device errors, or `WouldBlock` for a pipe that is full or whose other end is closed.
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        match self {
            Self::Tun(tun) => tun.write(packet),
            Self::Pipe(pipe) => pipe.put(Bytes::copy_from_slice(packet)),
        }
    }

    /// Appends one packet to `buffer`, or fails with `WouldBlock`. Returns the state of its checksum.
    pub(crate) fn receive(&self, buffer: &mut BytesMut) -> io::Result<ChecksumMode> {
        match self {
            Self::Tun(tun) => tun.receive(buffer),
            Self::Pipe(pipe) => pipe.receive(buffer).map(|()| ChecksumMode::Complete),
        }
    }

    /// Writes one packet. With offload, `headers` must begin with the header from [`crate::vnet::outgoing`].
    pub(crate) fn send(&self, headers: &[u8], payload: &[u8]) -> io::Result<()> {
        match self {
            Self::Tun(tun) => tun.send(headers, payload),
            Self::Pipe(pipe) => pipe.send(headers, payload),
        }
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tun(tun) => tun.as_fd(),
            Self::Pipe(pipe) => pipe.as_fd(),
        }
    }
}

impl From<Tun> for Link {
    fn from(tun: Tun) -> Self {
        Self::Tun(tun)
    }
}

impl From<Pipe> for Link {
    fn from(pipe: Pipe) -> Self {
        Self::Pipe(pipe)
    }
}
