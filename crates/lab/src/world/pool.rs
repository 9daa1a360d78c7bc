//! A pool of segments in flight. The network moves only indices into it, because it knows frames only by
//! length. Segments are reused, which saves allocations.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use mptcp_clock::Instant;
use mptcp_wire::Segment;

#[derive(Debug)]
pub(super) struct Pool {
    segments: Vec<Segment>,
    free: Vec<u32>,
    /// Index of the segment to fill next.
    next: u32,
    /// Send times; only in runs with an observer.
    sent: Vec<Instant>,
    /// Whether the data of a segment was sent before; only in runs with an observer.
    again: Vec<bool>,
    /// Indices of segments with a bit error.
    damaged: BTreeSet<u32>,
}

impl Default for Pool {
    fn default() -> Self {
        let mut pool = Self {
            segments: Vec::new(),
            free: Vec::new(),
            next: 0,
            sent: Vec::new(),
            again: Vec::new(),
            damaged: BTreeSet::new(),
        };
        pool.add();
        pool
    }
}

impl Pool {
    /// The segment to fill, and its index. Both stay the same until `lend`.
    #[inline]
    pub(super) fn next(&mut self) -> (u32, &mut Segment) {
        (self.next, &mut self.segments[self.next as usize])
    }

    /// Marks the filled segment as used.
    #[inline]
    pub(super) fn lend(&mut self) {
        match self.free.pop() {
            Some(at) => self.next = at,
            None => self.add(),
        }
    }

    #[cold]
    fn add(&mut self) {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        self.next = self.segments.len() as u32;
        self.segments.push(Segment::new(nowhere, nowhere));
    }

    #[inline]
    pub(super) fn get(&mut self, at: u32) -> &mut Segment {
        &mut self.segments[at as usize]
    }

    /// Returns a segment to the pool, without its bit error.
    #[inline]
    pub(super) fn give_back(&mut self, at: u32) {
        if !self.damaged.is_empty() {
            self.damaged.remove(&at);
        }
        self.free.push(at);
    }

    /// A segment, to read.
    pub(super) fn look(&self, at: u32) -> &Segment {
        &self.segments[at as usize]
    }

    /// Records the send time of a segment, and whether its data was sent before.
    #[cold]
    pub(super) fn stamp(&mut self, at: u32, now: Instant, again: bool) {
        if self.sent.len() < self.segments.len() {
            self.sent.resize(self.segments.len(), now);
            self.again.resize(self.segments.len(), false);
        }
        self.sent[at as usize] = now;
        self.again[at as usize] = again;
    }

    /// Whether the data of a segment was sent before. False in runs without an observer.
    pub(super) fn is_again(&self, at: u32) -> bool {
        self.again.get(at as usize).copied().unwrap_or_default()
    }

    /// The send time of a segment; `None` in runs without an observer.
    pub(super) fn sent_at(&self, at: u32) -> Option<Instant> {
        self.sent.get(at as usize).copied()
    }

    /// A copy of a segment, marked as used.
    #[cold]
    pub(super) fn copy(&mut self, at: u32) -> u32 {
        let segment = self.get(at).clone();
        let (copy, place) = self.next();
        *place = segment;
        self.lend();
        if let Some(sent) = self.sent_at(at) {
            self.stamp(copy, sent, self.is_again(at));
        }
        if self.damaged.contains(&at) {
            self.damaged.insert(copy);
        }
        copy
    }

    /// Marks a segment as corrupted.
    #[cold]
    pub(super) fn damage(&mut self, at: u32) {
        self.damaged.insert(at);
    }

    /// Whether a segment is corrupted; returns a corrupted one to the pool.
    #[inline]
    pub(super) fn refuses(&mut self, at: u32) -> bool {
        let wrong = !self.damaged.is_empty() && self.damaged.remove(&at);
        if wrong {
            self.give_back(at);
        }
        wrong
    }
}
