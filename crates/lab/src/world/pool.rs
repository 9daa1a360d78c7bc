//! Segments under way, kept in one place so that the network moves only a number.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use mptcp_clock::Instant;
use mptcp_wire::Segment;

#[derive(Debug)]
pub(super) struct Pool {
    segments: Vec<Segment>,
    free: Vec<u32>,
    /// The one that is filled next.
    next: u32,
    /// When each was sent, in runs that are observed.
    sent: Vec<Instant>,
    /// Those that have a wrong bit.
    damaged: BTreeSet<u32>,
}

impl Default for Pool {
    fn default() -> Self {
        let mut pool = Self {
            segments: Vec::new(),
            free: Vec::new(),
            next: 0,
            sent: Vec::new(),
            damaged: BTreeSet::new(),
        };
        pool.add();
        pool
    }
}

impl Pool {
    /// A segment to be filled, and its number: the same one until it is lent.
    #[inline]
    pub(super) fn next(&mut self) -> (u32, &mut Segment) {
        (self.next, &mut self.segments[self.next as usize])
    }

    /// The segment that was filled is used from now on.
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

    /// The segment is used no more; who gets its place gets it whole.
    #[inline]
    pub(super) fn give_back(&mut self, at: u32) {
        if !self.damaged.is_empty() {
            self.damaged.remove(&at);
        }
        self.free.push(at);
    }

    /// It is sent now.
    #[cold]
    pub(super) fn stamp(&mut self, at: u32, now: Instant) {
        if self.sent.len() < self.segments.len() {
            self.sent.resize(self.segments.len(), now);
        }
        self.sent[at as usize] = now;
    }

    /// When it was sent; `None` in runs that are not observed.
    pub(super) fn sent_at(&self, at: u32) -> Option<Instant> {
        self.sent.get(at as usize).copied()
    }

    /// Another one like it, lent too.
    #[cold]
    pub(super) fn copy(&mut self, at: u32) -> u32 {
        let segment = self.get(at).clone();
        let (copy, place) = self.next();
        *place = segment;
        self.lend();
        if let Some(sent) = self.sent_at(at) {
            self.stamp(copy, sent);
        }
        if self.damaged.contains(&at) {
            self.damaged.insert(copy);
        }
        copy
    }

    /// A bit of it is wrong from now on.
    #[cold]
    pub(super) fn damage(&mut self, at: u32) {
        self.damaged.insert(at);
    }

    /// Whether a bit of it is wrong; then it is given back.
    #[inline]
    pub(super) fn refuses(&mut self, at: u32) -> bool {
        let wrong = !self.damaged.is_empty() && self.damaged.remove(&at);
        if wrong {
            self.give_back(at);
        }
        wrong
    }
}
