//! Early ends of a run that exceeds the limits of its scenario.
//!
//! Owns the limits during a run. The estimate was checked against the same limits before. These checks cover
//! wrong estimates and changes of paths.

use netsim::{Budget, Cause, Exhausted};

use super::World;
use super::datagrams::is_datagram;
use super::error::RunError;
use crate::scenario::Scenario;

/// Events at one instant in addition to the frames in flight.
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

    /// Returns dropped frames to the pool.
    #[inline]
    pub(super) fn tidy(&mut self) {
        if self.network.lost_count() > if self.narrow.exists() { 0 } else { MAX_LOST } {
            self.take_back();
        }
    }

    /// Takes lost frames back into the pool.
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
