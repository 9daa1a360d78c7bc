//! Implements setsockopt(2) for the scripts of packetdrill.
//!
//! Owns the list of options, their valid ranges and Linux's errors. Values are bytes in the machine's order. `values`
//! implements getsockopt(2).

use std::os::fd::RawFd;
use std::time::Duration;

use mptcp::policy::Policies;
use mptcp_clock::Instant;

use crate::buffers::{RECEIVE_LEAST, SEND_LEAST, most_of};
use crate::errno::{Errno, Result, fail};
use crate::socket_options::{REMEMBERED, SocketOptions};
use crate::sockets::Role;
use crate::stack::{Core, Stack};

/// Linux option numbers that the libc crate lacks.
pub(crate) const TCP_FASTOPEN_NO_COOKIE: i32 = 34;
pub(crate) const TCP_INQ: i32 = 36;
/// The two bits of ECN (RFC 3168 section 5), which applications must not set on TCP.
const ECN: u8 = 0x03;
/// TCP_MIN_MSS to MAX_TCP_WINDOW of include/net/tcp.h.
const SEGMENTS: std::ops::RangeInclusive<i32> = 88..=32_767;
/// MAX_TCP_KEEPIDLE, MAX_TCP_KEEPCNT and MAX_TCP_SYNCNT.
const SECONDS: std::ops::RangeInclusive<i32> = 1..=32_767;
const TIMES: std::ops::RangeInclusive<i32> = 1..=127;

impl Stack {
    /// Implements setsockopt(2).
    pub(crate) fn set_option(&self, fd: RawFd, level: i32, name: i32, value: &[u8]) -> Result<()> {
        self.act(|core, now| {
            core.refresh(self);
            let socket = core.sockets.get(fd)?.clone();
            let mut options = socket.options;
            match level {
                libc::SOL_SOCKET => core.set_of_socket(&mut options, name, value)?,
                libc::IPPROTO_IP if name == libc::IP_TOS => {
                    // Linux accepts a single byte too.
                    let class = match value {
                        [class, rest @ ..] if rest.len() < 3 => *class,
                        _ => integer(value)? as u8,
                    };
                    options.traffic_class = class & !ECN;
                }
                libc::IPPROTO_TCP => {
                    let fast_open = core.settings.fast_open.client();
                    set_of_tcp(&mut options, socket.role, fast_open, name, value)?;
                }
                _ => remember(&mut options, level, name, value)?,
            }
            core.sockets.get_mut(fd)?.options = options;
            match socket.role {
                Role::Stream(id) => {
                    core.sockets.status(id)?.traffic_class = options.traffic_class;
                    core.tell_running(now, id, &socket.options, &options);
                    Ok(())
                }
                Role::Listener { port } if options != socket.options => core.hear(self, fd, port),
                _ => Ok(()),
            }
        })
    }
}

impl Core {
    fn set_of_socket(&self, options: &mut SocketOptions, name: i32, value: &[u8]) -> Result<()> {
        let most = most_of(&self.settings);
        match name {
            libc::SO_REUSEADDR => options.reuse_address = integer(value)? != 0,
            libc::SO_SNDTIMEO => options.send_timeout = span(value)?,
            libc::SO_RCVTIMEO => options.receive_timeout = span(value)?,
            // Linux's sock_setsockopt treats a negative size as a very large one.
            libc::SO_SNDBUF => {
                options.send_buffer = Some((2 * (integer(value)? as u32).min(most)).max(SEND_LEAST));
            }
            libc::SO_RCVBUF => {
                options.receive_buffer = Some((2 * (integer(value)? as u32).min(most)).max(RECEIVE_LEAST));
            }
            libc::SO_KEEPALIVE => options.keepalive = integer(value)? != 0,
            libc::SO_LINGER => {
                let seconds = integer(value.get(4..).unwrap_or_default())?;
                options.linger = (integer(value)? != 0).then_some(seconds.max(0) as u32);
            }
            libc::SO_ZEROCOPY => match integer(value)? {
                on @ (0 | 1) => options.zero_copy = on == 1,
                _ => return fail(libc::EINVAL),
            },
            _ => remember(options, libc::SOL_SOCKET, name, value)?,
        }
        Ok(())
    }

