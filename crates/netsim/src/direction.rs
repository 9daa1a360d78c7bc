//! One direction of a link: queue, serialisation, loss, propagation.
//!
//! Owns the frames on the direction and their times. To save events, the departure of a frame is computed
//! when it is queued. After the departure, the frame is settled: its loss and arrival are decided, with the
//! parameters at the departure. Frames are settled in order, before any call that needs the result. Never
//! knows routes. Frames of a WiFi cell have no departure until their MAC reports it (`wireless`), and frames
//! under a queue discipline until it selects them (`managed`). `far_end` duplicates, corrupts and batches.

mod changes;
mod departure;
mod far_end;
mod held;
mod impairment_state;
mod link_use;
mod managed;
mod positions;
mod processing;
mod refused;
mod settling;
mod utilisation;
mod watch;
mod wireless;

use std::collections::VecDeque;
use std::sync::Arc;

use mptcp_clock::{Duration, Instant, Rng};

use crate::counters::Counters;
use crate::frame::{Cause, DirectionId, Frame, Lost};
use crate::loss::{Loss, LossProcess};
use crate::observer::{FrameEvent, FrameEventType, Observer};
use crate::parameters::Parameters;
pub(crate) use departure::{Departure, Service};
use held::Held;
use impairment_state::ImpairmentState;
pub use link_use::LinkUse;
use link_use::UseClock;
pub use positions::Position;
use processing::Processing;

/// Collects lost frames for the driver (the program that runs the network), or discards them. Notifies an
/// observer of lost and marked frames.
#[derive(Debug)]
pub(crate) struct DropLog<P> {
    pub(crate) keep: bool,
    pub(crate) frames: Vec<Lost<P>>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

impl<P> DropLog<P> {
    pub(crate) fn record(&mut self, at: Instant, direction: DirectionId, cause: Cause, frame: Frame<P>) {
        if self.observer.is_some() {
            self.tell(at, direction, &frame, FrameEventType::Dropped(cause));
        }
        if self.keep {
            self.frames.push(Lost { at, direction, cause, frame });
        }
    }

    /// Reports a frame that a queue marked.
    pub(crate) fn marked(&self, at: Instant, direction: DirectionId, frame: &Frame<P>) {
        self.tell(at, direction, frame, FrameEventType::Marked);
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn tell(&self, at: Instant, direction: DirectionId, frame: &Frame<P>, what: FrameEventType) {
        if let Some(observer) = &self.observer {
            observer.observe(&FrameEvent { at, direction, label: frame.label, bytes: frame.bytes, what });
        }
    }
}

#[derive(Debug)]
pub(crate) struct Direction<P> {
    id: DirectionId,
    parameters: Parameters,
    /// The minimum time from departure to arrival under the current parameters.
    earliest: Duration,
    /// Whether settling only adds a constant delay, so that it can be postponed. The direction then has no
    /// random loss, jitter, processing time, batching, queue discipline or reported departures.
    plain: bool,
    /// Frames in flight by arrival time, then frames queued or in service by departure time. One container, so
    /// that a departure moves no frame.
    frames: VecDeque<(Instant, Frame<P>)>,
    /// Number of frames in flight.
    in_flight: usize,
    /// Departure of the first queued frame; `FAR_FUTURE` if there is none.
    due: Instant,
    /// Departure of the last queued frame.
    line_free: Instant,
    line_clock: UseClock,
    /// The latest arrival so far.
    last_arrival: Instant,
    loss: LossProcess,
    jitter: Rng,
    /// Processing time per frame of the host at the far end; `None` is zero.
    processing: Option<Processing>,
    counters: Counters,
    /// Whether frames depart only when a MAC reports it.
    wireless: bool,
    /// Whether the queue checks frame lengths or marks frames.
    particular: bool,
    managed: Option<Box<Held<P>>>,
    /// Duplication, corruption and batching at the far end, if any.
    impairing: Option<Box<ImpairmentState>>,
    /// Whether a departing frame can overtake earlier frames (jitter with reordering), or deliver them by
    /// completing their batch.
    may_reorder: bool,
    /// Departures to report; `None` if they are not watched.
    departures: Option<VecDeque<Departure>>,
}

impl<P> Direction<P> {
    pub(crate) fn new(id: DirectionId, parameters: Parameters, stream: &Rng) -> Self {
        let managed = Held::of(&parameters, stream.child("queue"));
        let impairing = ImpairmentState::of(&parameters, stream);
        let mut direction = Self {
            id,
            parameters,
            earliest: Duration::ZERO,
            plain: false,
            frames: VecDeque::new(),
            in_flight: 0,
            due: Instant::FAR_FUTURE,
            line_free: Instant::ZERO,
            line_clock: UseClock::default(),
            last_arrival: Instant::ZERO,
            loss: LossProcess::new(stream.child("loss")),
            jitter: stream.child("jitter"),
            processing: None,
            counters: Counters::default(),
            wireless: false,
            particular: false,
            managed,
            impairing,
            may_reorder: false,
            departures: None,
        };
        direction.measure_delay();
        direction
    }

    pub(crate) fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Sets the maximum processing time per frame of the host at the far end.
    pub(crate) fn set_processing(&mut self, most: Duration, stream: &Rng) {
        self.processing = Processing::of(most, stream);
        self.measure_delay();
    }

    /// The counters at `now`.
    pub(crate) fn counters(&mut self, now: Instant, drops: &mut DropLog<P>) -> Counters {
        self.settle(now, drops);
        let waiting = self.managed.as_ref().map_or(0, |managed| managed.waiting());
        Counters { backlog_frames: (self.frames.len() - self.in_flight + waiting) as u64, ..self.counters }
    }

