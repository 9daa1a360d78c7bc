//! A TUN device: a network interface whose other end is this process. The endpoint exchanges IP packets with
//! the kernel through it.
//!
//! Owns the descriptor. Reads and writes complete IP packets without blocking. Never sets addresses, routes
//! or the MTU.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use bytes::BytesMut;
use mptcp_wire::ChecksumMode;

use crate::{sys, vnet};

const DEVICE: &str = "/dev/net/tun";

/// Packet processing that the kernel and this process omit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offload {
    /// Checksums and segmentation up to 64 KB (IFF_VNET_HDR with TUN_F_CSUM, TUN_F_TSO4 and TUN_F_TSO6).
    /// Within a host, checksums and segmentation are then unnecessary.
    #[default]
    Full,
    /// None: each packet is complete, and no longer than the MTU.
    None,
}

/// An open TUN device. The device is removed on drop, unless it is persistent (`ip tuntap add`).
#[derive(Debug)]
pub struct Tun {
    file: File,
    name: String,
    mtu: usize,
    offload: Offload,
}

impl Tun {
    /// Opens or creates the TUN device `name` in the network namespace of the calling thread. The device
    /// stays there. `%d` in the name selects the first free number. The MTU is read once. The device uses
    /// full offload; [`Self::open_with`] selects another.
    ///
    /// # Errors
    /// If the name is longer than 15 bytes or taken, if `/dev/net/tun` is missing, or without CAP_NET_ADMIN.
    /// The message contains the fix.
    pub fn open(name: &str) -> io::Result<Self> {
        Self::open_with(name, Offload::default())
    }

    /// As [`Self::open`], for an existing device.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] without an interface of this name, and as [`Self::open`].
    pub fn open_existing(name: &str) -> io::Result<Self> {
        if (1..=sys::NAME_MAX).contains(&name.len()) && sys::mtu(name).is_err() {
            let what = format!("there is no interface {name:?}; create it: ip tuntap add {name} mode tun");
            return Err(io::Error::new(io::ErrorKind::NotFound, what));
        }
        Self::open(name)
    }

    /// As [`Self::open`], with a choice of offloads.
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

    /// Maximum IP packet of the interface, bytes.
    #[must_use]
    pub fn mtu(&self) -> usize {
        self.mtu
    }

    /// The offloads.
    #[must_use]
    pub fn offload(&self) -> Offload {
        self.offload
    }

    /// Reads one packet into `buffer`, truncated to the buffer's size. Fails with `WouldBlock` if no packet
    /// waits. Only for devices without offload: with offload, a kernel header precedes the packet.
    ///
    /// # Errors
    /// As read(2).
    #[inline]
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.file).read(buffer)
    }

    /// Writes one packet. Only for devices without offload.
    ///
    /// # Errors
    /// As write(2); EIO if the device is down.
    #[inline]
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        (&self.file).write(packet).map(drop)
    }

    /// Appends one packet to `buffer`, or fails with `WouldBlock`. Returns the state of the TCP checksum.
    pub(crate) fn receive(&self, buffer: &mut BytesMut) -> io::Result<ChecksumMode> {
        if self.offload == Offload::None {
            return sys::read_behind(self.as_fd(), &mut [], buffer).map(|_| ChecksumMode::Complete);
        }
        let mut header = [0; vnet::LENGTH];
        sys::read_behind(self.as_fd(), &mut header, buffer)?;
        Ok(vnet::incoming(&header))
    }

    /// Writes one packet. With offload, `headers` must begin with the header from [`vnet::outgoing`].
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
            "run as root or with CAP_NET_ADMIN, or first create it: ip tuntap add NAME mode tun user $USER"
        }
        Some(libc::EBUSY) => "another process has it open: take another name",
        Some(libc::EINVAL) => "the name belongs to an interface that is no TUN device: take another",
        _ => "ip link shows the names that are taken",
    };
    io::Error::new(error.kind(), format!("TUN device {name}: {error}; {advice}"))
}
