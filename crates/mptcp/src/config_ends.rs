//! Ranges of settings: a value outside of its range is replaced by the nearest valid one.
//!
//! Owns the limits, so that no setting can cause a panic or overflow. Every function that takes a [`Config`]
//! applies them once. Never reports an error.

use mptcp_clock::Duration;

use crate::config::{Config, Keepalive};

/// Maximum buffer size, bytes: about 1000 times the maximum TCP window (RFC 7323 section 2.3), and safe from
/// overflow.
const MAX_BUFFER: u64 = 1 << 40;
/// Minimum interval of a timer: the smallest clock granularity of RFC 7323 section 5.4.
const MIN_INTERVAL: Duration = Duration::from_millis(1);

/// Minimum MSS: all options and 8 bytes, as Linux's `tcp_min_snd_mss`. The MSS includes options here.
const MIN_MSS: u16 = 48;
/// Maximum MSS: that of the largest IPv4 packet (RFC 6691 section 2).
const MAX_MSS: u16 = 65_495;

/// A user timeout of at least 1 ms; `None` for 0, as Linux's `TCP_USER_TIMEOUT`.
pub(crate) fn user_timeout_within_limits(timeout: Option<Duration>) -> Option<Duration> {
    timeout.filter(|timeout| !timeout.is_zero()).map(|timeout| timeout.max(MIN_INTERVAL))
}

impl Keepalive {
    /// Raises the idle time and the interval to 1 ms, and the number of probes to 1.
    #[must_use]
    pub fn within_limits(self) -> Self {
        Self {
            idle: self.idle.max(MIN_INTERVAL),
            interval: self.interval.max(MIN_INTERVAL),
            probes: self.probes.max(1),
        }
    }
}

impl Config {
    /// Replaces each value outside of its range by the nearest valid one. Buffers are 1 byte to 1 TiB, and
    /// the MSS is 48 to 65,495 bytes. Timers are at least 1 ms, and the initial window at least one segment
    /// (RFC 5681 section 3.1). A `notsent_lowat` or `user_timeout` of 0 becomes `None`, as in Linux.
    #[must_use]
    pub fn within_limits(mut self) -> Self {
        self.receive_buffer = self.receive_buffer.clamp(1, MAX_BUFFER);
        self.send_buffer = self.send_buffer.clamp(1, MAX_BUFFER);
        self.receive_block = self.receive_block.min(MAX_BUFFER);
        self.initial_window = self.initial_window.max(1);
        self.notsent_lowat = self.notsent_lowat.filter(|&limit| limit > 0);
        self.keepalive = self.keepalive.map(Keepalive::within_limits);
        self.min_rto = self.min_rto.max(MIN_INTERVAL);
        self.user_timeout = user_timeout_within_limits(self.user_timeout);
        self.mss = self.mss.clamp(MIN_MSS, MAX_MSS);
        self.announce_timeout = self.announce_timeout.max(MIN_INTERVAL);
        let probe = &mut self.linux_stack.failed_path_probe;
        *probe = probe.map(|pause| pause.max(MIN_INTERVAL));
        self
    }
}