    /// Applies changed options to an open connection.
    fn tell_running(
        &mut self,
        now: Instant,
        id: mptcp::ConnectionId,
        before: &SocketOptions,
        new: &SocketOptions,
    ) {
        let endpoint = &mut self.endpoint;
        // Setting TCP_NODELAY a second time also sends the waiting data.
        if before.no_delay != new.no_delay || new.no_delay {
            endpoint.set_nodelay(now, id, new.no_delay);
        }
        if before.cork != new.cork {
            endpoint.set_cork(now, id, new.cork);
        }
        if before.keepalive() != new.keepalive() {
            endpoint.set_keepalive(now, id, new.keepalive());
        }
        if before.user_timeout != new.user_timeout {
            endpoint.set_user_timeout(now, id, new.user_timeout());
        }
        if before.syn_count != new.syn_count
            && let Some(count) = new.syn_count
        {
            endpoint.set_syn_retries(now, id, count);
        }
        if let Some(name) = new.congestion.filter(|_| before.congestion != new.congestion)
            && let Ok(made) = Policies::default().congestion.find(name)
        {
            endpoint.set_policies(id, Some(made.build()), None);
        }
    }
}

fn set_of_tcp(
    options: &mut SocketOptions,
    role: Role,
    fast_open: bool,
    name: i32,
    value: &[u8],
) -> Result<()> {
    let before_syn = matches!(role, Role::Fresh { .. } | Role::Listener { .. });
    match name {
        libc::TCP_NODELAY => options.no_delay = integer(value)? != 0,
        libc::TCP_CORK => options.cork = integer(value)? != 0,
        libc::TCP_MAXSEG => {
            options.max_segment = among(value, 0..=0).or_else(|_| among(value, SEGMENTS))? as u16
        }
        libc::TCP_USER_TIMEOUT => options.user_timeout = among(value, 0..=i32::MAX)? as u32,
        libc::TCP_NOTSENT_LOWAT => options.notsent_lowat = integer(value)? as u32,
        libc::TCP_KEEPIDLE => options.keep.0 = among(value, SECONDS)? as u16,
        libc::TCP_KEEPINTVL => options.keep.1 = among(value, SECONDS)? as u16,
        libc::TCP_KEEPCNT => options.keep.2 = among(value, TIMES)? as u8,
        libc::TCP_SYNCNT => options.syn_count = Some(among(value, TIMES)? as u32),
        libc::TCP_CONGESTION => {
            let text = value.split(|byte| *byte == 0).next().unwrap_or_default();
            let name = String::from_utf8_lossy(text);
            let found = Policies::default().congestion.names().find(|known| *known == name);
            options.congestion = Some(found.ok_or(Errno(libc::ENOENT))?);
        }
        TCP_INQ => options.tell_queue = among(value, 0..=1)? == 1,
        libc::TCP_FASTOPEN => options.fast_open_queue = among(value, 0..=i32::MAX)? as u32,
        // Both options change the SYN, so setting them fails after the SYN.
        libc::TCP_FASTOPEN_CONNECT if integer(value)? > 0 && !fast_open => return fail(libc::EOPNOTSUPP),
        libc::TCP_FASTOPEN_CONNECT if matches!(role, Role::Fresh { .. }) => {
            options.fast_open_connect = integer(value)? != 0;
        }
        TCP_FASTOPEN_NO_COOKIE if before_syn => options.fast_open_no_cookie = integer(value)? != 0,
        libc::TCP_FASTOPEN_CONNECT | TCP_FASTOPEN_NO_COOKIE => return fail(libc::EINVAL),
        libc::TCP_FASTOPEN_KEY => {
            let (first, rest) = value.split_at_checked(16).ok_or(Errno(libc::EINVAL))?;
            let key = |bytes: &[u8]| bytes.try_into().or(Err(Errno(libc::EINVAL)));
            let old = if rest.is_empty() { None } else { Some(key(rest)?) };
            options.fast_open_keys = Some((key(first)?, old));
        }
        _ => remember(options, libc::IPPROTO_TCP, name, value)?,
    }
    Ok(())
}

/// Stores the value of an option without effect. ENOPROTOOPT for unknown options.
fn remember(options: &mut SocketOptions, level: i32, name: i32, value: &[u8]) -> Result<()> {
    let at = REMEMBERED.iter().position(|known| *known == (level, name));
    options.remembered[at.ok_or(Errno(libc::ENOPROTOOPT))?] = integer(value)?;
    Ok(())
}

fn integer(value: &[u8]) -> Result<i32> {
    let Some(bytes) = value.first_chunk::<4>() else { return fail(libc::EINVAL) };
    Ok(i32::from_ne_bytes(*bytes))
}

fn among(value: &[u8], allowed: std::ops::RangeInclusive<i32>) -> Result<i32> {
    integer(value).and_then(|number| if allowed.contains(&number) { Ok(number) } else { fail(libc::EINVAL) })
}

/// Parses a timeval. Zero becomes None: no timeout.
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
