//! Socket options, fcntl and ioctl.
//!
//! Owns which options there are, and the errors for those that MPTCP sockets do not have. Values come and go as
//! bytes in the machine's order.

use std::os::fd::RawFd;
use std::time::Duration;

use crate::calls::IPPROTO_MPTCP;
use crate::errno::{Errno, Result, fail};
use crate::sockets::Role;
use crate::stack::Stack;

/// Linux's number, which the libc crate does not have.
const TCP_FASTOPEN_NO_COOKIE: i32 = 34;
/// The two bits that ECN owns (RFC 3168 section 5): applications do not set them on TCP.
const ECN: u8 = 0x03;

impl Stack {
    /// setsockopt(2).
    pub(crate) fn set_option(&self, fd: RawFd, level: i32, name: i32, value: &[u8]) -> Result<()> {
        self.act(|core, now| {
            let socket = core.sockets.get_mut(fd)?;
            let stream = match socket.role {
                Role::Stream(id) => Some(id),
                Role::Fresh { .. } | Role::Listener { .. } | Role::Deferred { .. } => None,
            };
            let options = &mut socket.options;
            match (level, name) {
                (libc::SOL_SOCKET, libc::SO_REUSEADDR) => options.reuse_address = integer(value)? != 0,
                (libc::SOL_SOCKET, libc::SO_SNDTIMEO) => options.send_timeout = span(value)?,
                (libc::SOL_SOCKET, libc::SO_RCVTIMEO) => options.receive_timeout = span(value)?,
                (libc::IPPROTO_IP, libc::IP_TOS) => {
                    let class = (integer(value)? as u8) & !ECN;
                    options.traffic_class = class;
                    if let Some(id) = stream {
                        core.sockets.status(id)?.traffic_class = class;
                    }
                }
                (libc::IPPROTO_TCP, libc::TCP_NODELAY) => {
                    let on = integer(value)? != 0;
                    options.no_delay = on;
                    if let Some(id) = stream {
                        core.endpoint.set_nodelay(now, id, on);
                    }
                }
                (libc::IPPROTO_TCP, libc::TCP_CORK) => {
                    let on = integer(value)? != 0;
                    options.cork = on;
                    if let Some(id) = stream {
                        core.endpoint.set_cork(now, id, on);
                    }
                }
                (libc::IPPROTO_TCP, libc::TCP_FASTOPEN) => {
                    options.fast_open_queue =
                        u32::try_from(integer(value)?).or_else(|_| fail(libc::EINVAL))?;
                }
                // Both are about the SYN: afterwards it is too late.
                (libc::IPPROTO_TCP, libc::TCP_FASTOPEN_CONNECT) => match socket.role {
                    Role::Fresh { .. } => options.fast_open_connect = integer(value)? != 0,
                    Role::Listener { .. } | Role::Deferred { .. } | Role::Stream(_) => {
                        return fail(libc::EINVAL);
                    }
                },
                (libc::IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE) => match socket.role {
                    Role::Fresh { .. } | Role::Listener { .. } => {
                        options.fast_open_no_cookie = integer(value)? != 0;
                    }
                    Role::Deferred { .. } | Role::Stream(_) => return fail(libc::EINVAL),
                },
                (libc::IPPROTO_TCP, libc::TCP_FASTOPEN_KEY) => {
                    let (first, rest) = value.split_at_checked(16).ok_or(Errno(libc::EINVAL))?;
                    let key = |bytes: &[u8]| bytes.try_into().or(Err(Errno(libc::EINVAL)));
                    let old = if rest.is_empty() { None } else { Some(key(rest)?) };
                    options.fast_open_keys = Some((key(first)?, old));
                }
                _ => return fail(libc::ENOPROTOOPT),
            }
            let fast_open = [libc::TCP_FASTOPEN, libc::TCP_FASTOPEN_KEY, TCP_FASTOPEN_NO_COOKIE];
            match core.sockets.get(fd)?.role {
                Role::Listener { port } if level == libc::IPPROTO_TCP && fast_open.contains(&name) => {
                    core.hear(self, fd, port)
                }
                _ => Ok(()),
            }
        })
    }

