//! System calls that the standard library lacks: TUN devices, eventfd(2), ppoll(2).
//!
//! Owns all unsafe code of the crate, together with its submodules. Never interprets an error; callers do.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use bytes::BytesMut;

pub(crate) mod alarm;
pub(crate) mod packets;
pub(crate) mod sockets;

/// Maximum length of an interface name, bytes.
pub(crate) const NAME_MAX: usize = libc::IFNAMSIZ - 1;

fn request(name: &str) -> libc::ifreq {
    // SAFETY: ifreq is a C struct of integers, arrays and a union of such; all zero is a value of it.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(NAME_MAX)) {
        *to = from as libc::c_char;
    }
    request
}

fn name_of(request: &libc::ifreq) -> String {
    let bytes = request.ifr_name.iter().map(|&c| c as u8).take_while(|&b| b != 0);
    bytes.map(char::from).collect()
}

/// Attaches an open `/dev/net/tun` to a TUN device without packet information. Returns the name of the device.
/// With `offload`, a `virtio_net_hdr` precedes each packet, and both sides may omit checksums and
/// segmentation.
pub(crate) fn attach_tun(tun: BorrowedFd<'_>, name: &str, offload: bool) -> io::Result<String> {
    let mut request = request(name);
    let header = if offload { libc::IFF_VNET_HDR } else { 0 };
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | header) as libc::c_short;
    // SAFETY: the descriptor is open, and TUNSETIFF reads and writes one ifreq, which lives here.
    check(unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    // An existing device keeps the settings of its last user, so they are always set.
    let all = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6;
    let features = libc::c_ulong::from(if offload { all } else { 0 });
    // SAFETY: the descriptor is open, and TUNSETOFFLOAD takes a number, no pointer.
    check(unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETOFFLOAD, features) })?;
    Ok(name_of(&request))
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Reads once: first into `header`, then into the spare capacity of `buffer`. Returns the total number of
/// bytes; `buffer` grows by those after the header.
pub(crate) fn read_behind(fd: BorrowedFd<'_>, header: &mut [u8], buffer: &mut BytesMut) -> io::Result<usize> {
    let room = buffer.spare_capacity_mut();
    if header.is_empty() {
        // SAFETY: the descriptor is open, and `room` has `room.len()` writable bytes.
        let count = unsafe { libc::read(fd.as_raw_fd(), room.as_mut_ptr().cast(), room.len()) };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        // SAFETY: the kernel wrote `count` bytes at the end of `buffer`, within its capacity.
        unsafe { buffer.set_len(buffer.len() + count) };
        return Ok(count);
    }
    let parts = [
        libc::iovec { iov_base: header.as_mut_ptr().cast(), iov_len: header.len() },
        libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() },
    ];
    // SAFETY: the descriptor is open, and both parts have as many writable bytes as their lengths state.
    let count = unsafe { libc::readv(fd.as_raw_fd(), parts.as_ptr(), parts.len() as libc::c_int) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    let more = count.saturating_sub(header.len());
    // SAFETY: the kernel wrote `more` bytes at the end of `buffer`, within its capacity.
    unsafe { buffer.set_len(buffer.len() + more) };
    Ok(count)
}

/// MTU of an interface in the network namespace of the thread, bytes.
pub(crate) fn mtu(name: &str) -> io::Result<usize> {
    let any = std::net::UdpSocket::bind(("0.0.0.0", 0))?;
    let mut request = request(name);
    // SAFETY: the socket is open, and SIOCGIFMTU reads the name and writes ifru_mtu of one ifreq.
    let result = unsafe { libc::ioctl(any.as_raw_fd(), libc::SIOCGIFMTU, &raw mut request) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the kernel wrote this member; any bits are a valid integer.
    Ok(unsafe { request.ifr_ifru.ifru_mtu }.max(0) as usize)
}

/// An eventfd, which wakes its pollers.
pub(crate) fn eventfd() -> io::Result<OwnedFd> {
    // SAFETY: takes no pointers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the descriptor is open and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Waits until a descriptor is readable or has an error, or for `timeout`; `None` is unlimited. Returns
/// whether the first one is ready; false after a signal or the timeout.
pub(crate) fn wait_readable(fds: &[BorrowedFd<'_>], timeout: Option<Duration>) -> io::Result<bool> {
    let mut polled: Vec<libc::pollfd> = fds
        .iter()
        .map(|fd| libc::pollfd { fd: fd.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 })
        .collect();
    let timeout = timeout.map(|span| libc::timespec {
        tv_sec: span.as_secs().min(i32::MAX as u64) as libc::time_t,
        tv_nsec: span.subsec_nanos() as libc::c_long,
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the array has `fds.len()` entries, the timespec (or null) outlives the call,
    // and a null signal mask keeps the current one.
    let result =
        unsafe { libc::ppoll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout, std::ptr::null()) };
    if result < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
        return Ok(false);
    }
    Ok(polled.first().is_some_and(|entry| entry.revents != 0))
}
