//! A performance-enhancing proxy (RFC 3135 section 3.1), which acknowledges data before the receiver does.
//!
//! Holds data until the receiver acknowledges it, up to a limit, and retransmits data that is lost behind the
//! proxy. The proxy knows only TCP: its acknowledgements have no DATA_ACK, which MPTCP must tolerate.

use std::collections::VecDeque;

use mptcp_clock::{Duration, Instant};
use mptcp_wire::{Flags, Segment, Seq, Timestamps};

use super::{Flows, Maker, Middlebox, Travelling, covers, ends, maker, opposite};
use crate::scenario::Way;
use crate::scenario::kinds::{Key, Kind};
use crate::scenario::names::Side;
use crate::scenario::units::Size;

const KEYS: &[Key] = &[Key::of::<Size>(
    "buffer",
    "early-ack: maximum data per connection that only the middlebox has acknowledged. Default: 64KB.",
)];

/// The registry entry.
pub(crate) fn kind() -> Kind<Maker> {
    let about = "Acknowledges data before the receiver does, and retransmits data that is lost behind it.";
    Kind::built_in("early-ack", about, KEYS, |keys| {
        let buffer = keys.positive_size("buffer", 64 << 10)?;
        Ok(maker(move |site| EarlyAck::new(site.way, buffer)))
    })
}

/// Initial retransmission timeout.
const PATIENCE: Duration = Duration::from_millis(500);
/// Maximum number of backoffs.
const MAX_DOUBLINGS: u32 = 6;
/// Duplicate acknowledgements that signal a loss (RFC 5681 section 3.2).
const DUPLICATES: u32 = 3;

/// One direction of data.
#[derive(Debug)]
struct Half {
    /// Next expected sequence number.
    next: Seq,
    /// Last acknowledgement of the receiver.
    acknowledged: Seq,
    /// Held segments, in order and without holes.
    held: VecDeque<Segment>,
    bytes: u64,
    duplicates: u32,
    doublings: u32,
    due: Option<Instant>,
    /// Last segment of the receiver: the template of acknowledgements.
    model: Option<Segment>,
}

#[derive(Debug)]
struct EarlyAck {
    way: Way,
    buffer: u64,
    /// Forward and backward data, from the SYN on.
    flows: Flows<[Option<Half>; 2]>,
}

impl EarlyAck {
    fn new(way: Way, buffer: u64) -> Self {
        Self { way, buffer, flows: Flows::new() }
    }
}

impl Half {
    fn new(syn: &Segment) -> Self {
        let next = syn.sequence + syn.sequence_length();
        Self {
            next,
            acknowledged: next,
            held: VecDeque::new(),
            bytes: 0,
            duplicates: 0,
            doublings: 0,
            due: None,
            model: None,
        }
    }

    /// Handles data. Returns whether to forward it, and an acknowledgement for its sender.
    fn data(&mut self, now: Instant, segment: &Segment, buffer: u64) -> (bool, Option<Segment>) {
        let ahead = segment.sequence.offset_from(self.next);
        if ahead > 0 {
            // A hole before the proxy: the receiver reports it.
            return (true, None);
        }
        if ahead == 0 {
            let length = segment.payload.len() as u64;
            if self.bytes + length > buffer {
                return (false, None);
            }
            self.bytes += length;
            self.next = self.next + length as u32;
            self.held.push_back(segment.clone());
            self.due.get_or_insert(now + PATIENCE);
        }
        (true, self.acknowledgement(segment))
    }

    fn acknowledgement(&self, data: &Segment) -> Option<Segment> {
        let model = self.model.as_ref()?;
        let mut ack = Segment::new(data.destination, data.source);
        ack.flags = Flags::ACK;
        ack.sequence = model.sequence + model.sequence_length();
        ack.acknowledgment = self.next;
        ack.window = model.window;
        let echo = data.options.timestamps.map(|stamps| stamps.value);
        ack.options.timestamps =
            model.options.timestamps.zip(echo).map(|(stamps, echo)| Timestamps { value: stamps.value, echo });
        Some(ack)
    }

    /// Handles an acknowledgement of the receiver. Returns a segment to retransmit.
    fn heard(&mut self, now: Instant, segment: &mut Segment) -> Option<Segment> {
        let advanced = segment.acknowledgment.offset_from(self.acknowledged);
        let mut again = None;
        if advanced > 0 {
            self.acknowledged = segment.acknowledgment;
            self.duplicates = 0;
            self.doublings = 0;
            while let Some(first) = self.held.front()
                && (first.sequence + first.payload.len() as u32).offset_from(self.acknowledged) <= 0
            {
                self.bytes -= first.payload.len() as u64;
                self.held.pop_front();
            }
            if self.next.offset_from(self.acknowledged) < 0 {
                self.next = self.acknowledged;
            }
            self.due = (!self.held.is_empty()).then(|| now + PATIENCE);
        } else if advanced == 0 && segment.payload.is_empty() && !self.held.is_empty() {
            self.duplicates += 1;
            if self.duplicates == DUPLICATES {
                again = self.held.front().cloned();
            }
        }
        self.model = Some(segment.clone());
        // The sender already has an acknowledgement for this data; the proxy retransmits the gap.
        if self.next.offset_from(segment.acknowledgment) > 0 {
            segment.acknowledgment = self.next;
            segment.options.sack.clear();
        }
        again
    }
}

impl Middlebox for EarlyAck {
    fn take(&mut self, now: Instant, side: Side, mut segment: Segment, out: &mut Vec<Travelling>) {
        let connection = ends(side, &segment);
        if segment.flags.rst() {
            self.flows.remove(&connection);
            return out.push((side, segment));
        }
        let back = opposite(side);
        let halves = self.flows.entry(connection).or_insert([None, None]);
        if segment.flags.syn() {
            if covers(self.way, side) {
                halves[side as usize] = Some(Half::new(&segment));
            }
            return out.push((side, segment));
        }
        if segment.flags.ack()
            && let Some(half) = &mut halves[back as usize]
        {
            out.extend(half.heard(now, &mut segment).map(|again| (back, again)));
        }
        let (goes_on, answer) = match &mut halves[side as usize] {
            Some(half) if !segment.payload.is_empty() => half.data(now, &segment, self.buffer),
            _ => (true, None),
        };
        if goes_on {
            out.push((side, segment));
        }
        out.extend(answer.map(|ack| (back, ack)));
    }

    fn due(&self) -> Option<Instant> {
        self.flows.values().flatten().flatten().filter_map(|half| half.due).min()
    }

    fn wake(&mut self, now: Instant, out: &mut Vec<Travelling>) {
        for halves in self.flows.values_mut() {
            for (half, side) in halves.iter_mut().zip([Side::Forward, Side::Backward]) {
                let Some(half) = half.as_mut().filter(|half| half.due.is_some_and(|due| due <= now)) else {
                    continue;
                };
                half.doublings = (half.doublings + 1).min(MAX_DOUBLINGS);
                half.due = Some(now + PATIENCE * (1 << half.doublings));
                out.extend(half.held.front().map(|first| (side, first.clone())));
            }
        }
    }
}
