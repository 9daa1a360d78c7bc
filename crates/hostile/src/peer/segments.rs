//! The attacking peer's segments of an open subflow: acknowledgements, data with valid mappings and
//! checksums, and ends of streams.
//!
//! Owns the segments that an honest peer would send next. Attacks change fields of these segments.

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::{Checksum, DataSequence, Dss, Flags, Mapping, Segment, Timestamps};

use super::Peer;

impl Peer {
    /// An acknowledgement of all received data, at both levels.
    #[must_use]
    pub fn bare(&self, now: Instant, id: usize) -> Segment {
        let flow = &self.flows[id];
        let link = &self.links[flow.link];
        let mut segment = Segment::new(flow.peer, flow.host);
        segment.flags = Flags::ACK;
        segment.sequence = flow.next;
        segment.acknowledgment = flow.host_next;
        segment.window = self.offer.window;
        if flow.timestamps {
            segment.options.timestamps = Some(Timestamps { value: Self::clock(now), echo: flow.host_clock });
        }
        if link.multipath {
            let ack = link.data_ack().map(DataSequence::Wide);
            segment.options.dss = ack.map(|ack| Dss { ack: Some(ack), ..Dss::default() });
        }
        segment
    }

    /// The acknowledgement that an honest peer owes; None if it owes none.
    pub fn owed(&mut self, now: Instant, id: usize) -> Option<Segment> {
        std::mem::take(&mut self.flows[id].owes_ack).then(|| self.bare(now, id))
    }

    /// A payload of `length` bytes from offset `at` of the peer's block, the buffer of all payloads. Both
    /// values are reduced to fit the block.
    #[must_use]
    pub fn payload(&self, at: usize, length: usize) -> Bytes {
        let length = length.min(self.block.len());
        let at = at % (self.block.len() - length).max(1);
        self.block.slice(at..at + length)
    }

    /// A mapping of a payload. `data` is its offset in the stream, and `relative` its subflow sequence number.
    #[must_use]
    pub fn mapping(&self, id: usize, data: u64, relative: u32, payload: &[u8]) -> Option<Dss> {
        let link = &self.links[self.flows[id].link];
        let (number, length) = (link.number(data), payload.len() as u16);
        let checksum = link.checksum.then(|| {
            let mut sum = Checksum::dss(number, relative, length);
            sum.add(payload);
            sum.value()
        });
        let mapping =
            Mapping { sequence: DataSequence::Wide(number), subflow_sequence: relative, length, checksum };
        // Checksum, 8-byte acknowledgement and timestamps fit into the options together.
        let ack = link.data_ack().map(DataSequence::Wide);
        link.multipath.then_some(Dss { ack, mapping: Some(mapping), data_fin: false })
    }

    /// A segment `ahead` bytes after the next byte at both levels. The peer's state does not change.
    #[must_use]
    pub fn data_at(&self, now: Instant, id: usize, ahead: u32, payload: Bytes) -> Segment {
        let flow = &self.flows[id];
        let data = self.links[flow.link].data_next + u64::from(ahead);
        let sequence = flow.next + ahead;
        let mut segment = self.bare(now, id);
        segment.sequence = sequence;
        let relative = sequence.offset_from(flow.iss) as u32;
        if let Some(dss) = self.mapping(id, data, relative, &payload) {
            segment.options.dss = Some(dss);
        }
        segment.payload = payload;
        segment
    }

    /// The next `length` bytes of the peer's stream.
    pub fn data(&mut self, now: Instant, id: usize, length: usize) -> Segment {
        let payload = self.payload(0, length.min(65_000));
        let segment = self.data_at(now, id, 0, payload);
        self.skip(id, segment.payload.len() as u32);
        segment
    }

    /// Marks bytes as sent.
    pub fn skip(&mut self, id: usize, bytes: u32) {
        let flow = &mut self.flows[id];
        flow.next = flow.next + bytes;
        self.links[flow.link].data_next += u64::from(bytes);
    }

    /// Returns to the acknowledged data at both levels, so that later segments fill every hole.
    pub fn rewind(&mut self, id: usize) {
        let flow = &mut self.flows[id];
        flow.next = flow.acknowledged;
        flow.finished = false;
        let link = &mut self.links[flow.link];
        link.data_next = link.data_acknowledged;
    }

    /// A DATA_FIN without data.
    pub fn data_fin(&mut self, now: Instant, id: usize) -> Segment {
        let link = &mut self.links[self.flows[id].link];
        link.ended = true;
        let number = link.number(link.data_next);
        let checksum = link.checksum.then(|| Checksum::dss(number, 0, 1).value());
        let mut segment = self.bare(now, id);
        if let Some(dss) = &mut segment.options.dss {
            dss.mapping = Some(Mapping {
                sequence: DataSequence::Wide(number),
                subflow_sequence: 0,
                length: 1,
                checksum,
            });
            dss.data_fin = true;
        }
        segment
    }

    /// A FIN on a subflow.
    pub fn fin(&mut self, now: Instant, id: usize) -> Segment {
        let mut segment = self.bare(now, id);
        segment.flags |= Flags::FIN;
        let flow = &mut self.flows[id];
        if !std::mem::replace(&mut flow.finished, true) {
            flow.next = flow.next + 1;
        } else {
            segment.sequence = flow.next - 1;
        }
        segment
    }

    /// A reset that the host accepts.
    #[must_use]
    pub fn reset(&self, now: Instant, id: usize) -> Segment {
        let mut segment = self.bare(now, id);
        segment.flags = Flags::RST | Flags::ACK;
        segment.options.dss = None;
        segment
    }
}
