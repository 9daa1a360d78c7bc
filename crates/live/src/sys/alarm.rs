//! System calls for precise sleep, thread priority and network namespaces.
//!
//! [`Sleeper`](crate::Sleeper) needs the clock, timers and poll(2). The thread of the emulator that forwards
//! packets needs a real-time priority ([`run_first`](crate::run_first)). Threads that work on a host of a
//! scenario need setns(2) to enter the network namespace of this host ([`enter`](crate::namespace::enter)).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::check;

/// CLOCK_MONOTONIC in nanoseconds.
pub(crate) fn monotonic() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux, and the kernel writes one timespec, which lives here.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A timer that becomes readable at an absolute instant, so a delay before sleeping does not postpone it.
pub(crate) fn timer() -> io::Result<OwnedFd> {
    // SAFETY: takes no pointers.
    let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC | libc::TFD_NONBLOCK) };
    check(fd)?;
    // SAFETY: the call succeeded, so the descriptor is open and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sets the timer to an instant of CLOCK_MONOTONIC in nanoseconds; `None` stops it. Clears earlier expiries.
pub(crate) fn set(timer: &OwnedFd, at: Option<u64>) -> io::Result<()> {
    // Zero would stop the timer.
    let at = at.map_or(0, |at| at.max(1));
    let value = libc::timespec {
        tv_sec: (at / 1_000_000_000) as libc::time_t,
        tv_nsec: (at % 1_000_000_000) as libc::c_long,
    };
    let never = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let setting = libc::itimerspec { it_interval: never, it_value: value };
    let (fd, flag) = (timer.as_raw_fd(), libc::TFD_TIMER_ABSTIME);
    // SAFETY: the descriptor is a timer, the setting outlives the call, and null requests no old setting.
    check(unsafe { libc::timerfd_settime(fd, flag, &raw const setting, std::ptr::null_mut()) })
}

/// Polls `polled`: with `wait` until one is ready, otherwise without waiting. A signal also ends the call.
pub(crate) fn poll(polled: &mut [libc::pollfd], wait: bool) -> io::Result<()> {
    let timeout = if wait { -1 } else { 0 };
    // SAFETY: the array has `polled.len()` entries.
    let result = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout) };
    match check(result) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {
            for entry in polled {
                entry.revents = 0;
            }
            Ok(())
        }
        other => other,
    }
}

/// Moves only the calling thread into a network namespace.
pub(crate) fn enter_network(namespace: &std::fs::File) -> io::Result<()> {
    // SAFETY: takes no pointers, and the descriptor is open.
    check(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) })
}

/// Gives the calling thread a real-time priority (SCHED_FIFO).
pub(crate) fn run_first(priority: i32) -> io::Result<()> {
    // SAFETY: sched_param is a C struct of integers; all zero is a value of it.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // Child processes get the normal priority.
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: 0 is the calling thread, and the parameters outlive the call.
    check(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) })
}
