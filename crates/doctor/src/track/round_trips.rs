//! Round-trip times of one direction of a subflow.

use super::histogram::Histogram;

/// Round-trip times, s.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrips {
    pub(crate) base: Option<f64>,
    pub(crate) last: Option<f64>,
    pub(crate) smoothed: Option<f64>,
    /// Weighted by acknowledged bytes.
    pub(crate) distribution: Histogram,
}

impl RoundTrips {
    pub(super) fn add(&mut self, sample: f64, bytes: u64) {
        self.base = Some(self.base.map_or(sample, |base| base.min(sample)));
        self.last = Some(sample);
        // RFC 6298 section 2.
        self.smoothed = Some(self.smoothed.map_or(sample, |smoothed| smoothed + (sample - smoothed) / 8.0));
        self.distribution.add(sample, bytes as f64);
    }

    /// RTT above the base RTT, s.
    pub(crate) fn queueing(&self) -> f64 {
        self.last.zip(self.base).map_or(0.0, |(last, base)| last - base)
    }
}
