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
    /// timers of 1 ms at least. `notsent_lowat` of 0 is none, as in Linux.
    #[must_use]
    pub fn within_limits(mut self) -> Self {
        self.receive_buffer = self.receive_buffer.clamp(1, LARGEST_BUFFER);
        self.send_buffer = self.send_buffer.clamp(1, LARGEST_BUFFER);
        self.receive_block = self.receive_block.min(LARGEST_BUFFER);
        self.initial_window = self.initial_window.max(1);
        self.notsent_lowat = self.notsent_lowat.filter(|&most| most > 0);
        self.keepalive = self.keepalive.map(Keepalive::within_limits);
        self.min_rto = self.min_rto.max(SHORTEST);
        self.announce_timeout = self.announce_timeout.max(SHORTEST);
        let probe = &mut self.linux_stack.silent_path_probe;
        *probe = probe.map(|pause| pause.max(SHORTEST));
        self
    }
}
