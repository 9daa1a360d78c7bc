//! Implements the system calls of epoll(7) for the scripts of packetdrill.
//!
//! Owns their errors and the rules for level-triggered and edge-triggered events. `watching` holds the interest lists,
//! and `streams` computes the readiness of a descriptor.

use std::os::fd::RawFd;

use mptcp_clock::Instant;

use crate::errno::{Result, fail};
use crate::stack::{Core, Stack};
use crate::streams::deadline_in;
use crate::watching::{ALWAYS, MANNERS, Told, Watched};

impl Stack {
    /// Implements epoll_create(2) for a descriptor that the caller has allocated.
    pub(crate) fn epoll_create(&self, fd: RawFd, size: i32) -> Result<()> {
        if size <= 0 {
            return fail(libc::EINVAL);
        }
        self.lock().epolls.create(fd);
        Ok(())
    }

    /// Implements epoll_ctl(2). `event` holds the wanted events and the user data.
    pub(crate) fn epoll_control(
        &self,
        epoll: RawFd,
        operation: i32,
        fd: RawFd,
        event: Option<Told>,
    ) -> Result<()> {
        self.act(|core, _| {
            if core.sockets.get(fd).is_err() {
                return fail(if core.epolls.is_one(fd) { libc::EINVAL } else { libc::EBADF });
            }
            let Some(set) = core.epolls.set_of(epoll) else { return fail(libc::EINVAL) };
            let at = set.iter().position(|(known, _)| *known == fd);
            let watched = |(events, data)| Watched { events, data, stirred: true };
            match (operation, at, event) {
                (libc::EPOLL_CTL_DEL, Some(at), _) => {
                    set.remove(at);
                }
                (libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD, _, None) => return fail(libc::EFAULT),
                (libc::EPOLL_CTL_ADD, Some(_), _) => return fail(libc::EEXIST),
                (libc::EPOLL_CTL_ADD, None, Some(event)) => set.push((fd, watched(event))),
                (libc::EPOLL_CTL_MOD, Some(at), Some(event)) => set[at].1 = watched(event),
                (libc::EPOLL_CTL_MOD | libc::EPOLL_CTL_DEL, None, _) => return fail(libc::ENOENT),
                _ => return fail(libc::EINVAL),
            }
            Ok(())
        })
    }

    /// Implements epoll_wait(2). Returns at most `most` events, or none after `timeout` milliseconds. A negative
    /// timeout waits forever.
    pub(crate) fn epoll_wait(&self, epoll: RawFd, most: usize, timeout: i32) -> Result<Vec<Told>> {
        if most == 0 {
            return fail(libc::EINVAL);
        }
        let outcome =
            self.wait(deadline_in(timeout), libc::EAGAIN, |core, now| match core.epoll(now, epoll, most) {
                Ok(told) if told.is_empty() => None,
                told => Some(told),
            });
        match outcome {
            Err(error) if error.0 == libc::EAGAIN => Ok(Vec::new()),
            told => told,
        }
    }
}

impl Core {
    fn epoll(&mut self, now: Instant, epoll: RawFd, most: usize) -> Result<Vec<Told>> {
        let Some(mut set) = self.epolls.take(epoll) else { return fail(libc::EINVAL) };
        let mut told = Vec::new();
        for (fd, watched) in &mut set {
            let edge = watched.events & libc::EPOLLET as u32 != 0;
            if told.len() == most || watched.events & !MANNERS == 0 || (edge && !watched.stirred) {
                continue;
            }
            // The bits of poll(2) and epoll(7) are the same.
            let ready = u32::from(self.readiness(now, *fd) as u16) & ((watched.events & !MANNERS) | ALWAYS);
            if edge {
                watched.stirred = false;
            }
            if ready != 0 {
                told.push((ready, watched.data));
                if watched.events & libc::EPOLLONESHOT as u32 != 0 {
                    watched.events &= MANNERS;
                }
            }
        }
        self.epolls.put_back(epoll, set);
        Ok(told)
    }
}
