//! The socket options that a packetdrill script has set with setsockopt(2).
//!
//! Owns the values and their defaults. `options` checks valid ranges; `calls` and `buffers` apply the values.

use std::time::Duration;

use mptcp::{Config, Keepalive};
use mptcp_clock::Duration as Span;

/// Options without effect that are only stored: level and name.
pub(crate) const REMEMBERED: [(i32, i32); 10] = [
    (libc::SOL_SOCKET, libc::SO_MARK),
    (libc::SOL_SOCKET, libc::SO_PRIORITY),
    (libc::SOL_SOCKET, libc::SO_REUSEPORT),
    (libc::SOL_SOCKET, libc::SO_OOBINLINE),
    (libc::IPPROTO_IP, libc::IP_FREEBIND),
    (libc::IPPROTO_IP, libc::IP_RECVERR),
    (libc::IPPROTO_IPV6, libc::IPV6_RECVERR),
    (libc::IPPROTO_TCP, libc::TCP_DEFER_ACCEPT),
    (libc::IPPROTO_TCP, libc::TCP_LINGER2),
    (libc::IPPROTO_TCP, libc::TCP_QUICKACK),
];

/// Options of a socket. An accepted socket inherits the listener's options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SocketOptions {
    pub(crate) no_delay: bool,
    pub(crate) cork: bool,
    pub(crate) traffic_class: u8,
    /// Maximum time of a blocking call; None waits forever. The same holds for `receive_timeout`.
    pub(crate) send_timeout: Option<Duration>,
    pub(crate) receive_timeout: Option<Duration>,
    pub(crate) fast_open_connect: bool,
    pub(crate) fast_open_no_cookie: bool,
    pub(crate) fast_open_queue: u32,
    /// The current and the previous key of the cookies.
    pub(crate) fast_open_keys: Option<([u8; 16], Option<[u8; 16]>)>,
    pub(crate) reuse_address: bool,
    /// Bytes, doubled as in Linux; None for the value of sysctl. The same holds for `receive_buffer`.
    pub(crate) send_buffer: Option<u32>,
    pub(crate) receive_buffer: Option<u32>,
    /// TCP_MAXSEG, in bytes; 0 for the MSS of the device.
    pub(crate) max_segment: u16,
    /// Milliseconds; 0 for no timeout.
    pub(crate) user_timeout: u32,
    /// Bytes; 0 for the value of sysctl.
    pub(crate) notsent_lowat: u32,
    /// TCP_SYNCNT; None for the value of sysctl.
    pub(crate) syn_count: Option<u32>,
    pub(crate) keepalive: bool,
    /// Idle time in seconds, probe interval in seconds, number of probes.
    pub(crate) keep: (u16, u16, u8),
    /// SO_LINGER: maximum time of close(2), in seconds; None if off.
    pub(crate) linger: Option<u32>,
    /// TCP_CONGESTION; None for the value of sysctl.
    pub(crate) congestion: Option<&'static str>,
    /// TCP_INQ: recvmsg(2) reports the bytes left to read.
    pub(crate) tell_queue: bool,
    pub(crate) zero_copy: bool,
    pub(crate) remembered: [i32; REMEMBERED.len()],
}

impl Default for SocketOptions {
    fn default() -> Self {
        let mut remembered = [0; REMEMBERED.len()];
        // TCP_QUICKACK is enabled by default.
        remembered[REMEMBERED.len() - 1] = 1;
        Self {
            no_delay: false,
            cork: false,
            traffic_class: 0,
            send_timeout: None,
            receive_timeout: None,
            fast_open_connect: false,
            fast_open_no_cookie: false,
            fast_open_queue: 0,
            fast_open_keys: None,
            reuse_address: false,
            send_buffer: None,
            receive_buffer: None,
            max_segment: 0,
            user_timeout: 0,
            notsent_lowat: 0,
            syn_count: None,
            keepalive: false,
            keep: (7_200, 75, 9),
            linger: None,
            congestion: None,
            tell_queue: false,
            zero_copy: false,
            remembered,
        }
    }
}

impl SocketOptions {
    /// The settings of keepalive probes; None if keepalive is off.
    pub(crate) fn keepalive(&self) -> Option<Keepalive> {
        let (idle, interval, probes) = self.keep;
        let seconds = |count: u16| Span::from_secs(count.into());
        self.keepalive.then(|| Keepalive {
            idle: seconds(idle),
            interval: seconds(interval),
            probes: probes.into(),
        })
    }

    pub(crate) fn user_timeout(&self) -> Option<Span> {
        (self.user_timeout > 0).then(|| Span::from_millis(self.user_timeout.into()))
    }

    /// Writes the options into a new connection's configuration.
    pub(crate) fn apply(&self, config: &mut Config) {
        config.nagle = !self.no_delay;
        config.keepalive = self.keepalive();
        config.user_timeout = self.user_timeout();
        config.syn_retries = self.syn_count.unwrap_or(config.syn_retries);
        if self.max_segment > 0 {
            config.mss = config.mss.min(self.max_segment);
        }
        if let Some(bytes) = self.receive_buffer {
            // The kernel reserves half of the buffer for overhead (tcp_adv_win_scale = 1).
            config.receive_buffer = u64::from(bytes / 2);
            config.mechanisms.autotuning = false;
        }
    }
}
