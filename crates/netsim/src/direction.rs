//! One direction of a link: queue, serialisation, loss, propagation.
//!
//! Owns the frames it holds and their times. A frame's departure is computed when it is queued;
//! whether it is lost, and when it arrives, is settled later but in order, with the parameters of
//! its departure: every call first settles what departed by then. Never knows where frames go.
//! The frames of a cell have no departure until their MAC says so (`wireless`), those under a discipline none until it is their
//! turn (`managed`). `settling` settles; `far_end` has what happens to frames at the far end.

mod changes;
mod departure;
mod far_end;
mod held;
mod impairing;
mod line_use;
mod managed;
mod occupying;
mod processing;
mod refusals;
mod settling;
mod watch;
mod wireless;

use std::collections::VecDeque;
use std::sync::Arc;

use mptcp_clock::{Duration, Instant, Rng};

use crate::counters::Counters;
use crate::frame::{Cause, DirectionId, Frame, Lost};
use crate::loss::{Loss, LossProcess};
use crate::observer::{FrameEvent, Happening, Observer};
use crate::parameters::Parameters;
pub(crate) use departure::{Departure, Service};
use held::Held;
use impairing::Impairing;
use line_use::LineClock;
pub use line_use::LineUse;
use processing::Processing;

/// Where lost frames go: nowhere, or into a list for the driver. Tells an observer of them, and of marked ones.
#[derive(Debug)]
pub(crate) struct DropLog<P> {
    pub(crate) keep: bool,
    pub(crate) frames: Vec<Lost<P>>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

impl<P> DropLog<P> {
    pub(crate) fn record(&mut self, at: Instant, direction: DirectionId, cause: Cause, frame: Frame<P>) {
        if self.observer.is_some() {
            self.tell(at, direction, &frame, Happening::Dropped(cause));
        }
        if self.keep {
            self.frames.push(Lost { at, direction, cause, frame });
        }
    }

    /// A queue has marked a frame.
    pub(crate) fn marked(&self, at: Instant, direction: DirectionId, frame: &Frame<P>) {
        self.tell(at, direction, frame, Happening::Marked);
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn tell(&self, at: Instant, direction: DirectionId, frame: &Frame<P>, what: Happening) {
        if let Some(observer) = &self.observer {
            observer.observe(&FrameEvent { at, direction, label: frame.label, bytes: frame.bytes, what });
        }
    }
}

#[derive(Debug)]
pub(crate) struct Direction<P> {
    id: DirectionId,
    parameters: Parameters,
    /// The least time from departure to arrival under the present parameters.
    earliest: Duration,
    /// Nothing is lost by chance, delayed by chance or watched.
    plain: bool,
    /// First the frames in flight, by arrival time; then those queued or in service, by departure time.
    /// One row, so that a departure moves nothing.
    frames: VecDeque<(Instant, Frame<P>)>,
    /// How many of them are in flight.
    flying: usize,
    /// When the first of the others departs; never where there is none.
    due: Instant,
    /// When the last queued frame will have left.
    line_free: Instant,
    line_clock: LineClock,
    /// The latest arrival so far.
    last_arrival: Instant,
    loss: LossProcess,
    jitter: Rng,
    /// How long the host at the far end takes for a frame, if it takes any time.
    processing: Option<Processing>,
    counters: Counters,
    /// Its frames wait without a departure until a MAC says that it is done with them.
    wireless: bool,
    /// It looks at the length of frames, or marks them.
    particular: bool,
    managed: Option<Box<Held<P>>>,
    /// What becomes of frames at the far end, if anything does.
    impairing: Option<Box<Impairing>>,
    /// A frame that departs may arrive before some that departed earlier, or make those arrive.
    eager: bool,
    /// Departures to report, if somebody watches.
    departures: Option<VecDeque<Departure>>,
}

impl<P> Direction<P> {
    pub(crate) fn new(id: DirectionId, parameters: Parameters, stream: &Rng) -> Self {
        let managed = Held::of(&parameters, stream.child("queue"));
        let impairing = Impairing::of(&parameters, stream);
        let mut direction = Self {
            id,
            parameters,
            earliest: Duration::ZERO,
            plain: false,
            frames: VecDeque::new(),
            flying: 0,
            due: Instant::FAR_FUTURE,
            line_free: Instant::ZERO,
            line_clock: LineClock::default(),
            last_arrival: Instant::ZERO,
            loss: LossProcess::new(stream.child("loss")),
            jitter: stream.child("jitter"),
            processing: None,
            counters: Counters::default(),
            wireless: false,
            particular: false,
            managed,
            impairing,
            eager: false,
            departures: None,
        };
        direction.measure_delay();
        direction
    }

