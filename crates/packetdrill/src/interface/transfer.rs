//! Moves data and socket options between C's memory and the stack, for `interface` and `preload`.
//!
//! Owns the handling of missing memory: data without a valid destination stays in the stream.

use std::ffi::{c_int, c_void};

use bytes::Bytes;
use libc::{iovec, sockaddr, socklen_t, ssize_t};

use crate::errno::{Result, fail};
use crate::memory;
use crate::stack::Stack;

/// Implements recv(2).
///
/// # Safety
/// Unless null, `buffer` has room for `count` bytes.
pub(super) unsafe fn receive(
    stack: &Stack,
    fd: c_int,
    buffer: *mut c_void,
    count: usize,
    flags: c_int,
) -> Result<ssize_t> {
    let part = iovec { iov_base: buffer, iov_len: count };
    // SAFETY: as the caller guarantees.
    unsafe { receive_parts(stack, fd, &[part], flags) }
}

/// # Safety
/// Each part has as many bytes as its length states.
pub(super) unsafe fn receive_parts(
    stack: &Stack,
    fd: c_int,
    parts: &[iovec],
    flags: c_int,
) -> Result<ssize_t> {
    // Data for a part without memory, and for the parts behind it, must stay in the stream.
    let usable = parts.iter().take_while(|part| part.iov_len == 0 || !part.iov_base.is_null()).count();
    let (parts, faulty) = parts.split_at(usable);
    let room = parts.iter().map(|part| part.iov_len).sum();
    if room == 0 && !faulty.is_empty() {
        let waits = stack.read(fd, 1, flags | libc::MSG_PEEK)?;
        return if waits.is_empty() { Ok(0) } else { fail(libc::EFAULT) };
    }
    let data = stack.read(fd, room, flags)?;
    if flags & libc::MSG_TRUNC != 0 {
        // On a byte stream, MSG_TRUNC discards data (tcp(7)).
        return Ok(data.len() as ssize_t);
    }
    // SAFETY: as the caller guarantees.
    unsafe { memory::scatter(parts, &data) }?;
    Ok(data.len() as ssize_t)
}

/// Implements sendto(2).
///
/// # Safety
/// Unless null, `address` points to `length` bytes.
pub(super) unsafe fn transmit(
    stack: &Stack,
    fd: c_int,
    data: Vec<u8>,
    flags: c_int,
    address: *const sockaddr,
    length: socklen_t,
) -> Result<ssize_t> {
    // SAFETY: as the caller guarantees.
    let to = if address.is_null() { None } else { unsafe { memory::address(address, length) }? };
    stack.write(fd, Bytes::from(data), flags, to).map(|count| count as ssize_t)
}

/// Implements getsockopt(2).
///
/// # Safety
/// Unless null, `length` points to the size of `value` in bytes.
pub(super) unsafe fn get_option(
    stack: &Stack,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> Result<()> {
    // SAFETY: as the caller guarantees.
    let Some(length) = (unsafe { length.as_mut() }) else { return fail(libc::EFAULT) };
    if (*length as i32) < 0 {
        return fail(libc::EINVAL);
    }
    // SAFETY: the caller guarantees `length` bytes.
    let asked = unsafe { memory::bytes(value, *length as usize) }?;
    let found = stack.option(fd, level, name, asked)?;
    let count = found.value.len().min(*length as usize);
    // SAFETY: `count` fits into `value`, and each array has the size that the caller gave with its address.
    unsafe {
        memory::copy_out(value, &found.value[..count])?;
        for (to, bytes) in &found.elsewhere {
            memory::copy_out(*to as *mut c_void, bytes)?;
        }
    }
    *length = count as socklen_t;
    Ok(())
}
