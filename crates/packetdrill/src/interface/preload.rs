//! getsockopt(2) for those who ask the kernel and not the table.
//!
//! packetdrill asks for `struct tcp_info` past its table, by libc's getsockopt(2). With this library preloaded the call comes
//! here. Owns the way to the one stack of the process; a descriptor that is none of its sockets goes to the kernel.

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use libc::socklen_t;

use super::transfer;
use crate::errno::fail;
use crate::memory;
use crate::stack::Stack;

static SERVED: Mutex<Weak<Stack>> = Mutex::new(Weak::new());

/// Calls go to this stack from now on, as long as it lives.
pub(super) fn serve(stack: &Arc<Stack>) {
    *SERVED.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(stack);
}

/// getsockopt(2).
///
/// # Safety
/// As the system call: `length` points to the number of bytes that `value` has room for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    let served = SERVED.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
    let Some(stack) = served.filter(|stack| stack.knows(fd)) else {
        // SAFETY: the caller vouches for the arguments.
        return unsafe { libc::syscall(libc::SYS_getsockopt, fd, level, name, value, length) } as c_int;
    };
    // SAFETY: the caller vouches for the pointers.
    let asked = || unsafe { transfer::get_option(&stack, fd, level, name, value, length) };
    match catch_unwind(AssertUnwindSafe(asked)).unwrap_or(fail(libc::EIO)) {
        Ok(()) => 0,
        Err(error) => {
            memory::set_errno(error.0);
            -1
        }
    }
}
