//! Implements getsockopt(2), fcntl(2) and ioctl(2) for the scripts of packetdrill.
//!
//! Owns the values, as bytes in the machine's order, and the errors for options that MPTCP sockets lack.

use std::os::fd::RawFd;

use mptcp_clock::Instant;

use crate::buffers::DEFAULT_RECEIVE;
use crate::calls::IPPROTO_MPTCP;
use crate::errno::{Result, fail};
use crate::mptcp_info::{self, Answer};
use crate::options::{TCP_FASTOPEN_NO_COOKIE, TCP_INQ};
use crate::socket_options::REMEMBERED;
use crate::sockets::{Role, Socket};
use crate::stack::{Core, Stack};
use crate::tcp_info;

/// A socket level of Linux that the libc crate lacks.
const SOL_MPTCP: i32 = 284;
/// Requests the number of unsent bytes; `TIOCOUTQ` requests unacknowledged bytes (include/uapi/linux/sockios.h).
const SIOCOUTQNSD: u64 = 0x894b;

impl Stack {
    /// Implements getsockopt(2). The caller truncates the value to its buffer. `asked` holds the buffer's content.
    pub(crate) fn option(&self, fd: RawFd, level: i32, name: i32, asked: &[u8]) -> Result<Answer> {
        self.act(|core, now| {
            core.refresh(self);
            let socket = core.sockets.get(fd)?.clone();
            if level == SOL_MPTCP && socket.protocol == IPPROTO_MPTCP {
                return core.mptcp_info(now, &socket, name, asked);
            }
            let value = match (level, name) {
                (libc::IPPROTO_TCP, libc::TCP_INFO) => core.tcp_info(now, &socket),
                (libc::IPPROTO_TCP, libc::TCP_FASTOPEN_KEY) => {
                    let (key, old) = socket.options.fast_open_keys.unwrap_or_default();
                    Ok([&key[..], old.as_ref().map_or(&[], |old| &old[..])].concat())
                }
                (libc::IPPROTO_TCP, libc::TCP_CONGESTION) => {
                    let name = socket.options.congestion.unwrap_or(core.settings.congestion);
                    let mut bytes = name.as_bytes().to_vec();
                    bytes.resize(16, 0);
                    Ok(bytes)
                }
                // No controller here reports information; neither does Linux's CUBIC.
                (libc::IPPROTO_TCP, libc::TCP_CC_INFO) => Ok(Vec::new()),
                (libc::SOL_SOCKET, libc::SO_MEMINFO) => core.memory_info(now, &socket),
                (libc::SOL_SOCKET, libc::SO_LINGER) => {
                    let linger = socket.options.linger;
                    let (on, seconds) = (i32::from(linger.is_some()), linger.unwrap_or(0) as i32);
                    Ok([on.to_ne_bytes(), seconds.to_ne_bytes()].concat())
                }
                _ => Ok(core.number(now, &socket, level, name)?.to_ne_bytes().to_vec()),
            };
            value.map(Answer::from)
        })
    }

    /// Implements fcntl(2) for the descriptor's flags.
    pub(crate) fn control(&self, fd: RawFd, command: i32, argument: i32) -> Result<i32> {
        self.act(|core, _| {
            let socket = core.sockets.get_mut(fd)?;
            match command {
                libc::F_GETFL => Ok(libc::O_RDWR | if socket.nonblocking { libc::O_NONBLOCK } else { 0 }),
                libc::F_SETFL => {
                    socket.nonblocking = argument & libc::O_NONBLOCK != 0;
                    Ok(0)
                }
                _ => fail(libc::EINVAL),
            }
        })
    }

    /// Implements ioctl(2): bytes to read (FIONREAD, SIOCINQ), unacknowledged bytes (TIOCOUTQ, SIOCOUTQ) and unsent
    /// bytes (SIOCOUTQNSD).
    pub(crate) fn queued(&self, fd: RawFd, request: u64) -> Result<i32> {
        self.act(|core, now| {
            let Role::Stream(id) = core.sockets.get(fd)?.role else { return fail(libc::EINVAL) };
            let info = core.endpoint.info(now, id);
            let count = match request {
                libc::FIONREAD => core.readable_now(id),
                libc::TIOCOUTQ => info.map_or(0, |info| info.send_queue),
                SIOCOUTQNSD => info.map_or(0, |info| info.bytes_written.saturating_sub(info.bytes_sent)),
                _ => return fail(libc::ENOTTY),
            };
            i32::try_from(count).or(Ok(i32::MAX))
        })
    }
}

impl Core {
    /// Bytes that can be read without blocking.
    pub(crate) fn readable_now(&mut self, id: mptcp::ConnectionId) -> u64 {
        let held = self.sockets.status(id).map_or(0, |status| status.unread.len() as u64);
        held + self.endpoint.readable(id)
    }

