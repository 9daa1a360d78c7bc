//! An application-level gateway: changes bytes of the stream and its length, and keeps TCP's numbers in step.
//!
//! A change stands at each multiple of a distance, so the same bytes come out when a segment goes again.
//! Knows the SYNs of each connection; leaves alone those whose SYN it did not see.

use bytes::{BufMut, Bytes, BytesMut};
use mptcp_clock::Instant;
use mptcp_wire::{Segment, Seq};

use super::{Flows, Maker, Middlebox, Travelling, covers, ends, maker, opposite, since};
use crate::scenario::Way;
use crate::scenario::kinds::{Key, Kind};
use crate::scenario::names::Side;
use crate::scenario::units::Size;

const KEYS: &[Key] = &[
    Key::of::<Size>("every", "rewrite-payload: one change in so much of a stream. Default: 64KB."),
    Key::of::<Size>(
        "grow",
        "rewrite-payload: how many bytes a change puts in, 0 to 64; 0B changes a byte. Default: 0B.",
    ),
];

/// What the registry knows of it.
pub(crate) fn kind() -> Kind<Maker> {
    let about = "Changes the payload and its length, as application-level gateways do.";
    Kind::built_in("rewrite-payload", about, KEYS, |keys| {
        let every = keys.positive_size("every", 64 << 10)?;
        let grow = keys.size("grow", 0)?;
        if grow > MOST_GROWTH {
            let problem = format!("a change puts in 0B to {MOST_GROWTH}B (nearest: {MOST_GROWTH}B)");
            return Err(keys.error("grow", problem));
        }
        Ok(maker(move |site| RewritePayload::new(site.way, every, grow)))
    })
}

/// The most bytes that a change puts in.
const MOST_GROWTH: u64 = 64;
/// What it puts in.
const FILLING: u8 = b'x';
/// What it changes in the byte at a multiple of the distance.
const CHANGE: u8 = 0x20;

#[derive(Debug)]
struct RewritePayload {
    way: Way,
    every: u64,
    grow: u64,
    /// The sequence numbers of the SYNs, forward and backward.
    flows: Flows<[Option<Seq>; 2]>,
}

impl RewritePayload {
    fn new(way: Way, every: u64, grow: u64) -> Self {
        Self { way, every, grow, flows: Flows::new() }
    }

    /// Where byte `place` of a stream, counted from 0, begins in the changed one; what a change puts in comes
    /// before the byte at which it stands, and begins there.
    fn outside(&self, place: u64) -> u64 {
        place + self.grow * (place.saturating_sub(1) / self.every)
    }

    /// The most of the stream that is whole when `place` bytes of the changed one are.
    fn inside(&self, place: u64) -> u64 {
        let Some(last) = place.checked_sub(1) else { return 0 };
        let period = self.every + self.grow;
        last / period * self.every + (last % period + 1).min(self.every)
    }

    fn change(&self, start: u64, payload: &Bytes) -> Bytes {
        let mut changed = BytesMut::with_capacity(payload.len());
        for (place, &byte) in (start..).zip(payload) {
            if place > 0 && place.is_multiple_of(self.every) {
                changed.put_bytes(FILLING, self.grow as usize);
                changed.put_u8(byte ^ CHANGE);
            } else {
                changed.put_u8(byte);
            }
        }
        changed.freeze()
    }

    /// A sequence number behind a SYN, moved.
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
                    segment.payload = self.change(start, &segment.payload);
                }
                segment.sequence = Self::moved(origin, segment.sequence, |place| self.outside(place));
            }
            let back = opposite(side);
            if let Some(origin) = origins[back as usize].filter(|_| covers(self.way, back)) {
                let to_inside = |number| Self::moved(origin, number, |place| self.inside(place));
                segment.acknowledgment = to_inside(segment.acknowledgment);
                for (left, right) in &mut segment.options.sack {
                    (*left, *right) = (to_inside(*left), to_inside(*right));
                }
            }
        }
        out.push((side, segment));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cut anywhere, the parts of a stream come out one behind the other, and acknowledgements find back.
    #[test]
    fn parts_meet_wherever_they_are_cut() {
        let gateway = RewritePayload::new(Way::Both, 10, 3);
        let stream = Bytes::from((0..47_u8).collect::<Vec<_>>());
        let whole = gateway.change(0, &stream);
        assert_eq!(whole.len() as u64, gateway.outside(47));
        for cut in 0..=47_u64 {
            let [first, second] = [stream.slice(..cut as usize), stream.slice(cut as usize..)];
            let parts = [gateway.change(0, &first), gateway.change(cut, &second)].concat();
            assert_eq!(parts, whole, "{cut}");
            assert_eq!(gateway.change(0, &first).len() as u64, gateway.outside(cut), "{cut}");
            assert_eq!(gateway.inside(gateway.outside(cut)), cut);
        }
    }

    #[test]
    fn half_a_change_acknowledges_what_is_before_it() {
        let gateway = RewritePayload::new(Way::Both, 10, 3);
        let places = [0, 10, 11, 12, 13, 14, 23, 24, 26, 27];
        let inside = places.map(|place| gateway.inside(place));
        assert_eq!(inside, [0, 10, 10, 10, 10, 11, 20, 20, 20, 21]);
    }
}
