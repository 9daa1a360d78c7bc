//! The interface queue of one WiFi sender, followed by the ring of its device. The ring supplies aggregates.
//!
//! Owns the order and lengths of frames, never the frames. Frames of one radio (one direction between a
//! station and its access point) depart in order.

use std::collections::VecDeque;

use mptcp_clock::{Duration, Instant};

use super::parameters::{Aggregation, Discipline};
use crate::queue::CoDelLaw;
use crate::queue_limit::QueueLimit;

/// A full Ethernet frame, bytes.
const FULL_FRAME: u32 = 1514;
/// MAC overhead per frame in an aggregate: a delimiter, and padding to four bytes.
const DELIMITER: u32 = 4;

/// A queued frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) radio: u32,
    /// As in [`crate::Frame::bytes`].
    pub(crate) bytes: u32,
    pub(crate) queued_at: Instant,
    /// Failed attempts.
    pub(crate) attempts: u32,
    /// Airtime of the frame; `None` until it is acknowledged. It may still wait for an earlier frame.
    pub(crate) acknowledged: Option<Duration>,
}

#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) limit: QueueLimit,
    codel: Option<CoDelLaw>,
    ring: usize,
    entries: VecDeque<Entry>,
    bytes: u64,
    /// Number of entries in the ring, from the first.
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

    /// Number of queued frames of `radio`.
    pub(crate) fn waiting(&self, radio: u32) -> usize {
        self.entries.iter().filter(|entry| entry.radio == radio).count()
    }

    pub(crate) fn head(&self) -> Option<&Entry> {
        self.entries.front()
    }

    /// The first unacknowledged frame of `radio` in the ring.
    pub(crate) fn first_open(&self, radio: u32) -> Option<&Entry> {
        self.entries
            .iter()
            .take(self.ringed)
            .find(|entry| entry.radio == radio && entry.acknowledged.is_none())
    }

    /// Unacknowledged frames of `radio` in the ring, in order.
    pub(crate) fn open(&mut self, radio: u32) -> impl Iterator<Item = &mut Entry> {
        let mine = move |entry: &&mut Entry| entry.radio == radio && entry.acknowledged.is_none();
        self.entries.iter_mut().take(self.ringed).filter(mine)
    }

    /// Number of frames and bytes of the next aggregate for `radio`, limited to `max_bytes`. `overhead` is the
    /// number of bytes that the MAC adds to an IP packet.
    pub(crate) fn aggregate(
        &self,
        radio: u32,
        rules: Aggregation,
        max_bytes: u32,
        overhead: u32,
    ) -> (u32, u32) {
        let (mut frames, mut bytes) = (0, 0);
        // A block acknowledgement covers 64 frames from the first unfinished one on.
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

    /// Removes the first frame of `radio` from the ring if it is done: acknowledged, or beyond `limit`
    /// attempts.
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

    /// Drops all queued frames of `radio`.
    pub(crate) fn flush(&mut self, radio: u32) {
        self.ringed -= self.entries.iter().take(self.ringed).filter(|entry| entry.radio == radio).count();
        self.entries.retain(|entry| entry.radio != radio);
        self.bytes = self.entries.iter().map(|entry| u64::from(entry.bytes)).sum();
    }

    /// Moves frames into the ring while it has space and the discipline allows it. `dropped` receives the
    /// radio and index of each frame that the discipline drops.
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

/// Length of a frame on the medium, bytes.
pub(crate) const fn mac_bytes(bytes: u32, overhead: u32) -> u32 {
    bytes.saturating_sub(14).saturating_add(overhead)
}

#[cfg(test)]
mod tests;
