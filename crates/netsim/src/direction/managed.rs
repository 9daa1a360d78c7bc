//! A wire's queue under a discipline: what leaves next is decided when the line is free.
//!
//! Owns the frames that wait under a discipline and what becomes of those that it drops. The frame in service and those in
//! flight lie where those of a plain queue do. Nothing here needs an event of its own: whoever looks at the direction first lets
//! it send what it could have sent by then, one frame after the other, each asked for at the instant at which the line was free.

use mptcp_clock::{Duration, Instant, Rng};

use super::{Departure, Direction, DropLog, Service};
use crate::frame::{Cause, DirectionId, Frame};
use crate::queue::{Fates, Next, Packet, QueueDiscipline, QueueKind, Wire};

#[derive(Debug)]
pub(super) struct Managed<P> {
    discipline: Box<dyn QueueDiscipline>,
    /// By the place that its packet names.
    frames: Vec<Option<Frame<P>>>,
    free: Vec<u32>,
    random: Rng,
    fates: Fates,
    /// By which direction the next frame comes.
    port: Option<DirectionId>,
}

impl<P> Managed<P> {
    pub(super) fn new(kind: &QueueKind, random: Rng) -> Self {
        let (frames, free, fates) = (Vec::new(), Vec::new(), Fates::default());
        Self { discipline: kind.make(), frames, free, random, fates, port: None }
    }

    /// Frames that wait; the one in service is not among them.
    pub(super) fn waiting(&self) -> usize {
        self.frames.len() - self.free.len()
    }

    fn keep(&mut self, frame: Frame<P>) -> u32 {
        if let Some(place) = self.free.pop() {
            self.frames[place as usize] = Some(frame);
            return place;
        }
        self.frames.push(Some(frame));
        self.frames.len() as u32 - 1
    }

    fn release(&mut self, place: u32) -> Option<Frame<P>> {
        let frame = self.frames.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some(frame)
    }
}

impl<P> Direction<P> {
    /// The next frame comes from a router, by the direction `port`.
    pub(crate) fn set_port(&mut self, port: DirectionId) {
        if let Some(managed) = &mut self.managed {
            managed.port = Some(port);
        }
    }

    /// Gives a frame to the discipline. `Err` if it is dropped at once.
    #[inline(never)]
    pub(super) fn queue_managed(
        &mut self,
        now: Instant,
        frame: Frame<P>,
        drops: &mut DropLog<P>,
    ) -> Result<bool, Cause> {
        self.settle(now, drops);
        let Some(managed) = &mut self.managed else { return Ok(false) };
        let (bytes, ecn, label) = (frame.bytes, frame.ecn, frame.label);
        let place = managed.keep(frame);
        let packet = Packet { bytes, ecn, label, port: managed.port.take(), arrived: now, place };
        let Managed { discipline, random, fates, .. } = &mut **managed;
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
        fate.map_or(Ok(true), Err)
    }

    /// Sends off what departed by `now`, and asks for the next whenever the line was free.
    #[inline(never)]
    pub(super) fn settle_managed(&mut self, now: Instant, drops: &mut DropLog<P>) {
        while self.due <= now {
            let at = self.due;
            if self.frames.len() > self.flying {
                self.send_off(at, drops);
            }
            self.pull(at, drops);
        }
    }

    /// The line is free at `at`: the next frame goes into service.
    fn pull(&mut self, at: Instant, drops: &mut DropLog<P>) {
        self.due = Instant::FAR_FUTURE;
        let Some(managed) = &mut self.managed else { return };
        let Managed { discipline, random, fates, .. } = &mut **managed;
        let rate = self.parameters.rate;
        match discipline.dequeue(&mut Wire { now: at, rate, random, fates }) {
            Next::Packet(packet) => {
                if let Some(mut frame) = managed.release(packet.place) {
                    frame.ecn = packet.ecn;
                    let service = rate.map_or(Duration::ZERO, |rate| rate.serialisation(frame.bytes));
                    self.line_free = at + service;
                    self.due = self.line_free;
                    self.frames.push_back((self.line_free, frame));
                }
            }
            // Whoever says the present once more would never end.
            Next::At(then) => self.due = then.max(at + Duration::from_nanos(1)),
            Next::Nothing => {}
        }
        self.bury(at, None, drops);
    }

    /// Counts what the discipline dropped and marked; returns what became of the packet at `place`.
    fn bury(&mut self, now: Instant, place: Option<u32>, drops: &mut DropLog<P>) -> Option<Cause> {
        let managed = self.managed.as_mut()?;
        self.counters.marked_frames += std::mem::take(&mut managed.fates.marked);
        let mut fate = None;
        let mut dropped = std::mem::take(&mut managed.fates.dropped);
        for (packet, cause) in dropped.drain(..) {
            let Some(frame) = managed.release(packet.place) else { continue };
            self.counters.dropped_frames += 1;
            self.counters.backlog_bytes -= u64::from(frame.bytes);
            if place == Some(packet.place) {
                fate = Some(cause);
            } else if let Some(departures) = &mut self.departures {
                let (label, bytes) = (frame.label, frame.bytes);
                departures.push_back(Departure { at: now, label, bytes, service: Service::default() });
            }
            drops.record(now, self.id, cause, frame);
        }
        managed.fates.dropped = dropped;
        fate
    }

    /// The link went down: all that waits is lost.
    pub(super) fn flush_managed(&mut self, now: Instant, drops: &mut DropLog<P>) {
        let Some(managed) = &mut self.managed else { return };
        managed.discipline.clear();
        managed.free.clear();
        for frame in managed.frames.drain(..).flatten() {
            self.counters.flushed_frames += 1;
            if let Some(departures) = &mut self.departures {
                let (label, bytes) = (frame.label, frame.bytes);
                departures.push_back(Departure { at: now, label, bytes, service: Service::default() });
            }
            drops.record(now, self.id, Cause::Down, frame);
        }
    }
}
