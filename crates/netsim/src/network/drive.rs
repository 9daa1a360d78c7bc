//! Letting time pass: frames in, events out.

use mptcp_clock::Instant;

use super::{Arrival, Event, Fate, Network, Source, Turn};
use crate::counters::Counters;
use crate::direction::LineUse;
use crate::frame::{DirectionId, Frame, LinkId, Lost, TimerId};
use crate::parameters::Change;

impl<P> Network<P> {
    /// The time of the latest event or call.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Gives a frame to a link at `now`, which must lie neither before [`Self::now`] nor after
    /// [`Self::next_time`]. The caller has chosen the direction (see [`Self::route`]).
    #[inline]
    pub fn send(&mut self, now: Instant, direction: DirectionId, frame: Frame<P>) -> Fate {
        debug_assert!(now >= self.now, "time runs forward");
        self.now = now;
        self.offer_tapped(now, direction, frame)
    }

    /// Sets a timer, or stops it. A time in the past counts as now.
    #[inline]
    pub fn set_timer(&mut self, timer: TimerId, at: Option<Instant>) {
        let timer = &mut self.timers[timer.index()];
        timer.deadline = at.unwrap_or(Instant::FAR_FUTURE).max(self.now);
        if timer.deadline < self.event_queue.pending(timer.source) {
            self.event_queue.set(timer.source, timer.deadline);
        }
    }

    /// When a timer will fire.
    #[must_use]
    pub fn timer(&self, timer: TimerId) -> Option<Instant> {
        Some(self.timers[timer.index()].deadline).filter(|&at| at != Instant::FAR_FUTURE)
    }

    /// Changes one parameter of a direction at `at`; at once if that is in the past. Changes for one
    /// instant take effect in the order of these calls, before all else at that instant.
    pub fn schedule_change(&mut self, at: Instant, direction: DirectionId, change: Change) {
        self.changes.insert((at.max(self.now), self.scheduled), (direction, change));
        self.scheduled += 1;
        self.await_changes();
    }

    /// [`Self::schedule_change`] for both directions of a link.
    pub fn schedule_link_change(&mut self, at: Instant, link: LinkId, change: Change) {
        self.schedule_change(at, link.forward(), change.clone());
        self.schedule_change(at, link.backward(), change);
    }

    /// A time at or before the next event; `None` if nothing will ever happen by itself.
    #[must_use]
    pub fn next_time(&self) -> Option<Instant> {
        Some(self.event_queue.first().0.min(self.next_change)).filter(|&at| at != Instant::FAR_FUTURE)
    }

    /// Lets time pass to the next event. `None` if nothing more will happen by itself.
    #[expect(clippy::should_implement_trait, reason = "an iterator would hold the network borrowed")]
    #[inline]
    pub fn next(&mut self) -> Option<(Instant, Event<P>)> {
        self.next_until(Instant::from_nanos(u64::MAX - 1))
    }

    /// Lets time pass to the next event, but not beyond `limit`. `None` if nothing happens up to
    /// and at `limit`, or the budget is used up (see [`Self::exhausted`]); [`Self::now`] then stays at or before it.
    pub fn next_until(&mut self, limit: Instant) -> Option<(Instant, Event<P>)> {
        while let Some((at, turn)) = self.next_turn(limit) {
            let event = match self.arrival(at, turn) {
                Arrival::Here { node, by, frame } => Some(Event::Arrived { node, by, frame }),
                Arrival::PassedOn => None,
                Arrival::Otherwise => self.otherwise(at, turn),
            };
            if let Some(event) = event {
                return Some((at, event));
            }
        }
        None
    }

    /// [`Self::next_until`] in two steps, for drivers to whom frames come that are for their nodes, and seldom anything else: lets
    /// time pass to what has its turn. [`Self::arrival`] is the second step.
    #[inline(always)]
    pub fn next_turn(&mut self, limit: Instant) -> Option<(Instant, Turn)> {
        loop {
            let (at, source) = self.event_queue.first();
            if self.next_change <= at {
                if !self.change_until(limit) {
                    return None;
                }
                continue;
            }
            if at > limit {
                return None;
            }
            let source = self.sources[source as usize];
            let weight = self.weight(source);
            if !self.meter.allows(at, self.now, weight) {
                return None;
            }
            self.now = at;
            return Some((at, Turn(source)));
        }
    }

    /// The second step of [`Self::next_turn`]: the frame, if one has reached the node that owns its destination.
    #[inline(always)]
    pub fn arrival(&mut self, at: Instant, turn: Turn) -> Arrival<P> {
        let Source::Arrivals(by) = turn.0 else { return Arrival::Otherwise };
        let line = &mut self.lines[by.index()];
        if line.stops {
            return Arrival::Otherwise;
        }
        let frame = line.direction.arrival(at, &mut self.drops);
        self.event_queue.set(line.source, line.direction.next_event());
        let Some(frame) = frame else { return Arrival::PassedOn };
        let node = self.topology.head(by);
        if self.topology.owns(node, frame.destination) {
            return Arrival::Here { node, by, frame };
        }
        // Taken apart, so that the usual frame need not lie in memory.
        let Frame { bytes, destination, label, ecn, payload } = frame;
        self.go_further(at, by, Frame { bytes, destination, label, ecn, payload });
        Arrival::PassedOn
    }

