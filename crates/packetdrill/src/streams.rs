//! Implements the system calls that transfer data, and poll(2), for the scripts of packetdrill.
//!
//! Owns waiting for data and for buffer space, and the errors at a stream's end. Never sees packets or pointers.

use std::net::SocketAddr;
use std::os::fd::RawFd;

use bytes::{Buf, Bytes};
use mptcp::{ConnectionId, WriteFlags};
use mptcp_clock::Instant;

use crate::calls::IPPROTO_MPTCP;
use crate::errno::{Result, fail};
use crate::sockets::{Role, Socket};
use crate::stack::{Core, Stack};

/// A descriptor of poll(2), its requested events and its readiness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Polled {
    pub(crate) fd: RawFd,
    pub(crate) events: i16,
    pub(crate) ready: i16,
}

impl Stack {
    /// Reads at most `count` bytes, or none at the end of the stream. `flags` are those of recv(2).
    pub(crate) fn read(&self, fd: RawFd, count: usize, flags: i32) -> Result<Vec<u8>> {
        if flags & libc::MSG_OOB != 0 {
            // Urgent data is part of the stream (RFC 9293 section 3.8.5), so MSG_OOB finds none.
            return fail(libc::EINVAL);
        }
        let id = match self.lock().sockets.get(fd)?.role {
            Role::Stream(id) => id,
            Role::Fresh { .. } | Role::Listener { .. } | Role::Deferred { .. } => {
                return fail(libc::ENOTCONN);
            }
        };
        if count == 0 {
            return Ok(Vec::new());
        }
        let (mut deadline, late) = self.patience(fd, |options| options.receive_timeout)?;
        if flags & libc::MSG_DONTWAIT != 0 {
            deadline = Some(std::time::Instant::now());
        }
        self.wait(deadline, late, |core, now| {
            let data = match core.take(now, id, count, flags & libc::MSG_PEEK != 0) {
                Ok(data) => data,
                Err(error) => return Some(Err(error)),
            };
            if !data.is_empty() {
                return Some(Ok(data));
            }
            let multipath = core.sockets.get(fd).is_ok_and(|socket| socket.protocol == IPPROTO_MPTCP);
            let status = core.sockets.status(id).ok()?;
            if status.finished || status.read_closed {
                return Some(Ok(Vec::new()));
            }
            if let Some(error) = status.error.take() {
                return Some(fail(error));
            }
            // In TCP, the end of the stream follows the error (net/ipv4/tcp.c, `tcp_done`).
            status.closed.map(|_| if multipath { fail(libc::ENOTCONN) } else { Ok(Vec::new()) })
        })
    }

    /// Writes as much data as the buffer has space for. `flags` are those of send(2), and `to` is the address of
    /// sendto(2).
    pub(crate) fn write(&self, fd: RawFd, data: Bytes, flags: i32, to: Option<SocketAddr>) -> Result<usize> {
        if flags & libc::MSG_OOB != 0 {
            // Urgent data is not supported: RFC 6093 section 4 advises against it, and MPTCP cannot carry it.
            return fail(libc::EOPNOTSUPP);
        }
        let wait = flags & libc::MSG_DONTWAIT == 0 && !self.lock().sockets.get(fd)?.nonblocking;
        let begun = self.act(|core, now| {
            core.refresh(self);
            core.begin_with(self, now, fd, &data, flags & libc::MSG_FASTOPEN != 0, wait, to)
        })?;
        let (mut deadline, late) = self.patience(fd, |options| options.send_timeout)?;
        let mut sent = 0;
        let zero_copy = flags & libc::MSG_ZEROCOPY != 0;
        if let Some((id, in_syn)) = begun {
            if wait {
                self.await_connection(fd, id)?;
            }
            // Data that did not fit into the SYN, or had no cookie, follows the handshake if the call may block.
            if !wait || in_syn == data.len() {
                self.act(|core, now| core.note_zero_copy(now, fd, id, zero_copy && in_syn > 0));
                return Ok(in_syn);
            }
            sent = in_syn;
        }
        let Role::Stream(id) = self.lock().sockets.get(fd)?.role else { return fail(libc::ENOTCONN) };
        if flags & libc::MSG_DONTWAIT != 0 {
            deadline = Some(std::time::Instant::now());
        }
        let with =
            WriteFlags { more: flags & libc::MSG_MORE != 0, end_of_record: flags & libc::MSG_EOR != 0 };
        let mut waited = false;
        // As in Linux, a blocking call continues until all data is written. A later error is reported only if no data
        // was written.
        let outcome = self.wait(deadline, late, |core, now| {
            let status = match core.sockets.status(id) {
                Ok(status) => status,
                Err(error) => return Some(Err(error)),
            };
            if let Some(error) = status.error.take() {
                return Some(fail(error));
            }
            if status.write_closed || status.closed.is_some() {
                return Some(fail(libc::EPIPE));
            }
            // Linux wakes a writer only when much space is free (`sk_stream_write_space`).
            if !status.opened || (waited && status.no_space) {
                return None;
            }
            waited = true;
            let socket = match core.sockets.get(fd) {
                Ok(socket) => socket.clone(),
                Err(error) => return Some(Err(error)),
            };
            sent += core.write_some(now, &socket, id, &data.slice(sent..), with);
            (sent == data.len()).then_some(Ok(sent))
        });
        let outcome = outcome.or_else(|error| if sent > 0 { Ok(sent) } else { Err(error) });
        self.act(|core, now| {
            core.note_zero_copy(now, fd, id, zero_copy && outcome.is_ok_and(|sent| sent > 0))
        });
        outcome
    }

