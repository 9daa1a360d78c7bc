//! Implements the system calls that create, connect and close sockets, for the scripts of packetdrill.
//!
//! Owns the order in which these calls are valid, and their errors, as for Linux's MPTCP sockets. `streams` moves data.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;
use std::time::Duration;

use bytes::Bytes;
use mptcp::policy::Policies;
use mptcp::{Config, ConnectError, ConnectionId, InterfaceId, ServerFastOpen};
use mptcp_clock::Instant;

use crate::errno::{Result, fail};
use crate::socket_options::SocketOptions;
use crate::sockets::{Role, Socket};
use crate::stack::{Core, Stack};

/// Linux's protocol number for MPTCP.
pub(crate) const IPPROTO_MPTCP: i32 = 262;

impl Stack {
    /// Implements socket(2) for a descriptor that the caller has allocated.
    pub(crate) fn socket(&self, fd: RawFd, domain: i32, kind: i32, protocol: i32) -> Result<()> {
        let nonblocking = kind & libc::SOCK_NONBLOCK != 0;
        if domain != libc::AF_INET && domain != libc::AF_INET6 {
            return fail(libc::EAFNOSUPPORT);
        }
        let stream = kind & !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) == libc::SOCK_STREAM;
        if !stream || !matches!(protocol, 0 | libc::IPPROTO_TCP | IPPROTO_MPTCP) {
            return fail(libc::EPROTONOSUPPORT);
        }
        self.act(|core, _| {
            let role = Role::Fresh { port: 0 };
            let options = SocketOptions::default();
            core.sockets.insert(fd, Socket { domain, protocol, nonblocking, role, backlog: 0, options });
        });
        Ok(())
    }

    /// Whether a descriptor belongs to a socket of this stack.
    pub(crate) fn knows(&self, fd: RawFd) -> bool {
        self.lock().sockets.get(fd).is_ok()
    }

    /// Implements bind(2). The host owns every address, so only the port matters.
    pub(crate) fn bind(&self, fd: RawFd, local: SocketAddr) -> Result<()> {
        self.act(|core, _| {
            let socket = core.sockets.get_mut(fd)?;
            let Role::Fresh { port: 0 } = socket.role else { return fail(libc::EINVAL) };
            socket.role = Role::Fresh { port: local.port() };
            Ok(())
        })
    }

    /// Implements listen(2). As in Linux, `backlog` + 1 connections may wait.
    pub(crate) fn listen(&self, fd: RawFd, backlog: i32) -> Result<()> {
        self.act(|core, _| {
            core.refresh(self);
            let socket = core.sockets.get(fd)?;
            let Role::Fresh { port } = socket.role else { return fail(libc::EINVAL) };
            if port == 0 {
                return fail(libc::EDESTADDRREQ);
            }
            core.sockets.get_mut(fd)?.backlog = backlog;
            core.hear(self, fd, port)?;
            core.sockets.listen(port);
            core.sockets.get_mut(fd)?.role = Role::Listener { port };
            Ok(())
        })
    }

    /// Implements accept(2) and returns the peer's address. `fresh` is the descriptor for the connection.
    pub(crate) fn accept(&self, fd: RawFd, fresh: RawFd) -> Result<SocketAddr> {
        let (deadline, late) = self.patience(fd, |options| options.receive_timeout)?;
        self.wait(deadline, late, |core, now| {
            let listener = match core.sockets.get(fd) {
                Ok(listener) => listener.clone(),
                Err(error) => return Some(Err(error)),
            };
            let Role::Listener { port } = listener.role else { return Some(fail(libc::EINVAL)) };
            let id = core.sockets.next_accepted(port)?;
            core.endpoint.accept(id);
            let socket = Socket { nonblocking: false, role: Role::Stream(id), ..listener };
            core.sockets.insert(fresh, socket);
            let info = core.endpoint.info(now, id);
            let first = info.as_ref().and_then(|info| info.subflows.first());
            let remote = first.map_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)), |first| first.remote);
            // Linux closes an MPTCP connection whose first subflow is gone (net/mptcp/protocol.c,
            // `mptcp_stream_accept`). A TCP connection can still be read.
            let multipath = listener.protocol == IPPROTO_MPTCP;
            if multipath && first.is_none_or(|first| first.closed_by.is_some()) {
                core.endpoint.abort(now, id);
            }
            // An IPv6 socket reports an IPv4 peer as a mapped address (RFC 4291 section 2.5.5.2).
            Some(Ok(match remote.ip() {
                IpAddr::V4(ip)
                    if core.sockets.get(fresh).is_ok_and(|socket| socket.domain == libc::AF_INET6) =>
                {
                    SocketAddr::new(ip.to_ipv6_mapped().into(), remote.port())
                }
                _ => remote,
            }))
        })
    }

    /// Implements connect(2). `remote` is None for AF_UNSPEC, which disconnects.
    pub(crate) fn connect(&self, fd: RawFd, remote: Option<SocketAddr>) -> Result<()> {
        let begun = self.act(|core, now| {
            core.refresh(self);
            let socket = core.sockets.get(fd)?.clone();
            match (socket.role, remote) {
                (Role::Stream(id), None) => {
                    core.endpoint.abort(now, id);
                    core.sockets.get_mut(fd)?.role = Role::Fresh { port: 0 };
                    Ok(None)
                }
                (_, None) => Ok(None),
                (Role::Fresh { .. }, Some(remote)) => {
                    if socket.options.fast_open_connect && core.may_send_in_syn(&socket, remote) {
                        core.sockets.get_mut(fd)?.role = Role::Deferred { remote };
                        return Ok(None);
                    }
                    let ask = socket.options.fast_open_connect;
                    let id = core.open(self, now, fd, remote, Bytes::new(), ask)?;
                    if socket.nonblocking { fail(libc::EINPROGRESS) } else { Ok(Some(id)) }
                }
                (Role::Stream(id), Some(_)) => {
                    let status = core.sockets.status(id)?;
                    if status.opened {
                        return fail(libc::EISCONN);
                    }
                    let pending = status.error.is_none() && status.closed.is_none();
                    if socket.nonblocking && pending { fail(libc::EALREADY) } else { Ok(Some(id)) }
                }
                (Role::Deferred { .. }, Some(_)) => fail(libc::EISCONN),
                (Role::Listener { .. }, Some(_)) => fail(libc::EOPNOTSUPP),
            }
        })?;
        begun.map_or(Ok(()), |id| self.await_connection(fd, id))
    }

    /// Waits until a connection is open or has failed.
    pub(crate) fn await_connection(&self, fd: RawFd, id: ConnectionId) -> Result<()> {
        let (deadline, _) = self.patience(fd, |options| options.send_timeout)?;
        self.wait(deadline, libc::EINPROGRESS, |core, _| {
            let status = match core.sockets.status(id) {
                Ok(status) => status,
                Err(error) => return Some(Err(error)),
            };
            if let Some(error) = status.error.take() {
                return Some(fail(error));
            }
            (status.opened || status.closed.is_some()).then_some(Ok(()))
        })
    }

    /// The deadline of a blocking call, and the errno after it. No deadline means that the call waits forever.
    pub(crate) fn patience(
        &self,
        fd: RawFd,
        timeout: impl Fn(&SocketOptions) -> Option<Duration>,
    ) -> Result<(Option<std::time::Instant>, i32)> {
        let core = self.lock();
        let socket = core.sockets.get(fd)?;
        let span = if socket.nonblocking { Some(Duration::ZERO) } else { timeout(&socket.options) };
        Ok((span.and_then(|span| std::time::Instant::now().checked_add(span)), libc::EAGAIN))
    }

    /// Implements shutdown(2).
    pub(crate) fn shutdown(&self, fd: RawFd, how: i32) -> Result<()> {
        self.act(|core, now| {
            let Role::Stream(id) = core.sockets.get(fd)?.role else { return fail(libc::ENOTCONN) };
            let status = core.sockets.status(id)?;
            if !status.opened {
                // Linux aborts a connection that is not open yet.
                core.endpoint.abort(now, id);
                return Ok(());
            }
            if how != libc::SHUT_RD {
                status.write_closed = true;
            }
            if how != libc::SHUT_WR {
                status.read_closed = true;
            }
            if status.write_closed {
                core.endpoint.close(now, id);
            }
            Ok(())
        })
    }

    /// Implements close(2), except that the caller releases the descriptor.
    pub(crate) fn close(&self, fd: RawFd) -> Result<()> {
        let mut linger = None;
        let lingers = self.act(|core, now| {
            if core.epolls.forget(fd) {
                return Ok(None);
            }
            let socket = core.sockets.remove(fd)?;
            linger = socket.options.linger;
            let stream = match socket.role {
                Role::Stream(id) if !socket.nonblocking => Some(id),
                _ => None,
            };
            match socket.role {
                Role::Fresh { .. } | Role::Deferred { .. } => {}
                Role::Listener { port } => {
                    core.endpoint.unlisten(port);
                    for id in core.sockets.unlisten(port) {
                        core.endpoint.abort(now, id);
                    }
                }
                Role::Stream(id) => core.abandon(now, id, linger == Some(0)),
            }
            core.epolls.forget(fd);
            Ok(stream)
        })?;
        let (Some(id), Some(seconds)) = (lingers, linger.filter(|seconds| *seconds > 0)) else {
            return Ok(());
        };
        // SO_LINGER waits until all data is acknowledged or the time is up.
        let deadline = std::time::Instant::now().checked_add(Duration::from_secs(seconds.into()));
        let outcome = self.wait(deadline, libc::EWOULDBLOCK, |core, now| {
            let left = core.endpoint.info(now, id).map_or(0, |info| info.send_queue);
            (left == 0).then_some(Ok(()))
        });
        outcome.or(Ok(()))
    }
}

