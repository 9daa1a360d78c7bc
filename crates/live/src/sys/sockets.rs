//! System calls for the kernel's own TCP and MPTCP sockets. The module `kernel` uses them to run flows on
//! Linux's stack and to read its state.
//!
//! Owns the calls and the sizes of the kernel's structures.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::check;

/// linux/socket.h.
const SOL_MPTCP: libc::c_int = 284;
/// linux/mptcp.h.
const MPTCP_FULL_INFO: libc::c_int = 4;
/// Size of `struct mptcp_subflow_info`: an ID and two `struct __kernel_sockaddr_storage`, aligned.
pub(crate) const SUBFLOW: usize = 8 + 128 + 128;
/// Size of `struct tcp_info`, with a margin for newer kernels.
pub(crate) const TCP: usize = 320;
/// Size of `struct mptcp_info`, with a margin.
pub(crate) const MPTCP: usize = 128;

/// `struct mptcp_full_info` up to its last member.
#[repr(C)]
struct FullInfo {
    size_tcpinfo_kernel: u32,
    size_tcpinfo_user: u32,
    size_sfinfo_kernel: u32,
    size_sfinfo_user: u32,
    num_subflows: u32,
    size_arrays_user: u32,
    subflow_info: u64,
    tcp_info: u64,
    mptcp_info: [u8; MPTCP],
}

/// An unconnected IPv4 stream socket.
pub(crate) fn stream(multipath: bool) -> io::Result<OwnedFd> {
    let protocol = if multipath { libc::IPPROTO_MPTCP } else { libc::IPPROTO_TCP };
    // SAFETY: takes no pointers.
    let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, protocol) };
    check(fd)?;
    // SAFETY: the call succeeded, so the descriptor is open and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A second descriptor for the open file of `descriptor`.
pub(crate) fn duplicate(descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: takes no pointers; the kernel checks the number.
    let fd = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0) };
    check(fd)?;
    // SAFETY: the call succeeded, so the new descriptor is open and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn raw(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.ip().octets()) },
        sin_zero: [0; 8],
    }
}

const ADDRESS: libc::socklen_t = size_of::<libc::sockaddr_in>() as libc::socklen_t;

pub(crate) fn bind(socket: &OwnedFd, address: SocketAddrV4) -> io::Result<()> {
    let address = raw(address);
    // SAFETY: the descriptor is open, and the address has ADDRESS bytes.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), ADDRESS) })
}

pub(crate) fn listen(socket: &OwnedFd) -> io::Result<()> {
    // SAFETY: takes no pointers.
    check(unsafe { libc::listen(socket.as_raw_fd(), 16) })
}

pub(crate) fn connect(socket: BorrowedFd<'_>, address: SocketAddrV4) -> io::Result<()> {
    let address = raw(address);
    // SAFETY: the descriptor is open, and the address has ADDRESS bytes.
    check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), ADDRESS) })
}

/// Sets an option to bytes.
pub(crate) fn set(socket: BorrowedFd<'_>, level: i32, option: i32, value: &[u8]) -> io::Result<()> {
    let length = value.len() as libc::socklen_t;
    // SAFETY: the descriptor is open, and the value has `length` bytes.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value.as_ptr().cast(), length) })
}

/// Reads an option into `value`. Returns its length.
pub(crate) fn get(socket: BorrowedFd<'_>, level: i32, option: i32, value: &mut [u8]) -> io::Result<usize> {
    let mut length = value.len() as libc::socklen_t;
    let place = value.as_mut_ptr().cast();
    // SAFETY: the descriptor is open, and the kernel writes at most `length` bytes, which `value` has.
    check(unsafe { libc::getsockopt(socket.as_raw_fd(), level, option, place, &raw mut length) })?;
    Ok((length as usize).min(value.len()))
}

/// The result of MPTCP_FULL_INFO.
pub(crate) struct Full {
    /// `struct mptcp_info`.
    pub general: [u8; MPTCP],
    /// Entries in each array.
    pub count: usize,
    /// Distance between entries of the subflow array, bytes.
    pub subflow: usize,
    /// Distance between entries of the `struct tcp_info` array, bytes.
    pub tcp: usize,
}

/// Information of an MPTCP socket and its subflows (since Linux 6.6). Both arrays are filled from the start.
/// An entry has the length of the kernel's structure, but at most [`SUBFLOW`] or [`TCP`].
pub(crate) fn full_info(socket: BorrowedFd<'_>, subflows: &mut [u8], tcp: &mut [u8]) -> io::Result<Full> {
    let room = (subflows.len() / SUBFLOW).min(tcp.len() / TCP);
    let mut info = FullInfo {
        size_tcpinfo_kernel: 0,
        size_tcpinfo_user: TCP as u32,
        size_sfinfo_kernel: 0,
        size_sfinfo_user: SUBFLOW as u32,
        num_subflows: 0,
        size_arrays_user: room as u32,
        subflow_info: subflows.as_mut_ptr() as u64,
        tcp_info: tcp.as_mut_ptr() as u64,
        mptcp_info: [0; MPTCP],
    };
    let mut length = size_of::<FullInfo>() as libc::socklen_t;
    let place = (&raw mut info).cast();
    // SAFETY: the descriptor is open. The kernel writes at most `length` bytes of `info`. It writes at most `room`
    // entries into each array, of at most TCP or SUBFLOW bytes.
    check(unsafe {
        libc::getsockopt(socket.as_raw_fd(), SOL_MPTCP, MPTCP_FULL_INFO, place, &raw mut length)
    })?;
    Ok(Full {
        general: info.mptcp_info,
        count: (info.num_subflows as usize).min(room),
        subflow: SUBFLOW.min(info.size_sfinfo_kernel as usize),
        tcp: TCP.min(info.size_tcpinfo_kernel as usize),
    })
}
