//! Letting time pass: frames in, events out.

use mptcp_clock::Instant;

use super::{CHANGES, Event, Fate, Network, Source};
use crate::counters::Counters;
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
        Some(self.event_queue.first().0).filter(|&at| at != Instant::FAR_FUTURE)
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
        loop {
            let (at, source) = self.event_queue.first();
            if at > limit || at == Instant::FAR_FUTURE {
                return None;
            }
            let source = self.sources[source as usize];
            let weight = self.weight(source);
            if !self.meter.allows(at, self.now, weight) {
                return None;
            }
            self.now = at;
            let event = match source {
                Source::Arrivals(direction) => self.arrive(at, direction),
                Source::Timer(timer) => self.fire(at, timer),
                Source::Departures(direction) => self.depart(at, direction),
                Source::Pipe(direction, number) => self.release(at, direction, number as usize),
                Source::Changes => self.change(at),
                Source::Medium(medium) => self.pass_air(at, medium),
                Source::Taps => self.untap(),
            };
            if let Some(event) = event {
                return Some((at, event));
            }
        }
    }

    /// The counters of a direction, as of [`Self::now`].
    pub fn counters(&mut self, direction: DirectionId) -> Counters {
        self.lines[direction.index()].direction.counters(self.now, &mut self.drops)
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

    #[inline(always)]
    fn arrive(&mut self, now: Instant, by: DirectionId) -> Option<Event<P>> {
        let line = &mut self.lines[by.index()];
        let frame = line.direction.arrival(now, &mut self.drops);
        self.event_queue.set(line.source, line.direction.next_event());
        let frame = frame?;
        if line.stops {
            return self.stop_behind(now, by, frame);
        }
        self.reach(now, by, frame)
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

    #[cold]
    fn change(&mut self, now: Instant) -> Option<Event<P>> {
        if let Some((_, (direction, change))) = self.changes.pop_first() {
            let line = &mut self.lines[direction.index()];
            line.direction.change(now, change.clone(), &mut self.drops);
            if let Some(radio) = line.radio {
                self.change_on_air(now, radio, &change);
            }
            self.reschedule(direction);
        }
        self.await_changes();
        None
    }

    fn await_changes(&mut self) {
        let at = self.changes.first_key_value().map_or(Instant::FAR_FUTURE, |((at, _), _)| *at);
        self.event_queue.set(CHANGES, at);
    }
}
