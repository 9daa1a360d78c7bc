//! Segments under way, kept in one place so that the network moves only a number.

use std::net::SocketAddr;

use mptcp_wire::Segment;

#[derive(Debug)]
pub(super) struct Pool {
    segments: Vec<Segment>,
    free: Vec<u32>,
    /// The one that is filled next.
    next: u32,
}

impl Default for Pool {
    fn default() -> Self {
        let mut pool = Self { segments: Vec::new(), free: Vec::new(), next: 0 };
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

    /// The segment is used no more.
    #[inline]
    pub(super) fn give_back(&mut self, at: u32) {
        self.free.push(at);
    }
}
