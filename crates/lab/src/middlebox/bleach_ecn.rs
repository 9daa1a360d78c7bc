//! A middlebox that clears the ECN field of packets, as routers do that treat it as part of the former type of
//! service. A scenario tests ECN with it.
//!
//! Stateless.

use mptcp_clock::Instant;
use mptcp_wire::{Codepoint, Flags, Segment};

use super::{Maker, Middlebox, Travelling, covers, maker};
use crate::scenario::Way;
use crate::scenario::kinds::{Key, Kind};
use crate::scenario::names::Side;

const KEYS: &[Key] = &[Key::of::<bool>(
    "flags",
    "bleach-ecn: also clears ECE and CWR in TCP headers, which prevents ECN negotiation. Default: false.",
)];

/// The registry entry.
pub(crate) fn kind() -> Kind<Maker> {
    let about = "Clears the ECN field of IP headers.";
    Kind::built_in("bleach-ecn", about, KEYS, |keys| {
        let flags = keys.flag("flags", false)?;
        Ok(maker(move |site| BleachEcn { way: site.way, flags }))
    })
}

#[derive(Debug)]
struct BleachEcn {
    way: Way,
    flags: bool,
}

impl Middlebox for BleachEcn {
    fn take(&mut self, _now: Instant, side: Side, mut segment: Segment, out: &mut Vec<Travelling>) {
        if covers(self.way, side) {
            segment.ecn = Codepoint::NotEct;
            if self.flags {
                let flags = (Flags::ECE | Flags::CWR).bits();
                segment.flags = Flags::from_bits(segment.flags.bits() & !flags);
            }
        }
        out.push((side, segment));
    }
}
