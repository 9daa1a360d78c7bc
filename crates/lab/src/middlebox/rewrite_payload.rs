//! A middlebox that rewrites TCP payload, as an application-level gateway does. Scenarios test with it
//! whether the DSS checksum detects the change. If the length changes, it also adapts sequence numbers.
//!
//! Tracks a connection from its SYN. Segments of other connections pass unchanged.

use mptcp_clock::Instant;
use mptcp_wire::{Segment, Seq};

use super::changes::Changes;
use super::{Flows, Maker, Middlebox, Travelling, covers, ends, maker, opposite, since};
use crate::scenario::Way;
use crate::scenario::error::must_be_between;
use crate::scenario::kinds::{Key, Kind};
use crate::scenario::names::Side;
use crate::scenario::units::Size;

const KEYS: &[Key] = &[
    Key::of::<Size>("every", "rewrite-payload: bytes of the stream per change. Default: 64KB."),
    Key::of::<Size>(
        "grow",
        "rewrite-payload: bytes that a change inserts, 0B to 64B; 0B modifies one byte instead. Default: 0B.",
    ),
];

/// The registry entry.
pub(crate) fn kind() -> Kind<Maker> {
    let about = "Modifies the payload and its length, as application-level gateways do.";
    Kind::built_in("rewrite-payload", about, KEYS, |keys| {
        let every = keys.positive_size("every", 64 << 10)?;
        let grow = keys.size("grow", 0)?;
        if grow > MAX_GROWTH {
            return Err(keys.error("grow", must_be_between(grow, &(0..=MAX_GROWTH), "B")));
        }
        Ok(maker(move |site| RewritePayload::new(site.way, every, grow)))
    })
}

/// Maximum number of inserted bytes.
const MAX_GROWTH: u64 = 64;

#[derive(Debug)]
struct RewritePayload {
    way: Way,
    changes: Changes,
    /// Sequence numbers of the SYNs, forward and backward; `None` before the SYN.
    flows: Flows<[Option<Seq>; 2]>,
}

impl RewritePayload {
    fn new(way: Way, every: u64, grow: u64) -> Self {
        Self { way, changes: Changes::new(every, grow), flows: Flows::new() }
    }

    /// Translates a sequence number by `to`, which maps stream offsets. `origin` is the number of the SYN.
    fn moved(origin: Seq, sequence: Seq, to: impl Fn(u64) -> u64) -> Seq {
        match since(origin, sequence).checked_sub(1) {
            Some(place) => origin + (to(place) as u32).wrapping_add(1),
            None => sequence,
        }
    }
}

impl Middlebox for RewritePayload {
    fn take(&mut self, _now: Instant, side: Side, mut segment: Segment, out: &mut Vec<Travelling>) {
        let connection = ends(side, &segment);
        if segment.flags.syn() {
            let origins = self.flows.entry(connection).or_default();
            origins[side as usize] = Some(segment.sequence);
        } else if let Some(&origins) = self.flows.get(&connection) {
            if let Some(origin) = origins[side as usize].filter(|_| covers(self.way, side)) {
                if let Some(start) = since(origin, segment.sequence).checked_sub(1) {
                    segment.payload = self.changes.change(start, &segment.payload);
                }
                segment.sequence = Self::moved(origin, segment.sequence, |place| self.changes.outside(place));
            }
            let back = opposite(side);
            if let Some(origin) = origins[back as usize].filter(|_| covers(self.way, back)) {
                let to_inside = |number| Self::moved(origin, number, |place| self.changes.inside(place));
                segment.acknowledgment = to_inside(segment.acknowledgment);
                for (left, right) in &mut segment.options.sack {
                    (*left, *right) = (to_inside(*left), to_inside(*right));
                }
            }
        }
        out.push((side, segment));
    }
}
