//! Progress of time: sends frames, applies scheduled changes, and returns events.
//!
//! The driver, which is the program that runs the network, calls these functions. An event has two halves:
//! the advance of the clock, and the handling of the event. `forward` moves the frames.

use mptcp_clock::Instant;

use super::{Arrival, Event, Network, SendOutcome, Source, Turn};
use crate::counters::Counters;
use crate::direction::{LinkUse, Position};
use crate::frame::{DirectionId, Frame, LinkId, Lost, TimerId};
use crate::parameters::Change;

impl<P> Network<P> {
    /// The time of the latest event or call.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Sends a frame on a link at `now`, which must lie between [`Self::now`] and [`Self::next_time`]. The
    /// caller selects the direction (see [`Self::route`]).
    #[inline]
    pub fn send(&mut self, now: Instant, direction: DirectionId, frame: Frame<P>) -> SendOutcome {
        debug_assert!(now >= self.now, "time runs forward");
        self.now = now;
        self.offer_tapped(now, direction, frame)
    }

    /// Sets a timer, or stops it (`None`). A time in the past means now.
    #[inline]
    pub fn set_timer(&mut self, timer: TimerId, at: Option<Instant>) {
        let timer = &mut self.timers[timer.index()];
        timer.deadline = at.unwrap_or(Instant::FAR_FUTURE).max(self.now);
        if timer.deadline < self.event_queue.pending(timer.source) {
            self.event_queue.set(timer.source, timer.deadline);
        }
    }

    /// The time at which a timer fires; `None` if it is not set.
    #[must_use]
    pub fn timer(&self, timer: TimerId) -> Option<Instant> {
        Some(self.timers[timer.index()].deadline).filter(|&at| at != Instant::FAR_FUTURE)
    }

    /// Changes one parameter of a direction at `at`, or now if that is in the past. Simultaneous changes take
    /// effect in the order of these calls, before all other events.
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

    /// A time at or before the next event; `None` if no event is pending.
    #[must_use]
    pub fn next_time(&self) -> Option<Instant> {
        Some(self.event_queue.first().0.min(self.next_change)).filter(|&at| at != Instant::FAR_FUTURE)
    }

    /// Advances time to the next event. `None` if no event is pending.
    #[expect(clippy::should_implement_trait, reason = "an iterator would hold the network borrowed")]
    #[inline]
    pub fn next(&mut self) -> Option<(Instant, Event<P>)> {
        self.next_until(Instant::from_nanos(u64::MAX - 1))
    }

    /// Advances time to the next event, at most to `limit`. `None` if nothing happens until then, or if the
    /// budget is used up (see [`Self::exhausted`]). [`Self::now`] then stays at or before `limit`.
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

    /// The first half of [`Self::next_until`], for drivers that mostly receive frames for their nodes:
    /// advances time to the next event. [`Self::arrival`] is the second half. `None` as in
    /// [`Self::next_until`].
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

    /// The second half after [`Self::next_turn`]: the frame, if one reached the node that owns its
    /// destination.
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
        // Destructured to keep the common case in registers.
        let Frame { bytes, destination, label, ecn, payload } = frame;
        self.go_further(at, by, Frame { bytes, destination, label, ecn, payload });
        Arrival::PassedOn
    }

    /// The second half if [`Self::arrival`] returns [`Arrival::Otherwise`]. Returns an event if the driver
    /// must handle it.
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

    /// The counters of a direction at [`Self::now`].
    pub fn counters(&mut self, direction: DirectionId) -> Counters {
        self.lines[direction.index()].direction.counters(self.now, &mut self.drops)
    }

    /// Use and capacity of a direction at [`Self::now`].
    pub fn link_use(&mut self, direction: DirectionId) -> LinkUse {
        let line = &mut self.lines[direction.index()].direction;
        line.counters(self.now, &mut self.drops);
        line.link_use(self.now)
    }

    /// Frames of a direction at `now`, for programs that draw the network; see [`Position`]. Changes nothing.
    pub fn frames_at(
        &self,
        now: Instant,
        direction: DirectionId,
    ) -> impl Iterator<Item = (Position, &Frame<P>)> {
        self.lines[direction.index()].direction.frames_at(now)
    }

    /// Sets whether dropped frames are kept for [`Self::lost`]. Disabled by default.
    pub fn keep_lost(&mut self, keep: bool) {
        self.drops.keep = keep;
    }

    /// Sets the observer of dropped and marked frames.
    pub fn set_observer(&mut self, observer: std::sync::Arc<dyn crate::observer::Observer>) {
        self.drops.observer = Some(observer);
    }

    /// Number of frames kept for [`Self::lost`].
    #[must_use]
    pub fn lost_count(&self) -> usize {
        self.drops.frames.len()
    }

    /// The frames dropped since the last call, while [`Self::keep_lost`] is enabled. Random losses appear when
    /// the link processes its departures, at the latest at its next arrival.
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

    /// Applies the next change. False if the change is later than `limit`, or exceeds the budget of events.
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
