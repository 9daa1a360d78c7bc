//! Settling of departures: each departed frame is lost or gets its arrival time, and a discipline selects the
//! next frame.
//!
//! Owns the order of these steps. Settling needs no events, which saves time. The first call on a direction
//! processes all frames that departed since the last call, in order, at their departure times.

use mptcp_clock::{Duration, Instant};

use super::departure::{Departure, Service};
use super::held::Held;
use super::processing::Processing;
use super::{Direction, DropLog};
use crate::frame::Cause;
use crate::queue::{Next, Wire};

impl<P> Direction<P> {
    /// Processes every frame that departed by `now`: it is lost, or gets its arrival time.
    #[inline]
    pub(super) fn settle(&mut self, now: Instant, drops: &mut DropLog<P>) {
        if self.due > now {
            return;
        }
        if self.plain { self.send_off_plainly(now) } else { self.settle_otherwise(now, drops) }
    }

    #[inline(never)]
    fn settle_otherwise(&mut self, now: Instant, drops: &mut DropLog<P>) {
        if self.managed.is_some() {
            self.settle_managed(now, drops);
        } else {
            self.send_off(now, drops);
        }
    }

    /// As `settle`, for directions with a constant delay and no loss.
    #[inline(never)]
    fn send_off_plainly(&mut self, now: Instant) {
        let (delay, mut last) = (self.parameters.delay, self.last_arrival);
        let (mut gone, mut bytes, mut due) = (0, 0, Instant::FAR_FUTURE);
        while let Some((time, frame)) = self.frames.get_mut(self.in_flight + gone) {
            if *time > now {
                due = *time;
                break;
            }
            bytes += u64::from(frame.bytes);
            last = (*time + delay).max(last);
            *time = last;
            gone += 1;
        }
        self.in_flight += gone;
        (self.due, self.last_arrival) = (due, last);
        self.counters.sent_frames += gone as u64;
        self.counters.sent_bytes += bytes;
        self.counters.backlog_bytes -= bytes;
    }

    fn send_off(&mut self, now: Instant, drops: &mut DropLog<P>) {
        let gathers = self.impairing.as_ref().is_some_and(|impairing| impairing.gathers());
        loop {
            let Some((time, frame)) = self.frames.get_mut(self.in_flight) else {
                self.due = Instant::FAR_FUTURE;
                return;
            };
            let departs = *time;
            if departs > now {
                self.due = departs;
                return;
            }
            self.counters.sent_frames += 1;
            self.counters.sent_bytes += u64::from(frame.bytes);
            self.counters.backlog_bytes -= u64::from(frame.bytes);
            if let Some(departures) = &mut self.departures
                && !self.wireless
            {
                let rate = self.parameters.rate;
                let time = rate.map_or(Duration::ZERO, |rate| rate.serialisation(frame.bytes));
                let (label, bytes) = (frame.label, frame.bytes);
                let service = Service { time, alone: time };
                departures.push_back(Departure { at: departs, label, bytes, service });
            }
            if self.loss.takes(&self.parameters.loss, departs, frame.bytes) {
                self.counters.lost_frames += 1;
                if let Some((_, frame)) = self.frames.remove(self.in_flight) {
                    drops.record(departs, self.id, Cause::Chance, frame);
                }
                continue;
            }
            if gathers {
                self.gather(departs);
                continue;
            }
            let delay = self.parameters.delay;
            let (delay, reorder) = match self.parameters.jitter {
                None => (delay, false),
                Some(jitter) => (jitter.draw(delay, &mut self.jitter), jitter.reorder),
            };
            let own = departs + delay + self.processing.as_mut().map_or(Duration::ZERO, Processing::draw);
            let arrives = if reorder { own } else { own.max(self.last_arrival) };
            *time = arrives;
            self.in_flight += 1;
            if arrives < self.last_arrival {
                self.overtake();
            } else {
                self.last_arrival = arrives;
            }
        }
    }

    /// Moves the last frame in flight before all frames that arrive later.
    #[cold]
    fn overtake(&mut self) {
        let Some((arrives, frame)) = self.frames.remove(self.in_flight - 1) else { return };
        let others = self.frames.iter().take(self.in_flight - 1);
        let before = others.rev().skip_while(|(other, _)| *other > arrives).count();
        self.frames.insert(before, (arrives, frame));
    }

    /// Processes departures up to `now`, and asks the discipline for the next frame after each.
    fn settle_managed(&mut self, now: Instant, drops: &mut DropLog<P>) {
        while self.due <= now {
            let at = self.due;
            if self.frames.len() > self.in_flight {
                self.send_off(at, drops);
            } else if let Some(cursor) = self.managed.as_mut().and_then(|managed| managed.cursor.as_mut()) {
                cursor.claim(at);
            }
            self.pull(at, drops);
        }
    }

    /// Puts the next frame into service, because the link is idle at `at`.
    pub(super) fn pull(&mut self, at: Instant, drops: &mut DropLog<P>) {
        self.due = Instant::FAR_FUTURE;
        let waits = self.managed.as_ref().is_some_and(|managed| managed.waiting() > 0);
        if waits {
            self.occupy(at);
        }
        let Some(managed) = &mut self.managed else { return };
        if let Some(cursor) = managed.cursor.as_ref().filter(|cursor| !cursor.is_open(at)) {
            // A recorded opportunity without a frame is lost.
            if waits {
                self.due = cursor.next(at);
                self.line_free = self.due;
            }
            return;
        }
        let Held { discipline, random, outcomes, .. } = &mut **managed;
        let rate = self.parameters.rate;
        match discipline.dequeue(&mut Wire { now: at, rate, random, outcomes }) {
            Next::Packet(packet) => {
                if let Some(mut frame) = managed.release(packet.place) {
                    if std::mem::replace(&mut frame.ecn, packet.ecn) != packet.ecn {
                        drops.marked(at, self.id, &frame);
                    }
                    self.line_free = match &mut managed.cursor {
                        Some(cursor) => cursor.spend(frame.bytes),
                        None => at + rate.map_or(Duration::ZERO, |rate| rate.serialisation(frame.bytes)),
                    };
                    self.due = self.line_free;
                    self.frames.push_back((self.line_free, frame));
                }
            }
            // A discipline that returns the current time would loop forever.
            Next::At(then) => {
                self.due = then.max(at + Duration::from_nanos(1));
                self.line_free = self.due;
            }
            Next::Nothing => {}
        }
        self.account_drops(at, None, drops);
    }

    /// Counts packets that the discipline dropped or marked. Returns the cause of the drop of the packet in
    /// slot `place`, if any.
    pub(super) fn account_drops(
        &mut self,
        now: Instant,
        place: Option<u32>,
        drops: &mut DropLog<P>,
    ) -> Option<Cause> {
        let managed = self.managed.as_mut()?;
        self.counters.marked_frames += std::mem::take(&mut managed.outcomes.marked);
        let mut fate = None;
        let mut dropped = std::mem::take(&mut managed.outcomes.dropped);
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
        managed.outcomes.dropped = dropped;
        fate
    }
}
