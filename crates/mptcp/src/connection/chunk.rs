//! A piece of our stream while it is under way, and where it was put.
//!
//! Owns which subflows carried it. The order of pieces is `send_buffer`'s.

use bytes::Bytes;

use crate::ids::SubflowId;

/// Data given to at least one subflow and not yet acknowledged at the data level.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub start: u64,
    pub payload: Bytes,
    /// The subflows that carried it, one bit each.
    pub carriers: u64,
    /// Queued to be carried by another subflow.
    pub queued: bool,
    /// Where it was put first; None where it waits for a subflow that comes to it.
    put: Option<Put>,
    /// Where it was put after that.
    puts: Vec<Put>,
}

/// A place in a subflow's stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Put {
    pub subflow: SubflowId,
    /// Subflow offset behind its last byte.
    pub end: u64,
}

impl Chunk {
    /// Data that is given to a first subflow.
    pub(crate) fn new(start: u64, payload: Bytes, put: Put) -> Self {
        let carriers = carrier(put.subflow.slot());
        Self { start, payload, carriers, queued: false, put: Some(put), puts: Vec::new() }
    }

    /// Data that no subflow was given yet, though what is behind it was.
    pub(crate) fn left(start: u64, payload: Bytes) -> Self {
        Self { start, payload, carriers: 0, queued: false, put: None, puts: Vec::new() }
    }

    /// No subflow was given it yet.
    pub(crate) fn is_left(&self) -> bool {
        self.put.is_none()
    }

    /// It is given to a further subflow, or to a first one.
    pub(crate) fn put(&mut self, put: Put) {
        self.queued = false;
        self.carriers |= carrier(put.subflow.slot());
        if self.put.is_none() {
            self.put = Some(put);
            return;
        }
        self.puts.retain(|other| other.subflow != put.subflow);
        self.puts.push(put);
    }

    /// The subflow that it was given to first, if any.
    pub(crate) fn first_subflow(&self) -> Option<SubflowId> {
        self.put.map(|put| put.subflow)
    }

    /// Subflow offset behind its last byte, where it was put last on a subflow.
    pub(crate) fn end_on(&self, subflow: SubflowId) -> Option<u64> {
        let first = self.put.as_ref();
        if self.puts.is_empty() {
            return first.filter(|put| put.subflow == subflow).map(|put| put.end);
        }
        let mut all = self.puts.iter().chain(first);
        all.find(|put| put.subflow == subflow).map(|put| put.end)
    }

    /// A part of `length` bytes was cut off behind it.
    pub(super) fn shorten(&mut self, length: u64) {
        let all = self.puts.iter_mut().chain(&mut self.put);
        all.for_each(|put| put.end = put.end.saturating_sub(length));
    }

    pub(crate) fn end(&self) -> u64 {
        self.start + self.payload.len() as u64
    }

    pub(crate) fn carried_by(&self, subflow: usize) -> bool {
        self.carriers & carrier(subflow) != 0
    }
}

/// The bit of a subflow's slot.
pub(crate) fn carrier(slot: usize) -> u64 {
    1 << (slot % SubflowId::SLOTS)
}
