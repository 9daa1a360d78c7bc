//! The places of connections, used again when a connection is over.
//!
//! Owns the numbers that connections are known by. A place has a generation, so that a number that somebody kept
//! never means a later connection.
//!
//! Connections in line, by their places.
//!
//! Owns their order. The first stands apart: seldom does anybody wait behind it, and then nothing moves in a ring.
//!
//! The earliest deadline of all connections.
//!
//! A deadline that moves later, as a retransmission timer does with every acknowledgement, touches
//! nothing: its old entry fires early once and is put right then.

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
    /// Somebody may have changed the connection since it gave a segment last.
    pub may_have_changed: bool,
    /// The port whose listener it waits for.
    pub listener_port: Option<u16>,
    /// Its handshake is not over.
    pub opening: bool,
    /// Received payload that it holds, bytes, as the endpoint's pool counts it.
    pub held: u64,
    generation: u32,
}

impl Slot {
    /// How the connection in it is called, where `place` is its own.
    #[inline]
    pub(crate) fn id(&self, place: u32) -> ConnectionId {
        ConnectionId { place, generation: self.generation }
    }
}

#[derive(Debug, Default)]
pub(crate) struct ConnectionTable {
    list: Vec<Slot>,
    free: Vec<u32>,
}

impl ConnectionTable {
    /// Puts a connection into a place.
    pub(crate) fn insert(&mut self, connection: Connection) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.list.push(Slot::default());
            self.list.len() as u32 - 1
        });
        self.list[place as usize].connection = Some(Box::new(connection));
        place
    }

    /// Empties a place.
    pub(crate) fn remove(&mut self, place: u32) {
        let slot = &mut self.list[place as usize];
        if slot.connection.take().is_some() {
            slot.generation = slot.generation.wrapping_add(1);
            self.free.push(place);
        }
    }

    /// How the connection in a place is called.
    pub(crate) fn id(&self, place: u32) -> ConnectionId {
        ConnectionId { place, generation: self.list[place as usize].generation }
    }

    /// The place of a connection that exists.
    pub(crate) fn place(&self, id: ConnectionId) -> Option<u32> {
        let slot = self.list.get(id.place as usize)?;
        (slot.generation == id.generation && slot.connection.is_some()).then_some(id.place)
    }

    pub(crate) fn at(&mut self, place: u32) -> &mut Slot {
        &mut self.list[place as usize]
    }

    /// The connection in a place, for somebody who may change it.
    #[inline]
    pub(crate) fn connection_at(&mut self, place: u32) -> Option<&mut Connection> {
        let slot = self.list.get_mut(place as usize)?;
        slot.may_have_changed = true;
        slot.connection.as_deref_mut()
    }

    /// A connection, for somebody who may change it.
    #[inline]
    pub(crate) fn connection_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        let slot = self.list.get_mut(id.place as usize).filter(|slot| slot.generation == id.generation)?;
        slot.may_have_changed = true;
        slot.connection.as_deref_mut()
    }

    pub(crate) fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        self.place(id).and_then(|place| self.list[place as usize].connection.as_deref())
    }

    /// Places that are used.
    pub(crate) fn used(&self) -> usize {
        self.list.len() - self.free.len()
    }

    /// Places that there are, used or not.
    pub(crate) fn count(&self) -> u32 {
        self.list.len() as u32
    }

    /// The connections that exist.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        let used = self.list.iter().enumerate().filter(|(_, slot)| slot.connection.is_some());
        used.map(|(place, slot)| ConnectionId { place: place as u32, generation: slot.generation })
    }
}

/// No connection has that place.
const NOBODY: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct ReadyQueue {
    first: u32,
    others: VecDeque<u32>,
}

impl Default for ReadyQueue {
    fn default() -> Self {
        Self { first: NOBODY, others: VecDeque::new() }
    }
}

impl ReadyQueue {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == NOBODY
    }

    /// Whether there is one, and nobody behind it.
    #[inline]
    pub(crate) fn is_one(&self) -> bool {
        !self.is_empty() && self.others.is_empty()
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<u32> {
        (!self.is_empty()).then_some(self.first)
    }

    /// Somebody comes.
    #[inline]
    pub(crate) fn push(&mut self, place: u32) {
        if self.is_empty() {
            self.first = place;
        } else {
            self.others.push_back(place);
        }
    }

    /// The first goes.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.first = if self.others.is_empty() { NOBODY } else { self.next() };
    }

    #[inline(never)]
    fn next(&mut self) -> u32 {
        self.others.pop_front().unwrap_or(NOBODY)
    }

    /// All of them, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.first().into_iter().chain(self.others.iter().copied())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    heap: BinaryHeap<Reverse<(Instant, u32)>>,
    /// The earliest entry in the heap for each connection.
    queued: Vec<Instant>,
}

impl Deadlines {
    /// A connection has come to a place.
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
                self.forget_the_past();
            }
        }
    }

    /// Most entries are of the past: what is queued now is all that counts.
    #[cold]
    fn forget_the_past(&mut self) {
        let current = self.queued.iter().enumerate().filter(|(_, at)| **at < Instant::FAR_FUTURE);
        self.heap = current.map(|(slot, at)| Reverse((*at, slot as u32))).collect();
    }

    /// Entries that are kept, those of the past among them.
    pub(crate) fn entries(&self) -> usize {
        self.heap.len()
    }

    pub(crate) fn earliest(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// A connection whose entry is due; it has to be set anew.
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
    fn who_comes_first_goes_first() {
        let mut line = ReadyQueue::default();
        assert!(line.is_empty() && !line.is_one());
        (0..3).for_each(|place| line.push(place));
        assert_eq!(line.iter().collect::<Vec<_>>(), [0, 1, 2]);
        line.pop();
        line.push(0);
        assert_eq!(line.iter().collect::<Vec<_>>(), [1, 2, 0]);
        line.pop();
        line.pop();
        assert!(line.is_one());
        assert_eq!(line.first(), Some(0));
        line.pop();
        line.pop();
        assert_eq!(line.first(), None);
    }
}
