//! Busy periods and capacity of a direction.
//!
//! Owns the calls to the clock in `link_use` that integrates both, for reports of utilisation.

use mptcp_clock::Instant;

use super::Direction;
use super::link_use::LinkUse;
use crate::parameters::Parameters;

/// Capacity in bit/s; `None` without a rate.
fn rate_of(parameters: &Parameters) -> Option<u64> {
    let recorded = parameters.trace.as_ref().map(crate::trace::Trace::mean_rate);
    recorded.or_else(|| parameters.rate.map(crate::rate::Rate::bits_per_second))
}

impl<P> Direction<P> {
    /// Starts a busy period at `at`, if the link was idle.
    #[inline]
    pub(super) fn occupy(&mut self, at: Instant) {
        if self.line_free < at {
            self.line_clock.turn_busy(at, self.line_free);
            self.line_free = at;
        }
    }

    /// Integrates rate and state up to `now`. Call it before either changes.
    pub(super) fn count_capacity(&mut self, now: Instant) {
        let (rate, up) = (rate_of(&self.parameters), self.parameters.up);
        self.line_clock.advance(now, rate, up);
    }

    /// The use until `now`. The caller must have settled all departures until `now` (`settling`).
    pub(crate) fn link_use(&self, now: Instant) -> LinkUse {
        let mut clock = self.line_clock;
        let rate = rate_of(&self.parameters);
        clock.advance(now, rate, self.parameters.up);
        let (busy, down) = clock.times(now, self.line_free);
        let limited = rate.is_some() && !self.wireless;
        LinkUse { busy, down, capacity_bits: limited.then(|| clock.bits()) }
    }
}
