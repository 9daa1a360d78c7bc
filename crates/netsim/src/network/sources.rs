//! What the event queue knows of the network: the source of each thing, its streams, its next event, its weight.

use mptcp_clock::Rng;

use super::budget::{Budget, Exhausted};
use super::{Line, Network, Source};
use crate::event_queue::EventQueue;
use crate::frame::DirectionId;

/// Stations of a medium that count as one event.
const STATIONS: usize = 32;

impl<P> Line<P> {
    /// Brings the event queue up to date.
    #[inline]
    pub(super) fn reschedule(&self, event_queue: &mut EventQueue) {
        event_queue.set(self.source, self.direction.next_event());
        if let Some(watch) = self.watch {
            event_queue.set(watch, self.direction.next_departure());
        }
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

    /// Brings the event queue up to date with a direction.
    #[inline]
    pub(super) fn reschedule(&mut self, direction: DirectionId) {
        self.lines[direction.index()].reschedule(&mut self.event_queue);
    }

    pub(super) fn add_source(&mut self, source: Source) -> u32 {
        self.sources.push(source);
        self.event_queue.add()
    }

    pub(super) fn stream_of(&self, direction: DirectionId) -> Rng {
        let side = if direction == direction.link().forward() { "forward" } else { "backward" };
        self.root.child(self.topology.link_name(direction.link())).child(side)
    }
}
