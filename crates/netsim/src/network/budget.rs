//! How much may happen: a bound on the events of a network, in all and at one instant.
//!
//! Owns the count. Never says what an event is worth doing; the driver asks why time stopped.

use mptcp_clock::Instant;

/// How many events a driver allows. An event is one thing that the event queue names: an arrival, a departure, a timer, a
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

/// The events so far.
#[derive(Debug, Default)]
pub(super) struct Meter {
    pub(super) budget: Budget,
    pub(super) events: u64,
    /// How many there were before time last went on.
    before: u64,
    pub(super) exhausted: Option<Exhausted>,
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
