//! The queue of a wire under a discipline: enqueueing, and flushing when the link goes down.
//!
//! Under a discipline, departures cannot be computed on arrival: `settling` asks the discipline for the next
//! frame when the link is idle. Owns the other calls to the discipline.

use mptcp_clock::Instant;

use super::departure::{Departure, Service};
use super::held::Held;
use super::{Direction, DropLog};
use crate::frame::{Cause, DirectionId, Frame};
use crate::queue::{Packet, Wire};

impl<P> Direction<P> {
    /// Sets the incoming direction of the next frame, if a router forwards it.
    pub(crate) fn set_port(&mut self, port: DirectionId) {
        if let Some(managed) = &mut self.managed {
            managed.port = Some(port);
        }
    }

    /// Whether the direction has a discipline or a recording.
    #[inline]
    pub(crate) fn is_managed(&self) -> bool {
        self.managed.is_some()
    }

    /// Passes a frame to the discipline, or returns the cause of its drop. The time of the next event may
    /// change.
    pub(crate) fn queue_managed(
        &mut self,
        now: Instant,
        frame: Frame<P>,
        drops: &mut DropLog<P>,
    ) -> Result<(), Cause> {
        let port = self.managed.as_mut().and_then(|managed| managed.port.take());
        if !self.parameters.up {
            return Err(self.refuse_down(now, frame, drops));
        }
        if self.parameters.longest.is_some_and(|longest| frame.bytes > longest) {
            return Err(self.refuse_long(now, frame, drops));
        }
        self.settle(now, drops);
        let Some(managed) = &mut self.managed else { return Ok(()) };
        let (bytes, ecn, label) = (frame.bytes, frame.ecn, frame.label);
        let place = managed.keep(frame);
        let packet = Packet { bytes, ecn, label, port, arrived: now, place };
        let Held { discipline, random, outcomes, .. } = &mut **managed;
        discipline.enqueue(packet, &mut Wire { now, rate: self.parameters.rate, random, outcomes });
        let counters = &mut self.counters;
        counters.backlog_bytes += u64::from(bytes);
        let fate = self.account_drops(now, Some(place), drops);
        let waiting = self.managed.as_ref().map_or(0, |managed| managed.waiting());
        let counters = &mut self.counters;
        counters.max_backlog_bytes = counters.max_backlog_bytes.max(counters.backlog_bytes);
        let backlog = (waiting + self.frames.len() - self.in_flight) as u64;
        counters.max_backlog_frames = counters.max_backlog_frames.max(backlog);
        if self.frames.len() == self.in_flight {
            self.pull(now, drops);
        }
        fate.map_or(Ok(()), Err)
    }

    /// Drops all frames in the discipline, because the link went down.
    pub(super) fn flush_managed(&mut self, now: Instant, drops: &mut DropLog<P>) {
        let Some(managed) = &mut self.managed else { return };
        managed.discipline.clear();
        for frame in managed.drain() {
            self.counters.flushed_frames += 1;
            if let Some(departures) = &mut self.departures {
                let (label, bytes) = (frame.label, frame.bytes);
                departures.push_back(Departure { at: now, label, bytes, service: Service::default() });
            }
            drops.record(now, self.id, Cause::Down, frame);
        }
    }
}
