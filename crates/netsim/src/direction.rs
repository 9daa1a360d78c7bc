//! One direction of a link: queue, serialisation, loss, propagation.
//!
//! Owns the frames it holds and their times. A frame's departure is computed when it is queued;
//! whether it is lost, and when it arrives, is settled later but in order, with the parameters of
//! its departure: every call first settles what departed by then. Never knows where frames go.

use std::collections::VecDeque;

use mptcp_clock::{Duration, Instant, Stream};

use crate::counters::Counters;
use crate::frame::{Cause, DirectionId, Frame, Lost};
use crate::loss::LossProcess;
use crate::parameters::{Change, Parameters};
use crate::rate::Rate;

/// Where lost frames go: nowhere, or into a list for the driver.
#[derive(Debug)]
pub(crate) struct Graveyard<P> {
    pub(crate) keep: bool,
    pub(crate) frames: Vec<Lost<P>>,
}

impl<P> Graveyard<P> {
    pub(crate) fn bury(&mut self, at: Instant, direction: DirectionId, cause: Cause, frame: Frame<P>) {
        if self.keep {
            self.frames.push(Lost { at, direction, cause, frame });
        }
    }
}

/// A frame has left the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) at: Instant,
    pub(crate) label: u32,
    pub(crate) bytes: u32,
}

#[derive(Debug)]
pub(crate) struct Direction<P> {
    id: DirectionId,
    parameters: Parameters,
    /// The least time from departure to arrival under the present parameters.
    earliest: Duration,
    /// Queued or in service, with departure times.
    waiting: VecDeque<(Instant, Frame<P>)>,
    /// Departed and not lost, by arrival time.
    flying: VecDeque<(Instant, Frame<P>)>,
    /// When the last queued frame will have left.
    line_free: Instant,
    /// The latest arrival so far.
    last_arrival: Instant,
    loss: LossProcess,
    jitter: Stream,
    counters: Counters,
    /// Departures to report, if somebody watches.
    departures: Option<VecDeque<Departure>>,
}

impl<P> Direction<P> {
    pub(crate) fn new(id: DirectionId, parameters: Parameters, stream: &Stream) -> Self {
        let mut direction = Self {
            id,
            parameters,
            earliest: Duration::ZERO,
            waiting: VecDeque::new(),
            flying: VecDeque::new(),
            line_free: Instant::ZERO,
            last_arrival: Instant::ZERO,
            loss: LossProcess::new(stream.child("loss")),
            jitter: stream.child("jitter"),
            counters: Counters::default(),
            departures: None,
        };
        direction.measure_delay();
        direction
    }

    pub(crate) fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The counters as of `now`.
    pub(crate) fn counters(&mut self, now: Instant, graveyard: &mut Graveyard<P>) -> Counters {
        self.settle(now, graveyard);
        Counters { backlog_frames: self.waiting.len() as u64, ..self.counters }
    }

    /// Counts a frame given to the link.
    #[inline]
    pub(crate) fn count_offered(&mut self, bytes: u32) {
        self.counters.offered_frames += 1;
        self.counters.offered_bytes += u64::from(bytes);
    }

    /// Counts a frame that a filter took.
    pub(crate) fn count_filtered(&mut self) {
        self.counters.filtered_frames += 1;
    }

    /// Queues a frame at `now`, or says why not. `Ok(true)` if the pending time may have changed.
    #[inline]
    pub(crate) fn queue(
        &mut self,
        now: Instant,
        frame: Frame<P>,
        graveyard: &mut Graveyard<P>,
    ) -> Result<bool, Cause> {
        if !self.parameters.up {
            self.counters.flushed_frames += 1;
            graveyard.bury(now, self.id, Cause::Down, frame);
            return Err(Cause::Down);
        }
        self.settle(now, graveyard);
        let (limit, rate) = (self.parameters.queue, self.parameters.rate);
        let idle = self.waiting.is_empty();
        if !idle && !limit.admits(self.waiting.len(), self.counters.backlog_bytes, frame.bytes, rate) {
            self.counters.dropped_frames += 1;
            graveyard.bury(now, self.id, Cause::QueueFull, frame);
            return Err(Cause::QueueFull);
        }
        let service = rate.map_or(Duration::ZERO, |rate| rate.serialisation(frame.bytes));
        self.line_free = self.line_free.max(now) + service;
        let counters = &mut self.counters;
        counters.backlog_bytes += u64::from(frame.bytes);
        counters.max_backlog_bytes = counters.max_backlog_bytes.max(counters.backlog_bytes);
        self.waiting.push_back((self.line_free, frame));
        counters.max_backlog_frames = counters.max_backlog_frames.max(self.waiting.len() as u64);
        Ok(idle)
    }

    /// When this direction next wants attention: its next arrival, or the earliest time at which
    /// there might be one.
    #[inline]
    pub(crate) fn next_event(&self) -> Instant {
        let arrival = self.flying.front().map_or(Instant::FAR_FUTURE, |(arrives, _)| *arrives);
        if arrival != Instant::FAR_FUTURE && !self.reorders() {
            return arrival;
        }
        let next = self.waiting.front().map_or(Instant::FAR_FUTURE, |(departs, _)| *departs + self.earliest);
        arrival.min(next)
    }

    /// The frame that arrives at or before `now`.
    #[inline]
    pub(crate) fn arrival(&mut self, now: Instant, graveyard: &mut Graveyard<P>) -> Option<Frame<P>> {
        self.settle(now, graveyard);
        let (_, frame) = pop_due(&mut self.flying, now)?;
        self.counters.delivered_frames += 1;
        self.counters.delivered_bytes += u64::from(frame.bytes);
        Some(frame)
    }

