//! A wireless direction: its frames are queued here, and the MAC in `wifi` releases them one by one. Random
//! loss and propagation follow as on a wire. Makes no decisions.

use mptcp_clock::{Instant, Rng};

use super::{Departure, Direction, DropLog, Service};
use crate::frame::{Cause, DirectionId, Frame};
use crate::parameters::Parameters;

impl<P> Direction<P> {
    /// A direction whose frames depart when a MAC reports it.
    pub(crate) fn wireless(id: DirectionId, parameters: Parameters, stream: &Rng) -> Self {
        Self { wireless: true, ..Self::new(id, parameters, stream) }
    }

    /// Counts a frame that cannot be queued at `now`.
    pub(crate) fn refuse(&mut self, now: Instant, frame: Frame<P>, cause: Cause, drops: &mut DropLog<P>) {
        match cause {
            Cause::Down => self.counters.flushed_frames += 1,
            _ => self.counters.dropped_frames += 1,
        }
        drops.record(now, self.id, cause, frame);
    }

    /// Queues a frame until the MAC delivers or drops it.
    pub(crate) fn hold(&mut self, now: Instant, frame: Frame<P>) {
        // The MAC is busy until the last queued frame is delivered or dropped.
        self.occupy(now);
        self.line_free = Instant::FAR_FUTURE;
        let backlog = (self.frames.len() - self.in_flight) as u64 + 1;
        let counters = &mut self.counters;
        counters.backlog_bytes += u64::from(frame.bytes);
        counters.max_backlog_bytes = counters.max_backlog_bytes.max(counters.backlog_bytes);
        counters.max_backlog_frames = counters.max_backlog_frames.max(backlog);
        self.frames.push_back((Instant::FAR_FUTURE, frame));
    }

    /// The MAC has delivered the first queued frame.
    pub(crate) fn release(&mut self, now: Instant, service: Service, drops: &mut DropLog<P>) {
        if let Some((departs, frame)) = self.frames.get_mut(self.in_flight) {
            *departs = now;
            self.due = now;
            if let Some(departures) = &mut self.departures {
                departures.push_back(Departure { at: now, label: frame.label, bytes: frame.bytes, service });
            }
        }
        self.settle(now, drops);
        self.rest_if_empty(now);
    }

    /// The MAC has dropped the queued frame at `position`.
    pub(crate) fn discard(
        &mut self,
        now: Instant,
        position: usize,
        cause: Cause,
        service: Service,
        drops: &mut DropLog<P>,
    ) {
        let Some((_, frame)) = self.frames.remove(self.in_flight + position) else { return };
        self.look();
        self.counters.backlog_bytes -= u64::from(frame.bytes);
        match cause {
            Cause::Retries => self.counters.retry_drops += 1,
            _ => self.counters.dropped_frames += 1,
        }
        if let Some(departures) = &mut self.departures {
            departures.push_back(Departure { at: now, label: frame.label, bytes: frame.bytes, service });
        }
        drops.record(now, self.id, cause, frame);
        self.rest_if_empty(now);
    }

    fn rest_if_empty(&mut self, now: Instant) {
        if self.frames.len() == self.in_flight {
            self.line_free = self.line_free.min(now);
        }
    }
}
