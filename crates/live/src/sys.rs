//! The system calls that the standard library has not.
//!
//! Owns all unsafe code of the workspace. Never interprets an error: callers say what it means.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Longest interface name, bytes.
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

/// Makes an open `/dev/net/tun` the queue of a TUN device without packet information; returns the name
/// that the device got.
pub(crate) fn attach_tun(tun: BorrowedFd<'_>, name: &str) -> io::Result<String> {
    let mut request = request(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the descriptor is open, and TUNSETIFF reads and writes one ifreq, which lives here.
    let result = unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(name_of(&request)) }
}

/// The MTU of an interface of the thread's network namespace, bytes.
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

/// A counter that wakes whoever polls it.
pub(crate) fn eventfd() -> io::Result<OwnedFd> {
    // SAFETY: takes no pointers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the descriptor is open and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Waits until a descriptor is readable or in error, or for `timeout`; None is for ever. Returns which are; all
/// false when a signal or the timeout came first.
pub(crate) fn wait_readable(fds: &[BorrowedFd<'_>], timeout: Option<Duration>) -> io::Result<Vec<bool>> {
    let mut polled: Vec<libc::pollfd> = fds
        .iter()
        .map(|fd| libc::pollfd { fd: fd.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 })
        .collect();
    let timeout = timeout.map(|span| libc::timespec {
        tv_sec: span.as_secs().min(i32::MAX as u64) as libc::time_t,
        tv_nsec: span.subsec_nanos() as libc::c_long,
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the array has as many entries as is said, the timespec (or null) outlives the call, a
    // null signal mask means to leave it as it is.
    let result =
        unsafe { libc::ppoll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout, std::ptr::null()) };
    if result < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
        return Ok(vec![false; fds.len()]);
    }
    Ok(polled.iter().map(|entry| entry.revents != 0).collect())
}
