//! From subflow order to data order: the mappings of RFC 8684 section 3.3.1, receiving side.
//!
//! Owns the mappings a peer has announced, and payload that waits for its checksum. Takes payload
//! in subflow order and hands it on with connection-level offsets.

use bytes::Bytes;
use mptcp_wire::Checksum;

use crate::memory::{Ordered, Unread, most_pieces};

/// A mapping in offsets: `length` bytes at subflow offset `start` are data from `data` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedMapping {
    pub start: u64,
    pub length: u64,
    pub data: u64,
    pub checksum: Option<WireMapping>,
}

impl ReceivedMapping {
    /// Subflow offset behind its last byte.
    fn end(&self) -> u64 {
        self.start + self.length
    }
}

/// What a checksum covers beside the payload, as it stood on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireMapping {
    pub dsn: u64,
    pub subflow_sequence: u32,
    pub length: u16,
    pub checksum: u16,
}

/// What could not be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MappingFault {
    /// Payload came for which no mapping was announced (RFC 8684 section 3.7).
    Unmapped,
    /// The checksum does not fit; the data starts at this connection-level offset.
    BadChecksum { data: u64 },
}

#[derive(Debug)]
pub(crate) struct Mapper {
    /// That of what came last in order, while there was no other.
    alone: Option<ReceivedMapping>,
    /// The others, by their first subflow offset.
    mappings: Ordered<ReceivedMapping>,
    /// Mappings held at once, at most; the one that holds what comes next always has a place.
    most: usize,
    held: Unread,
    /// Subflow offset and data offset from which on all is mapped one to one.
    infinite: Option<(u64, u64)>,
}

impl Mapper {
    /// As many mappings as pieces of payload are kept for a receive buffer of `buffer` bytes; payload is slices of blocks of
    /// `block` bytes (0: it has memory of its own).
    pub(crate) fn new(buffer: u64, block: u64) -> Self {
        Self {
            alone: None,
            mappings: Ordered::default(),
            most: most_pieces(buffer),
            held: Unread::waiting_for_peer(block),
            infinite: None,
        }
    }

    /// Mappings that wait for their payload.
    pub(crate) fn mappings(&self) -> usize {
        self.mappings.len() + usize::from(self.alone.is_some())
    }

    /// Bytes of payload that wait for their checksum.
    pub(crate) fn waiting(&self) -> u64 {
        self.held.bytes()
    }

    /// Bytes of memory that payload keeps alive which waits for its checksum, at most.
    pub(crate) fn held(&self) -> u64 {
        self.held.held()
    }

    /// Over: lets go of everything.
    pub(crate) fn clear(&mut self) {
        self.alone = None;
        self.mappings = Ordered::default();
        self.held.clear();
    }

    /// From subflow offset `start` on, everything is data from `data` on: plain TCP, or fallback.
    pub(crate) fn set_infinite(&mut self, start: u64, data: u64) {
        self.infinite = Some((start, data));
        self.alone = None;
        self.mappings = Ordered::default();
    }

    /// The data offset of a subflow offset, where all is mapped one to one.
    pub(crate) fn data_at(&self, offset: u64) -> Option<u64> {
        let (from, data) = self.infinite?;
        offset.checked_sub(from).map(|within| data + within)
    }

    /// The data offset of a subflow offset, as far as its mapping is known.
    pub(crate) fn stream_offset(&self, offset: u64) -> Option<u64> {
        if self.infinite.is_some() {
            return self.data_at(offset);
        }
        let among = self.mappings.at_or_before(offset).map(|(_, mapping)| mapping);
        let mut known = self.alone.as_ref().into_iter().chain(among);
        let mapping = known.find(|mapping| (mapping.start..mapping.end()).contains(&offset))?;
        Some(mapping.data + (offset - mapping.start))
    }

    pub(crate) fn is_infinite(&self) -> bool {
        self.infinite.is_some()
    }

    /// Stores a mapping. Repetitions and those wholly before `next` are dropped. False when there is no place for it: its
    /// payload has to be dropped too.
    #[inline(always)]
    pub(crate) fn announce(&mut self, mapping: ReceivedMapping, next: u64) -> bool {
        if mapping.start + mapping.length <= next || mapping.length == 0 || self.infinite.is_some() {
            return true;
        }
        if mapping.start == next
            && self.mappings.is_empty()
            && self.alone.is_none_or(|alone| alone.end() <= next)
        {
            self.alone = Some(mapping);
            return true;
        }
        self.announce_among_others(mapping, next)
    }

