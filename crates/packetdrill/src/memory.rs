//! Reads and writes C's memory: addresses, buffers, I/O vectors, descriptors and errno.
//!
//! packetdrill calls this library with C pointers. Owns all unsafe code outside the table of functions (`interface`).
//! Like the kernel, every function trusts the caller's sizes. Null pointers return EFAULT.

use std::ffi::c_void;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::RawFd;

use libc::{iovec, sockaddr, sockaddr_in, sockaddr_in6, socklen_t};

use crate::errno::{Result, fail};

/// A control message of recvmsg(2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Control {
    pub(crate) level: i32,
    pub(crate) kind: i32,
    pub(crate) data: Vec<u8>,
}

pub(crate) fn set_errno(error: i32) {
    // SAFETY: the location is this thread's errno.
    unsafe { *libc::__errno_location() = error };
}

/// Allocates a descriptor for a socket, so that packetdrill has a descriptor to close.
pub(crate) fn descriptor() -> Result<RawFd> {
    // SAFETY: takes no pointers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    if fd < 0 { fail(libc::EMFILE) } else { Ok(fd) }
}

/// Closes a descriptor from [`descriptor`].
pub(crate) fn release(fd: RawFd) {
    // SAFETY: takes no pointers. The only possible error is a closed descriptor.
    unsafe { libc::close(fd) };
}

/// Returns the bytes at a pointer.
///
/// # Safety
/// Unless null, `data` points to `count` readable bytes that live as long as the result.
pub(crate) unsafe fn bytes<'a>(data: *const c_void, count: usize) -> Result<&'a [u8]> {
    if count == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return fail(libc::EFAULT);
    }
    // SAFETY: as the caller guarantees.
    Ok(unsafe { std::slice::from_raw_parts(data.cast(), count) })
}

/// Copies bytes to a pointer.
///
/// # Safety
/// Unless null, `to` points to enough space for the bytes.
pub(crate) unsafe fn copy_out(to: *mut c_void, bytes: &[u8]) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    if to.is_null() {
        return fail(libc::EFAULT);
    }
    // SAFETY: the caller guarantees the space, and the two ranges cannot overlap.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len()) };
    Ok(())
}

/// Returns the parts of an I/O vector.
///
/// # Safety
/// Unless null, `vector` points to `count` entries that live as long as the result.
pub(crate) unsafe fn parts<'a>(vector: *const iovec, count: usize) -> Result<&'a [iovec]> {
    if count == 0 {
        return Ok(&[]);
    }
    if vector.is_null() {
        return fail(libc::EFAULT);
    }
    // SAFETY: as the caller guarantees.
    Ok(unsafe { std::slice::from_raw_parts(vector, count) })
}

/// Concatenates the bytes of an I/O vector.
///
/// # Safety
/// Each part has as many bytes as its length states.
pub(crate) unsafe fn gather(parts: &[iovec]) -> Result<Vec<u8>> {
    let mut gathered = Vec::new();
    for part in parts {
        // SAFETY: as the caller guarantees.
        gathered.extend_from_slice(unsafe { bytes(part.iov_base, part.iov_len) }?);
    }
    Ok(gathered)
}

/// Distributes bytes over an I/O vector. `data` must fit.
///
/// # Safety
/// Each part has as many bytes as its length states.
pub(crate) unsafe fn scatter(parts: &[iovec], mut data: &[u8]) -> Result<()> {
    for part in parts {
        let (now, later) = data.split_at(part.iov_len.min(data.len()));
        // SAFETY: as the caller guarantees.
        unsafe { copy_out(part.iov_base, now) }?;
        data = later;
    }
    Ok(())
}

