//! Sleep that ends at an instant, or when a device has something: what a driver of a network needs beside the devices.
//!
//! Owns the timer and copies of the descriptors; allocates nothing while it sleeps and wakes. Never reads.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::sys::alarm;

/// The priority of a thread that runs first. Above the kernel's own threads (50) would only delay what it waits for.
const PRIORITY: i32 = 40;

/// The time of the monotonic clock, nanoseconds.
#[must_use]
pub fn monotonic() -> u64 {
    alarm::monotonic()
}

/// Asks for the calling thread to run before all ordinary ones.
///
/// # Errors
/// Where that is not allowed: it takes CAP_SYS_NICE.
pub fn run_first() -> io::Result<()> {
    alarm::run_first(PRIORITY)
}

/// Wakes by time and by descriptors.
#[derive(Debug)]
pub struct Sleeper {
    timer: OwnedFd,
    set_to: Option<u64>,
    /// Open as long as they are polled.
    _kept: Vec<OwnedFd>,
    /// Those of the caller in their order, then the timer.
    polled: Vec<libc::pollfd>,
}

impl Sleeper {
    /// Is woken when one of them is readable or in error.
    ///
    /// # Errors
    /// When the process has no descriptors left.
    pub fn new<'a>(sources: impl IntoIterator<Item = &'a dyn AsFd>) -> io::Result<Self> {
        let timer = alarm::timer()?;
        let copies = sources.into_iter().map(|source| source.as_fd().try_clone_to_owned());
        let kept = copies.collect::<io::Result<Vec<_>>>()?;
        let all = kept.iter().chain([&timer]);
        let polled = all.map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 });
        let polled = polled.collect();
        Ok(Self { timer, set_to: None, _kept: kept, polled })
    }

    /// Sleeps until `at` of the monotonic clock, or until a source or a signal wakes it; None is for ever. An instant that is over only
    /// looks.
    ///
    /// # Errors
    /// What poll(2) says.
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
            // It rings until it is set anew.
            self.set_to = None;
            alarm::set(&self.timer, None)?;
        }
        Ok(())
    }

    /// Whether the last sleep found this source readable, or in error.
    #[must_use]
    pub fn is_ready(&self, source: usize) -> bool {
        self.polled.get(source).is_some_and(|entry| entry.revents != 0)
    }
}