    /// Counts an offered frame.
    #[inline]
    pub(crate) fn count_offered(&mut self, bytes: u32) {
        self.counters.offered_frames += 1;
        self.counters.offered_bytes += u64::from(bytes);
    }

    /// Counts a frame that a filter dropped.
    pub(crate) fn count_filtered(&mut self) {
        self.counters.filtered_frames += 1;
    }

    /// Queues a frame at `now` on a direction without a queue discipline, or returns the cause of its drop.
    /// `Ok(true)` if the time of the next event may have changed.
    #[inline(always)]
    pub(crate) fn queue(
        &mut self,
        now: Instant,
        mut frame: Frame<P>,
        drops: &mut DropLog<P>,
    ) -> Result<bool, Cause> {
        if !self.parameters.up {
            return Err(self.refuse_down(now, frame, drops));
        }
        if self.particular && self.parameters.longest.is_some_and(|longest| frame.bytes > longest) {
            return Err(self.refuse_long(now, frame, drops));
        }
        let (limit, rate) = (self.parameters.queue, self.parameters.rate);
        let mut backlog = self.frames.len() - self.in_flight;
        if self.due <= now && !self.has_held_more(backlog, frame.bytes) {
            self.settle(now, drops);
            backlog = self.frames.len() - self.in_flight;
        }
        if backlog > 0 && !limit.admits(backlog, self.counters.backlog_bytes, frame.bytes, rate) {
            self.settle(now, drops);
            backlog = self.frames.len() - self.in_flight;
            if !limit.fits(backlog, self.counters.backlog_bytes, frame.bytes, rate) {
                self.counters.dropped_frames += 1;
                drops.record(now, self.id, Cause::QueueFull, frame);
                return Err(Cause::QueueFull);
            }
        }
        let idle = backlog == 0;
        if self.particular
            && let Some(threshold) = self.parameters.mark
            && !threshold.admits(backlog, self.counters.backlog_bytes, frame.bytes, rate)
        {
            let marked = frame.ecn.mark();
            self.counters.marked_frames += u64::from(marked);
            if marked {
                drops.marked(now, self.id, &frame);
            }
        }
        let service = rate.map_or(Duration::ZERO, |rate| rate.serialisation(frame.bytes));
        self.occupy(now);
        self.line_free += service;
        let counters = &mut self.counters;
        counters.backlog_bytes += u64::from(frame.bytes);
        counters.max_backlog_bytes = counters.max_backlog_bytes.max(counters.backlog_bytes);
        counters.max_backlog_frames = counters.max_backlog_frames.max(backlog as u64 + 1);
        self.frames.push_back((self.line_free, frame));
        if idle {
            self.due = self.line_free;
        }
        Ok(idle)
    }

    /// Whether the recorded maximum backlog already exceeds the unsettled backlog plus this frame. If so, the
    /// frame cannot raise the maximum. The exact backlog is not needed yet, so settling is postponed.
    #[inline(always)]
    fn has_held_more(&self, backlog: usize, bytes: u32) -> bool {
        let counters = &self.counters;
        self.plain
            && !self.particular
            && (backlog as u64) < counters.max_backlog_frames
            && counters.backlog_bytes + u64::from(bytes) <= counters.max_backlog_bytes
    }

    /// Time of the next event of this direction: the next arrival, or the earliest possible one.
    #[inline]
    pub(crate) fn next_event(&self) -> Instant {
        let Some(&(first, _)) = self.frames.front() else {
            // A discipline may hold frames without releasing one.
            return if self.due == Instant::FAR_FUTURE { self.due } else { self.due + self.earliest };
        };
        if self.in_flight == 0 {
            return first + self.earliest;
        }
        if !self.may_reorder {
            return first;
        }
        if self.due == Instant::FAR_FUTURE { first } else { first.min(self.due + self.earliest) }
    }

    /// The next frame that arrives at or before `now`.
    #[inline]
    pub(crate) fn arrival(&mut self, now: Instant, drops: &mut DropLog<P>) -> Option<Frame<P>> {
        // With a constant delay, no departing frame overtakes one in flight. Settling can therefore wait until
        // one frame is left in flight.
        if !self.plain || self.in_flight < 2 {
            self.settle(now, drops);
        }
        let arrived = self.in_flight > 0 && self.frames.front().is_some_and(|(arrives, _)| *arrives <= now);
        let (_, frame) = if arrived { self.frames.pop_front()? } else { return None };
        self.in_flight -= 1;
        self.counters.delivered_frames += 1;
        self.counters.delivered_bytes += u64::from(frame.bytes);
        Some(frame)
    }

    fn measure_delay(&mut self) {
        let ideal = self.parameters.rate.is_none() && self.parameters.delay.is_zero() && !self.wireless;
        self.processing.iter_mut().for_each(|processing| processing.ideal = ideal);
        self.particular = self.parameters.longest.is_some() || self.parameters.mark.is_some();
        let delay = self.parameters.delay;
        self.earliest = self.parameters.jitter.map_or(delay, |jitter| jitter.earliest(delay));
        let gathers = self.impairing.as_ref().is_some_and(|impairing| impairing.gathers());
        let varies = self.parameters.jitter.is_some() || self.processing.is_some();
        let certain = !varies && self.parameters.loss == Loss::None;
        self.plain = certain && self.departures.is_none() && self.managed.is_none() && !gathers;
        self.may_reorder = self.parameters.jitter.is_some_and(|jitter| jitter.reorder) || gathers;
    }

    /// Updates the departure time of the first queued frame.
    fn look(&mut self) {
        self.due = self.frames.get(self.in_flight).map_or(Instant::FAR_FUTURE, |(departs, _)| *departs);
    }
}