    /// Implements poll(2): waits at most `timeout` milliseconds, forever if negative. Returns the number of ready
    /// descriptors.
    pub(crate) fn poll(&self, polled: &mut [Polled], timeout: i32) -> usize {
        let outcome = self.wait(deadline_in(timeout), libc::EAGAIN, |core, now| {
            for entry in polled.iter_mut() {
                entry.ready = core.readiness(now, entry.fd) & (entry.events | ALWAYS);
            }
            let count = polled.iter().filter(|entry| entry.ready != 0).count();
            (count > 0).then_some(Ok(count))
        });
        outcome.unwrap_or(0)
    }
}

/// The deadline of a timeout in milliseconds; None for a negative one, which never ends.
pub(crate) fn deadline_in(timeout: i32) -> Option<std::time::Instant> {
    let span = u64::try_from(timeout).ok().map(std::time::Duration::from_millis);
    span.and_then(|span| std::time::Instant::now().checked_add(span))
}

/// Events that poll(2) reports without a request.
const ALWAYS: i16 = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;

impl Core {
    /// Numbers a call if the socket has enabled SO_ZEROCOPY. `counts` states that the call sent data with MSG_ZEROCOPY.
    fn note_zero_copy(&mut self, now: Instant, fd: RawFd, id: ConnectionId, counts: bool) {
        let wanted = counts && self.sockets.get(fd).is_ok_and(|socket| socket.options.zero_copy);
        let Some(info) = self.endpoint.info(now, id).filter(|_| wanted) else { return };
        if let Ok(status) = self.sockets.status(id) {
            status.zero_copies.sent(info.bytes_written);
        }
    }

    /// Writes as much data as Linux would accept. Returns the number of bytes.
    fn write_some(
        &mut self,
        now: Instant,
        socket: &Socket,
        id: ConnectionId,
        data: &Bytes,
        flags: WriteFlags,
    ) -> usize {
        let mut taken = 0;
        while taken < data.len() {
            let Some(sending) = self.sending(now, socket, id) else {
                taken = self.endpoint.write_with(now, id, data.clone(), flags);
                break;
            };
            let room = match sending.room() {
                (0, 0) => break,
                (0, fresh) => {
                    if let (Ok(status), Some(info)) = (self.sockets.status(id), self.endpoint.info(now, id)) {
                        status.piece = info.bytes_written;
                    }
                    fresh
                }
                (left, _) => left,
            };
            let end = data.len().min(taken + usize::try_from(room).unwrap_or(usize::MAX));
            let last = end == data.len();
            let flags = WriteFlags { more: flags.more || !last, end_of_record: flags.end_of_record && last };
            let now_taken = self.endpoint.write_with(now, id, data.slice(taken..end), flags);
            taken += now_taken;
            self.transmit(now);
            if now_taken == 0 {
                break;
            }
        }
        if taken < data.len() {
            // Pieces are written with `more`, but none follows. The last segment must not wait.
            self.endpoint.end_more(now, id);
            self.transmit(now);
            if let Ok(status) = self.sockets.status(id) {
                status.no_space = true;
            }
        }
        taken
    }

