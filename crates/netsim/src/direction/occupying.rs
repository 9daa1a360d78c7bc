//! When the line of a direction is busy, and what it could carry.
//!
//! Owns the calls of the clock that counts both.

use mptcp_clock::Instant;

use super::Direction;
use super::line_use::LineUse;
use crate::parameters::Parameters;

/// What a line carries in bit/s; `None` where nothing says so.
fn rate_of(parameters: &Parameters) -> Option<u64> {
    let recorded = parameters.trace.as_ref().map(crate::trace::Trace::mean_rate);
    recorded.or_else(|| parameters.rate.map(crate::rate::Rate::bits_per_second))
}

impl<P> Direction<P> {
    /// The line has something to do from `at` on, if it had not already.
    #[inline]
    pub(super) fn occupy(&mut self, at: Instant) {
        if self.line_free < at {
            self.line_clock.turn_busy(at, self.line_free);
            self.line_free = at;
        }
    }

    /// The present rate and state count up to `now`; to be called before either changes.
    pub(super) fn count_capacity(&mut self, now: Instant) {
        let (rate, up) = (rate_of(&self.parameters), self.parameters.up);
        self.line_clock.advance(now, rate, up);
    }

    /// What was asked of the line until `now`, to which the direction is settled.
    pub(crate) fn line_use(&self, now: Instant) -> LineUse {
        let mut clock = self.line_clock;
        let rate = rate_of(&self.parameters);
        clock.advance(now, rate, self.parameters.up);
        let (busy, down) = clock.times(now, self.line_free);
        let limited = rate.is_some() && !self.wireless;
        LineUse { busy, down, capacity_bits: limited.then(|| clock.bits()) }
    }
}
