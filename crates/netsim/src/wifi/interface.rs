//! What waits at one sender: a queue, and behind it the ring that its card works on.
//!
//! Owns the order and the lengths of frames, never the frames. Frames of one radio (one way between
//! a station and its access point) leave in the order in which they came.

use std::collections::VecDeque;

use mptcp_clock::{Duration, Instant};

use super::parameters::{Aggregation, Discipline};
use crate::queue::CoDelLaw;
use crate::queue_limit::QueueLimit;

/// A full Ethernet frame, bytes.
const FULL_FRAME: u32 = 1514;
/// What the MAC adds to a frame in an aggregate: a delimiter, and padding to four bytes.
const DELIMITER: u32 = 4;

/// A frame that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) radio: u32,
    /// As in [`crate::Frame::bytes`].
    pub(crate) bytes: u32,
    pub(crate) queued_at: Instant,
    /// Failed attempts.
    pub(crate) attempts: u32,
    /// What it took on the air when it was acknowledged. In an aggregate it may then still wait for
    /// one before it.
    pub(crate) acknowledged: Option<Duration>,
}

#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) limit: QueueLimit,
    codel: Option<CoDelLaw>,
    ring: usize,
    entries: VecDeque<Entry>,
    bytes: u64,
    /// How many entries, from the first, are in the ring.
    ringed: usize,
}

impl Interface {
    pub(crate) fn new(limit: QueueLimit, discipline: Discipline, ring: u32) -> Self {
        let codel = match discipline {
            Discipline::DropTail => None,
            Discipline::CoDel { target, interval } => Some(CoDelLaw::new(target, interval, FULL_FRAME)),
        };
        let ring = ring.max(1) as usize;
        Self { limit, codel, ring, entries: VecDeque::new(), bytes: 0, ringed: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many frames wait for `radio`.
    pub(crate) fn waiting(&self, radio: u32) -> usize {
        self.entries.iter().filter(|entry| entry.radio == radio).count()
    }

    pub(crate) fn head(&self) -> Option<&Entry> {
        self.entries.front()
    }

    /// The first frame of `radio` in the ring that is not acknowledged yet.
    pub(crate) fn first_open(&self, radio: u32) -> Option<&Entry> {
        self.entries
            .iter()
            .take(self.ringed)
            .find(|entry| entry.radio == radio && entry.acknowledged.is_none())
    }

    /// Frames of `radio` in the ring that are not acknowledged yet, first to last.
    pub(crate) fn open(&mut self, radio: u32) -> impl Iterator<Item = &mut Entry> {
        let mine = move |entry: &&mut Entry| entry.radio == radio && entry.acknowledged.is_none();
        self.entries.iter_mut().take(self.ringed).filter(mine)
    }

    /// How many frames the next aggregate for `radio` takes, and its bytes, if no more than
    /// `max_bytes` go into one. `overhead` is what the MAC adds to an IP packet.
    pub(crate) fn aggregate(
        &self,
        radio: u32,
        rules: Aggregation,
        max_bytes: u32,
        overhead: u32,
    ) -> (u32, u32) {
        let (mut frames, mut bytes) = (0, 0);
        // A block acknowledgement covers 64 frames from the first one on that is not done.
        let window = self.entries.iter().take(self.ringed).filter(|entry| entry.radio == radio).take(64);
        for entry in window.filter(|entry| entry.acknowledged.is_none()) {
            let more = mac_bytes(entry.bytes, overhead).saturating_add(DELIMITER + 3) & !3;
            if frames > 0
                && (frames >= rules.max_frames || more > rules.max_bytes.min(max_bytes).saturating_sub(bytes))
            {
                break;
            }
            frames += 1;
            bytes = bytes.saturating_add(more);
        }
        (frames, bytes)
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.bytes += u64::from(entry.bytes);
        self.entries.push_back(entry);
    }

    /// Takes the first frame of `radio` out of the ring, if that is done: acknowledged, or tried more
    /// often than `limit` allows.
    pub(crate) fn pop_done(&mut self, radio: u32, limit: Option<u32>) -> Option<Entry> {
        let place = self.entries.iter().take(self.ringed).position(|entry| entry.radio == radio)?;
        let entry = self.entries[place];
        let given_up = limit.is_some_and(|limit| entry.attempts > limit);
        if entry.acknowledged.is_none() && !given_up {
            return None;
        }
        self.entries.remove(place);
        self.bytes -= u64::from(entry.bytes);
        self.ringed -= 1;
        Some(entry)
    }

    /// Forgets all that waits for `radio`.
    pub(crate) fn flush(&mut self, radio: u32) {
        self.ringed -= self.entries.iter().take(self.ringed).filter(|entry| entry.radio == radio).count();
        self.entries.retain(|entry| entry.radio != radio);
        self.bytes = self.entries.iter().map(|entry| u64::from(entry.bytes)).sum();
    }

    /// Moves frames into the ring as long as there is room, as the discipline allows. `dropped` gets
    /// the radio of each frame that it drops and the frame's place among those of that radio.
    pub(crate) fn refill(&mut self, now: Instant, mut dropped: impl FnMut(u32, usize)) {
        while self.ringed < self.ring.min(self.entries.len()) {
            let entry = self.entries[self.ringed];
            let backlog = self.bytes - u64::from(entry.bytes);
            let codel = self.codel.as_mut();
            if codel.is_some_and(|codel| codel.drops(now, now.since(entry.queued_at), backlog)) {
                let before = self.entries.iter().take(self.ringed);
                dropped(entry.radio, before.filter(|other| other.radio == entry.radio).count());
                self.entries.remove(self.ringed);
                self.bytes -= u64::from(entry.bytes);
            } else {
                self.ringed += 1;
            }
        }
    }
}

/// The bytes of a frame on the air.
pub(crate) const fn mac_bytes(bytes: u32, overhead: u32) -> u32 {
    bytes.saturating_sub(14).saturating_add(overhead)
}

#[cfg(test)]
mod tests;
