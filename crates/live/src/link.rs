//! What an interface stands on: a TUN device, or a pipe to somebody else in this process.
//!
//! Owns the choice between them, and nothing else.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use bytes::{Bytes, BytesMut};
use mptcp_wire::ChecksumMode;

use crate::{Offload, Pipe, Tun};

/// Whole IP packets in and out, without blocking.
#[derive(Debug)]
pub enum Link {
    /// A network interface of the kernel's.
    Tun(Tun),
    /// The end of a link inside this process.
    Pipe(Pipe),
}

impl Link {
    /// The name of the interface or link.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Tun(tun) => tun.name(),
            Self::Pipe(pipe) => pipe.name(),
        }
    }

    /// Longest IP packet it carries, bytes.
    #[must_use]
    pub fn mtu(&self) -> usize {
        match self {
            Self::Tun(tun) => tun.mtu(),
            Self::Pipe(pipe) => pipe.mtu(),
        }
    }

    /// What is offloaded; nothing by a pipe.
    #[must_use]
    pub fn offload(&self) -> Offload {
        match self {
            Self::Tun(tun) => tun.offload(),
            Self::Pipe(_) => Offload::None,
        }
    }

    /// Reads one packet, as [`Tun::read`] and without offload: as much of it as `buffer` holds.
    ///
    /// # Errors
    /// `WouldBlock` when nothing waits, and what the device says; `BrokenPipe` of a pipe whose other end is gone.
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

    /// Writes one packet, as [`Tun::write`] and without offload.
    ///
    /// # Errors
    /// What the device says; `WouldBlock` of a pipe that is full, or whose other end is gone.
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        match self {
            Self::Tun(tun) => tun.write(packet),
            Self::Pipe(pipe) => pipe.put(Bytes::copy_from_slice(packet)),
        }
    }

    /// Reads one packet behind what `buffer` holds, or fails with `WouldBlock`. Says who has to verify its checksum.
    pub(crate) fn receive(&self, buffer: &mut BytesMut) -> io::Result<ChecksumMode> {
        match self {
            Self::Tun(tun) => tun.receive(buffer),
            Self::Pipe(pipe) => pipe.receive(buffer).map(|()| ChecksumMode::Complete),
        }
    }

    /// Writes one packet, after [`crate::vnet::outgoing`] where all is offloaded.
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
