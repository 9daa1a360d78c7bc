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
    /// Where it was put first.
    put: Put,
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
        Self { start, payload, carriers, queued: false, put, puts: Vec::new() }
    }

    /// It is given to a further subflow.
    pub(crate) fn put(&mut self, put: Put) {
        self.queued = false;
        self.carriers |= carrier(put.subflow.slot());
        self.puts.retain(|other| other.subflow != put.subflow);
        self.puts.push(put);
    }

    /// The subflow that it was given to first.
    pub(crate) fn first_subflow(&self) -> SubflowId {
        self.put.subflow
    }

    /// Subflow offset behind its last byte, where it was put last on a subflow.
    pub(crate) fn end_on(&self, subflow: SubflowId) -> Option<u64> {
        let first = Some(&self.put);
        if self.puts.is_empty() {
            return first.filter(|put| put.subflow == subflow).map(|put| put.end);
        }
        let mut all = self.puts.iter().chain(first);
        all.find(|put| put.subflow == subflow).map(|put| put.end)
    }

    /// A part of `length` bytes was cut off behind it.
    pub(super) fn shorten(&mut self, length: u64) {
        let all = self.puts.iter_mut().chain(std::iter::once(&mut self.put));
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
