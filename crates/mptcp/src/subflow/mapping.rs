//! Received mappings: from subflow order to data order (RFC 8684 section 3.3.1). They place each subflow's
//! payload in the stream of the connection.
//!
//! Owns the peer's mappings, and payload that waits for its checksum. Never reorders payload, which arrives
//! in subflow order and is delivered with data offsets.

use bytes::Bytes;
use mptcp_wire::Checksum;

use crate::memory::{Ordered, Unread, most_pieces};

/// A mapping: `length` bytes from subflow offset `start` have data offsets from `data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedMapping {
    pub start: u64,
    pub length: u64,
    pub data: u64,
    pub checksum: Option<WireMapping>,
}

impl ReceivedMapping {
    /// The subflow offset after the last byte.
    fn end(&self) -> u64 {
        self.start + self.length
    }
}

/// The fields of a mapping that the checksum covers, as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireMapping {
    pub dsn: u64,
    pub subflow_sequence: u32,
    pub length: u16,
    pub checksum: u16,
}

/// The reason why payload could not be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MappingFault {
    /// No mapping was announced for the payload (RFC 8684 section 3.7).
    Unmapped,
    /// The checksum is wrong. The data starts at this data offset.
    BadChecksum { data: u64 },
}

#[derive(Debug)]
pub(crate) struct Mapper {
    /// The only mapping, if it was announced in order.
    alone: Option<ReceivedMapping>,
    /// Other mappings by subflow offset.
    mappings: Ordered<ReceivedMapping>,
    /// The maximum number of stored mappings. The mapping of the next data always has space.
    most: usize,
    held: Unread,
    /// The subflow offset and data offset from which all data is mapped one to one; `None` while MPTCP is
    /// used.
    infinite: Option<(u64, u64)>,
}

impl Mapper {
    /// Creates a mapper. `buffer`, the receive buffer in bytes, limits the number of mappings. Payload is kept in
    /// blocks of `block` bytes; 0 means separate allocations.
    pub(crate) fn new(buffer: u64, block: u64) -> Self {
        Self {
            alone: None,
            mappings: Ordered::default(),
            most: most_pieces(buffer),
            held: Unread::waiting_for_peer(block),
            infinite: None,
        }
    }

    /// The number of mappings that wait for payload.
    pub(crate) fn mappings(&self) -> usize {
        self.mappings.len() + usize::from(self.alone.is_some())
    }

    /// Bytes of payload that wait for a checksum.
    pub(crate) fn waiting(&self) -> u64 {
        self.held.bytes()
    }

    /// The upper bound of memory for payload that waits for a checksum, bytes.
    pub(crate) fn held(&self) -> u64 {
        self.held.held()
    }

    /// Drops all state at the end of the subflow.
    pub(crate) fn clear(&mut self) {
        self.alone = None;
        self.mappings = Ordered::default();
        self.held.clear();
    }

    /// Maps all data from subflow offset `start` one to one to data offset `data`: TCP, or fallback.
    pub(crate) fn set_infinite(&mut self, start: u64, data: u64) {
        self.infinite = Some((start, data));
        self.alone = None;
        self.mappings = Ordered::default();
    }

    /// The data offset of a subflow offset in the one-to-one mapping; `None` without one, or before its
    /// start.
    pub(crate) fn data_at(&self, offset: u64) -> Option<u64> {
        let (from, data) = self.infinite?;
        offset.checked_sub(from).map(|within| data + within)
    }

    /// The data offset of a subflow offset. `None` if its mapping is unknown.
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

    /// Stores a mapping. Duplicates and mappings before `next` are ignored. Returns `false` if there is no space, so
    /// that the payload has to be dropped.
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
            // The first mapping stays valid (RFC 8684 section 3.3.1). Others for the same data are ignored.
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

    /// The data offset of the next `length` bytes, if a single mapping without a checksum covers them.
    #[inline(always)]
    pub(crate) fn place_of(&self, start: u64, length: u64) -> Option<u64> {
        if let Some((from, data)) = self.infinite {
            return Some(data + (start - from));
        }
        let alone = self.alone.as_ref()?;
        let is_covered = alone.start <= start && start + length <= alone.end() && alone.checksum.is_none();
        is_covered.then(|| alone.data + (start - alone.start))
    }

    /// Maps the payload that starts at subflow offset `start`. Errors: the fault, and the payload not yet
    /// processed.
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
            let mapped = payload.len().min((end - start) as usize);
            let part =
                if mapped == payload.len() { std::mem::take(&mut payload) } else { payload.split_to(mapped) };
            match mapping.checksum {
                None => deliver(data, part),
                Some(wire) => {
                    let mapping = *mapping;
                    let complete = start + mapped as u64 == end;
                    let result = self.hold(mapping, wire, complete, part, &mut deliver);
                    result.map_err(|fault| (fault, std::mem::take(&mut payload)))?;
                }
            }
            start += mapped as u64;
        }
        Ok(())
    }

    /// The mapping that contains `start`. Removes mappings before it.
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

    /// Keeps payload until its mapping is complete, and then verifies the checksum.
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

    /// Takes the payload that waits for its checksum or failed it. A connection with a single subflow
    /// delivers this payload (RFC 8684 section 3.7).
    pub(crate) fn take_held(&mut self) -> Vec<Bytes> {
        std::iter::from_fn(|| self.held.pop()).collect()
    }
}

#[cfg(test)]
mod tests;
