//! The connections of an endpoint: their table, the queue of those with something to do, and their deadlines.
//!
//! Owns the ids of connections. A slot is reused after its connection is removed, and a generation number
//! keeps old ids invalid.
//!
//! A deadline that moves later, as the retransmission timer does with every acknowledgement, leaves its old
//! entry in the heap. That entry fires early and is then replaced.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use mptcp_clock::Instant;

use crate::connection::Connection;
use crate::ids::ConnectionId;

#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub connection: Option<Box<Connection>>,
    pub ready: bool,
    pub eventful: bool,
    /// Whether the connection may have changed since it was last polled.
    pub may_have_changed: bool,
    /// Whether the connection is in the endpoint's list of observed polls.
    pub polled: bool,
    /// The port of the listener in whose queues the connection is; `None` for no queue.
    pub listener_port: Option<u16>,
    /// Whether the handshake of the connection is unfinished.
    pub opening: bool,
    /// Bytes of received payload of the connection, as last counted in the endpoint's total.
    pub held: u64,
    generation: u32,
}

impl Slot {
    /// The id of the connection; `slot` is the index of this entry.
    #[inline]
    pub(crate) fn id(&self, slot: u32) -> ConnectionId {
        ConnectionId { slot, generation: self.generation }
    }
}

#[derive(Debug, Default)]
pub(crate) struct ConnectionTable {
    list: Vec<Slot>,
    free: Vec<u32>,
}

impl ConnectionTable {
    /// Stores a connection in a free entry and returns its index.
    pub(crate) fn insert(&mut self, connection: Connection) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.list.push(Slot::default());
            self.list.len() as u32 - 1
        });
        self.list[slot as usize].connection = Some(Box::new(connection));
        slot
    }

    /// Frees an entry; its generation changes.
    pub(crate) fn remove(&mut self, slot: u32) {
        let entry = &mut self.list[slot as usize];
        if entry.connection.take().is_some() {
            entry.generation = entry.generation.wrapping_add(1);
            self.free.push(slot);
        }
    }

    /// The id of the connection in an entry.
    pub(crate) fn id(&self, slot: u32) -> ConnectionId {
        ConnectionId { slot, generation: self.list[slot as usize].generation }
    }

    /// The entry of a connection; `None` if it does not exist.
    pub(crate) fn slot(&self, id: ConnectionId) -> Option<u32> {
        let entry = self.list.get(id.slot as usize)?;
        (entry.generation == id.generation && entry.connection.is_some()).then_some(id.slot)
    }

    pub(crate) fn at(&mut self, slot: u32) -> &mut Slot {
        &mut self.list[slot as usize]
    }

    /// The connection in an entry; marks it as changed.
    #[inline]
    pub(crate) fn connection_at(&mut self, slot: u32) -> Option<&mut Connection> {
        let entry = self.list.get_mut(slot as usize)?;
        entry.may_have_changed = true;
        entry.connection.as_deref_mut()
    }

    /// A connection by id; marks it as changed.
    #[inline]
    pub(crate) fn connection_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        let entry = self.list.get_mut(id.slot as usize).filter(|entry| entry.generation == id.generation)?;
        entry.may_have_changed = true;
        entry.connection.as_deref_mut()
    }

    pub(crate) fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        self.slot(id).and_then(|slot| self.list[slot as usize].connection.as_deref())
    }

    /// Number of slots in use.
    pub(crate) fn used(&self) -> usize {
        self.list.len() - self.free.len()
    }

    /// Number of slots, used or free.
    pub(crate) fn count(&self) -> u32 {
        self.list.len() as u32
    }

    /// Ids of all connections.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        let used = self.list.iter().enumerate().filter(|(_, entry)| entry.connection.is_some());
        used.map(|(slot, entry)| ConnectionId { slot: slot as u32, generation: entry.generation })
    }
}

/// Marks an empty queue.
const NO_SLOT: u32 = u32::MAX;

/// A FIFO of slots. The first is stored apart, because the queue seldom holds more than one.
#[derive(Debug)]
pub(crate) struct ReadyQueue {
    first: u32,
    others: VecDeque<u32>,
}

impl Default for ReadyQueue {
    fn default() -> Self {
        Self { first: NO_SLOT, others: VecDeque::new() }
    }
}

impl ReadyQueue {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == NO_SLOT
    }

    /// Whether exactly one slot is queued.
    #[inline]
    pub(crate) fn is_one(&self) -> bool {
        !self.is_empty() && self.others.is_empty()
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<u32> {
        (!self.is_empty()).then_some(self.first)
    }

    #[inline]
    pub(crate) fn push(&mut self, slot: u32) {
        if self.is_empty() {
            self.first = slot;
        } else {
            self.others.push_back(slot);
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self) {
        self.first = if self.others.is_empty() { NO_SLOT } else { self.next() };
    }

    #[inline(never)]
    fn next(&mut self) -> u32 {
        self.others.pop_front().unwrap_or(NO_SLOT)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.first().into_iter().chain(self.others.iter().copied())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    heap: BinaryHeap<Reverse<(Instant, u32)>>,
    /// Per slot, the time of its earliest entry in the heap.
    queued: Vec<Instant>,
}

impl Deadlines {
    /// Adds a slot, if it is new.
    pub(crate) fn add(&mut self, slot: u32) {
        if slot as usize == self.queued.len() {
            self.queued.push(Instant::FAR_FUTURE);
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, slot: u32, at: Instant) {
        let queued = &mut self.queued[slot as usize];
        if at < *queued {
            *queued = at;
            self.heap.push(Reverse((at, slot)));
            if self.heap.len() > 2 * self.queued.len() + 64 {
                self.remove_outdated();
            }
        }
    }

    /// Removes outdated entries from the heap.
    #[cold]
    fn remove_outdated(&mut self) {
        let current = self.queued.iter().enumerate().filter(|(_, at)| **at < Instant::FAR_FUTURE);
        self.heap = current.map(|(slot, at)| Reverse((*at, slot as u32))).collect();
    }

    /// Number of entries in the heap, including outdated ones.
    pub(crate) fn entries(&self) -> usize {
        self.heap.len()
    }

    pub(crate) fn earliest(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// Returns a slot whose entry is due; its deadline must be set again.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<u32> {
        loop {
            let Reverse((at, slot)) = *self.heap.peek().filter(|Reverse((at, _))| *at <= now)?;
            self.heap.pop();
            let queued = &mut self.queued[slot as usize];
            if *queued == at {
                *queued = Instant::FAR_FUTURE;
                return Some(slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_leave_the_ready_queue_in_order() {
        let mut queue = ReadyQueue::default();
        assert!(queue.is_empty() && !queue.is_one());
        (0..3).for_each(|slot| queue.push(slot));
        assert_eq!(queue.iter().collect::<Vec<_>>(), [0, 1, 2]);
        queue.pop();
        queue.push(0);
        assert_eq!(queue.iter().collect::<Vec<_>>(), [1, 2, 0]);
        queue.pop();
        queue.pop();
        assert!(queue.is_one());
        assert_eq!(queue.first(), Some(0));
        queue.pop();
        queue.pop();
        assert_eq!(queue.first(), None);
    }
}
