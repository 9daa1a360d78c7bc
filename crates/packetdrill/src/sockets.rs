//! The table of sockets: which descriptor stands for what, and what events have told of each connection.
//!
//! Owns the state of sockets. Never waits, and never makes or closes a descriptor.

use std::collections::{HashMap, VecDeque};
use std::os::fd::RawFd;
use std::time::Duration;

use bytes::Bytes;
use mptcp::{Closed, ConnectionId, EventKind};
use mptcp_clock::Instant;

use crate::errno::{Result, fail};
use crate::stack::Core;

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing yet; the port that it was bound to, or 0.
    Fresh { port: u16 },
    /// Accepts connections to a port.
    Listener { port: u16 },
    /// Will connect with its first data (TCP_FASTOPEN_CONNECT).
    Deferred { remote: std::net::SocketAddr },
    /// One end of a connection.
    Stream(ConnectionId),
}

/// What setsockopt has set; an accepted socket takes over its listener's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SocketOptions {
    pub(crate) no_delay: bool,
    pub(crate) cork: bool,
    pub(crate) traffic_class: u8,
    pub(crate) send_timeout: Option<Duration>,
    pub(crate) receive_timeout: Option<Duration>,
    pub(crate) fast_open_connect: bool,
    pub(crate) fast_open_no_cookie: bool,
    pub(crate) fast_open_queue: u32,
    /// The key of the cookies, and the one before it.
    pub(crate) fast_open_keys: Option<([u8; 16], Option<[u8; 16]>)>,
    pub(crate) reuse_address: bool,
}

/// A socket.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    pub(crate) domain: i32,
    pub(crate) protocol: i32,
    pub(crate) nonblocking: bool,
    pub(crate) role: Role,
    /// What listen(2) was told.
    pub(crate) backlog: i32,
    pub(crate) options: SocketOptions,
}

/// What is known of a connection.
#[derive(Debug, Default)]
pub(crate) struct Status {
    pub(crate) opened: bool,
    /// The peer has sent all it will.
    pub(crate) finished: bool,
    pub(crate) closed: Option<Closed>,
    /// The errno that the next call gets, once.
    pub(crate) error: Option<i32>,
    /// What the endpoint handed out and the application did not take yet.
    pub(crate) unread: Bytes,
    pub(crate) write_closed: bool,
    pub(crate) read_closed: bool,
    pub(crate) traffic_class: u8,
    /// Its socket is closed; the connection ends in the background.
    pub(crate) orphan: bool,
}

/// All sockets, and the connections behind them.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    open: HashMap<RawFd, Socket>,
    streams: HashMap<ConnectionId, Status>,
    backlogs: HashMap<u16, VecDeque<ConnectionId>>,
}

impl Sockets {
    pub(crate) fn insert(&mut self, fd: RawFd, socket: Socket) {
        self.open.insert(fd, socket);
    }

    pub(crate) fn remove(&mut self, fd: RawFd) -> Result<Socket> {
        self.open.remove(&fd).map_or_else(|| fail(libc::EBADF), Ok)
    }

    pub(crate) fn get(&self, fd: RawFd) -> Result<&Socket> {
        self.open.get(&fd).map_or_else(|| fail(libc::EBADF), Ok)
    }

    pub(crate) fn get_mut(&mut self, fd: RawFd) -> Result<&mut Socket> {
        self.open.get_mut(&fd).map_or_else(|| fail(libc::EBADF), Ok)
    }

    /// A connection was opened by a socket of ours.
    pub(crate) fn connected(&mut self, id: ConnectionId, traffic_class: u8) {
        self.streams.insert(id, Status { traffic_class, ..Status::default() });
    }

    /// The state of a connection; ENOTCONN when nothing is known of it.
    pub(crate) fn status(&mut self, id: ConnectionId) -> Result<&mut Status> {
        self.streams.get_mut(&id).map_or_else(|| fail(libc::ENOTCONN), Ok)
    }

    pub(crate) fn traffic_class(&self, id: ConnectionId) -> u8 {
        self.streams.get(&id).map_or(0, |status| status.traffic_class)
    }

    pub(crate) fn listen(&mut self, port: u16) {
        self.backlogs.insert(port, VecDeque::new());
    }

    /// No more connections to a port; returns those that nobody has accepted.
    pub(crate) fn unlisten(&mut self, port: u16) -> VecDeque<ConnectionId> {
        self.backlogs.remove(&port).unwrap_or_default()
    }

    pub(crate) fn next_accepted(&mut self, port: u16) -> Option<ConnectionId> {
        self.backlogs.get_mut(&port)?.pop_front()
    }

    pub(crate) fn has_accepted(&self, port: u16) -> bool {
        self.backlogs.get(&port).is_some_and(|backlog| !backlog.is_empty())
    }

    /// The options of the socket that listens on a port.
    fn listener_options(&self, port: u16) -> Option<SocketOptions> {
        let listens = |socket: &&Socket| socket.role == Role::Listener { port };
        self.open.values().find(listens).map(|socket| socket.options)
    }
}

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
        let options = self.sockets.listener_options(port);
        let (Some(options), Some(backlog)) = (options, self.sockets.backlogs.get_mut(&port)) else {
            return self.endpoint.abort(now, id);
        };
        backlog.push_back(id);
        let traffic_class = options.traffic_class;
        self.sockets.streams.insert(id, Status { opened: true, traffic_class, ..Status::default() });
        self.endpoint.set_nodelay(now, id, options.no_delay);
        self.endpoint.set_cork(now, id, options.cork);
    }

    fn take_event(&mut self, now: Instant, id: ConnectionId, kind: EventKind) {
        let Some(status) = self.sockets.streams.get_mut(&id) else { return };
        match kind {
            EventKind::Connected => status.opened = true,
            EventKind::Finished => status.finished = true,
            // RFC 9293 section 3.10.4 as Linux has it: data for a socket that is gone ends the connection.
            EventKind::Readable if status.orphan => self.endpoint.abort(now, id),
            EventKind::Closed(how) => {
                status.closed = Some(how);
                status.error = match how {
                    Closed::Refused => Some(libc::ECONNREFUSED),
                    Closed::Reset(_) => Some(libc::ECONNRESET),
                    Closed::Unreachable => Some(libc::EHOSTUNREACH),
                    // Linux's close_timeout leaves no error behind.
                    Closed::TimedOut if !status.opened => Some(libc::ETIMEDOUT),
                    Closed::TimedOut | Closed::Finished | Closed::Aborted => None,
                };
            }
            _ => {}
        }
    }

    /// A socket is closed. Linux resets when data was left unread (RFC 2525 section 2.17), and closes in the
    /// background otherwise.
    pub(crate) fn abandon(&mut self, now: Instant, id: ConnectionId) {
        let Some(status) = self.sockets.streams.get_mut(&id) else { return };
        status.orphan = true;
        let unread = !status.unread.is_empty() || self.endpoint.read(now, id).is_some();
        if unread || !status.opened {
            self.endpoint.abort(now, id);
        } else {
            self.endpoint.close(now, id);
        }
    }
}