    /// Whether to remember departures. Those before the watch began are not reported.
    pub(crate) fn watch(&mut self, now: Instant, watch: bool, graveyard: &mut Graveyard<P>) {
        self.settle(now, graveyard);
        if !watch {
            self.departures = None;
        } else if self.departures.is_none() {
            self.departures = Some(VecDeque::new());
        }
    }

    /// When the next departure is to be reported, if anybody watches.
    #[inline]
    pub(crate) fn next_departure(&self) -> Instant {
        let Some(departures) = &self.departures else { return Instant::FAR_FUTURE };
        let queued = self.waiting.front().map_or(Instant::FAR_FUTURE, |(departs, _)| *departs);
        departures.front().map_or(queued, |departure| departure.at)
    }

    /// The departure to report at `now`.
    pub(crate) fn departure(&mut self, now: Instant, graveyard: &mut Graveyard<P>) -> Option<Departure> {
        self.settle(now, graveyard);
        self.departures.as_mut()?.pop_front()
    }

    /// Changes one parameter from `now` on.
    pub(crate) fn change(&mut self, now: Instant, change: Change, graveyard: &mut Graveyard<P>) {
        self.settle(now, graveyard);
        match change {
            Change::Rate(rate) => self.change_rate(now, rate),
            Change::Delay(delay) => self.parameters.delay = delay,
            Change::Jitter(jitter) => self.parameters.jitter = jitter,
            Change::Loss(loss) => {
                self.parameters.loss = loss;
                self.loss.restart();
            }
            Change::Queue(limit) => self.parameters.queue = limit,
            Change::Up(up) => {
                self.parameters.up = up;
                if !up {
                    self.flush(now, graveyard);
                }
            }
        }
        self.measure_delay();
    }

    fn reorders(&self) -> bool {
        self.parameters.jitter.is_some_and(|jitter| jitter.reorder)
    }

    fn measure_delay(&mut self) {
        let delay = self.parameters.delay;
        self.earliest = self.parameters.jitter.map_or(delay, |jitter| jitter.earliest(delay));
    }

    /// Sends off every frame that departed by `now`: each is lost or gets its arrival.
    #[inline]
    fn settle(&mut self, now: Instant, graveyard: &mut Graveyard<P>) {
        while let Some((departs, frame)) = pop_due(&mut self.waiting, now) {
            self.counters.sent_frames += 1;
            self.counters.sent_bytes += u64::from(frame.bytes);
            self.counters.backlog_bytes -= u64::from(frame.bytes);
            if let Some(departures) = &mut self.departures {
                departures.push_back(Departure { at: departs, label: frame.label, bytes: frame.bytes });
            }
            if self.loss.takes(&self.parameters.loss) {
                self.counters.lost_frames += 1;
                graveyard.bury(departs, self.id, Cause::Chance, frame);
            } else {
                self.fly(departs, frame);
            }
        }
    }

    #[inline]
    fn fly(&mut self, departs: Instant, frame: Frame<P>) {
        let Some(jitter) = self.parameters.jitter else {
            let arrives = (departs + self.parameters.delay).max(self.last_arrival);
            self.last_arrival = arrives;
            self.flying.push_back((arrives, frame));
            return;
        };
        let mut arrives = departs + jitter.draw(self.parameters.delay, &mut self.jitter);
        if !jitter.reorder {
            arrives = arrives.max(self.last_arrival);
        }
        self.last_arrival = self.last_arrival.max(arrives);
        let behind = self.flying.iter().rev().take_while(|(other, _)| *other > arrives).count();
        self.flying.insert(self.flying.len() - behind, (arrives, frame));
    }

    /// Recomputes the departures of all that wait. The first of them is in service.
    fn change_rate(&mut self, now: Instant, rate: Option<Rate>) {
        let old = std::mem::replace(&mut self.parameters.rate, rate);
        let mut frames = self.waiting.iter_mut();
        if let Some((departs, _)) = frames.next() {
            let left = match (old, rate) {
                (Some(old), Some(new)) => old.carried_to(new, departs.since(now)),
                _ => Duration::ZERO,
            };
            *departs = now + left;
            self.line_free = *departs;
        }
        for (departs, frame) in frames {
            self.line_free += rate.map_or(Duration::ZERO, |rate| rate.serialisation(frame.bytes));
            *departs = self.line_free;
        }
    }

    /// Loses all that the link holds.
    fn flush(&mut self, now: Instant, graveyard: &mut Graveyard<P>) {
        self.counters.flushed_frames += (self.waiting.len() + self.flying.len()) as u64;
        self.counters.backlog_bytes = 0;
        (self.line_free, self.last_arrival) = (now, now);
        for (_, frame) in self.flying.drain(..) {
            graveyard.bury(now, self.id, Cause::Down, frame);
        }
        for (_, frame) in self.waiting.drain(..) {
            if let Some(departures) = &mut self.departures {
                departures.push_back(Departure { at: now, label: frame.label, bytes: frame.bytes });
            }
            graveyard.bury(now, self.id, Cause::Down, frame);
        }
    }
}

/// The first frame, if its time is at or before `now`.
#[inline]
fn pop_due<P>(frames: &mut VecDeque<(Instant, Frame<P>)>, now: Instant) -> Option<(Instant, Frame<P>)> {
    let due = frames.front().is_some_and(|(at, _)| *at <= now);
    if due { frames.pop_front() } else { None }
}
