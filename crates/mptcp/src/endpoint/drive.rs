//! What a driver does with an endpoint: segments and time in, segments and events out.

use std::net::SocketAddr;

use mptcp_clock::Instant;
use mptcp_wire::Segment;

use crate::endpoint::{Endpoint, Transmit};
use crate::event::Event;
use crate::ids::{ConnectionId, InterfaceId, SubflowId};

impl Endpoint {
    /// A segment arrived on an interface.
    pub fn handle_segment(&mut self, now: Instant, interface: InterfaceId, mut segment: Segment) {
        self.handle_segment_rarely(now, interface, &mut segment);
    }

    /// As [`Endpoint::handle_segment`], for drivers that use their segments again: the payload is
    /// taken out, the rest stays.
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
            // RFC 9293 section 3.10.7.4: a new connection may follow an old one from TIME-WAIT.
            self.after_change(now, slot);
            return self.handle_first(now, interface, segment, Some(iss));
        }
        // What waits changes by payload alone, which is taken out of the segment.
        let brings_payload = !segment.payload.is_empty();
        self.change_connection(now, slot, |connection| {
            if connection.handle_segment(now, subflow, segment) {
                connection.process_early_data(now, subflow);
            }
            brings_payload
        });
    }

    /// A segment that no subflow is for, unless it makes one.
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

    /// The time given by [`Endpoint::poll_timeout`] has come.
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

    /// As [`Endpoint::handle_segment_in_place`], and the connection tells what came of it.
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

    /// As [`Endpoint::poll_transmit_into`], and every connection that was asked tells what it gave.
    fn poll_transmit_observed(
        &mut self,
        now: Instant,
        out: &mut Segment,
    ) -> Option<(InterfaceId, Option<(ConnectionId, SubflowId)>)> {
        let mut asked = std::mem::take(&mut self.asked);
        asked.extend(self.ready.iter());
        self.rare_work = false;
        let sent = self.poll_transmit_rarely(now, out);
        self.rare_work = true;
        let whose = sent.and_then(|(_, whose)| whose);
        for slot in asked.drain(..) {
            let gave = whose.filter(|(id, _)| id.place == slot).map(|(_, subflow)| subflow);
            let entry = self.slots.at(slot);
            // Those behind the one that gave something were not asked.
            let rested = !entry.ready && gave.is_none();
            if let Some(connection) = entry.connection.as_deref_mut().filter(|_| gave.is_some() || rested) {
                connection.observe_asked(now, gave, out);
            }
        }
        self.asked = asked;
        sent
    }

    /// When to call [`Endpoint::handle_timeout`]; at times earlier than needed, never later.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.deadlines.earliest()
    }

    /// The next segment to send.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        let mut segment = Segment::new(nowhere, nowhere);
        let (interface, subflow) = self.poll_transmit_rarely(now, &mut segment)?;
        Some(Transmit { interface, subflow, segment })
    }

    /// As [`Endpoint::poll_transmit`], into a segment of the driver's; returns where it leaves and
    /// the subflow it belongs to. Without a return value the segment is in no particular state.
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
                        self.rest(now, slot);
                    } else if connection.is_silent() && connection.is_quiet() {
                        // It need not be asked to say that this was all.
                        let at = connection.deadline();
                        self.deadlines.set(slot, at);
                        entry.ready = false;
                        self.ready.pop();
                    }
                    return Some((interface, Some((known, id))));
                }
            }
            self.rest(now, slot);
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

    /// The first of those that were to be asked has nothing more to send.
    #[inline(always)]
    fn rest(&mut self, now: Instant, slot: u32) {
        let entry = self.slots.at(slot);
        entry.ready = false;
        self.ready.pop();
        if let Some(connection) = &entry.connection {
            self.deadlines.set(slot, connection.deadline());
        }
        self.process_events_quietly(now, slot);
    }

    /// An answer to a stranger waits, or somebody is to hear of what is sent.
    #[cold]
    #[inline(never)]
    fn poll_rare_work(
        &mut self,
        now: Instant,
        out: &mut Segment,
    ) -> Option<(InterfaceId, Option<(ConnectionId, SubflowId)>)> {
        let stray = self.stateless_replies.pop_front();
        self.rare_work = self.observing || !self.stateless_replies.is_empty();
        match stray {
            Some(stray) => {
                *out = stray.segment;
                Some((stray.interface, stray.subflow))
            }
            None if self.observing => self.poll_transmit_observed(now, out),
            None => self.poll_transmit_rarely(now, out),
        }
    }

    /// Whether [`Endpoint::poll_transmit`] may have something: what a driver has to be woken for.
    #[must_use]
    pub fn wants_transmit(&self) -> bool {
        !self.ready.is_empty() || !self.stateless_replies.is_empty()
    }

    /// Whether [`Endpoint::poll_event`] may have something.
    #[must_use]
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.eventful.is_empty()
    }

    /// Whether it or [`Endpoint::poll_transmit`] may.
    #[must_use]
    #[inline]
    pub fn has_application_events(&self) -> bool {
        self.has_events() || self.wants_transmit()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        while let Some(slot) = self.eventful.first() {
            let entry = self.slots.at(slot);
            if let Some(connection) = &mut entry.connection
                && let Some(kind) = connection.pending().take()
            {
                // What comes next is news: nobody else waits, so it has the same turn then.
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
                self.forget_if_all_is_told(slot);
            }
        }
        None
    }
}
