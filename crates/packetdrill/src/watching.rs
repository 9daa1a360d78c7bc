//! Which descriptors epoll instances watch, and which of them something has happened to.
//!
//! Owns the sets. Asks no socket: when something happened, the stack says.

use std::collections::HashMap;
use std::os::fd::RawFd;

/// What is told without being asked for.
pub(crate) const ALWAYS: u32 = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
/// Bits that say how to tell, not what.
pub(crate) const MANNERS: u32 =
    (libc::EPOLLET | libc::EPOLLONESHOT | libc::EPOLLEXCLUSIVE | libc::EPOLLWAKEUP) as u32;

/// An event as epoll_wait(2) gives it: what is so, and what was given for the descriptor.
pub(crate) type Told = (u32, u64);

/// A descriptor in a set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched {
    pub(crate) events: u32,
    pub(crate) data: u64,
    /// Something happened since it was told of.
    pub(crate) stirred: bool,
}

/// What an instance watches.
pub(crate) type Set = Vec<(RawFd, Watched)>;

/// All instances.
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

    /// Takes a set out, to be put back.
    pub(crate) fn take(&mut self, fd: RawFd) -> Option<Set> {
        self.0.remove(&fd)
    }

    pub(crate) fn put_back(&mut self, fd: RawFd, set: Set) {
        self.0.insert(fd, set);
    }

    /// Something happened to a descriptor, of which these events are a part.
    pub(crate) fn stir(&mut self, fd: RawFd, events: u32) {
        let all = self.0.values_mut().flatten();
        for (_, watched) in all.filter(|(known, _)| *known == fd) {
            watched.stirred |= (watched.events | ALWAYS) & events != 0;
        }
    }

    /// A descriptor is closed: an instance, or what instances watch.
    pub(crate) fn forget(&mut self, fd: RawFd) -> bool {
        self.0.values_mut().for_each(|set| set.retain(|(known, _)| *known != fd));
        self.0.remove(&fd).is_some()
    }
}
