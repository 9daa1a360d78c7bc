//! What the endpoint tells of connections, put into the table of sockets.
//!
//! Owns the errno of each ending. Never waits.

use mptcp::{CloseReason, ConnectionId, EventKind};
use mptcp_clock::Instant;

use crate::stack::Core;

impl Core {
    /// Takes in what the endpoint has to tell.
    pub(crate) fn take_events(&mut self, now: Instant) {
        while let Some(event) = self.endpoint.poll_event() {
            if event.kind == EventKind::Accepted {
                self.take_accepted(now, event.connection);
            } else {
                self.take_event(now, event.connection, event.kind);
            }
        }
    }

    fn take_accepted(&mut self, now: Instant, id: ConnectionId) {
        let port = self.endpoint.connection(id).and_then(mptcp::Connection::local_port).unwrap_or(0);
        let Some(options) = self.sockets.accepted(port, id) else { return self.endpoint.abort(now, id) };
        self.endpoint.set_nodelay(now, id, options.no_delay);
        self.endpoint.set_cork(now, id, options.cork);
    }

    fn take_event(&mut self, now: Instant, id: ConnectionId, kind: EventKind) {
        let Ok(status) = self.sockets.status(id) else { return };
        match kind {
            EventKind::Connected => status.opened = true,
            EventKind::Finished => status.finished = true,
            // RFC 9293 section 3.10.4 as Linux has it: data for a socket that is gone ends the connection.
            EventKind::Readable if status.orphan => self.endpoint.abort(now, id),
            EventKind::Closed(how) => {
                status.closed = Some(how);
                status.error = match how {
                    CloseReason::Refused => Some(libc::ECONNREFUSED),
                    CloseReason::Reset(_) => Some(libc::ECONNRESET),
                    CloseReason::Unreachable => Some(libc::EHOSTUNREACH),
                    // Linux's close_timeout leaves no error behind.
                    CloseReason::TimedOut if !status.opened => Some(libc::ETIMEDOUT),
                    CloseReason::TimedOut | CloseReason::Finished | CloseReason::Aborted => None,
                };
            }
            _ => {}
        }
    }

    /// A socket is closed. Linux resets when data was left unread (RFC 2525 section 2.17), and closes in the
    /// background otherwise.
    pub(crate) fn abandon(&mut self, now: Instant, id: ConnectionId) {
        let Ok(status) = self.sockets.status(id) else { return };
        status.orphan = true;
        let unread = !status.unread.is_empty() || self.endpoint.read(now, id).is_some();
        if unread || !status.opened {
            self.endpoint.abort(now, id);
        } else {
            self.endpoint.close(now, id);
        }
    }
}
