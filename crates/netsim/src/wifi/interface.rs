//! What waits at one sender: a queue, and behind it the ring that its card works on.
//!
//! Owns the order and the lengths of frames, never the frames. Frames of one radio (one way between
//! a station and its access point) leave in the order in which they came.

use std::collections::VecDeque;

use mptcp_clock::Instant;

use super::parameters::Discipline;
use crate::parameters::QueueLimit;

/// A frame that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) radio: u32,
    /// As in [`crate::Frame::bytes`].
    pub(crate) bytes: u32,
    pub(crate) queued_at: Instant,
    /// Failed attempts.
    pub(crate) attempts: u32,
    /// Acknowledged, but behind one that is not (aggregates only).
    pub(crate) acknowledged: bool,
}

#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) limit: QueueLimit,
    ring: usize,
    entries: VecDeque<Entry>,
    bytes: u64,
    /// How many entries, from the first, are in the ring.
    ringed: usize,
}

impl Interface {
    pub(crate) fn new(limit: QueueLimit, _discipline: Discipline, ring: u32) -> Self {
        Self { limit, ring: ring.max(1) as usize, entries: VecDeque::new(), bytes: 0, ringed: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn head(&self) -> Option<&Entry> {
        self.entries.front()
    }

    /// The entries of the ring, first to last.
    pub(crate) fn ring(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries.iter_mut().take(self.ringed)
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.bytes += u64::from(entry.bytes);
        self.entries.push_back(entry);
    }

    /// Takes the first entry of `radio` out of the ring.
    pub(crate) fn pop(&mut self, radio: u32) -> Option<Entry> {
        let place = self.entries.iter().take(self.ringed).position(|entry| entry.radio == radio)?;
        let entry = self.entries.remove(place)?;
        self.bytes -= u64::from(entry.bytes);
        self.ringed -= 1;
        Some(entry)
    }

    /// Forgets all that waits for `radio`.
    pub(crate) fn flush(&mut self, radio: u32) {
        self.ringed -= self.entries.iter().take(self.ringed).filter(|entry| entry.radio == radio).count();
        self.entries.retain(|entry| entry.radio != radio);
        self.bytes = self.entries.iter().map(|entry| u64::from(entry.bytes)).sum();
    }

    /// Moves frames into the ring as long as there is room.
    pub(crate) fn refill(&mut self) {
        self.ringed = self.ring.min(self.entries.len());
    }
}
