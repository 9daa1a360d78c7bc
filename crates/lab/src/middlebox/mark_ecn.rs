//! A box that marks every packet, whether there is congestion or not.
//!
//! Holds nothing and remembers nothing.

use mptcp_clock::Instant;
use mptcp_wire::{Codepoint, Segment};

use super::{Maker, Middlebox, Travelling, covers, maker};
use crate::scenario::Way;
use crate::scenario::kinds::{Key, Kind};
use crate::scenario::names::Side;

const KEYS: &[Key] =
    &[Key::of::<bool>("capable", "mark-ecn: marks only ECN-capable packets. Default: true.")];

/// What the registry knows of it.
pub(crate) fn kind() -> Kind<Maker> {
    let about = "Marks every packet with CE, without congestion.";
    Kind::built_in("mark-ecn", about, KEYS, |keys| {
        let capable = keys.flag("capable", true)?;
        Ok(maker(move |site| MarkEcn { way: site.way, capable }))
    })
}

#[derive(Debug)]
struct MarkEcn {
    way: Way,
    /// Leave alone what may not be marked.
    capable: bool,
}

impl Middlebox for MarkEcn {
    fn take(&mut self, _now: Instant, side: Side, mut segment: Segment, out: &mut Vec<Travelling>) {
        if covers(self.way, side) && (segment.ecn.is_capable() || !self.capable) {
            segment.ecn = Codepoint::Ce;
        }
        out.push((side, segment));
    }
}