/// Writes a control message into `message` (cmsg(3)). Returns MSG_CTRUNC if it was truncated, else 0.
///
/// # Safety
/// Unless null, `msg_control` points to `msg_controllen` bytes.
pub(crate) unsafe fn put_control(message: &mut libc::msghdr, control: Option<Control>) -> Result<i32> {
    let room = message.msg_controllen;
    message.msg_controllen = 0;
    let Some(Control { level, kind, data }) = control else { return Ok(0) };
    let mut bytes = (size_of::<libc::cmsghdr>() + data.len()).to_ne_bytes().to_vec();
    bytes.extend(level.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(data);
    let flags = if bytes.len() > room { libc::MSG_CTRUNC } else { 0 };
    bytes.truncate(room);
    bytes.resize(bytes.len().next_multiple_of(8).min(room), 0);
    // SAFETY: as the caller guarantees.
    unsafe { copy_out(message.msg_control, &bytes) }?;
    message.msg_controllen = bytes.len() as _;
    Ok(flags)
}

/// Reads a socket address; None for AF_UNSPEC. An IPv4-mapped address (RFC 4291 section 2.5.5.2) becomes IPv4.
///
/// # Safety
/// Unless null, `address` points to `length` bytes.
pub(crate) unsafe fn address(address: *const sockaddr, length: socklen_t) -> Result<Option<SocketAddr>> {
    let length = length as usize;
    if address.is_null() || length < size_of::<libc::sa_family_t>() {
        return fail(libc::EINVAL);
    }
    // SAFETY: the caller guarantees `length` bytes, which hold the family.
    let family = i32::from(unsafe { address.cast::<libc::sa_family_t>().read_unaligned() });
    match family {
        libc::AF_UNSPEC => Ok(None),
        libc::AF_INET if length >= size_of::<sockaddr_in>() => {
            // SAFETY: there are enough bytes, and any are a valid value.
            let found: sockaddr_in = unsafe { address.cast::<sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(u32::from_be(found.sin_addr.s_addr));
            Ok(Some(SocketAddr::new(ip.into(), u16::from_be(found.sin_port))))
        }
        libc::AF_INET6 if length >= size_of::<sockaddr_in6>() => {
            // SAFETY: there are enough bytes, and any are a valid value.
            let found: sockaddr_in6 = unsafe { address.cast::<sockaddr_in6>().read_unaligned() };
            let ip = Ipv6Addr::from(found.sin6_addr.s6_addr).to_canonical();
            Ok(Some(SocketAddr::new(ip, u16::from_be(found.sin6_port))))
        }
        libc::AF_INET | libc::AF_INET6 => fail(libc::EINVAL),
        _ => fail(libc::EAFNOSUPPORT),
    }
}

/// Writes a peer's address in the family of its socket, truncated to the available space. Null pointers write nothing.
///
/// # Safety
/// Unless null, `length` points to the size of `to` in bytes.
pub(crate) unsafe fn put_address(to: *mut sockaddr, length: *mut socklen_t, peer: SocketAddr) -> Result<()> {
    if to.is_null() || length.is_null() {
        return Ok(());
    }
    let mut encoded = Vec::new();
    match peer.ip() {
        IpAddr::V4(ip) => {
            encoded.extend((libc::AF_INET as libc::sa_family_t).to_ne_bytes());
            encoded.extend(peer.port().to_be_bytes());
            encoded.extend(ip.octets());
            encoded.extend([0; 8]);
        }
        IpAddr::V6(ip) => {
            encoded.extend((libc::AF_INET6 as libc::sa_family_t).to_ne_bytes());
            encoded.extend(peer.port().to_be_bytes());
            encoded.extend([0; 4]);
            encoded.extend(ip.octets());
            encoded.extend([0; 4]);
        }
    }
    // SAFETY: as the caller guarantees for both.
    unsafe {
        let room = (*length as usize).min(encoded.len());
        copy_out(to.cast(), &encoded[..room])?;
        *length = encoded.len() as socklen_t;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_both_families_come_back_as_they_went() {
        for text in ["192.0.2.1:8080", "[fd00::7]:443"] {
            let peer: SocketAddr = text.parse().unwrap();
            let mut room = [0_u8; 32];
            let mut length = room.len() as socklen_t;
            // SAFETY: the pointers are to values that live here, with their lengths.
            let back = unsafe {
                put_address(room.as_mut_ptr().cast(), &raw mut length, peer).unwrap();
                address(room.as_ptr().cast(), length).unwrap()
            };
            assert_eq!(back, Some(peer));
        }
    }

    #[test]
    fn a_mapped_address_is_ipv4s() {
        let mapped: SocketAddr = "[::ffff:192.0.2.1]:80".parse().unwrap();
        let mut room = [0_u8; 32];
        let mut length = room.len() as socklen_t;
        // SAFETY: the pointers are to values that live here, with their lengths.
        let back = unsafe {
            put_address(room.as_mut_ptr().cast(), &raw mut length, mapped).unwrap();
            address(room.as_ptr().cast(), length).unwrap()
        };
        assert_eq!(back, Some("192.0.2.1:80".parse().unwrap()));
    }

    #[test]
    fn a_null_pointer_is_a_fault() {
        // SAFETY: null pointers are the subject of the test.
        unsafe {
            assert_eq!(bytes(std::ptr::null(), 1), fail(libc::EFAULT));
            assert_eq!(bytes(std::ptr::null(), 0), Ok([].as_slice()));
            assert_eq!(copy_out(std::ptr::null_mut(), b"x"), fail(libc::EFAULT));
        }
    }
}
