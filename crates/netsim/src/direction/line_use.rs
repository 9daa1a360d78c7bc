//! How a link direction was used: how long its line was busy, and how much it could have carried.
//!
//! Owns these two integrals over time. Never looks at a frame: the direction reports when the line turns busy, and when its rate
//! or its state changes.

use mptcp_clock::{Duration, Instant};

/// How a link direction was used, from the start of the run until it was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LineUse {
    /// How long a frame was waiting or in service.
    pub busy: Duration,
    /// How long the link was down.
    pub down: Duration,
    /// Bits that the line could have carried: its rate over the time in which it was up. `None` where it has no rate of its own: an
    /// unlimited line, or a wireless one.
    pub capacity_bits: Option<f64>,
}

/// The integrals that [`LineUse`] reads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineClock {
    /// When the latest busy period began.
    busy_from: Instant,
    /// The length of those before it.
    busy: Duration,
    /// Up to when `bits` and `down` count.
    counted: Instant,
    bits: f64,
    down: Duration,
}

impl LineClock {
    /// A busy period begins at `now`; the one before ended at `free`.
    #[inline]
    pub(crate) fn turn_busy(&mut self, now: Instant, free: Instant) {
        self.busy += free.since(self.busy_from);
        self.busy_from = now;
    }

    /// The present rate and state count up to `now`.
    pub(crate) fn advance(&mut self, now: Instant, rate: Option<u64>, up: bool) {
        let span = now.since(self.counted);
        self.counted = now;
        if up {
            self.bits += rate.unwrap_or(0) as f64 * span.as_secs_f64();
        } else {
            self.down += span;
        }
    }

    /// How long the line was busy until `now`, if the present busy period ends at `free`; and how long it was down.
    pub(crate) fn times(&self, now: Instant, free: Instant) -> (Duration, Duration) {
        (self.busy + free.min(now).since(self.busy_from), self.down)
    }

    /// Bits that it could have carried.
    pub(crate) fn bits(&self) -> f64 {
        self.bits
    }
}
