//! The table of sockets by descriptor, and the state of their connections.
//!
//! packetdrill addresses sockets by descriptor, and the endpoint addresses connections by [`ConnectionId`]. The system
//! calls in `calls`, `streams` and `options` convert one to the other here. Owns the state of sockets, and the
//! connections that await accept(2) by listening port. Never waits, and never creates or closes a descriptor.

use std::collections::{HashMap, VecDeque};
use std::os::fd::RawFd;

use bytes::Bytes;
use mptcp::{CloseReason, ConnectionId, ConnectionInfo};

use crate::clocks::Clocks;
use crate::errno::{Result, fail};
use crate::socket_options::SocketOptions;
use crate::zero_copy::ZeroCopies;

/// The state of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Not connected; the bound port, or 0.
    Fresh { port: u16 },
    /// Accepts connections to a port.
    Listener { port: u16 },
    /// Connects with the first write (TCP_FASTOPEN_CONNECT).
    Deferred { remote: std::net::SocketAddr },
    /// One end of a connection.
    Stream(ConnectionId),
}

#[derive(Clone, Debug)]
pub(crate) struct Socket {
    pub(crate) domain: i32,
    pub(crate) protocol: i32,
    pub(crate) nonblocking: bool,
    pub(crate) role: Role,
    /// The backlog argument of listen(2).
    pub(crate) backlog: i32,
    pub(crate) options: SocketOptions,
}

/// The state of a connection.
#[derive(Debug, Default)]
pub(crate) struct Status {
    pub(crate) opened: bool,
    /// The peer has closed its direction.
    pub(crate) finished: bool,
    pub(crate) closed: Option<CloseReason>,
    /// The errno of the next call, reported once.
    pub(crate) error: Option<i32>,
    /// Data that the endpoint delivered and the application has not read.
    pub(crate) unread: Bytes,
    pub(crate) write_closed: bool,
    pub(crate) read_closed: bool,
    pub(crate) traffic_class: u8,
    pub(crate) clocks: Clocks,
    pub(crate) zero_copies: ZeroCopies,
    /// Size of a TCP socket's send buffer, bytes.
    pub(crate) buffer: u64,
    /// Stream offset at which the last `struct sk_buff` of this buffer begins (see `buffers`).
    pub(crate) piece: u64,
    /// A writer found no buffer space.
    pub(crate) no_space: bool,
    /// An event occurred, so edge-triggered epoll entries must report the readiness again.
    pub(crate) stirred: bool,
    /// The endpoint's last information about the connection.
    pub(crate) last: Option<ConnectionInfo>,
    /// The socket is closed; the connection ends in the background.
    pub(crate) orphan: bool,
}

/// All sockets and their connections.
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

    /// Records a connection that a local socket opened.
    pub(crate) fn connected(&mut self, id: ConnectionId, traffic_class: u8) {
        self.streams.insert(id, Status { traffic_class, ..Status::default() });
    }

    /// The state of a connection; ENOTCONN when it is unknown.
    pub(crate) fn status(&mut self, id: ConnectionId) -> Result<&mut Status> {
        self.streams.get_mut(&id).map_or_else(|| fail(libc::ENOTCONN), Ok)
    }

    /// The connections of all sockets.
    pub(crate) fn streams(&self) -> Vec<ConnectionId> {
        self.streams.keys().copied().collect()
    }

    /// The descriptor and the socket of a connection.
    pub(crate) fn socket_of(&self, id: ConnectionId) -> Option<(RawFd, Socket)> {
        let found = self.open.iter().find(|(_, socket)| socket.role == Role::Stream(id));
        found.map(|(fd, socket)| (*fd, socket.clone()))
    }

    /// The descriptor of the listener on a port.
    pub(crate) fn listener(&self, port: u16) -> Option<RawFd> {
        self.open.iter().find(|(_, socket)| socket.role == Role::Listener { port }).map(|(fd, _)| *fd)
    }

    pub(crate) fn traffic_class(&self, id: ConnectionId) -> u8 {
        self.streams.get(&id).map_or(0, |status| status.traffic_class)
    }

    pub(crate) fn listen(&mut self, port: u16) {
        self.backlogs.insert(port, VecDeque::new());
    }

    /// Ends listening on a port. Returns the connections that were not accepted.
    pub(crate) fn unlisten(&mut self, port: u16) -> VecDeque<ConnectionId> {
        self.backlogs.remove(&port).unwrap_or_default()
    }

    /// Queues an incoming connection for accept(2). Returns the listener's options; None without a listener.
    pub(crate) fn accepted(&mut self, port: u16, id: ConnectionId) -> Option<SocketOptions> {
        let options = self.listener_options(port)?;
        self.backlogs.get_mut(&port)?.push_back(id);
        let traffic_class = options.traffic_class;
        self.streams.insert(id, Status { opened: true, traffic_class, ..Status::default() });
        Some(options)
    }

    pub(crate) fn next_accepted(&mut self, port: u16) -> Option<ConnectionId> {
        self.backlogs.get_mut(&port)?.pop_front()
    }

    pub(crate) fn has_accepted(&self, port: u16) -> bool {
        self.backlogs.get(&port).is_some_and(|backlog| !backlog.is_empty())
    }

    /// The options of the listener on a port.
    fn listener_options(&self, port: u16) -> Option<SocketOptions> {
        let listens = |socket: &&Socket| socket.role == Role::Listener { port };
        self.open.values().find(listens).map(|socket| socket.options)
    }
}
