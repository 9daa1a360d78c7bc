//! Use of a link direction: busy time and capacity.
//!
//! Owns both integrals over time, from which reports compute utilisation. Never looks at frames: the
//! direction reports busy periods and changes of rate or state.

use mptcp_clock::{Duration, Instant};

/// Use of a link direction since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkUse {
    /// Time for which a frame was queued or in service.
    pub busy: Duration,
    /// Time for which the link was down.
    pub down: Duration,
    /// Bits that the link could have carried: its rate integrated over the time for which it was up. `None`
    /// without a rate, as for unlimited and wireless links.
    pub capacity_bits: Option<f64>,
}

/// The integrals behind [`LinkUse`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UseClock {
    /// Start of the latest busy period.
    busy_from: Instant,
    /// Total length of earlier busy periods.
    busy: Duration,
    /// Time up to which `bits` and `down` are integrated.
    counted: Instant,
    bits: f64,
    down: Duration,
}

impl UseClock {
    /// Starts a busy period at `now`. The previous one ended at `free`.
    #[inline]
    pub(crate) fn turn_busy(&mut self, now: Instant, free: Instant) {
        self.busy += free.since(self.busy_from);
        self.busy_from = now;
    }

    /// Integrates the current rate and state up to `now`.
    pub(crate) fn advance(&mut self, now: Instant, rate: Option<u64>, up: bool) {
        let span = now.since(self.counted);
        self.counted = now;
        if up {
            self.bits += rate.unwrap_or(0) as f64 * span.as_secs_f64();
        } else {
            self.down += span;
        }
    }

    /// Busy time and down time until `now`, if the current busy period ends at `free`.
    pub(crate) fn times(&self, now: Instant, free: Instant) -> (Duration, Duration) {
        (self.busy + free.min(now).since(self.busy_from), self.down)
    }

    /// Bits that the link could have carried.
    pub(crate) fn bits(&self) -> f64 {
        self.bits
    }
}
