//! A box that removes options that it does not know, or does not like.
//!
//! Holds nothing and remembers nothing.

use mptcp_clock::Instant;
use mptcp_wire::Segment;

use super::{Middlebox, Travelling, covers};
use crate::scenario::Way;
use crate::scenario::names::{SegmentKind, Side, Stripped};

#[derive(Debug)]
pub(super) struct StripOptions {
    way: Way,
    options: Stripped,
    from: Vec<SegmentKind>,
}

impl StripOptions {
    pub(super) fn new(way: Way, options: Stripped, from: &[SegmentKind]) -> Self {
        Self { way, options, from: from.to_vec() }
    }
}

impl Middlebox for StripOptions {
    fn take(&mut self, _now: Instant, side: Side, mut segment: Segment, out: &mut Vec<Travelling>) {
        if covers(self.way, side) && self.from.contains(&kind_of(&segment)) {
            segment.options.dss = None;
            segment.options.mptcp.clear();
            if self.options == Stripped::Unknown {
                // Kinds up to 8 have fields of their own; of those above, only TCP Fast Open's has.
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
