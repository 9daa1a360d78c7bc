//! After anything that may have changed a connection: what it asks of its endpoint, readiness, its end.
//!
//! Owns what is done for each of a connection's events. Never looks into a connection for what it did not say.
//!
//! What the connections hold is added up, and they are told when it is too much.
//!
//! Owns nothing: the sum is the pool's.

use mptcp_clock::Instant;

use crate::connection::{Connection, EndpointEvent};
use crate::endpoint::Endpoint;
use crate::ids::ConnectionId;
use crate::path_manager::Pair;
use crate::subflow::Origin;

impl Endpoint {
    /// A connection begins.
    pub(crate) fn insert(&mut self, now: Instant, mut connection: Connection) -> ConnectionId {
        if self.pool.is_under_memory_pressure() {
            connection.set_memory_pressure(true);
        }
        let place = self.slots.insert(connection);
        self.deadlines.add(place);
        if let Some((observer, wanted)) = self.observer.clone() {
            let id = self.slots.id(place);
            if let Some(connection) = self.slots.connection_at(place) {
                connection.set_observer(now, id, observer, wanted);
            }
        }
        self.handle_endpoint_event(now, place);
        self.enqueue(place);
        self.slots.id(place)
    }

    /// After anything that may have changed a connection: its events, readiness.
    #[inline(never)]
    pub(crate) fn after_change(&mut self, now: Instant, slot: u32) {
        self.change_connection(now, slot, |_| true);
    }

    /// The same after `handle`, which may change it, and returns whether what it holds may have changed.
    #[inline(always)]
    pub(crate) fn change_connection(
        &mut self,
        now: Instant,
        slot: u32,
        handle: impl FnOnce(&mut Connection) -> bool,
    ) {
        let entry = self.slots.at(slot);
        let Some(connection) = entry.connection.as_deref_mut() else { return };
        entry.may_have_changed = true;
        let holds_other = handle(connection);
        if !connection.is_steady() {
            self.process_events(now, slot);
            return self.account(slot);
        }
        if !entry.eventful && !connection.pending().is_empty() {
            entry.eventful = true;
            self.eventful.push(slot);
        }
        // One that has nothing to send need not be asked.
        if connection.is_silent() {
            self.deadlines.set(slot, connection.deadline());
        } else if !entry.ready {
            entry.ready = true;
            self.ready.push(slot);
        }
        if holds_other {
            self.account(slot);
        }
    }

    #[cold]
    fn process_events(&mut self, now: Instant, slot: u32) {
        self.process_app_events(now, slot);
        let entry = self.slots.at(slot);
        let Some(connection) = entry.connection.as_deref() else { return };
        if connection.is_silent() {
            self.deadlines.set(slot, connection.deadline());
        } else {
            self.enqueue(slot);
        }
    }

    #[inline]
    pub(crate) fn process_events_quietly(&mut self, now: Instant, slot: u32) {
        let entry = self.slots.at(slot);
        let Some(connection) = entry.connection.as_deref_mut() else { return };
        if !connection.is_steady() {
            self.process_app_events(now, slot);
        } else if !entry.eventful && !connection.pending().is_empty() {
            entry.eventful = true;
            self.eventful.push(slot);
        }
    }

    #[cold]
    fn process_app_events(&mut self, now: Instant, slot: u32) {
        self.handle_endpoint_event(now, slot);
        let entry = self.slots.at(slot);
        let Some(connection) = entry.connection.as_mut() else { return };
        if !connection.pending().is_empty() && !entry.eventful {
            entry.eventful = true;
            self.eventful.push(slot);
        }
        self.forget_if_finished(slot);
    }

    #[inline]
    fn forget_if_finished(&mut self, slot: u32) {
        if self.slots.at(slot).connection.as_ref().is_some_and(|connection| connection.closed().is_some()) {
            self.forget_if_all_is_told(slot);
        }
    }

