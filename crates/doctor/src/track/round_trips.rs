//! Round-trip times of one direction of a subflow.

use super::histogram::Histogram;

/// Round-trip times, s.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrips {
    pub(crate) base: Option<f64>,
    pub(crate) last: Option<f64>,
    /// That of the last segment that was acknowledged in order: during a loss, the one before the lost segment.
    in_order: Option<f64>,
    /// Whether the last acknowledgement in order was for several segments.
    was_several: bool,
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

    /// Takes the RTT of the last segment that an acknowledgement covers in order. Returns whether the receiver sent it at once.
    pub(super) fn in_order(&mut self, sample: f64, is_several: bool) -> bool {
        // A receiver that waits for a second segment delays the acknowledgement of one alone (RFC 5681 section 4.2).
        let is_prompt = is_several || !self.was_several || self.in_order.is_none_or(|known| sample < known);
        if is_prompt {
            self.in_order = Some(sample);
        }
        self.was_several = is_several;
        is_prompt
    }

    /// RTT above the base RTT, s, of the last segment in order.
    pub(crate) fn queueing(&self) -> f64 {
        self.in_order.or(self.last).zip(self.base).map_or(0.0, |(last, base)| last - base)
    }
}
