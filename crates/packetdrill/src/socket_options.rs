//! What setsockopt(2) has set on a socket.
//!
//! Owns the values and their defaults; what they may be is `options`' affair, what they do `calls`' and `buffers`'.

use std::time::Duration;

use mptcp::{Config, Keepalive};
use mptcp_clock::Duration as Span;

/// Options that change nothing here, and are remembered all the same: level and name.
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

/// An accepted socket takes over its listener's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Bytes, doubled as Linux does; None as sysctl says.
    pub(crate) send_buffer: Option<u32>,
    pub(crate) receive_buffer: Option<u32>,
    /// TCP_MAXSEG; 0 for what the device carries.
    pub(crate) max_segment: u16,
    /// Milliseconds; 0 for none.
    pub(crate) user_timeout: u32,
    /// Bytes; 0 as sysctl says.
    pub(crate) notsent_lowat: u32,
    pub(crate) syn_count: Option<u32>,
    pub(crate) keepalive: bool,
    /// Seconds, seconds, how often.
    pub(crate) keep: (u16, u16, u8),
    /// SO_LINGER: seconds that close(2) may wait.
    pub(crate) linger: Option<u32>,
    pub(crate) congestion: Option<&'static str>,
    /// TCP_INQ: recvmsg(2) tells what is left.
    pub(crate) tell_queue: bool,
    pub(crate) zero_copy: bool,
    pub(crate) remembered: [i32; REMEMBERED.len()],
}

impl Default for SocketOptions {
    fn default() -> Self {
        let mut remembered = [0; REMEMBERED.len()];
        // TCP_QUICKACK is on until the application answers.
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
    /// How a silent peer is asked.
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

    /// Puts what a connection is told from its beginning into its settings.
    pub(crate) fn apply(&self, config: &mut Config) {
        config.nagle = !self.no_delay;
        config.keepalive = self.keepalive();
        config.user_timeout = self.user_timeout();
        config.syn_retries = self.syn_count.unwrap_or(config.syn_retries);
        if self.max_segment > 0 {
            config.mss = config.mss.min(self.max_segment);
        }
        if let Some(bytes) = self.receive_buffer {
            // Half of it is for what the kernel needs around the data (tcp_adv_win_scale = 1).
            config.receive_buffer = u64::from(bytes / 2);
            config.mechanisms.autotuning = false;
        }
    }
}
