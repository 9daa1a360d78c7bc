//! Applies the endpoint's events to the table of sockets.
//!
//! This crate imitates Linux's socket calls for packetdrill. Each event becomes a socket state that a later call
//! returns: readable, writable, an error, an end of file. Owns the mapping from close reasons to errno values. Closes
//! the connections of sockets without a descriptor. Never waits.

use mptcp::{CloseReason, ConnectionId, EventKind};
use mptcp_clock::Instant;

use crate::stack::Core;

impl Core {
    /// Processes all pending events of the endpoint.
    pub(crate) fn take_events(&mut self, now: Instant) {
        while let Some(event) = self.endpoint.poll_event() {
            if event.kind == EventKind::Accepted {
                self.take_accepted(now, event.connection);
            } else {
                self.take_event(now, event.connection, event.kind);
            }
        }
    }

    /// Samples every connection: updates the connection's clocks and reports new events to epoll instances.
    pub(crate) fn look(&mut self, now: Instant) {
        for id in self.sockets.streams() {
            let Some(info) = self.endpoint.info(now, id) else { continue };
            let socket = self.sockets.socket_of(id);
            let waits = self.sockets.status(id).is_ok_and(|status| status.no_space);
            let room = match &socket {
                Some((_, socket)) if waits => match self.sending(now, socket, id) {
                    Some(sending) => sending.is_writable(),
                    None => self.endpoint.writable(id) > 0,
                },
                _ => false,
            };
            let Ok(status) = self.sockets.status(id) else { continue };
            let mut events = 0;
            if status.clocks.look(now, &info, status.opened) {
                events |= libc::EPOLLIN as u32;
            }
            if room {
                status.no_space = false;
                events |= libc::EPOLLOUT as u32;
            }
            if status.zero_copies.acknowledged(info.bytes_acked) {
                events |= libc::EPOLLERR as u32;
            }
            status.last = Some(info);
            if std::mem::take(&mut status.stirred) {
                events |= (libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLHUP) as u32;
            }
            if let (Some((fd, _)), true) = (socket, events != 0) {
                self.epolls.stir(fd, events);
            }
        }
    }

    fn take_accepted(&mut self, now: Instant, id: ConnectionId) {
        let port = self.endpoint.connection(id).and_then(mptcp::Connection::local_port).unwrap_or(0);
        let Some(options) = self.sockets.accepted(port, id) else { return self.endpoint.abort(now, id) };
        self.endpoint.set_nodelay(now, id, options.no_delay);
        self.endpoint.set_cork(now, id, options.cork);
        if let Some(fd) = self.sockets.listener(port) {
            self.epolls.stir(fd, libc::EPOLLIN as u32);
        }
    }

    fn take_event(&mut self, now: Instant, id: ConnectionId, kind: EventKind) {
        let socket = self.sockets.socket_of(id);
        let multipath = socket.is_none_or(|(_, socket)| socket.protocol == crate::calls::IPPROTO_MPTCP);
        let Ok(status) = self.sockets.status(id) else { return };
        status.stirred |= !matches!(kind, EventKind::Writable | EventKind::Readable);
        match kind {
            EventKind::Connected => status.opened = true,
            EventKind::Finished => status.finished = true,
            // Data for a closed socket resets the connection, as in Linux (RFC 9293 section 3.10.4).
            EventKind::Readable if status.orphan => self.endpoint.abort(now, id),
            EventKind::Closed(how) => {
                status.closed = Some(how);
                status.error = match how {
                    CloseReason::Refused => Some(libc::ECONNREFUSED),
                    CloseReason::Reset(_) => Some(libc::ECONNRESET),
                    CloseReason::Unreachable => Some(libc::EHOSTUNREACH),
                    // A timeout sets an errno, except for MPTCP's close_timeout, as in Linux.
                    CloseReason::TimedOut if !status.opened || !multipath => Some(libc::ETIMEDOUT),
                    CloseReason::TimedOut | CloseReason::Finished | CloseReason::Aborted => None,
                };
            }
            _ => {}
        }
    }

    /// Closes a socket's connection. As Linux, resets it if data was left unread (RFC 2525 section 2.17), and otherwise
    /// closes it in the background. `at_once`, for SO_LINGER with a time of zero, also resets it.
    pub(crate) fn abandon(&mut self, now: Instant, id: ConnectionId, at_once: bool) {
        let Ok(status) = self.sockets.status(id) else { return };
        status.orphan = true;
        let unread = !status.unread.is_empty() || self.endpoint.read(now, id).is_some();
        if at_once || unread || !status.opened {
            self.endpoint.abort(now, id);
        } else {
            self.endpoint.close(now, id);
        }
    }
}
