//! Segments under way, kept in one place so that the network moves only a number.

use std::net::SocketAddr;

use mptcp_wire::Segment;

#[derive(Debug, Default)]
pub(super) struct Pool {
    segments: Vec<Segment>,
    free: Vec<u32>,
}

impl Pool {
    /// A segment to be filled, and its number.
    pub(super) fn lend(&mut self) -> (u32, &mut Segment) {
        let at = self.free.pop().unwrap_or_else(|| {
            let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
            self.segments.push(Segment::new(nowhere, nowhere));
            self.segments.len() as u32 - 1
        });
        (at, &mut self.segments[at as usize])
    }

    pub(super) fn get(&mut self, at: u32) -> &mut Segment {
        &mut self.segments[at as usize]
    }

    /// The segment is used no more.
    pub(super) fn give_back(&mut self, at: u32) {
        self.free.push(at);
    }
}