impl Core {
    /// Makes the endpoint listen on a port with the socket's options. The endpoint may listen already, because
    /// TCP_FASTOPEN may follow listen(2).
    pub(crate) fn hear(&mut self, stack: &Stack, fd: RawFd, port: u16) -> Result<()> {
        let socket = self.sockets.get(fd)?;
        let mut config = self.config(stack, socket, None);
        let (options, settings) = (socket.options, self.settings.fast_open);
        config.fast_open = settings.server(options.fast_open_queue > 0).then(|| ServerFastOpen {
            key: options.fast_open_keys.map_or(settings.key, |(key, _)| crate::fast_open::key_of(key)),
            old_key: options.fast_open_keys.and_then(|(_, old)| old).map(crate::fast_open::key_of),
            cookies: !(settings.server_without_cookie() || options.fast_open_no_cookie),
        });
        let most = usize::try_from(socket.backlog).unwrap_or(0) + 1;
        if socket.role == (Role::Listener { port }) {
            // Waiting connections stay in the backlog of `sockets`; the endpoint's count restarts.
            self.endpoint.unlisten(port);
        }
        let heard = self.endpoint.listen_on(port, config, None, Some(most));
        heard.or_else(|_| fail(libc::EADDRINUSE))
    }

    /// The host's first interface of the remote address's family. ENETUNREACH if there is none.
    fn source(&self, remote: IpAddr) -> Result<InterfaceId> {
        let same = |(address, _): &&(IpAddr, InterfaceId)| address.is_ipv4() == remote.is_ipv4();
        self.interfaces.iter().find(same).map_or_else(|| fail(libc::ENETUNREACH), |&(_, id)| Ok(id))
    }

