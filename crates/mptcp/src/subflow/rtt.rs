//! Round-trip time and retransmission timeout (RFC 6298).

use mptcp_clock::Duration;

/// RFC 6298 section 2.1: before the first sample.
const INITIAL_RTO: Duration = Duration::from_secs(1);
/// RFC 6298 section 2.5 allows a cap of 60 s or more; Linux has 120 s.
const MAX_RTO: Duration = Duration::from_secs(120);

/// The estimator of one subflow.
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    srtt: Option<Duration>,
    rttvar: Duration,
    min: Option<Duration>,
    latest: Duration,
    min_rto: Duration,
    backoff: u32,
}

impl RttEstimator {
    pub(crate) fn new(min_rto: Duration) -> Self {
        Self { srtt: None, rttvar: Duration::ZERO, min: None, latest: Duration::ZERO, min_rto, backoff: 0 }
    }

    /// Takes a sample of a segment that was sent once (Karn), RFC 6298 sections 2.2 and 2.3.
    pub(crate) fn sample(&mut self, rtt: Duration) {
        self.latest = rtt;
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
        match self.srtt {
            None => {
                self.srtt = Some(rtt);
                self.rttvar = rtt / 2;
            }
            Some(srtt) => {
                self.rttvar = (self.rttvar * 3 + srtt.abs_diff(rtt)) / 4;
                self.srtt = Some((srtt * 7 + rtt) / 8);
            }
        }
    }

    /// Progress was made: the next timeout is not doubled.
    pub(crate) fn reset_backoff(&mut self) {
        self.backoff = 0;
    }

    /// A timeout: the next one takes twice as long (RFC 6298 section 5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
    }

    /// Timeouts in a row.
    pub(crate) fn backoff(&self) -> u32 {
        self.backoff
    }

    /// Smoothed round-trip time.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// Round-trip time variation.
    #[must_use]
    pub fn rttvar(&self) -> Duration {
        self.rttvar
    }

    /// Smallest sample.
    #[must_use]
    pub fn min(&self) -> Option<Duration> {
        self.min
    }

    /// Latest sample.
    #[must_use]
    pub fn latest(&self) -> Duration {
        self.latest
    }

    /// Timeout without backoff. As in Linux the minimum bounds the variance term, not the sum, so
    /// that a path of 200 ms does not time out at its own round-trip time.
    #[must_use]
    pub fn base_rto(&self) -> Duration {
        match self.srtt {
            None => INITIAL_RTO,
            Some(srtt) => (srtt + (self.rttvar * 4).max(self.min_rto)).min(MAX_RTO),
        }
    }

    /// The timeout to arm now.
    #[must_use]
    pub fn rto(&self) -> Duration {
        (self.base_rto() * (1 << self.backoff)).min(MAX_RTO)
    }
}
