//! The interest lists of epoll instances, and the descriptors with new events.
//!
//! Owns the lists; `epoll` implements the system calls for packetdrill scripts. Never queries a socket:
//! `events` reports new events. A stirred entry has had an event since its last report.

use std::collections::HashMap;
use std::os::fd::RawFd;

/// Events that epoll(7) reports without a request.
pub(crate) const ALWAYS: u32 = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
/// Bits of an interest mask that change how events are reported. They are not events.
pub(crate) const MANNERS: u32 =
    (libc::EPOLLET | libc::EPOLLONESHOT | libc::EPOLLEXCLUSIVE | libc::EPOLLWAKEUP) as u32;

/// An event of epoll_wait(2): the ready events and the user data.
pub(crate) type Told = (u32, u64);

/// An entry of an interest list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched {
    pub(crate) events: u32,
    pub(crate) data: u64,
    /// Whether an event occurred after the last report.
    pub(crate) stirred: bool,
}

/// The interest list of an instance.
pub(crate) type Set = Vec<(RawFd, Watched)>;

/// All epoll instances.
#[derive(Debug, Default)]
pub(crate) struct Epolls(HashMap<RawFd, Set>);

impl Epolls {
    pub(crate) fn create(&mut self, fd: RawFd) {
        self.0.insert(fd, Set::new());
    }

    pub(crate) fn is_one(&self, fd: RawFd) -> bool {
        self.0.contains_key(&fd)
    }

    pub(crate) fn set_of(&mut self, fd: RawFd) -> Option<&mut Set> {
        self.0.get_mut(&fd)
    }

    /// Removes a list until [`Epolls::put_back`] returns it.
    pub(crate) fn take(&mut self, fd: RawFd) -> Option<Set> {
        self.0.remove(&fd)
    }

    pub(crate) fn put_back(&mut self, fd: RawFd, set: Set) {
        self.0.insert(fd, set);
    }

    /// Records new events of a descriptor.
    pub(crate) fn stir(&mut self, fd: RawFd, events: u32) {
        let all = self.0.values_mut().flatten();
        for (_, watched) in all.filter(|(known, _)| *known == fd) {
            watched.stirred |= (watched.events | ALWAYS) & events != 0;
        }
    }

    /// Removes a closed descriptor from all lists. Returns whether it was an epoll instance.
    pub(crate) fn forget(&mut self, fd: RawFd) -> bool {
        self.0.values_mut().for_each(|set| set.retain(|(known, _)| *known != fd));
        self.0.remove(&fd).is_some()
    }
}
