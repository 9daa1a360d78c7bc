//! How much may happen: a bound on the events of a network, in all and at one instant.
//!
//! Owns the count. Never says what an event is worth doing; the driver asks why time stopped.

use mptcp_clock::Instant;

use super::{Network, Source};

/// How many events a driver allows. An event is one thing that the agenda names: an arrival, a departure, a timer, a
/// turn of a medium. A medium with many stations counts for more, because each of them is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// In all.
    pub total: u64,
    /// Without time going on: beyond that, nothing will ever make it go on.
    pub at_once: u64,
}

impl Default for Budget {
    /// No bound.
    fn default() -> Self {
        Self { total: u64::MAX, at_once: u64::MAX }
    }
}

/// Which bound was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// [`Budget::total`].
    Total,
    /// [`Budget::at_once`].
    AtOnce,
}

/// Stations of a medium that count as one event.
const STATIONS: usize = 32;

/// The events so far.
#[derive(Debug, Default)]
pub(super) struct Meter {
    budget: Budget,
    events: u64,
    /// How many there were before time last went on.
    before: u64,
    exhausted: Option<Exhausted>,
}

impl Meter {
    /// Counts an event of this weight at `at`; false when it may not happen.
    #[inline]
    pub(super) fn allows(&mut self, at: Instant, now: Instant, weight: u64) -> bool {
        if at > now {
            self.before = self.events;
        }
        self.events += weight;
        let within = self.events - self.before <= self.budget.at_once;
        if within && self.events <= self.budget.total {
            return true;
        }
        self.exhausted = Some(if within { Exhausted::Total } else { Exhausted::AtOnce });
        false
    }
}

impl<P> Network<P> {
    /// Bounds what happens from now on. Beyond the budget nothing does any more.
    pub fn set_budget(&mut self, budget: Budget) {
        self.meter.budget = budget;
        self.meter.exhausted = None;
    }

    /// Why [`Self::next_until`] gives nothing more, if it is for the budget.
    #[must_use]
    pub const fn exhausted(&self) -> Option<Exhausted> {
        self.meter.exhausted
    }

    /// The events so far.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.meter.events
    }

    #[inline]
    pub(super) fn weight(&self, source: Source) -> u64 {
        match source {
            Source::Medium(medium) => 1 + (self.air.members(medium) / STATIONS) as u64,
            _ => 1,
        }
    }
}
