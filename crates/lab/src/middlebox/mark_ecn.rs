//! A middlebox that marks every packet with CE, without congestion. A scenario tests senders with it.
//!
//! Stateless.

use mptcp_clock::Instant;
use mptcp_wire::{Codepoint, Segment};

use super::{Maker, Middlebox, Travelling, covers, maker};
use crate::scenario::Way;
use crate::scenario::kinds::{Key, Kind};
use crate::scenario::names::Side;

const KEYS: &[Key] =
    &[Key::of::<bool>("capable", "mark-ecn: marks only ECN-capable packets. Default: true.")];

/// The registry entry.
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
    /// Skips packets that are not ECN-capable.
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
