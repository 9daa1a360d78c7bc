//! The retransmission timeout (RFC 6298).
//!
//! Owns the least variance that counts and the backoff. The round-trip time belongs to the path, whose congestion
//! controller sees it too.

use mptcp_clock::Duration;

use crate::congestion::Path;

/// RFC 6298 section 2.1: before the first sample.
const INITIAL_RTO: Duration = Duration::from_secs(1);
/// RFC 6298 section 5.7: … where the timer of the SYN has expired, so that a second may be less than a round trip.
const RTO_AFTER_SYN_TIMEOUT: Duration = Duration::from_secs(3);
/// RFC 6298 section 2.5 allows a cap of 60 s or more; Linux has 120 s.
const MAX_RTO: Duration = Duration::from_secs(120);

/// The timeout of one subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetransmissionTimeout {
    min: Duration,
    /// Before the first sample.
    first: Duration,
    backoff: u32,
    consecutive: u32,
}

impl RetransmissionTimeout {
    pub(crate) fn new(min: Duration) -> Self {
        Self { min, first: INITIAL_RTO, backoff: 0, consecutive: 0 }
    }

    /// The handshake took more than a second, and nobody knows how long a round trip is.
    pub(crate) fn use_fallback_rto(&mut self) {
        self.first = RTO_AFTER_SYN_TIMEOUT;
    }

    /// Progress was made: the next timeout is not doubled. Karn's rule (RFC 6298 section 5) would wait for a round trip that can
    /// be measured: without timestamps and selective acknowledgements, losses one after the other then took two minutes each.
    pub(crate) fn reset_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Data was acknowledged.
    pub(crate) fn on_progress(&mut self) {
        self.consecutive = 0;
    }

    /// A timeout: the next one takes twice as long (RFC 6298 section 5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
        self.consecutive = (self.consecutive + 1).min(16);
    }

    /// How often the timeout is doubled.
    pub(crate) fn backoff(&self) -> u32 {
        self.backoff
    }

    /// Timeouts in a row, without progress between them.
    pub(crate) fn consecutive(&self) -> u32 {
        self.consecutive
    }

    /// Timeout without backoff. As in Linux the minimum bounds the variance term, not the sum, so
    /// that a path of 200 ms does not time out at its own round-trip time.
    pub(crate) fn base(&self, path: &Path) -> Duration {
        match path.srtt {
            None => self.first,
            Some(srtt) => (srtt + (path.rttvar * 4).max(self.min)).min(MAX_RTO),
        }
    }

    /// The timeout to arm now.
    pub(crate) fn after(&self, path: &Path) -> Duration {
        (self.base(path) * (1 << self.backoff)).min(MAX_RTO)
    }
}
