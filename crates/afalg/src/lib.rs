//! Replaces the kernel's hash sockets (AF_ALG) for packetdrill, as a preloaded library.
//!
//! packetdrill computes tokens and HMACs with these sockets, which a kernel without
//! `CONFIG_CRYPTO_USER_API_HASH` lacks. Owns the six system calls that packetdrill uses, for AF_ALG sockets.
//! Calls on all other descriptors go to the kernel unchanged. Never touches a network socket.

mod session;

use std::ffi::{c_int, c_void};

use libc::{size_t, sockaddr, socklen_t, ssize_t};
use session::Session;

/// Offset of the algorithm name in `struct sockaddr_alg`, bytes: behind family, type, feature and mask.
const NAME_OFFSET: usize = 24;
const NAME_LENGTH: usize = 64;

fn fail(error: c_int) -> c_int {
    // SAFETY: the location is this thread's errno.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// Allocates a descriptor for a hash socket, which the caller can close; -1 on an error.
fn descriptor() -> c_int {
    // SAFETY: takes no pointers.
    unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) }
}

/// Implements socket(2).
#[unsafe(no_mangle)]
pub extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    if domain == libc::AF_ALG {
        let fd = descriptor();
        session::set(fd, (fd >= 0).then(Session::default));
        return fd;
    }
    // SAFETY: takes no pointers.
    let fd = unsafe { libc::syscall(libc::SYS_socket, domain, kind, protocol) } as c_int;
    session::set(fd, None);
    fd
}

/// Implements bind(2).
///
/// # Safety
/// As for the system call: `address` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bind(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    let bound = session::with(fd, |session| {
        if (length as usize) < NAME_OFFSET + NAME_LENGTH {
            return fail(libc::EINVAL);
        }
        // SAFETY: the caller guarantees `length` bytes, and there are enough.
        let name = unsafe { std::slice::from_raw_parts(address.cast::<u8>().add(NAME_OFFSET), NAME_LENGTH) };
        let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
        session.algorithm = String::from_utf8_lossy(name).into_owned();
        if Session::knows(&session.algorithm) { 0 } else { fail(libc::ENOENT) }
    });
    // SAFETY: the caller guarantees valid arguments.
    bound.unwrap_or_else(|| unsafe { libc::syscall(libc::SYS_bind, fd, address, length) } as c_int)
}

/// Implements setsockopt(2).
///
/// # Safety
/// As for the system call: `value` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    let set = session::with(fd, |session| {
        if level != libc::SOL_ALG || name != libc::ALG_SET_KEY || value.is_null() {
            return fail(libc::ENOPROTOOPT);
        }
        // SAFETY: the caller guarantees `length` bytes.
        session.key = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), length as usize) }.to_vec();
        0
    });
    // SAFETY: the caller guarantees valid arguments.
    set.unwrap_or_else(
        || unsafe { libc::syscall(libc::SYS_setsockopt, fd, level, name, value, length) } as c_int
    )
}

/// Implements accept(2).
///
/// # Safety
/// As for the system call: `length` points to the size of `address` in bytes, or both are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int {
    if let Some(session) = session::with(fd, |session| session.clone()) {
        let operation = descriptor();
        session::set(operation, (operation >= 0).then_some(session));
        return operation;
    }
    // SAFETY: the caller guarantees valid arguments.
    let accepted = unsafe { libc::syscall(libc::SYS_accept, fd, address, length) } as c_int;
    session::set(accepted, None);
    accepted
}

/// Implements send(2).
///
/// # Safety
/// As for the system call: `data` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn send(fd: c_int, data: *const c_void, length: size_t, flags: c_int) -> ssize_t {
    let sent = session::with(fd, |session| {
        if !data.is_null() {
            // SAFETY: the caller guarantees `length` bytes.
            session.data.extend_from_slice(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) });
        }
        length as ssize_t
    });
    sent.unwrap_or_else(|| {
        let nowhere = std::ptr::null::<sockaddr>();
        // SAFETY: the caller guarantees valid arguments; a null address selects the connected peer.
        unsafe { libc::syscall(libc::SYS_sendto, fd, data, length, flags, nowhere, 0) as ssize_t }
    })
}

/// Implements recv(2).
///
/// # Safety
/// As for the system call: `buffer` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn recv(fd: c_int, buffer: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
    let received = session::with(fd, |session| {
        let digest = session.digest();
        let count = digest.len().min(length);
        session.data.clear();
        // SAFETY: the caller guarantees space for `length` bytes, and the digest is a local value.
        unsafe { std::ptr::copy_nonoverlapping(digest.as_ptr(), buffer.cast::<u8>(), count) };
        count as ssize_t
    });
    received.unwrap_or_else(|| {
        let (nowhere, none) = (std::ptr::null_mut::<sockaddr>(), std::ptr::null_mut::<socklen_t>());
        // SAFETY: the caller guarantees valid arguments; null asks for no address.
        unsafe { libc::syscall(libc::SYS_recvfrom, fd, buffer, length, flags, nowhere, none) as ssize_t }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of packetdrill's calls: bind, key, accept, send, receive.
    #[test]
    fn a_hash_socket_answers_as_the_kernels_does() {
        let fd = socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0);
        assert!(fd >= 0);
        let mut address = [0_u8; NAME_OFFSET + NAME_LENGTH];
        address[NAME_OFFSET..NAME_OFFSET + 12].copy_from_slice(b"hmac(sha256)");
        let mut digest = [0_u8; 32];
        let data = b"what do ya want for nothing?";
        // SAFETY: all pointers are to values that live here, with their lengths.
        unsafe {
            assert_eq!(bind(fd, address.as_ptr().cast(), address.len() as socklen_t), 0);
            assert_eq!(setsockopt(fd, libc::SOL_ALG, libc::ALG_SET_KEY, b"Jefe".as_ptr().cast(), 4), 0);
            let operation = accept(fd, std::ptr::null_mut(), std::ptr::null_mut());
            assert_eq!(send(operation, data.as_ptr().cast(), data.len(), 0), data.len() as ssize_t);
            assert_eq!(recv(operation, digest.as_mut_ptr().cast(), 32, 0), 32);
            libc::close(operation);
            libc::close(fd);
        }
        // RFC 4231 section 4.3.
        assert_eq!(digest[..4], [0x5b, 0xdc, 0xc1, 0x46]);
    }

    #[test]
    fn other_sockets_are_the_kernels() {
        let fd = socket(libc::AF_INET, libc::SOCK_DGRAM, 0);
        let on: c_int = 1;
        // SAFETY: the pointer is to a value that lives here, with its length.
        let set = unsafe { setsockopt(fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, (&raw const on).cast(), 4) };
        assert_eq!(set, 0);
        // SAFETY: takes no pointers.
        assert_eq!(unsafe { libc::close(fd) }, 0);
    }

    #[test]
    fn an_unknown_algorithm_is_refused() {
        let fd = socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0);
        let mut address = [0_u8; NAME_OFFSET + NAME_LENGTH];
        address[NAME_OFFSET..NAME_OFFSET + 3].copy_from_slice(b"md5");
        // SAFETY: the pointer is to a value that lives here, with its length.
        assert_eq!(unsafe { bind(fd, address.as_ptr().cast(), address.len() as socklen_t) }, -1);
        // SAFETY: takes no pointers.
        assert_eq!(unsafe { libc::close(fd) }, 0);
    }
}
