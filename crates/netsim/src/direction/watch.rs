//! Reports of departures from the queue of a direction.
//!
//! From these reports, endpoints learn how full their local queue is. Owns the time of each report, which is
//! the departure time in all types of queues.

use std::collections::VecDeque;

use mptcp_clock::Instant;

use super::departure::Departure;
use super::{Direction, DropLog};

impl<P> Direction<P> {
    /// Enables or disables the reports. Departures before the watch began are not reported.
    pub(crate) fn watch(&mut self, now: Instant, watch: bool, drops: &mut DropLog<P>) {
        self.settle(now, drops);
        if !watch {
            self.departures = None;
        } else if self.departures.is_none() {
            self.departures = Some(VecDeque::new());
        }
        self.measure_delay();
    }

    /// Time of the next report; [`Instant::FAR_FUTURE`] if departures are not watched.
    #[inline]
    pub(crate) fn next_departure(&self) -> Instant {
        let Some(departures) = &self.departures else { return Instant::FAR_FUTURE };
        departures.front().map_or(self.due, |departure| departure.at)
    }

    /// The departure to report at `now`.
    pub(crate) fn departure(&mut self, now: Instant, drops: &mut DropLog<P>) -> Option<Departure> {
        self.settle(now, drops);
        self.departures.as_mut()?.pop_front()
    }
}
