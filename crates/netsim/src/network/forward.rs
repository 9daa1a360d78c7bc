//! Forwarding: moves a frame into a link direction, and at the far end to its destination or to the next
//! direction.
//!
//! A direction is one half of a duplex link, with a queue. `DirectionEntry`, called `line` in the code, adds
//! its filters and tap. Before the queue, a frame passes these stages:
//!
//! 1. A tap at the entry holds the frame until the driver (the program that runs the network) passes it on.
//!    This lets the driver run a middlebox (see `tap`).
//! 2. The first matching filter (`Pipe`) adds delay or loss.
//! 3. The queue, or the MAC of a WiFi cell, accepts or drops the frame. A managed direction has a queue
//!    discipline or a recorded rate. Other wires are drop-tail, with a faster code path.
//!
//! At the far end, `impaired` handles duplicated and corrupted frames, and taps at the exit.
//!
//! Owns no state: [`Network`] has the directions. Never computes a route; `topology` does.

use mptcp_clock::Instant;

use super::{DirectionEntry, Event, Network, SendOutcome, TapSide};
use crate::direction::DropLog;
use crate::event_queue::EventQueue;
use crate::filter::Passage;
use crate::frame::{Cause, DirectionId, Frame};

impl<P> DirectionEntry<P> {
    /// Queues a frame on a wire that is not managed.
    #[inline(always)]
    fn enqueue(
        &mut self,
        now: Instant,
        frame: Frame<P>,
        drops: &mut DropLog<P>,
        event_queue: &mut EventQueue,
    ) -> SendOutcome {
        match self.direction.queue(now, frame, drops) {
            Ok(sooner) => {
                if sooner {
                    self.reschedule(event_queue);
                }
                SendOutcome::Queued
            }
            Err(cause) => SendOutcome::Lost(cause),
        }
    }
}

impl<P> Network<P> {
    /// Passes a frame to a direction, or to the tap before it.
    #[inline(always)]
    pub(super) fn offer_tapped(
        &mut self,
        now: Instant,
        direction: DirectionId,
        frame: Frame<P>,
    ) -> SendOutcome {
        let line = &mut self.lines[direction.index()];
        if line.open && !line.direction.is_managed() {
            // The common case: a wire without tap, filters and discipline.
            line.direction.count_offered(frame.bytes);
            return line.enqueue(now, frame, &mut self.drops, &mut self.event_queue);
        }
        self.offer_otherwise(now, direction, frame)
    }

    #[inline(never)]
    fn offer_otherwise(&mut self, now: Instant, direction: DirectionId, frame: Frame<P>) -> SendOutcome {
        if self.lines[direction.index()].tap == Some(TapSide::Entry) {
            return self.stop_before(now, direction, frame);
        }
        self.offer(now, direction, frame)
    }

    /// Passes a frame to a direction, after its tap.
    #[inline(never)]
    pub(super) fn offer(&mut self, now: Instant, direction: DirectionId, frame: Frame<P>) -> SendOutcome {
        let line = &mut self.lines[direction.index()];
        line.direction.count_offered(frame.bytes);
        if !line.pipes.is_empty() {
            return self.offer_filtered(now, direction, frame);
        }
        if line.radio.is_some() || line.direction.is_managed() {
            return self.enqueue(now, direction, frame);
        }
        line.enqueue(now, frame, &mut self.drops, &mut self.event_queue)
    }

    #[inline(never)]
    fn offer_filtered(&mut self, now: Instant, direction: DirectionId, frame: Frame<P>) -> SendOutcome {
        let line = &mut self.lines[direction.index()];
        let Some(pipe) = line.pipes.iter_mut().find(|pipe| pipe.matches(frame.label)) else {
            return self.enqueue(now, direction, frame);
        };
        match pipe.take(now, frame) {
            Passage::Through(frame) => self.enqueue(now, direction, frame),
            Passage::Held => {
                self.event_queue.set(pipe.source, pipe.next_event());
                SendOutcome::Held
            }
            Passage::Lost(frame) => {
                line.direction.count_filtered();
                self.drops.record(now, direction, Cause::Filter, frame);
                SendOutcome::Lost(Cause::Filter)
            }
        }
    }

    #[inline(never)]
    pub(super) fn enqueue(&mut self, now: Instant, direction: DirectionId, frame: Frame<P>) -> SendOutcome {
        let line = &mut self.lines[direction.index()];
        if let Some(radio) = line.radio {
            return self.enqueue_on_air(now, direction, radio, frame);
        }
        if line.direction.is_managed() {
            let queued = line.direction.queue_managed(now, frame, &mut self.drops);
            line.reschedule(&mut self.event_queue);
            return queued.map_or_else(SendOutcome::Lost, |_| SendOutcome::Queued);
        }
        line.enqueue(now, frame, &mut self.drops, &mut self.event_queue)
    }

    /// Handles a delivered frame: returns an event at its destination, else forwards or drops the frame.
    #[inline]
    pub(super) fn reach(&mut self, now: Instant, by: DirectionId, frame: Frame<P>) -> Option<Event<P>> {
        let node = self.topology.head(by);
        if self.topology.owns(node, frame.destination) {
            return Some(Event::Arrived { node, by, frame });
        }
        self.go_further(now, by, frame);
        None
    }

    /// Forwards a delivered frame that is not at its destination, or drops it without a route.
    #[inline(never)]
    pub(super) fn go_further(&mut self, now: Instant, by: DirectionId, frame: Frame<P>) {
        let node = self.topology.head(by);
        let router = self.topology.is_router(node);
        let onward = if router { self.topology.onward(node, frame.destination, frame.label) } else { None };
        match onward {
            Some(onward) => self.pass_on(now, by, onward, frame),
            None => self.drops.record(now, by, Cause::NoRoute, frame),
        }
    }

    /// Passes a frame that arrived by `by` to the direction that a router has selected.
    #[inline(always)]
    fn pass_on(&mut self, now: Instant, by: DirectionId, direction: DirectionId, frame: Frame<P>) {
        let line = &mut self.lines[direction.index()];
        if line.pipes.is_empty() && line.tap != Some(TapSide::Entry) {
            // A discipline may have one sub-queue per incoming direction (port). If a tap or filter holds the
            // frame, the port would be applied to another frame.
            line.direction.set_port(by);
        }
        self.offer_tapped(now, direction, frame);
    }

    /// Holds a frame at the tap before the queue of `direction`.
    #[cold]
    pub(super) fn stop_before(
        &mut self,
        now: Instant,
        direction: DirectionId,
        frame: Frame<P>,
    ) -> SendOutcome {
        self.hold(now, Event::Tapped { direction, frame });
        SendOutcome::Held
    }

    pub(super) fn hold(&mut self, now: Instant, event: Event<P>) {
        self.tapped.push_back(event);
        if let Some(source) = self.tap_source {
            self.event_queue.set(source, now);
        }
    }
}
