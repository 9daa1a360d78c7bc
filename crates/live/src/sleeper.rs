//! Precise sleep until an instant, or until a device is readable. The `emulator` crate needs it to forward
//! packets on time.
//!
//! Owns the timer and copies of the descriptors. Allocates nothing during a sleep. Never reads a device.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::sys::alarm;

/// Real-time priority. A priority above that of kernel threads (50) would delay their work.
const PRIORITY: i32 = 40;

/// The monotonic clock, nanoseconds.
#[must_use]
pub fn monotonic() -> u64 {
    alarm::monotonic()
}

/// Gives the calling thread a real-time priority.
///
/// # Errors
/// Without CAP_SYS_NICE.
pub fn run_first() -> io::Result<()> {
    alarm::run_first(PRIORITY)
}

/// Sleeps until an instant, or until a descriptor is ready.
#[derive(Debug)]
pub struct Sleeper {
    timer: OwnedFd,
    /// Instant to which the timer is set, in nanoseconds of the monotonic clock; `None` if it is stopped.
    set_to: Option<u64>,
    /// Keeps the polled descriptors open.
    _kept: Vec<OwnedFd>,
    /// The descriptors of the caller in order, then the timer.
    polled: Vec<libc::pollfd>,
}

impl Sleeper {
    /// Wakes when one of `sources` is readable or has an error.
    ///
    /// # Errors
    /// Without free descriptors.
    pub fn new<'a>(sources: impl IntoIterator<Item = &'a dyn AsFd>) -> io::Result<Self> {
        let timer = alarm::timer()?;
        let copies = sources.into_iter().map(|source| source.as_fd().try_clone_to_owned());
        let kept = copies.collect::<io::Result<Vec<_>>>()?;
        let all = kept.iter().chain([&timer]);
        let polled = all.map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 });
        let polled = polled.collect();
        Ok(Self { timer, set_to: None, _kept: kept, polled })
    }

    /// Sleeps until `at` nanoseconds of the monotonic clock, or until a source or signal ends the sleep.
    /// `None` has no timeout. A past instant polls the sources without sleeping.
    ///
    /// # Errors
    /// As poll(2).
    pub fn sleep(&mut self, at: Option<u64>) -> io::Result<()> {
        if at.is_some_and(|at| at <= monotonic()) {
            return alarm::poll(&mut self.polled, false);
        }
        if at != self.set_to {
            alarm::set(&self.timer, at)?;
            self.set_to = at;
        }
        alarm::poll(&mut self.polled, true)?;
        if self.polled.last().is_some_and(|timer| timer.revents != 0) {
            // The timer stays readable until it is set again.
            self.set_to = None;
            alarm::set(&self.timer, None)?;
        }
        Ok(())
    }

    /// Whether the source with this index was readable, or had an error, after the last sleep.
    #[must_use]
    pub fn is_ready(&self, source: usize) -> bool {
        self.polled.get(source).is_some_and(|entry| entry.revents != 0)
    }
}
