//! Sources of the event queue: type, next time and weight.
//!
//! A source is a part that causes events: the arrivals or departures of a direction, a filter, a timer, a
//! WiFi medium, or the taps. Each has one number in the event queue. A weight is the number of events that
//! one event counts for in the budget. Owns the updates of the event queue.

use mptcp_clock::Rng;

use super::budget::{Budget, Exhausted};
use super::{DirectionEntry, Network, Source};
use crate::event_queue::EventQueue;
use crate::frame::DirectionId;

/// Number of stations of a medium that add one to the weight of its events.
const STATIONS: usize = 32;

impl<P> DirectionEntry<P> {
    /// Updates the event queue.
    #[inline]
    pub(super) fn reschedule(&self, event_queue: &mut EventQueue) {
        event_queue.set(self.source, self.direction.next_event());
        if let Some(watch) = self.watch {
            event_queue.set(watch, self.direction.next_departure());
        }
    }
}

impl<P> Network<P> {
    /// Sets the limits on events, counted from the start. Beyond them, [`Self::next_until`] returns `None`.
    pub fn set_budget(&mut self, budget: Budget) {
        self.meter.budget = budget;
        self.meter.exhausted = None;
    }

    /// The limit that ended [`Self::next_until`], if any.
    #[must_use]
    pub const fn exhausted(&self) -> Option<Exhausted> {
        self.meter.exhausted
    }

    /// Number of events so far.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.meter.events
    }

    #[inline]
    pub(super) fn weight(&self, source: Source) -> u64 {
        match source {
            Source::Medium(medium) => 1 + (self.wifi.members(medium) / STATIONS) as u64,
            _ => 1,
        }
    }

    /// Updates the event queue for a direction.
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