    #[inline(never)]
    fn announce_among_others(&mut self, mapping: ReceivedMapping, next: u64) -> bool {
        if let Some(alone) = self.alone.take() {
            self.mappings.insert(alone.start, alone);
        }
        if mapping.start <= next && self.current(next).is_some() {
            // The first one holds (RFC 8684 section 3.3.1): others for the same data say nothing.
            return true;
        }
        if mapping.start == next && self.mappings.is_empty() {
            self.alone = Some(mapping);
            return true;
        }
        if self.mappings.len() >= self.most && mapping.start > next {
            return self.mappings.contains(mapping.start);
        }
        self.mappings.insert(mapping.start, mapping);
        true
    }

    /// The stream offset of `length` bytes that are next in the subflow, where one mapping without a checksum has them all, and
    /// nothing else is to be done with them.
    #[inline(always)]
    pub(crate) fn place_of(&self, start: u64, length: u64) -> Option<u64> {
        if let Some((from, data)) = self.infinite {
            return Some(data + (start - from));
        }
        let alone = self.alone.as_ref()?;
        let whole = alone.start <= start && start + length <= alone.end() && alone.checksum.is_none();
        whole.then(|| alone.data + (start - alone.start))
    }

    /// Maps payload that is next in subflow order. What follows a fault comes back with it.
    pub(crate) fn map(
        &mut self,
        mut start: u64,
        mut payload: Bytes,
        mut deliver: impl FnMut(u64, Bytes),
    ) -> Result<(), (MappingFault, Bytes)> {
        if let Some((from, data)) = self.infinite {
            deliver(data + (start - from), payload);
            return Ok(());
        }
        while !payload.is_empty() {
            let Some(mapping) = self.current(start) else {
                return Err((MappingFault::Unmapped, payload));
            };
            let end = mapping.end();
            let data = mapping.data + (start - mapping.start);
            let taken = payload.len().min((end - start) as usize);
            let part =
                if taken == payload.len() { std::mem::take(&mut payload) } else { payload.split_to(taken) };
            match mapping.checksum {
                None => deliver(data, part),
                Some(wire) => {
                    let mapping = *mapping;
                    let complete = start + taken as u64 == end;
                    let held = self.hold(mapping, wire, complete, part, &mut deliver);
                    held.map_err(|fault| (fault, std::mem::take(&mut payload)))?;
                }
            }
            start += taken as u64;
        }
        Ok(())
    }

    /// The mapping that holds `start`; forgets those before it.
    #[inline]
    fn current(&mut self, start: u64) -> Option<&ReceivedMapping> {
        if self.alone.is_some_and(|alone| alone.end() <= start) {
            self.alone = None;
        }
        if self.alone.is_some() {
            return self.alone.as_ref().filter(|alone| alone.start <= start);
        }
        self.current_among_others(start)
    }

    #[inline(never)]
    fn current_among_others(&mut self, start: u64) -> Option<&ReceivedMapping> {
        while self.mappings.first().is_some_and(|(_, first)| first.end() <= start) {
            self.mappings.pop_first();
        }
        self.mappings.first().map(|(_, first)| first).filter(|first| first.start <= start)
    }

    /// Payload under a checksum waits until its mapping is whole.
    #[inline(never)]
    fn hold(
        &mut self,
        mapping: ReceivedMapping,
        wire: WireMapping,
        complete: bool,
        part: Bytes,
        deliver: &mut impl FnMut(u64, Bytes),
    ) -> Result<(), MappingFault> {
        self.held.push(part);
        if !complete {
            return Ok(());
        }
        let parts = self.take_held();
        let mut sum = Checksum::dss(wire.dsn, wire.subflow_sequence, wire.length);
        parts.iter().for_each(|part| sum.add(part));
        let mut data = mapping.data;
        if !sum.accepts(wire.checksum) {
            parts.into_iter().for_each(|part| self.held.push(part));
            return Err(MappingFault::BadChecksum { data });
        }
        for part in parts {
            let length = part.len() as u64;
            deliver(data, part);
            data += length;
        }
        Ok(())
    }

    /// The payload that failed its checksum or still waits for it: RFC 8684 section 3.7 delivers it on
    /// a single subflow.
    pub(crate) fn take_held(&mut self) -> Vec<Bytes> {
        std::iter::from_fn(|| self.held.pop()).collect()
    }
}

#[cfg(test)]
mod tests;
