//! System calls for packet sockets (packet(7)), which send and receive the frames of an Ethernet interface.
//!
//! Owns the creation of the socket. The standard library reads and writes frames.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use super::sockets;

/// linux/if_packet.h.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
/// Bytes of frames that the socket may hold, including the kernel's overhead. Further frames are lost.
const QUEUE: u32 = 32 << 20;

/// A non-blocking packet socket for the whole frames of an interface in the network namespace of the thread. A
/// `virtio_net_hdr` precedes each frame. The socket does not receive the frames that this host sends.
pub(crate) fn open(name: &str) -> io::Result<OwnedFd> {
    let name = CString::new(name)?;
    // SAFETY: the name is a C string that outlives the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 {
        return Err(io::Error::last_os_error());
    }
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // Protocol 0 receives nothing until bind(2), so no frame of another interface enters the queue.
    // SAFETY: takes no pointers.
    let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
    super::check(fd)?;
    // SAFETY: the call succeeded, so the descriptor is open and nobody else has it.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    let set = |level, option, value: u32| sockets::set(socket.as_fd(), level, option, &value.to_ne_bytes());
    set(libc::SOL_PACKET, libc::PACKET_VNET_HDR, 1)?;
    set(libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)?;
    set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, QUEUE)?;
    set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, QUEUE)?;
    // SAFETY: sockaddr_ll is a C struct of integers and an array; all zero is a value of it.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as libc::c_ushort;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index as libc::c_int;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the descriptor is open, and the address has `length` bytes.
    super::check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(socket)
}
