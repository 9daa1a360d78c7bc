//! A TUN device: a network interface whose other end is this process.
//!
//! Owns the descriptor. Reads and writes whole IP packets without blocking. Never sets addresses, routes
//! or the MTU.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use bytes::BytesMut;
use mptcp_wire::ChecksumMode;

use crate::{sys, vnet};

const DEVICE: &str = "/dev/net/tun";

/// What the kernel and this process leave to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offload {
    /// Checksums, and cutting segments of up to 64 KB into frames (IFF_VNET_HDR with TUN_F_CSUM, TUN_F_TSO4 and
    /// TUN_F_TSO6): within a host nobody computes or cuts anything.
    #[default]
    Full,
    /// Nothing: each packet is complete, and no longer than the MTU.
    None,
}

/// An open TUN device. It lives as long as this does, unless it was made persistent (`ip tuntap add`).
#[derive(Debug)]
pub struct Tun {
    file: File,
    name: String,
    mtu: usize,
    offload: Offload,
}

impl Tun {
    /// Opens the TUN device `name` in the network namespace of the calling thread, or makes it; it stays
    /// in that namespace, whoever uses it. A name may hold `%d` for the first number that is free. The MTU is that
    /// of this moment. All is offloaded: see [`Self::open_with`].
    ///
    /// # Errors
    /// When the name has no room in 15 bytes or is taken, when `/dev/net/tun` is missing, or without
    /// CAP_NET_ADMIN. The message says what would be right.
    pub fn open(name: &str) -> io::Result<Self> {
        Self::open_with(name, Offload::default())
    }

    /// As [`Self::open`] for a device that exists; a name that is misspelt makes none.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] where the namespace has no interface of this name, and as [`Self::open`].
    pub fn open_existing(name: &str) -> io::Result<Self> {
        if (1..=sys::NAME_MAX).contains(&name.len()) && sys::mtu(name).is_err() {
            let what = format!("there is no interface {name:?}; make it with: ip tuntap add {name} mode tun");
            return Err(io::Error::new(io::ErrorKind::NotFound, what));
        }
        Self::open(name)
    }

    /// As [`Self::open`], with a choice of what is offloaded.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(name: &str, offload: Offload) -> io::Result<Self> {
        if name.is_empty() || name.len() > sys::NAME_MAX {
            let what = format!("{name:?} names no interface: 1 to {} bytes are allowed", sys::NAME_MAX);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(DEVICE)
            .map_err(|error| explain_open(&error))?;
        let name = sys::attach_tun(file.as_fd(), name, offload == Offload::Full)
            .map_err(|error| explain_attach(name, &error))?;
        let mtu = sys::mtu(&name)?;
        Ok(Self { file, name, mtu, offload })
    }

    /// The name of the interface.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Longest IP packet the interface carries, bytes.
    #[must_use]
    pub fn mtu(&self) -> usize {
        self.mtu
    }

    /// What is offloaded.
    #[must_use]
    pub fn offload(&self) -> Offload {
        self.offload
    }

    /// Reads one packet into `buffer`, as far as that goes, or fails with `WouldBlock`; returns its length. For devices without offload:
    /// with it, a header of the kernel's stands before the packet.
    ///
    /// # Errors
    /// What read(2) says.
    #[inline]
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.file).read(buffer)
    }

    /// Writes one packet; for devices without offload.
    ///
    /// # Errors
    /// What write(2) says; EIO is a device that is down.
    #[inline]
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        (&self.file).write(packet).map(drop)
    }

    /// Reads one packet behind what `buffer` holds, or fails with `WouldBlock`. Says who has to verify its
    /// checksum.
    pub(crate) fn receive(&self, buffer: &mut BytesMut) -> io::Result<ChecksumMode> {
        if self.offload == Offload::None {
            return sys::read_behind(self.as_fd(), &mut [], buffer).map(|_| ChecksumMode::Complete);
        }
        let mut header = [0; vnet::LENGTH];
        sys::read_behind(self.as_fd(), &mut header, buffer)?;
        Ok(vnet::incoming(&header))
    }

    /// Writes one packet, after [`vnet::outgoing`] where all is offloaded.
    pub(crate) fn send(&self, headers: &[u8], payload: &[u8]) -> io::Result<()> {
        (&self.file).write_vectored(&[IoSlice::new(headers), IoSlice::new(payload)]).map(drop)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn explain_open(error: &io::Error) -> io::Error {
    let advice = match error.kind() {
        io::ErrorKind::NotFound => "load the module (modprobe tun), or give the container the device",
        io::ErrorKind::PermissionDenied => "run as root, or allow reading and writing it",
        _ => "is it the character device 10:200?",
    };
    io::Error::new(error.kind(), format!("{DEVICE}: {error}; {advice}"))
}

fn explain_attach(name: &str, error: &io::Error) -> io::Error {
    let advice = match error.raw_os_error() {
        Some(libc::EPERM) => {
            "run as root or with CAP_NET_ADMIN, or make it before: ip tuntap add NAME mode tun user $USER"
        }
        Some(libc::EBUSY) => "another process has it open: take another name",
        Some(libc::EINVAL) => "the name belongs to an interface that is no TUN device: take another",
        _ => "ip link shows the names that are taken",
    };
    io::Error::new(error.kind(), format!("TUN device {name}: {error}; {advice}"))
}
