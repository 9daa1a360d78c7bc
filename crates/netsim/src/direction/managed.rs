//! A wire's queue under a discipline: how frames come in, and what becomes of them when the link goes down.
//!
//! Owns what the discipline is told. When frames leave is the affair of `settling`.

use mptcp_clock::Instant;

use super::departure::{Departure, Service};
use super::held::Held;
use super::{Direction, DropLog};
use crate::frame::{Cause, DirectionId, Frame};
use crate::queue::{Packet, Wire};

impl<P> Direction<P> {
    /// The next frame comes from a router, by the direction `port`.
    pub(crate) fn set_port(&mut self, port: DirectionId) {
        if let Some(managed) = &mut self.managed {
            managed.port = Some(port);
        }
    }

    /// Whether there is a discipline.
    #[inline]
    pub(crate) fn is_managed(&self) -> bool {
        self.managed.is_some()
    }

    /// Gives a frame to the discipline, or says why not. The pending time may have changed.
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
        let Held { discipline, random, fates, .. } = &mut **managed;
        discipline.enqueue(packet, &mut Wire { now, rate: self.parameters.rate, random, fates });
        let counters = &mut self.counters;
        counters.backlog_bytes += u64::from(bytes);
        let fate = self.bury(now, Some(place), drops);
        let waiting = self.managed.as_ref().map_or(0, |managed| managed.waiting());
        let counters = &mut self.counters;
        counters.max_backlog_bytes = counters.max_backlog_bytes.max(counters.backlog_bytes);
        let backlog = (waiting + self.frames.len() - self.flying) as u64;
        counters.max_backlog_frames = counters.max_backlog_frames.max(backlog);
        if self.frames.len() == self.flying {
            self.pull(now, drops);
        }
        fate.map_or(Ok(()), Err)
    }

    /// The link went down: all that waits is lost.
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
