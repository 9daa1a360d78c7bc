//! Work after every change of a connection: its endpoint events, its entries in the endpoint's queues, its
//! memory and its end.
//!
//! Every call that changes a connection ends here, which keeps the endpoint's tables and deadlines correct.
//! Owns the dispatch of `EndpointEvent`s. Never inspects a connection beyond its public state.

use mptcp_clock::Instant;

use crate::connection::{Connection, EndpointEvent};
use crate::endpoint::Endpoint;
use crate::ids::ConnectionId;
use crate::path_manager::Pair;
use crate::subflow::Origin;

impl Endpoint {
    pub(crate) fn insert(&mut self, now: Instant, mut connection: Connection) -> ConnectionId {
        if self.pool.is_under_memory_pressure() {
            connection.set_memory_pressure(true);
        }
        let slot = self.slots.insert(connection);
        self.deadlines.add(slot);
        if let Some((observer, wanted)) = self.observer.clone() {
            let id = self.slots.id(slot);
            if let Some(connection) = self.slots.connection_at(slot) {
                connection.set_observer(now, id, observer, wanted);
            }
        }
        self.handle_endpoint_event(now, slot);
        self.enqueue(slot);
        self.slots.id(slot)
    }

    /// Updates queues, timers and memory after a connection has changed.
    #[inline(never)]
    pub(crate) fn after_change(&mut self, now: Instant, slot: u32) {
        self.change_connection(now, slot, |_| true);
    }

    /// Calls `handle` on a connection, then updates queues and timers. `handle` returns whether the received
    /// memory may have changed.
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
        // A silent connection has nothing to send.
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
    pub(crate) fn process_events_if_any(&mut self, now: Instant, slot: u32) {
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
        self.remove_if_closed(slot);
    }

    #[inline]
    fn remove_if_closed(&mut self, slot: u32) {
        if self.slots.at(slot).connection.as_ref().is_some_and(|connection| connection.closed().is_some()) {
            self.remove_if_finished(slot);
        }
    }

    #[cold]
    pub(crate) fn remove_if_finished(&mut self, slot: u32) {
        let entry = self.slots.at(slot);
        if let Some(connection) = entry.connection.as_ref().filter(|connection| connection.is_finished()) {
            self.demux.remove_connection(slot, connection);
            self.leave_listener_queues(slot);
            self.release_memory(slot);
            self.slots.remove(slot);
        }
    }

    /// Handles the events that a connection has for its endpoint.
    #[cold]
    fn handle_endpoint_event(&mut self, now: Instant, slot: u32) {
        while let Some(connection) = self.slots.connection_at(slot)
            && let Some(event) = connection.poll_endpoint_event()
        {
            let token = connection.token();
            match event {
                EndpointEvent::Opened(at) => self.demux.register(slot, token, at),
                EndpointEvent::Closed(at) => self.demux.remove_subflow(slot, at),
                EndpointEvent::Wanted(pair) => self.open_requested_subflow(now, slot, pair),
                EndpointEvent::Cookie(server, cookie, mss) => self.cookies.keep(server, cookie, mss),
                EndpointEvent::Answered => self.on_handshake_finished(slot),
                EndpointEvent::Capable(true) => self.blackhole.on_capable_answered(),
                EndpointEvent::Capable(false) => self.blackhole.on_detected(now),
                EndpointEvent::FellBackOnThirdAck => self.counters.capable_fallback_acks += 1,
                EndpointEvent::Over => {
                    self.demux.remove_token(slot, token);
                    self.on_handshake_finished(slot);
                }
            }
        }
    }

    /// Opens a subflow requested by the path manager, if a port is free.
    fn open_requested_subflow(&mut self, now: Instant, slot: u32, pair: Pair) {
        let Some(local) = self.free_port(pair.local.address, pair.remote.address) else { return };
        let iss = self.random.next_u32();
        let Some(connection) = self.slots.connection_at(slot) else { return };
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
        self.enqueue(slot);
    }
}

impl Endpoint {
    /// Updates the received memory of a connection. Without a limit, [`Self::received_memory`] counts the
    /// memory when it is called.
    #[inline(always)]
    pub(crate) fn account(&mut self, slot: u32) {
        if self.bounds.receive_memory != u64::MAX {
            self.count_memory(slot);
        }
    }

    /// Received payload in the buffers of all connections, bytes.
    pub(crate) fn received_memory(&self) -> u64 {
        if self.bounds.receive_memory != u64::MAX {
            return self.pool.bytes();
        }
        let connections = self.slots.ids().filter_map(|id| self.slots.connection(id));
        connections.map(|connection| connection.waiting_bytes()).sum()
    }

    fn count_memory(&mut self, slot: u32) {
        let entry = self.slots.at(slot);
        let held = entry.connection.as_deref().map_or(0, |connection| connection.waiting_bytes());
        if held != entry.held {
            let before = std::mem::replace(&mut entry.held, held);
            if self.pool.change(before, held, self.bounds.receive_memory) {
                self.notify_memory_pressure();
            }
        }
    }

    /// Releases the memory of a removed connection.
    pub(crate) fn release_memory(&mut self, slot: u32) {
        let before = std::mem::take(&mut self.slots.at(slot).held);
        if self.pool.change(before, 0, self.bounds.receive_memory) {
            self.notify_memory_pressure();
        }
    }

    /// Recounts the memory after the limit has changed.
    pub(crate) fn recount_memory(&mut self) {
        for slot in 0..self.slots.count() {
            self.count_memory(slot);
        }
        if self.pool.update_pressure(self.bounds.receive_memory) {
            self.notify_memory_pressure();
        }
    }

    #[cold]
    fn notify_memory_pressure(&mut self) {
        let short = self.pool.is_under_memory_pressure();
        self.counters.memory_shortages += u64::from(short);
        for slot in 0..self.slots.count() {
            let connection = self.slots.connection_at(slot);
            if connection.is_some_and(|connection| connection.set_memory_pressure(short)) {
                self.enqueue(slot);
            }
        }
    }
}
