//! The earliest deadline of all connections.
//!
//! A deadline that moves later, as a retransmission timer does with every acknowledgement, touches
//! nothing: its old entry fires early once and is put right then.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use mptcp_clock::Instant;

#[derive(Debug, Default)]
pub(super) struct Deadlines {
    heap: BinaryHeap<Reverse<(Instant, u32)>>,
    /// The earliest entry in the heap for each connection.
    queued: Vec<Instant>,
}

impl Deadlines {
    /// A connection has come to a place.
    pub(super) fn add(&mut self, slot: u32) {
        if slot as usize == self.queued.len() {
            self.queued.push(Instant::FAR_FUTURE);
        }
    }

    #[inline]
    pub(super) fn set(&mut self, slot: u32, at: Instant) {
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
    pub(super) fn entries(&self) -> usize {
        self.heap.len()
    }

    pub(super) fn earliest(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// A connection whose entry is due; it has to be set anew.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<u32> {
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