    /// getsockopt(2): the value, of which the caller takes as much as it has room for.
    pub(crate) fn option(&self, fd: RawFd, level: i32, name: i32) -> Result<Vec<u8>> {
        self.act(|core, _| {
            let socket = core.sockets.get(fd)?.clone();
            let options = &socket.options;
            let number = match (level, name) {
                (libc::SOL_SOCKET, libc::SO_ERROR) => {
                    let status = match socket.role {
                        Role::Stream(id) => core.sockets.status(id).ok(),
                        Role::Fresh { .. } | Role::Listener { .. } | Role::Deferred { .. } => None,
                    };
                    status.and_then(|status| status.error.take()).unwrap_or(0)
                }
                (libc::SOL_SOCKET, libc::SO_REUSEADDR) => options.reuse_address.into(),
                (libc::SOL_SOCKET, libc::SO_TYPE) => libc::SOCK_STREAM,
                (libc::SOL_SOCKET, libc::SO_PROTOCOL) => socket.protocol,
                (libc::SOL_SOCKET, libc::SO_DOMAIN) => socket.domain,
                (libc::IPPROTO_IP, libc::IP_TOS) => options.traffic_class.into(),
                (libc::IPPROTO_TCP, libc::TCP_NODELAY) => options.no_delay.into(),
                (libc::IPPROTO_TCP, libc::TCP_CORK) => options.cork.into(),
                (libc::IPPROTO_TCP, libc::TCP_FASTOPEN) => options.fast_open_queue as i32,
                (libc::IPPROTO_TCP, libc::TCP_FASTOPEN_CONNECT) => options.fast_open_connect.into(),
                (libc::IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE) => options.fast_open_no_cookie.into(),
                (libc::IPPROTO_TCP, libc::TCP_FASTOPEN_KEY) => {
                    let (key, old) = options.fast_open_keys.unwrap_or_default();
                    return Ok([&key[..], old.as_ref().map_or(&[], |old| &old[..])].concat());
                }
                // Linux's two kinds of socket say it in different words.
                _ if socket.protocol == IPPROTO_MPTCP => return fail(libc::EOPNOTSUPP),
                _ => return fail(libc::ENOPROTOOPT),
            };
            Ok(number.to_ne_bytes().to_vec())
        })
    }

    /// fcntl(2): the flags of the descriptor.
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

    /// ioctl(2): how much waits to be read (FIONREAD), or to be acknowledged (TIOCOUTQ).
    pub(crate) fn queued(&self, fd: RawFd, request: u64) -> Result<i32> {
        self.act(|core, now| {
            let Role::Stream(id) = core.sockets.get(fd)?.role else { return fail(libc::EINVAL) };
            let held = core.sockets.status(id)?.unread.len() as u64;
            let count = match request {
                libc::FIONREAD => held + core.endpoint.readable(id),
                libc::TIOCOUTQ => core.endpoint.info(now, id).map_or(0, |info| info.send_queue),
                _ => return fail(libc::EINVAL),
            };
            i32::try_from(count).or(Ok(i32::MAX))
        })
    }
}

fn integer(value: &[u8]) -> Result<i32> {
    let Some(bytes) = value.first_chunk::<4>() else { return fail(libc::EINVAL) };
    Ok(i32::from_ne_bytes(*bytes))
}

/// A timeval; zero is for ever.
fn span(value: &[u8]) -> Result<Option<Duration>> {
    let part = |from: usize| value.get(from..).and_then(|rest| rest.first_chunk::<8>().copied());
    let (Some(seconds), Some(micros)) = (part(0), part(8)) else { return fail(libc::EINVAL) };
    let (seconds, micros) = (u64::from_ne_bytes(seconds), u64::from_ne_bytes(micros));
    if micros >= 1_000_000 {
        return fail(libc::EDOM);
    }
    let span = Duration::from_secs(seconds) + Duration::from_micros(micros);
    Ok((!span.is_zero()).then_some(span))
}
