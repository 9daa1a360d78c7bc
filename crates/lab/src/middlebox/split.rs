//! A middlebox that splits a segment, as segmentation offload does, and copies its options to each part.
//! Scenarios test with it that MPTCP accepts a DSS mapping that covers several segments.

use mptcp_clock::Instant;
use mptcp_wire::{Flags, Segment};

use super::{Maker, Middlebox, Travelling, covers, maker};
use crate::scenario::Way;
use crate::scenario::kinds::{Key, Kind};
use crate::scenario::names::Side;
use crate::scenario::units::Size;

const KEYS: &[Key] =
    &[Key::of::<Size>("size", "split: maximum payload of a part, at least 1B. Default: 536B.")];

/// The registry entry.
pub(crate) fn kind() -> Kind<Maker> {
    let about = "Splits segments, and copies the options to each part.";
    Kind::built_in("split", about, KEYS, |keys| {
        let size = keys.positive_size("size", 536)?;
        Ok(maker(move |site| Split::new(site.way, size as usize)))
    })
}

#[derive(Debug)]
struct Split {
    way: Way,
    size: usize,
}

impl Split {
    fn new(way: Way, size: usize) -> Self {
        Self { way, size }
    }
}

impl Middlebox for Split {
    fn take(&mut self, _now: Instant, side: Side, segment: Segment, out: &mut Vec<Travelling>) {
        let whole = segment.payload.len();
        // The sequence number of a SYN precedes that of its data; offload does not split it.
        if !covers(self.way, side) || whole <= self.size || segment.flags.syn() {
            out.push((side, segment));
            return;
        }
        for start in (0..whole).step_by(self.size) {
            let end = whole.min(start + self.size);
            let mut part = segment.clone();
            part.payload = segment.payload.slice(start..end);
            part.sequence = segment.sequence + start as u32;
            if end < whole {
                // Only the last part has FIN and PSH.
                let ending = Flags::FIN.bits() | Flags::PSH.bits();
                part.flags = Flags::from_bits(segment.flags.bits() & !ending);
            }
            out.push((side, part));
        }
    }
}
