//! A limit on the events of a network, in total and at one instant.
//!
//! It ends simulations that would never end by themselves, for example if events repeat without advancing
//! time. Owns the count. When no more events occur, the driver (the program that runs the network) asks which
//! limit was reached.

use mptcp_clock::Instant;

/// The number of events that a driver allows. An event is an arrival, a departure, a timer or a step of a
/// medium. A step of a medium with many stations counts as several events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Maximum since the start of the run.
    pub total: u64,
    /// Maximum at one instant. A simulation that exceeds it makes no progress.
    pub at_once: u64,
}

impl Default for Budget {
    /// Unlimited.
    fn default() -> Self {
        Self { total: u64::MAX, at_once: u64::MAX }
    }
}

/// The limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// [`Budget::total`].
    Total,
    /// [`Budget::at_once`].
    AtOnce,
}

/// The event counter.
#[derive(Debug, Default)]
pub(super) struct Meter {
    pub(super) budget: Budget,
    pub(super) events: u64,
    /// Number of events before the current instant.
    before: u64,
    pub(super) exhausted: Option<Exhausted>,
}

impl Meter {
    /// Counts an event with this weight at `at`; false if it exceeds the budget.
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