    /// The endpoint's configuration for a connection of a socket. `remote` is None for a listener.
    pub(crate) fn config(&self, stack: &Stack, socket: &Socket, remote: Option<IpAddr>) -> Config {
        let mut config = self.settings.config();
        config.multipath = socket.protocol == IPPROTO_MPTCP && self.settings.mptcp;
        // A listener serves both families; its MSS follows the family of the host's first address.
        let local = self.interfaces.first().map(|(address, _)| *address);
        let narrow = remote.or(local).is_none_or(|address| address.is_ipv4());
        config.mss = stack.flags.mtu - if narrow { 40 } else { 60 };
        if socket.protocol != IPPROTO_MPTCP
            && let Ok(made) = Policies::default()
                .congestion
                .find(socket.options.congestion.unwrap_or(self.settings.congestion))
        {
            config.congestion = made;
        }
        socket.options.apply(&mut config);
        config.interfaces = self.interfaces.first().map(|(_, id)| vec![*id]);
        config
    }

    /// Whether a client's SYN may carry data: it has a cookie or needs none.
    pub(crate) fn may_send_in_syn(&self, socket: &Socket, remote: SocketAddr) -> bool {
        let settings = self.settings.fast_open;
        let free = settings.client_without_cookie() || socket.options.fast_open_no_cookie;
        settings.client() && (free || self.endpoint.has_cookie(remote.ip()))
    }

    /// Opens a connection, with data in the SYN where TCP Fast Open allows it.
    pub(crate) fn open(
        &mut self,
        stack: &Stack,
        now: Instant,
        fd: RawFd,
        remote: SocketAddr,
        data: Bytes,
        ask_for_cookie: bool,
    ) -> Result<ConnectionId> {
        let socket = self.sockets.get(fd)?.clone();
        let interface = self.source(remote.ip())?;
        let mut config = self.config(stack, &socket, Some(remote.ip()));
        config.interfaces = Some(vec![interface]);
        let opened = if ask_for_cookie || !data.is_empty() {
            let free = self.settings.fast_open.client_without_cookie() || socket.options.fast_open_no_cookie;
            self.endpoint.connect_fast_open(now, interface, remote, config, data, !free)
        } else {
            self.endpoint.connect(now, interface, remote, config)
        };
        let id = opened.or_else(|error| match error {
            ConnectError::NoPort(_) => fail(libc::EADDRNOTAVAIL),
            ConnectError::NoInterface(_) | ConnectError::Down(_) | ConnectError::Family(..) => {
                fail(libc::ENETUNREACH)
            }
        })?;
        self.sockets.connected(id, socket.options.traffic_class);
        self.endpoint.set_cork(now, id, socket.options.cork);
        self.sockets.get_mut(fd)?.role = Role::Stream(id);
        Ok(id)
    }
}
