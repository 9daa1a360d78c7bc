//! Replaces libc's getsockopt(2) for the calls that packetdrill makes directly, not through the function table of
//! `--so_filename`.
//!
//! packetdrill calls libc's getsockopt(2) for `struct tcp_info`. If this library is preloaded, the call arrives here.
//! Owns the reference to the one stack of the process. Calls for other descriptors go to the kernel.

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use libc::socklen_t;

use super::transfer;
use crate::errno::fail;
use crate::memory;
use crate::stack::Stack;

static SERVED: Mutex<Weak<Stack>> = Mutex::new(Weak::new());

/// Directs calls to `stack` while it exists.
pub(super) fn serve(stack: &Arc<Stack>) {
    *SERVED.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(stack);
}

/// Implements getsockopt(2).
///
/// # Safety
/// As for the system call: `length` points to the size of `value` in bytes.
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
        // SAFETY: the caller guarantees the arguments.
        return unsafe { libc::syscall(libc::SYS_getsockopt, fd, level, name, value, length) } as c_int;
    };
    // SAFETY: the caller guarantees the pointers.
    let asked = || unsafe { transfer::get_option(&stack, fd, level, name, value, length) };
    match catch_unwind(AssertUnwindSafe(asked)).unwrap_or(fail(libc::EIO)) {
        Ok(()) => 0,
        Err(error) => {
            memory::set_errno(error.0);
            -1
        }
    }
}
