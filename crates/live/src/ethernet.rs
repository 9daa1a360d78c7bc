//! An Ethernet interface of the kernel, such as one end of a veth pair, as a device of the endpoint. No TUN device is
//! needed.
//!
//! Owns the packet socket and the Ethernet headers. The endpoint has an Ethernet address of its own, so the kernel
//! ignores the frames to it. Frames leave with up to 64 KB of payload; the kernel splits them for the interface, as it
//! splits those of its own TCP. Never resolves addresses: the next hop is given, and the next hop needs a neighbour
//! entry for the endpoint.

use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::os::fd::{AsFd, BorrowedFd};

use bytes::BytesMut;
use mptcp_wire::ChecksumMode;

use crate::{sys, vnet};

/// Length of an Ethernet header, bytes.
pub(crate) const HEADER: usize = 14;
/// Ether types (IEEE 802 numbers of IANA).
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// An open Ethernet interface.
#[derive(Debug)]
pub struct Ethernet {
    file: File,
    name: String,
    mtu: usize,
    next_hop: [u8; 6],
}

impl Ethernet {
    /// The Ethernet address of the endpoint on each of its interfaces, 02:6d:70:74:63:70.
    pub const ADDRESS: [u8; 6] = *b"\x02mptcp";

    /// Opens the interface `name` in the network namespace of the calling thread. All packets are sent to the Ethernet
    /// address `next_hop`. The MTU is read once.
    ///
    /// # Errors
    /// If there is no such interface, if it is no Ethernet interface, or without CAP_NET_RAW and CAP_NET_ADMIN. The
    /// message contains the fix.
    pub fn open(name: &str, next_hop: [u8; 6]) -> io::Result<Self> {
        let explain = |error: io::Error| {
            let advice = match error.raw_os_error() {
                Some(libc::EPERM) => "run as root or with CAP_NET_RAW and CAP_NET_ADMIN",
                Some(libc::ENODEV | libc::ENXIO) => "ip link shows the names of interfaces",
                _ => "it must be an Ethernet interface, such as one of: ip link add NAME type veth",
            };
            io::Error::new(error.kind(), format!("interface {name}: {error}; {advice}"))
        };
        let file = File::from(sys::packets::open(name).map_err(explain)?);
        let mtu = sys::mtu(name).map_err(explain)?;
        Ok(Self { file, name: name.to_owned(), mtu, next_hop })
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

    /// The header of a frame with an IP packet for the next hop.
    pub(crate) fn header(&self, v4: bool) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..6].copy_from_slice(&self.next_hop);
        header[6..12].copy_from_slice(&Self::ADDRESS);
        header[12..].copy_from_slice(if v4 { &IPV4 } else { &IPV6 });
        header
    }

    /// Appends the packet of one frame to `buffer`, or fails with `WouldBlock`. Returns the state of the TCP checksum.
    /// Frames to other addresses or with other protocols append nothing.
    pub(crate) fn receive(&self, buffer: &mut BytesMut) -> io::Result<ChecksumMode> {
        let mut headers = [0; vnet::LENGTH + HEADER];
        let before = buffer.len();
        sys::read_behind(self.as_fd(), &mut headers, buffer)?;
        let (offload, ethernet) = headers.split_at(vnet::LENGTH);
        if ethernet[..6] != Self::ADDRESS || ![IPV4, IPV6].contains(&[ethernet[12], ethernet[13]]) {
            buffer.truncate(before);
        }
        Ok(vnet::incoming(offload))
    }

    /// Writes one packet. `headers` must begin with the headers from [`vnet::outgoing`] and [`Self::header`].
    pub(crate) fn send(&self, headers: &[u8], payload: &[u8]) -> io::Result<()> {
        (&self.file).write_vectored(&[IoSlice::new(headers), IoSlice::new(payload)]).map(drop)
    }
}

impl AsFd for Ethernet {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_that_cannot_be_opened_says_why() {
        let error = Ethernet::open("no-such-if", [2, 0, 0, 0, 0, 1]).unwrap_err().to_string();
        assert!(error.starts_with("interface no-such-if: ") && error.contains("; "), "{error}");
        let error = Ethernet::open("a\0b", [2, 0, 0, 0, 0, 1]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
