//! A middlebox that removes MPTCP options, or all TCP options above kind 8. Scenarios test with it whether
//! MPTCP falls back to TCP.

use mptcp_clock::Instant;
use mptcp_wire::Segment;

use super::{Maker, Middlebox, Travelling, covers, maker};
use crate::scenario::Way;
use crate::scenario::kinds::{Key, Kind};
use crate::scenario::names::{SegmentKind, Side, Stripped};

const KEYS: &[Key] = &[
    Key::of::<Stripped>("options", "strip-options: the options to remove. Default: mptcp."),
    Key::of::<Vec<SegmentKind>>(
        "from",
        "strip-options: the types of segments: syn, syn-ack, data, ack. Default: all.",
    ),
];

/// The registry entry.
pub(crate) fn kind() -> Kind<Maker> {
    let about = "Removes TCP options.";
    Kind::built_in("strip-options", about, KEYS, |keys| {
        let options = keys.value("options", Some(Stripped::Mptcp))?;
        let from = keys.value("from", Some(SegmentKind::ALL.to_vec()))?;
        if from.is_empty() {
            return Err(keys.error("from", "must name at least one type of segment (try from = [\"syn\"])"));
        }
        Ok(maker(move |site| StripOptions::new(site.way, options, &from)))
    })
}

#[derive(Debug)]
struct StripOptions {
    way: Way,
    options: Stripped,
    from: Vec<SegmentKind>,
}

impl StripOptions {
    fn new(way: Way, options: Stripped, from: &[SegmentKind]) -> Self {
        Self { way, options, from: from.to_vec() }
    }
}

impl Middlebox for StripOptions {
    fn take(&mut self, _now: Instant, side: Side, mut segment: Segment, out: &mut Vec<Travelling>) {
        if covers(self.way, side) && self.from.contains(&kind_of(&segment)) {
            segment.options.dss = None;
            segment.options.mptcp.clear();
            if self.options == Stripped::Unknown {
                // Of the non-MPTCP options above kind 8, a segment has only TCP Fast Open.
                segment.options.fast_open = None;
            }
            segment.options.make_canonical();
        }
        out.push((side, segment));
    }
}

fn kind_of(segment: &Segment) -> SegmentKind {
    match (segment.flags.syn(), segment.flags.ack(), segment.payload.is_empty()) {
        (true, false, _) => SegmentKind::Syn,
        (true, true, _) => SegmentKind::SynAck,
        (false, _, false) => SegmentKind::Data,
        (false, _, true) => SegmentKind::Ack,
    }
}