    /// The second step where [`Self::arrival`] says that it is something else. An event, if it is the driver's affair.
    #[inline(never)]
    pub fn otherwise(&mut self, at: Instant, turn: Turn) -> Option<Event<P>> {
        match turn.0 {
            Source::Arrivals(direction) => self.arrive_at_stop(at, direction),
            Source::Timer(timer) => self.fire(at, timer),
            Source::Departures(direction) => self.depart(at, direction),
            Source::Pipe(direction, number) => self.release(at, direction, number as usize),
            Source::Medium(medium) => self.pass_air(at, medium),
            Source::Taps => self.untap(),
        }
    }

    /// The counters of a direction, as of [`Self::now`].
    pub fn counters(&mut self, direction: DirectionId) -> Counters {
        self.lines[direction.index()].direction.counters(self.now, &mut self.drops)
    }

    /// How busy a direction was, and how much it could have carried, as of [`Self::now`].
    pub fn line_use(&mut self, direction: DirectionId) -> LineUse {
        let line = &mut self.lines[direction.index()].direction;
        line.counters(self.now, &mut self.drops);
        line.line_use(self.now)
    }

    /// Whether lost frames are kept for [`Self::lost`]. Off at first: their payloads are dropped.
    pub fn keep_lost(&mut self, keep: bool) {
        self.drops.keep = keep;
    }

    /// Tells `observer` of every frame that is dropped or marked from now on.
    pub fn set_observer(&mut self, observer: std::sync::Arc<dyn crate::observer::Observer>) {
        self.drops.observer = Some(observer);
    }

    /// How many frames wait for [`Self::lost`].
    #[must_use]
    pub fn lost_count(&self) -> usize {
        self.drops.frames.len()
    }

    /// The frames lost since the last call, while [`Self::keep_lost`] is on. A frame that a link lost
    /// by chance appears when the link is next looked at, which is never later than its next arrival.
    pub fn lost(&mut self) -> impl Iterator<Item = Lost<P>> + '_ {
        self.drops.frames.drain(..)
    }

    #[inline(never)]
    fn arrive_at_stop(&mut self, now: Instant, by: DirectionId) -> Option<Event<P>> {
        let line = &mut self.lines[by.index()];
        let frame = line.direction.arrival(now, &mut self.drops);
        self.event_queue.set(line.source, line.direction.next_event());
        self.stop_behind(now, by, frame?)
    }

    #[inline(never)]
    fn depart(&mut self, now: Instant, direction: DirectionId) -> Option<Event<P>> {
        let departure = self.lines[direction.index()].direction.departure(now, &mut self.drops);
        self.reschedule(direction);
        departure.map(|gone| Event::Departed {
            direction,
            label: gone.label,
            bytes: gone.bytes,
            service: gone.service.time,
            alone: gone.service.alone,
        })
    }

    #[inline(never)]
    fn release(&mut self, now: Instant, direction: DirectionId, number: usize) -> Option<Event<P>> {
        let pipe = &mut self.lines[direction.index()].pipes[number];
        let frame = pipe.release(now);
        self.event_queue.set(pipe.source, pipe.next_event());
        if let Some(frame) = frame {
            self.enqueue(now, direction, frame);
        }
        None
    }

    #[inline]
    fn fire(&mut self, now: Instant, id: TimerId) -> Option<Event<P>> {
        let timer = &mut self.timers[id.index()];
        let due = timer.deadline <= now;
        if due {
            timer.deadline = Instant::FAR_FUTURE;
        }
        self.event_queue.set(timer.source, timer.deadline);
        due.then_some(Event::Timer(id))
    }

    /// Makes the first change that waits; false if it is not due at `limit`, or may not happen.
    #[cold]
    fn change_until(&mut self, limit: Instant) -> bool {
        let now = self.next_change;
        if now > limit || now == Instant::FAR_FUTURE || !self.meter.allows(now, self.now, 1) {
            return false;
        }
        self.now = now;
        if let Some((_, (direction, change))) = self.changes.pop_first() {
            let line = &mut self.lines[direction.index()];
            line.direction.change(now, change.clone(), &mut self.drops);
            if let Some(radio) = line.radio {
                self.change_on_air(now, radio, &change);
            }
            self.reschedule(direction);
        }
        self.await_changes();
        true
    }

    fn await_changes(&mut self) {
        self.next_change = self.changes.first_key_value().map_or(Instant::FAR_FUTURE, |((at, _), _)| *at);
    }
}
