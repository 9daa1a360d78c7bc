//! A middlebox that adds a random offset to sequence numbers, as firewalls do. Scenarios test with it that
//! MPTCP uses only sequence numbers relative to the subflow's SYN.
//!
//! Tracks a connection from its SYN. Segments of other connections pass unchanged.

use mptcp_clock::{Instant, Rng};
use mptcp_wire::Segment;

use super::{Flows, Maker, Middlebox, Travelling, covers, ends, maker, opposite};
use crate::scenario::Way;
use crate::scenario::kinds::Kind;
use crate::scenario::names::Side;

/// The registry entry.
pub(crate) fn kind() -> Kind<Maker> {
    let about = "Adds a different offset to the sequence numbers of each connection.";
    Kind::built_in("rewrite-sequence", about, &[], |_| {
        Ok(maker(|site| RewriteSequence::new(site.way, site.random)))
    })
}

#[derive(Debug)]
struct RewriteSequence {
    way: Way,
    random: Rng,
    /// Offsets forward and backward; 0 in a direction that the middlebox does not modify.
    flows: Flows<[u32; 2]>,
}

impl RewriteSequence {
    fn new(way: Way, random: Rng) -> Self {
        Self { way, random, flows: Flows::new() }
    }
}

impl Middlebox for RewriteSequence {
    fn take(&mut self, _now: Instant, side: Side, mut segment: Segment, out: &mut Vec<Travelling>) {
        let connection = ends(side, &segment);
        if segment.flags.syn() && !segment.flags.ack() && !self.flows.contains_key(&connection) {
            let drawn = [Side::Forward, Side::Backward]
                .map(|side| if covers(self.way, side) { self.random.next_u32() } else { 0 });
            self.flows.insert(connection, drawn);
        }
        if let Some(offsets) = self.flows.get(&connection) {
            let back = offsets[opposite(side) as usize];
            segment.sequence = segment.sequence + offsets[side as usize];
            if segment.flags.ack() {
                segment.acknowledgment = segment.acknowledgment - back;
                for (left, right) in &mut segment.options.sack {
                    (*left, *right) = (*left - back, *right - back);
                }
            }
        }
        out.push((side, segment));
    }
}
