//! The interface of an endpoint to its driver: segments and time in, segments and events out.
//!
//! The driver is the simulator or the code for real packets. Owns the order in which connections are polled.
//! Never reads a clock, so the same code runs in virtual and in real time.

use std::net::SocketAddr;

use mptcp_clock::Instant;
use mptcp_wire::Segment;

use crate::endpoint::{Endpoint, Transmit};
use crate::event::Event;
use crate::ids::{ConnectionId, InterfaceId, SubflowId};

impl Endpoint {
    /// Handles a segment that arrived on an interface.
    pub fn handle_segment(&mut self, now: Instant, interface: InterfaceId, mut segment: Segment) {
        self.handle_segment_rarely(now, interface, &mut segment);
    }

    /// Works as [`Endpoint::handle_segment`], for drivers that reuse their segments. The payload is moved out
    /// of `segment`; the other fields stay.
    #[inline(always)]
    pub fn handle_segment_in_place(&mut self, now: Instant, interface: InterfaceId, segment: &mut Segment) {
        if self.observing {
            return self.handle_segment_observed(now, interface, segment);
        }
        let Some((slot, subflow)) = self.demux.find(segment) else {
            return self.handle_unmatched_segment(now, interface, segment);
        };
        if segment.flags.syn()
            && let Some(connection) = self.slots.connection_at(slot)
            && let Some(iss) = connection.may_be_replaced(now, subflow, segment)
        {
            // RFC 9293 section 3.10.7.4: a SYN may reopen a connection in TIME-WAIT.
            self.after_change(now, slot);
            return self.handle_syn(now, interface, segment, Some(iss));
        }
        // Only payload, which the connection takes out of the segment, changes the received memory.
        let brings_payload = !segment.payload.is_empty();
        self.change_connection(now, slot, |connection| {
            if connection.handle_segment(now, subflow, segment) {
                connection.process_early_data(now, subflow);
            }
            brings_payload
        });
    }

    /// Handles a segment with an unknown four-tuple, which may create a subflow.
    #[cold]
    fn handle_unmatched_segment(&mut self, now: Instant, interface: InterfaceId, segment: &mut Segment) {
        if self.handle_unmatched(now, interface, segment) {
            self.handle_segment_rarely(now, interface, segment);
        }
    }

    #[inline(never)]
    fn handle_segment_rarely(&mut self, now: Instant, interface: InterfaceId, segment: &mut Segment) {
        self.handle_segment_in_place(now, interface, segment);
    }

