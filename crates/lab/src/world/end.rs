//! Early ends of a run that exceeds the limits of its scenario, and the return of dropped frames to the pool
//! of segments.
//!
//! Owns the limits during a run. Before the run, its estimated size was checked against the same limits. The
//! checks here find runs that exceed their estimate, for example after a change of a path.

use netsim::{Budget, Cause, Exhausted};

use super::World;
use super::datagrams::is_datagram;
use super::error::RunError;
use crate::scenario::Scenario;

/// Maximum number of events at one instant, in addition to the frames in flight.
const AT_ONCE: f64 = 1e6;
/// Maximum number of dropped frames that wait for the pool.
pub const MAX_LOST: usize = 4096;

/// The event budget of a scenario.
pub(super) fn budget(scenario: &Scenario) -> Budget {
    let at_once = AT_ONCE + scenario.estimate().at_once;
    let total = scenario.limits.events;
    Budget { total, at_once: if at_once < total as f64 { at_once as u64 } else { total } }
}

impl World {
    /// The error if the network stopped because of its budget.
    pub(super) fn exhausted(&self) -> Result<(), RunError> {
        let at = self.network.now();
        match self.network.exhausted() {
            None => Ok(()),
            Some(Exhausted::AtOnce) => Err(RunError::NoProgress { at, events: self.budget.at_once }),
            Some(Exhausted::Total) => Err(self.above("events", self.budget.total)),
        }
    }

    /// Checks the results so far against the limits.
    pub(super) fn check_limits(&self) -> Result<(), RunError> {
        let limits = &self.scenario.limits;
        if self.sampler.rows() as u64 > limits.samples {
            return Err(self.above("samples", limits.samples));
        }
        let blocks: usize = self.apps.iter().map(|app| app.blocks.len()).sum();
        if blocks as u64 > limits.blocks {
            return Err(self.above("blocks", limits.blocks));
        }
        Ok(())
    }

    fn above(&self, limit: &'static str, most: u64) -> RunError {
        RunError::Limit { limit, most, at: self.network.now(), end: self.end }
    }

    /// Returns dropped frames to the pool if more than [`MAX_LOST`] wait. If the scenario has a small path
    /// MTU, returns them at once.
    #[inline]
    pub(super) fn tidy(&mut self) {
        if self.network.lost_count() > if self.narrow.exists() { 0 } else { MAX_LOST } {
            self.take_back();
        }
    }

    /// Returns all dropped frames to the pool, and sends ICMP errors for segments that were too long.
    #[inline(never)]
    pub(super) fn take_back(&mut self) {
        for lost in self.network.lost().filter(|lost| !is_datagram(lost.frame.payload)) {
            if lost.cause == Cause::TooLong {
                self.narrow.refused(&lost, self.pool.get(lost.frame.payload));
            }
            self.pool.give_back(lost.frame.payload);
        }
        self.send_notices();
    }
}
