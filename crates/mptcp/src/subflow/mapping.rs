//! From subflow order to data order: the mappings of RFC 8684 section 3.3.1, receiving side.
//!
//! Owns the mappings a peer has announced, and payload that waits for its checksum. Takes payload
//! in subflow order and hands it on with connection-level offsets.

use std::collections::VecDeque;

use bytes::Bytes;
use mptcp_wire::Checksum;

/// Mappings held at once; more than a window of small segments needs.
const MOST_MAPPINGS: usize = 16_384;

/// A mapping in offsets: `length` bytes at subflow offset `start` are data from `data` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedMapping {
    pub start: u64,
    pub length: u64,
    pub data: u64,
    pub checksum: Option<WireMapping>,
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

#[derive(Debug, Default)]
pub(crate) struct Mapper {
    mappings: VecDeque<ReceivedMapping>,
    held: Vec<Bytes>,
    /// Subflow offset and data offset from which on all is mapped one to one.
    infinite: Option<(u64, u64)>,
}

impl Mapper {
    /// From subflow offset `start` on, everything is data from `data` on: plain TCP, or fallback.
    pub(crate) fn set_infinite(&mut self, start: u64, data: u64) {
        self.infinite = Some((start, data));
        self.mappings.clear();
    }

    pub(crate) fn is_infinite(&self) -> bool {
        self.infinite.is_some()
    }

    /// Stores a mapping. Repetitions and those wholly before `next` are dropped.
    pub(crate) fn announce(&mut self, mapping: ReceivedMapping, next: u64) {
        if mapping.start + mapping.length <= next || mapping.length == 0 || self.infinite.is_some() {
            return;
        }
        let at = self.mappings.partition_point(|other| other.start < mapping.start);
        let repeated = self.mappings.get(at).is_some_and(|other| other.start == mapping.start);
        if !repeated && self.mappings.len() < MOST_MAPPINGS {
            self.mappings.insert(at, mapping);
        }
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
            while self.mappings.pop_front_if(|m| m.start + m.length <= start).is_some() {}
            let Some(mapping) = self.mappings.front().copied().filter(|m| m.start <= start) else {
                return Err((MappingFault::Unmapped, payload));
            };
            let end = mapping.start + mapping.length;
            let taken = payload.len().min((end - start) as usize);
            let part = payload.split_to(taken);
            match mapping.checksum {
                None => deliver(mapping.data + (start - mapping.start), part),
                Some(wire) => {
                    let complete = start + taken as u64 == end;
                    let held = self.hold(mapping, wire, complete, part, &mut deliver);
                    held.map_err(|fault| (fault, std::mem::take(&mut payload)))?;
                }
            }
            start += taken as u64;
        }
        Ok(())
    }

    /// Payload under a checksum waits until its mapping is whole.
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
        let mut sum = Checksum::dss(wire.dsn, wire.subflow_sequence, wire.length);
        self.held.iter().for_each(|part| sum.add(part));
        let mut data = mapping.data;
        if !sum.accepts(wire.checksum) {
            return Err(MappingFault::BadChecksum { data });
        }
        for part in self.held.drain(..) {
            let length = part.len() as u64;
            deliver(data, part);
            data += length;
        }
        Ok(())
    }

    /// The payload that failed its checksum or still waits for it: RFC 8684 section 3.7 delivers it on
    /// a single subflow.
    pub(crate) fn take_held(&mut self) -> Vec<Bytes> {
        std::mem::take(&mut self.held)
    }
}
