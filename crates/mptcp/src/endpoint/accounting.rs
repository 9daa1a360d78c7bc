//! What the connections hold is added up, and they are told when it is too much.
//!
//! Owns nothing: the sum is the pool's.

use super::Endpoint;

impl Endpoint {
    /// A connection may hold more or less than before. Without a bound nothing is counted until somebody asks.
    #[inline(always)]
    pub(super) fn account(&mut self, place: u32) {
        if self.bounds.receive_memory != u64::MAX {
            self.count_memory(place);
        }
    }

    /// Received payload that waits in all connections, bytes.
    pub(super) fn received_memory(&self) -> u64 {
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
                self.tell_shortage();
            }
        }
    }

    /// A connection is no more.
    pub(super) fn release_memory(&mut self, place: u32) {
        let before = std::mem::take(&mut self.slots.at(place).held);
        if self.pool.change(before, 0, self.bounds.receive_memory) {
            self.tell_shortage();
        }
    }

    /// The bound may have changed.
    pub(super) fn reconsider_memory(&mut self) {
        for place in 0..self.slots.count() {
            self.count_memory(place);
        }
        if self.pool.reconsider(self.bounds.receive_memory) {
            self.tell_shortage();
        }
    }

    #[cold]
    fn tell_shortage(&mut self) {
        let short = self.pool.is_short();
        self.counters.memory_shortages += u64::from(short);
        for place in 0..self.slots.count() {
            let connection = self.slots.connection_at(place);
            if connection.is_some_and(|connection| connection.set_short(short)) {
                self.line_up(place);
            }
        }
    }
}
