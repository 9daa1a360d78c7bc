//! The ends of the ranges of settings: what is beyond them counts as the nearest value that works.
//!
//! Owns the limits. Every entry that takes a [`Config`] applies them once, so that nothing behind it meets a zero interval or a size that
//! overflows.

use mptcp_clock::Duration;

use crate::config::{Config, Keepalive};

/// The largest buffer, bytes: a thousand times the largest window that TCP can offer (RFC 7323 section 2.3), far from where sums
/// overflow.
const LARGEST_BUFFER: u64 = 1 << 40;
/// The shortest interval of a timer: the least clock granularity that RFC 7323 section 5.4 considers.
const SHORTEST: Duration = Duration::from_millis(1);

/// The smallest MSS: all options and 8 bytes (Linux's `tcp_min_snd_mss`); the MSS counts payload with options here.
const SMALLEST_MSS: u16 = 48;
/// The largest MSS: that of the largest packet of IPv4 (RFC 6691 section 2).
const LARGEST_MSS: u16 = 65_495;

/// A user timeout of at least 1 ms; None for 0, which is none (Linux's TCP_USER_TIMEOUT).
pub(crate) fn user_timeout_within_limits(timeout: Option<Duration>) -> Option<Duration> {
    timeout.filter(|timeout| !timeout.is_zero()).map(|timeout| timeout.max(SHORTEST))
}

impl Keepalive {
    /// With an idle time and an interval of 1 ms at least, and one probe at least.
    #[must_use]
    pub fn within_limits(self) -> Self {
        Self {
            idle: self.idle.max(SHORTEST),
            interval: self.interval.max(SHORTEST),
            probes: self.probes.max(1),
        }
    }
}

impl Config {
    /// The settings with each value that cannot work replaced by the nearest one that does, as the endpoint applies it to every
    /// configuration that it is given: buffers of 1 byte to 1 TiB, an initial window of one segment at least (RFC 5681 section 3.1),
    /// timers of 1 ms at least, an MSS of 48 to 65,495 bytes. `notsent_lowat` and `user_timeout` of 0 are none, as in Linux.
    #[must_use]
    pub fn within_limits(mut self) -> Self {
        self.receive_buffer = self.receive_buffer.clamp(1, LARGEST_BUFFER);
        self.send_buffer = self.send_buffer.clamp(1, LARGEST_BUFFER);
        self.receive_block = self.receive_block.min(LARGEST_BUFFER);
        self.initial_window = self.initial_window.max(1);
        self.notsent_lowat = self.notsent_lowat.filter(|&most| most > 0);
        self.keepalive = self.keepalive.map(Keepalive::within_limits);
        self.min_rto = self.min_rto.max(SHORTEST);
        self.user_timeout = user_timeout_within_limits(self.user_timeout);
        self.mss = self.mss.clamp(SMALLEST_MSS, LARGEST_MSS);
        self.announce_timeout = self.announce_timeout.max(SHORTEST);
        let probe = &mut self.linux_stack.failed_path_probe;
        *probe = probe.map(|pause| pause.max(SHORTEST));
        self
    }
}