    pub(crate) fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The host at the far end takes up to `most` for each frame from now on.
    pub(crate) fn set_processing(&mut self, most: Duration, stream: &Rng) {
        self.processing = Processing::of(most, stream);
        self.measure_delay();
    }

    /// The counters as of `now`.
    pub(crate) fn counters(&mut self, now: Instant, drops: &mut DropLog<P>) -> Counters {
        self.settle(now, drops);
        let waiting = self.managed.as_ref().map_or(0, |managed| managed.waiting());
        Counters { backlog_frames: (self.frames.len() - self.flying + waiting) as u64, ..self.counters }
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

    /// Queues a frame of a plain queue at `now`, or says why not. `Ok(true)` if the pending time may have changed.
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
        let mut backlog = self.frames.len() - self.flying;
        if self.due <= now && !self.has_held_more(backlog, frame.bytes) {
            self.settle(now, drops);
            backlog = self.frames.len() - self.flying;
        }
        if backlog > 0 && !limit.admits(backlog, self.counters.backlog_bytes, frame.bytes, rate) {
            self.settle(now, drops);
            backlog = self.frames.len() - self.flying;
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

    /// Whether a plain queue has been longer than a frame makes what was not sent off yet: then nobody need know how much of that has
    /// departed, and all of it is sent off later, many at once.
    #[inline(always)]
    fn has_held_more(&self, backlog: usize, bytes: u32) -> bool {
        let counters = &self.counters;
        self.plain
            && !self.particular
            && (backlog as u64) < counters.max_backlog_frames
            && counters.backlog_bytes + u64::from(bytes) <= counters.max_backlog_bytes
    }

    /// When this direction next wants attention: its next arrival, or the earliest time at which
    /// there might be one.
    #[inline]
    pub(crate) fn next_event(&self) -> Instant {
        let Some(&(first, _)) = self.frames.front() else {
            // A discipline may have frames and let none go yet.
            return if self.due == Instant::FAR_FUTURE { self.due } else { self.due + self.earliest };
        };
        if self.flying == 0 {
            return first + self.earliest;
        }
        if !self.eager {
            return first;
        }
        if self.due == Instant::FAR_FUTURE { first } else { first.min(self.due + self.earliest) }
    }

    /// The frame that arrives at or before `now`.
    #[inline]
    pub(crate) fn arrival(&mut self, now: Instant, drops: &mut DropLog<P>) -> Option<Frame<P>> {
        // Where all go the same way, none that departs is before one in flight: they are sent off many at once.
        if !self.plain || self.flying < 2 {
            self.settle(now, drops);
        }
        let arrived = self.flying > 0 && self.frames.front().is_some_and(|(arrives, _)| *arrives <= now);
        let (_, frame) = if arrived { self.frames.pop_front()? } else { return None };
        self.flying -= 1;
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
        self.eager = self.parameters.jitter.is_some_and(|jitter| jitter.reorder) || gathers;
    }

    /// Finds out anew when the first frame departs.
    fn look(&mut self) {
        self.due = self.frames.get(self.flying).map_or(Instant::FAR_FUTURE, |(departs, _)| *departs);
    }
}