    fn number(&mut self, now: Instant, socket: &Socket, level: i32, name: i32) -> Result<i32> {
        let options = &socket.options;
        let stream = match socket.role {
            Role::Stream(id) => Some(id),
            Role::Fresh { .. } | Role::Listener { .. } | Role::Deferred { .. } => None,
        };
        let clamped = |bytes: u64| i32::try_from(bytes).unwrap_or(i32::MAX);
        Ok(match (level, name) {
            (libc::SOL_SOCKET, libc::SO_ERROR) => {
                let status = stream.and_then(|id| self.sockets.status(id).ok());
                status.and_then(|status| status.error.take()).unwrap_or(0)
            }
            (libc::SOL_SOCKET, libc::SO_REUSEADDR) => options.reuse_address.into(),
            (libc::SOL_SOCKET, libc::SO_TYPE) => libc::SOCK_STREAM,
            (libc::SOL_SOCKET, libc::SO_PROTOCOL) => socket.protocol,
            (libc::SOL_SOCKET, libc::SO_DOMAIN) => socket.domain,
            (libc::SOL_SOCKET, libc::SO_ACCEPTCONN) => matches!(socket.role, Role::Listener { .. }).into(),
            (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => options.keepalive.into(),
            (libc::SOL_SOCKET, libc::SO_ZEROCOPY) => options.zero_copy.into(),
            (libc::SOL_SOCKET, libc::SO_SNDBUF) => {
                let now_held = stream.and_then(|id| self.sending(now, socket, id));
                let size = now_held.map_or(self.settings.send_buffer[1], |sending| sending.size());
                options.send_buffer.map_or(clamped(size), |bytes| bytes as i32)
            }
            (libc::SOL_SOCKET, libc::SO_RCVBUF) => options.receive_buffer.unwrap_or(DEFAULT_RECEIVE) as i32,
            (libc::IPPROTO_IP, libc::IP_TOS) => options.traffic_class.into(),
            (libc::IPPROTO_TCP, libc::TCP_NODELAY) => options.no_delay.into(),
            (libc::IPPROTO_TCP, libc::TCP_CORK) => options.cork.into(),
            (libc::IPPROTO_TCP, libc::TCP_MAXSEG) => {
                let first = stream
                    .and_then(|id| self.endpoint.info(now, id))
                    .and_then(|info| info.subflows.first().map(|first| first.mss));
                match (first, options.max_segment) {
                    (Some(mss), _) => clamped(mss),
                    // The default before the peer announces its MSS (RFC 9293 section 3.7.1).
                    (None, 0) => 536,
                    (None, set) => set.into(),
                }
            }
            (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT) => options.user_timeout as i32,
            (libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT) => options.notsent_lowat as i32,
            (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE) => options.keep.0.into(),
            (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL) => options.keep.1.into(),
            (libc::IPPROTO_TCP, libc::TCP_KEEPCNT) => options.keep.2.into(),
            (libc::IPPROTO_TCP, libc::TCP_SYNCNT) => {
                options.syn_count.unwrap_or(self.settings.config().syn_retries) as i32
            }
            (libc::IPPROTO_TCP, TCP_INQ) => options.tell_queue.into(),
            (libc::IPPROTO_TCP, libc::TCP_FASTOPEN) => options.fast_open_queue as i32,
            (libc::IPPROTO_TCP, libc::TCP_FASTOPEN_CONNECT) => options.fast_open_connect.into(),
            (libc::IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE) => options.fast_open_no_cookie.into(),
            _ => match REMEMBERED.iter().position(|known| *known == (level, name)) {
                Some(at) => options.remembered[at],
                // Linux's MPTCP and TCP sockets return different errors.
                None if socket.protocol == IPPROTO_MPTCP => return fail(libc::EOPNOTSUPP),
                None => return fail(libc::ENOPROTOOPT),
            },
        })
    }

    /// The nine `SK_MEMINFO_*` numbers of include/uapi/linux/sock_diag.h. Only buffer sizes and the queue are known.
    fn memory_info(&mut self, now: Instant, socket: &Socket) -> Result<Vec<u8>> {
        let send = self.number(now, socket, libc::SOL_SOCKET, libc::SO_SNDBUF)?;
        let receive = self.number(now, socket, libc::SOL_SOCKET, libc::SO_RCVBUF)?;
        let queued = match socket.role {
            Role::Stream(id) => self.endpoint.info(now, id).map_or(0, |info| info.send_queue),
            Role::Fresh { .. } | Role::Listener { .. } | Role::Deferred { .. } => 0,
        };
        let numbers = [0, receive, 0, send, 0, i32::try_from(queued).unwrap_or(i32::MAX), 0, 0, 0];
        Ok(numbers.map(i32::to_ne_bytes).concat())
    }

    fn tcp_info(&mut self, now: Instant, socket: &Socket) -> Result<Vec<u8>> {
        let listens = matches!(socket.role, Role::Listener { .. });
        let Role::Stream(id) = socket.role else { return Ok(tcp_info::blank(listens)) };
        let Ok(status) = self.sockets.status(id) else { return Ok(tcp_info::blank(false)) };
        let clocks = status.clocks;
        // A closed connection keeps its last information.
        let info = self.endpoint.info(now, id).or_else(|| self.sockets.status(id).ok()?.last.clone());
        let found = info.as_ref().and_then(|info| Some((info, info.subflows.first()?)));
        Ok(found
            .map_or_else(|| tcp_info::blank(false), |(info, first)| tcp_info::of(now, info, first, &clocks)))
    }

    fn mptcp_info(&mut self, now: Instant, socket: &Socket, name: i32, asked: &[u8]) -> Result<Answer> {
        let Role::Stream(id) = socket.role else { return fail(libc::EINVAL) };
        let clocks = self.sockets.status(id).map(|status| status.clocks).unwrap_or_default();
        let Some(info) = self.endpoint.info(now, id) else { return fail(libc::EINVAL) };
        mptcp_info::answer(name, asked, &info, &clocks, now)
    }
}