    #[cold]
    pub(crate) fn forget_if_all_is_told(&mut self, slot: u32) {
        let entry = self.slots.at(slot);
        if let Some(connection) = entry.connection.as_ref().filter(|connection| connection.is_finished()) {
            self.demux.forget(slot, connection);
            self.stop_waiting(slot);
            self.release_memory(slot);
            self.slots.remove(slot);
        }
    }

    /// Does what a connection has asked for.
    #[cold]
    fn handle_endpoint_event(&mut self, now: Instant, place: u32) {
        while let Some(connection) = self.slots.connection_at(place)
            && let Some(event) = connection.poll_endpoint_event()
        {
            let token = connection.token();
            match event {
                EndpointEvent::Opened(at) => self.demux.register(place, token, at),
                EndpointEvent::Closed(at) => self.demux.forget_subflow(place, at),
                EndpointEvent::Wanted(pair) => self.open_wanted(now, place, pair),
                EndpointEvent::Cookie(server, cookie, mss) => self.cookies.keep(server, cookie, mss),
                EndpointEvent::Answered => self.note_opened(place),
                EndpointEvent::Capable(true) => self.blackhole.forget(),
                EndpointEvent::Capable(false) => self.blackhole.note(now),
                EndpointEvent::FellBackOnThirdAck => self.counters.capable_fallback_acks += 1,
                EndpointEvent::Over => {
                    self.demux.forget_token(place, token);
                    self.note_opened(place);
                }
            }
        }
    }

    /// Opens a further subflow from a port that is free.
    fn open_wanted(&mut self, now: Instant, place: u32, pair: Pair) {
        let Some(local) = self.free_port(pair.local.address, pair.remote.address) else { return };
        let iss = self.random.next_u32();
        let Some(connection) = self.slots.connection_at(place) else { return };
        let origin = Origin::Join { nonce: 0, peer_nonce: 0 };
        let mut subflow = self.interfaces.subflow(
            pair.local.interface,
            local,
            pair.remote.address,
            origin,
            iss,
            connection.config(),
        );
        subflow.clock_mut().offset = self.secret.timestamp_offset(local, pair.remote.address);
        connection.open_join(now, subflow, pair);
        self.enqueue(place);
    }
}

impl Endpoint {
    /// A connection may hold more or less than before. Without a bound nothing is counted until somebody asks.
    #[inline(always)]
    pub(crate) fn account(&mut self, place: u32) {
        if self.bounds.receive_memory != u64::MAX {
            self.count_memory(place);
        }
    }

    /// Received payload that waits in all connections, bytes.
    pub(crate) fn received_memory(&self) -> u64 {
        if self.bounds.receive_memory != u64::MAX {
            return self.pool.bytes();
        }
        let connections = self.slots.ids().filter_map(|id| self.slots.connection(id));
        connections.map(|connection| connection.waiting_bytes()).sum()
    }

    fn count_memory(&mut self, place: u32) {
        let entry = self.slots.at(place);
        let held = entry.connection.as_deref().map_or(0, |connection| connection.waiting_bytes());
        if held != entry.held {
            let before = std::mem::replace(&mut entry.held, held);
            if self.pool.change(before, held, self.bounds.receive_memory) {
                self.notify_memory_pressure();
            }
        }
    }

    /// A connection is no more.
    pub(crate) fn release_memory(&mut self, place: u32) {
        let before = std::mem::take(&mut self.slots.at(place).held);
        if self.pool.change(before, 0, self.bounds.receive_memory) {
            self.notify_memory_pressure();
        }
    }

    /// The bound may have changed.
    pub(crate) fn reconsider_memory(&mut self) {
        for place in 0..self.slots.count() {
            self.count_memory(place);
        }
        if self.pool.reconsider(self.bounds.receive_memory) {
            self.notify_memory_pressure();
        }
    }

    #[cold]
    fn notify_memory_pressure(&mut self) {
        let short = self.pool.is_under_memory_pressure();
        self.counters.memory_shortages += u64::from(short);
        for place in 0..self.slots.count() {
            let connection = self.slots.connection_at(place);
            if connection.is_some_and(|connection| connection.set_memory_pressure(short)) {
                self.enqueue(place);
            }
        }
    }
}