    /// Handles the timers that are due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(slot) = self.deadlines.pop_due(now) {
            let Some(connection) = self.slots.connection_at(slot) else { continue };
            if connection.deadline() <= now {
                connection.handle_timeout(now);
                self.after_change(now, slot);
            } else {
                let at = connection.deadline();
                self.deadlines.set(slot, at);
            }
        }
    }

    /// Works as [`Endpoint::handle_segment_in_place`], and reports the segment to the observer.
    #[cold]
    #[inline(never)]
    fn handle_segment_observed(&mut self, now: Instant, interface: InterfaceId, segment: &mut Segment) {
        let known = self.demux.find(segment);
        self.observing = false;
        self.handle_segment_rarely(now, interface, segment);
        self.observing = true;
        if let Some((slot, subflow)) = known.or_else(|| self.demux.find(segment))
            && let Some(connection) = self.slots.at(slot).connection.as_deref_mut()
        {
            connection.observe_received(now, subflow, segment);
        }
    }

    /// Works as [`Endpoint::poll_transmit_into`], and reports each polled connection to the observer.
    fn poll_transmit_observed(
        &mut self,
        now: Instant,
        out: &mut Segment,
    ) -> Option<(InterfaceId, Option<(ConnectionId, SubflowId)>)> {
        let mut polled = std::mem::take(&mut self.polled);
        polled.extend(self.ready.iter());
        self.rare_work = false;
        let sent = self.poll_transmit_rarely(now, out);
        self.rare_work = true;
        let sender = sent.and_then(|(_, sender)| sender);
        for slot in polled.drain(..) {
            let sent_by = sender.filter(|(id, _)| id.slot == slot).map(|(_, subflow)| subflow);
            let entry = self.slots.at(slot);
            // The connections after the sending one were not polled.
            let sent_nothing = !entry.ready && sent_by.is_none();
            if let Some(connection) =
                entry.connection.as_deref_mut().filter(|_| sent_by.is_some() || sent_nothing)
            {
                connection.observe_poll(now, sent_by, out);
                if !std::mem::replace(&mut entry.polled, true) {
                    self.polled_since.push(slot);
                }
            }
        }
        self.polled = polled;
        sent
    }

    /// Appends the connections polled since the last call, in any order, each once. No other connection has
    /// changed what it sends. Appends nothing without an observer.
    pub fn take_polled(&mut self, out: &mut Vec<ConnectionId>) {
        for slot in self.polled_since.drain(..) {
            self.slots.at(slot).polled = false;
            out.push(self.slots.id(slot));
        }
    }

    /// Time of the next call of [`Endpoint::handle_timeout`]; may be earlier than necessary, never later.
    /// `None` if no timer is set.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.deadlines.earliest()
    }

    /// Returns the next segment to send; `None` if there is none at `now`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        let mut segment = Segment::new(nowhere, nowhere);
        let (interface, subflow) = self.poll_transmit_rarely(now, &mut segment)?;
        Some(Transmit { interface, subflow, segment })
    }

    /// Works as [`Endpoint::poll_transmit`], but writes into a segment of the driver. Returns the interface
    /// to send on, and the sending connection and subflow (`None` for a stateless reply). The content of
    /// `out` is unspecified if the result is `None`.
    #[inline(always)]
    pub fn poll_transmit_into(
        &mut self,
        now: Instant,
        out: &mut Segment,
    ) -> Option<(InterfaceId, Option<(ConnectionId, SubflowId)>)> {
        if self.rare_work {
            return self.poll_rare_work(now, out);
        }
        while let Some(slot) = self.ready.first() {
            let entry = self.slots.at(slot);
            let known = entry.id(slot);
            if let Some(connection) = &mut entry.connection {
                let may_have_changed = std::mem::take(&mut entry.may_have_changed);
                if let Some(subflow) = connection.poll_transmit(now, may_have_changed, out) {
                    let (id, interface) = connection.sent_by(subflow);
                    let departs =
                        self.interfaces.get(interface).is_some_and(|interface| interface.departures);
                    if departs {
                        connection.note_queued(subflow, out.packet_length() as u64);
                    }
                    if !departs && connection.would_block(now) {
                        self.remove_first_ready(now, slot);
                    } else if connection.is_silent() && connection.is_quiet() {
                        // Nothing else to send: the connection need not be polled again.
                        let at = connection.deadline();
                        self.deadlines.set(slot, at);
                        entry.ready = false;
                        self.ready.pop();
                    }
                    return Some((interface, Some((known, id))));
                }
            }
            self.remove_first_ready(now, slot);
        }
        None
    }

    #[inline(never)]
    fn poll_transmit_rarely(
        &mut self,
        now: Instant,
        out: &mut Segment,
    ) -> Option<(InterfaceId, Option<(ConnectionId, SubflowId)>)> {
        self.poll_transmit_into(now, out)
    }

    /// Removes the first connection from the ready queue: it has nothing more to send.
    #[inline(always)]
    fn remove_first_ready(&mut self, now: Instant, slot: u32) {
        let entry = self.slots.at(slot);
        entry.ready = false;
        self.ready.pop();
        if let Some(connection) = &entry.connection {
            self.deadlines.set(slot, connection.deadline());
        }
        self.process_events_if_any(now, slot);
    }

    /// Sends a stateless reply, or polls with an observer.
    #[cold]
    #[inline(never)]
    fn poll_rare_work(
        &mut self,
        now: Instant,
        out: &mut Segment,
    ) -> Option<(InterfaceId, Option<(ConnectionId, SubflowId)>)> {
        let reply = self.stateless_replies.pop_front();
        self.rare_work = self.observing || !self.stateless_replies.is_empty();
        match reply {
            Some(reply) => {
                *out = reply.segment;
                Some((reply.interface, reply.subflow))
            }
            None if self.observing => self.poll_transmit_observed(now, out),
            None => self.poll_transmit_rarely(now, out),
        }
    }

    /// Whether [`Endpoint::poll_transmit`] may return a segment.
    #[must_use]
    pub fn wants_transmit(&self) -> bool {
        !self.ready.is_empty() || !self.stateless_replies.is_empty()
    }

    /// Whether [`Endpoint::poll_event`] may return an event.
    #[must_use]
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.eventful.is_empty()
    }

    /// Whether [`Endpoint::poll_event`] or [`Endpoint::poll_transmit`] may return something.
    #[must_use]
    #[inline]
    pub fn has_application_events(&self) -> bool {
        self.has_events() || self.wants_transmit()
    }

    /// Returns the next event; `None` if there is none.
    pub fn poll_event(&mut self) -> Option<Event> {
        while let Some(slot) = self.eventful.first() {
            let entry = self.slots.at(slot);
            if let Some(connection) = &mut entry.connection
                && let Some(kind) = connection.pending().take()
            {
                // No other connection waits, so the order stays the same if the next event queues this
                // connection again.
                if connection.is_quiet() && self.eventful.is_one() {
                    entry.eventful = false;
                    self.eventful.pop();
                }
                return Some(Event { connection: entry.id(slot), kind });
            }
            let over = entry.connection.as_ref().is_some_and(|connection| connection.closed().is_some());
            entry.eventful = false;
            self.eventful.pop();
            if over {
                self.remove_if_finished(slot);
            }
        }
        None
    }
}
