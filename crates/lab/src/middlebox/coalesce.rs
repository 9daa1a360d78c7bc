//! A middlebox that merges two consecutive segments, to test MPTCP when a DSS option is lost: the options of
//! the second segment are discarded.
//!
//! Holds one segment per connection and direction for a short time.

use bytes::BytesMut;
use mptcp_clock::{Duration, Instant};
use mptcp_wire::{Codepoint, Segment};

use super::{Flows, Maker, Middlebox, Travelling, covers, ends, maker};
use crate::scenario::Way;
use crate::scenario::kinds::{Key, Kind};
use crate::scenario::names::Side;
use crate::scenario::units::Span;

const KEYS: &[Key] = &[Key::of::<Span>(
    "wait",
    "coalesce: maximum time for which a segment waits for the next. Default: 1ms.",
)];

/// The registry entry.
pub(crate) fn kind() -> Kind<Maker> {
    let about = "Merges two segments, and keeps the options of the first.";
    Kind::built_in("coalesce", about, KEYS, |keys| {
        let wait = keys.positive_time("wait", Duration::from_millis(1))?;
        Ok(maker(move |site| Coalesce::new(site.way, wait)))
    })
}

#[derive(Debug)]
struct Coalesce {
    way: Way,
    wait: Duration,
    /// Held segments, forward and backward, with their release times.
    held: [Flows<(Instant, Segment)>; 2],
}

impl Coalesce {
    fn new(way: Way, wait: Duration) -> Self {
        Self { way, wait, held: [Flows::new(), Flows::new()] }
    }
}

impl Middlebox for Coalesce {
    fn take(&mut self, now: Instant, side: Side, segment: Segment, out: &mut Vec<Travelling>) {
        if !covers(self.way, side) {
            out.push((side, segment));
            return;
        }
        let held = &mut self.held[side as usize];
        let connection = ends(side, &segment);
        let plain = !segment.flags.syn() && !segment.flags.rst() && !segment.payload.is_empty();
        match held.remove(&connection) {
            Some((_, first)) if plain && follows(&first, &segment) => out.push((side, join(first, segment))),
            before => {
                // Other segments must not overtake the held one.
                out.extend(before.map(|(_, first)| (side, first)));
                if plain && !segment.flags.fin() {
                    held.insert(connection, (now + self.wait, segment));
                } else {
                    out.push((side, segment));
                }
            }
        }
    }

    fn due(&self) -> Option<Instant> {
        self.held.iter().flat_map(|held| held.values().map(|(until, _)| *until)).min()
    }

    fn wake(&mut self, now: Instant, out: &mut Vec<Travelling>) {
        for (held, side) in self.held.iter_mut().zip([Side::Forward, Side::Backward]) {
            let due: Vec<_> =
                held.iter().filter(|(_, (until, _))| *until <= now).map(|(of, _)| *of).collect();
            out.extend(due.iter().filter_map(|of| held.remove(of)).map(|(_, segment)| (side, segment)));
        }
    }
}

fn follows(first: &Segment, second: &Segment) -> bool {
    second.sequence == first.sequence + first.payload.len() as u32
}

fn join(first: Segment, second: Segment) -> Segment {
    let mut payload = BytesMut::with_capacity(first.payload.len() + second.payload.len());
    payload.extend_from_slice(&first.payload);
    payload.extend_from_slice(&second.payload);
    // RFC 3168 section 5.3: if a part is marked, the whole is marked.
    let ecn = if second.ecn == Codepoint::Ce { Codepoint::Ce } else { first.ecn };
    Segment {
        ecn,
        payload: payload.freeze(),
        flags: first.flags | second.flags,
        acknowledgment: second.acknowledgment,
        window: second.window,
        ..first
    }
}
