//! Names a segment on the link by its content: the number of the data or acknowledgement, and of the copy.
//!
//! Owns the numbers. Data counts in segments of the size of the first one, from 1, so that both stacks have the same names.

use std::collections::{HashMap, HashSet};

use mptcp_wire::crypto::Version;
use mptcp_wire::{DataSequence, Flags, MptcpOption, Segment, Seq};

/// The type of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Syn,
    SynAck,
    /// With payload, with FIN or without.
    Data,
    /// Without payload.
    Fin,
    Ack,
    Reset,
}

/// A segment as scripts and events name it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Sent by the stack under test.
    pub forth: bool,
    /// From 1.
    pub path: u8,
    pub kind: Kind,
    /// For data, the place in the stream; for acknowledgements, the number in this direction of this path. Both from 1.
    pub number: u64,
    /// The number of copies on this path so far, including this one; 1 for acknowledgements.
    pub copy: u64,
    /// Its first byte was sent before, on any path.
    pub carried: bool,
    /// Its first byte was sent before on this path.
    pub old: bool,
    /// A window or keepalive probe: no data, and a number below the next one.
    pub probe: bool,
    /// The stack under test has retransmitted data on this path.
    pub repaired: bool,
    /// The number of segments with DATA_FIN in this direction of this path, including this one.
    pub data_fins: u64,
    /// Bytes of payload.
    pub length: usize,
    /// This segment opens a closed window.
    pub opens: bool,
    /// SACK blocks by segment numbers, including the ends. The first one may be a D-SACK.
    pub sack: Vec<(u64, u64)>,
    pub dsack: bool,
    pub segment: Segment,
}

/// One direction of a path.
#[derive(Default)]
struct Way {
    iss: Seq,
    /// The end of the sent bytes of the subflow.
    highest: u64,
    copies: HashMap<(Kind, u64), u64>,
    acks: u64,
    data_fins: u64,
    closed: bool,
}

/// Both directions of all paths.
#[derive(Default)]
pub struct Ledger {
    ways: HashMap<(bool, u8), Way>,
    /// Size of the first data segment of a direction.
    units: HashMap<bool, u64>,
    /// The data sequence number of the first byte of a direction.
    origins: HashMap<bool, u64>,
    /// The bytes of a stream that were sent on any path.
    carried: HashMap<bool, Vec<bool>>,
    /// Paths with retransmissions.
    repaired: HashSet<u8>,
}

impl Ledger {
    fn unit(&self, forth: bool) -> u64 {
        self.units.get(&forth).copied().unwrap_or(1_448)
    }

    /// The place of the segment in the stream of the connection, if it has a mapping.
    fn place(&self, forth: bool, segment: &Segment, iss: Seq) -> Option<u64> {
        let origin = *self.origins.get(&forth)?;
        let mapping = segment.options.dss.and_then(|dss| dss.mapping).filter(|mapping| mapping.length > 0);
        let relative = u64::from(segment.sequence.value().wrapping_sub(iss.value()));
        match mapping {
            Some(mapping) => {
                let start = match mapping.sequence {
                    DataSequence::Wide(wide) => wide,
                    short @ DataSequence::Short(_) => short.expand(origin),
                };
                let within = relative.wrapping_sub(mapping.subflow_sequence.into());
                Some(start.wrapping_add(within).wrapping_sub(origin))
            }
            None => None,
        }
    }

    /// Records a segment.
    pub fn look(&mut self, forth: bool, path: u8, segment: &Segment) -> Seen {
        let flags = segment.flags;
        for option in &segment.options.mptcp {
            if let MptcpOption::Capable(capable) = option
                && let Some(key) = capable.sender_key
            {
                let first = Version::V1.digest(key).initial_sequence.wrapping_add(1);
                self.origins.entry(forth).or_insert(first);
            }
        }
        let length = segment.payload.len();
        let kind = match () {
            () if flags.rst() => Kind::Reset,
            () if flags.syn() && flags.ack() => Kind::SynAck,
            () if flags.syn() => Kind::Syn,
            () if length > 0 => Kind::Data,
            () if flags.fin() => Kind::Fin,
            () => Kind::Ack,
        };
        if kind == Kind::Data {
            self.units.entry(forth).or_insert(length as u64);
        }
        let unit = self.unit(forth);
        let theirs = self.unit(!forth);
        let their_iss = self.ways.get(&(!forth, path)).map(|way| way.iss).unwrap_or_default();
        let iss = {
            let way = self.ways.entry((forth, path)).or_default();
            if flags.syn() && way.iss != segment.sequence {
                // A repeated join is another subflow.
                *way = Way { iss: segment.sequence, ..Way::default() };
            }
            way.iss
        };
        let offset = u64::from(segment.sequence.value().wrapping_sub(iss.value()).wrapping_sub(1));
        let place = self.place(forth, segment, iss).unwrap_or(offset);
        let way = self.ways.entry((forth, path)).or_default();
        let ends = offset + length as u64;
        let old = kind == Kind::Data && offset < way.highest;
        let probe = kind == Kind::Ack && offset < way.highest;
        if kind == Kind::Data {
            way.highest = way.highest.max(ends);
        }
        let number = match kind {
            Kind::Data => place / unit + 1,
            Kind::Ack => {
                way.acks += 1;
                way.acks
            }
            _ => 1,
        };
        let copy = way.copies.entry((kind, number)).or_default();
        *copy += 1;
        let copy = *copy;
        way.data_fins += u64::from(segment.options.dss.is_some_and(|dss| dss.data_fin));
        let data_fins = way.data_fins;
        let opens = way.closed && segment.window > 0;
        way.closed = segment.window == 0 && !flags.rst() && !flags.syn();
        let carried = kind == Kind::Data && self.carry(forth, place as usize, length);
        if old && forth {
            self.repaired.insert(path);
        }
        let repaired = self.repaired.contains(&path);
        let at = |seq: Seq| u64::from(seq.value().wrapping_sub(their_iss.value()).wrapping_sub(1));
        let sack: Vec<_> = segment
            .options
            .sack
            .iter()
            .map(|(left, right)| (at(*left) / theirs + 1, at(*right).div_ceil(theirs)))
            .collect();
        let blocks = &segment.options.sack;
        let below = blocks.first().is_some_and(|(left, _)| left.offset_from(segment.acknowledgment) < 0);
        let inside = blocks.len() > 1
            && blocks[0].0.offset_from(blocks[1].0) >= 0
            && blocks[0].1.offset_from(blocks[1].1) <= 0;
        let dsack = flags.contains(Flags::ACK) && (below || inside);
        Seen {
            forth,
            path,
            kind,
            number,
            copy,
            carried,
            old,
            probe,
            repaired,
            data_fins,
            length,
            opens,
            sack,
            dsack,
            segment: segment.clone(),
        }
    }

    /// Records bytes of the stream; returns whether the first one was sent before.
    fn carry(&mut self, forth: bool, place: usize, length: usize) -> bool {
        let bytes = self.carried.entry(forth).or_default();
        if bytes.len() < place + length {
            bytes.resize(place + length, false);
        }
        let before = bytes[place];
        bytes[place..place + length].fill(true);
        before
    }
}