    /// Takes at most `count` bytes from a stream, or none if no data is ready.
    fn take(&mut self, now: Instant, id: ConnectionId, count: usize, peek: bool) -> Result<Vec<u8>> {
        let mut taken = Vec::new();
        while taken.len() < count {
            let status = self.sockets.status(id)?;
            if status.unread.is_empty() {
                let Some(more) = self.endpoint.read(now, id) else { break };
                status.unread = more;
            }
            let part = status.unread.len().min(count - taken.len());
            taken.extend_from_slice(&status.unread[..part]);
            if peek {
                break;
            }
            status.unread.advance(part);
        }
        Ok(taken)
    }

    /// Starts a connection with its first data. Returns the connection and the number of bytes that TCP Fast Open sends
    /// in the SYN; None when the socket is connected.
    ///
    /// EINPROGRESS if the call must not block and the SYN may not carry data: no byte is taken.
    #[allow(clippy::too_many_arguments, reason = "the arguments of the system call")]
    fn begin_with(
        &mut self,
        stack: &Stack,
        now: Instant,
        fd: RawFd,
        data: &Bytes,
        fast_open: bool,
        wait: bool,
        to: Option<SocketAddr>,
    ) -> Result<Option<(ConnectionId, usize)>> {
        let socket = self.sockets.get(fd)?.clone();
        let remote = match (socket.role, to) {
            (Role::Deferred { remote }, _) => remote,
            (Role::Fresh { .. }, None) if fast_open => return fail(libc::EOPNOTSUPP),
            (Role::Fresh { .. }, _) if fast_open && !self.settings.fast_open.client() => {
                return fail(libc::EOPNOTSUPP);
            }
            (Role::Fresh { .. }, Some(to)) if fast_open => to,
            // On an open connection, MSG_FASTOPEN has no effect.
            (Role::Stream(id), _) if fast_open && !self.sockets.status(id)?.opened => {
                let status = self.sockets.status(id)?;
                let pending = status.closed.is_none() && status.error.is_none();
                return if pending { fail(libc::EALREADY) } else { Ok(None) };
            }
            (Role::Fresh { .. }, _) => return fail(libc::EPIPE),
            _ => return Ok(None),
        };
        if !self.may_send_in_syn(&socket, remote) {
            let id = self.open(stack, now, fd, remote, Bytes::new(), true)?;
            return if wait { Ok(Some((id, 0))) } else { fail(libc::EINPROGRESS) };
        }
        let mss = self.config(stack, &socket, Some(remote.ip())).mss;
        let room = self.endpoint.room_in_syn(remote.ip(), mss);
        let first = data.slice(..data.len().min(room));
        let sent = first.len();
        let id = self.open(stack, now, fd, remote, first, data.is_empty() && fast_open)?;
        if data.is_empty() && !wait { fail(libc::EINPROGRESS) } else { Ok(Some((id, sent))) }
    }

    /// The readiness of a descriptor, as poll(2) reports it.
    pub(crate) fn readiness(&mut self, now: Instant, fd: RawFd) -> i16 {
        let role = match self.sockets.get(fd) {
            Ok(socket) => socket.role,
            Err(_) => return libc::POLLNVAL,
        };
        let id = match role {
            Role::Listener { port } if self.sockets.has_accepted(port) => return libc::POLLIN,
            Role::Listener { .. } => return 0,
            Role::Fresh { .. } => return libc::POLLOUT | libc::POLLHUP,
            // In Linux, the first write sends the SYN (net/ipv4/tcp.c, `tcp_poll`).
            Role::Deferred { .. } => return libc::POLLOUT,
            Role::Stream(id) => id,
        };
        let readable = self.endpoint.readable(id);
        let writable = match self.sockets.get(fd).cloned() {
            Ok(socket) => self.sending(now, &socket, id).map(|sending| sending.is_writable()),
            Err(_) => None,
        };
        let writable = writable.unwrap_or_else(|| self.endpoint.writable(id) > 0);
        let Ok(status) = self.sockets.status(id) else { return libc::POLLHUP };
        status.no_space |= status.opened && !writable;
        let over = status.closed.is_some();
        let mut ready = 0;
        if readable > 0 || !status.unread.is_empty() || status.finished || status.read_closed || over {
            ready |= libc::POLLIN;
        }
        if status.finished || status.read_closed || over {
            ready |= libc::POLLRDHUP;
        }
        if over || status.write_closed || (status.opened && writable) {
            ready |= libc::POLLOUT;
        }
        if over || (status.finished && status.write_closed) {
            ready |= libc::POLLHUP;
        }
        if status.error.is_some() || status.zero_copies.has_told() {
            ready |= libc::POLLERR;
        }
        ready
    }
}
