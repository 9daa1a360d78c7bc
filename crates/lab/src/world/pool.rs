//! Segments under way, kept in one place so that the network moves only a number.

use mptcp_wire::Segment;

#[derive(Debug, Default)]
pub(super) struct Pool {
    entries: Vec<Option<Segment>>,
    free: Vec<u32>,
}

impl Pool {
    pub(super) fn put(&mut self, segment: Segment) -> u32 {
        if let Some(at) = self.free.pop() {
            self.entries[at as usize] = Some(segment);
            return at;
        }
        self.entries.push(Some(segment));
        self.entries.len() as u32 - 1
    }

    pub(super) fn take(&mut self, at: u32) -> Option<Segment> {
        let segment = self.entries.get_mut(at as usize)?.take()?;
        self.free.push(at);
        Some(segment)
    }
}
