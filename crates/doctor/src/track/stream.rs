//! One direction of a connection at the data level: data in flight by subflow, acknowledgements, and the window.

use std::collections::VecDeque;

use super::half::Delivered;
use super::sequence::extend_data;
use crate::capture::PacketRef;

/// A data sequence number farther away than this belongs to no window, bytes.
const FARTHEST: u64 = 1 << 40;

/// Entries that one segment examines, at most: 64 kB in pieces of 128 bytes.
const MOST_WORK: usize = 512;
/// The subflow of data that was not seen yet.
const UNSEEN: u16 = u16::MAX;

/// Data that is not acknowledged by a DATA_ACK.
#[derive(Clone, Debug)]
struct Chunk {
    start: u64,
    end: u64,
    /// Number of the subflow that sent it first.
    subflow: u16,
    /// Time of its first transmission, ns.
    time: u64,
    /// Bytes that a subflow has acknowledged.
    arrived: u32,
    /// Whether it was sent on another subflow too.
    is_copied: bool,
}

/// The kind of mapped data at the data level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mapped {
    /// Bytes that no subflow had sent.
    pub(crate) new: u64,
    /// Bytes that another subflow had sent.
    pub(crate) reinjected: u64,
    /// Of these, bytes that the receiver had acknowledged at the data level.
    pub(crate) needless: u64,
    /// The subflow that had sent them.
    pub(crate) original: u16,
    /// Age of the original transmission, ns.
    pub(crate) age: u64,
}

/// One direction of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    /// The number of the first byte is `base + 1`.
    base: Option<u64>,
    next: u64,
    acknowledged: u64,
    /// Right edge of the receive window.
    edge: Option<u64>,
    /// Largest window offered, bytes.
    pub(crate) largest_window: u64,
    chunks: VecDeque<Chunk>,
    /// Pieces of data in flight that are remembered, at most.
    most: usize,
    /// Bytes that subflows have delivered beyond the first missing byte.
    out_of_order: u64,
    pub(crate) new_bytes: u64,
    /// Bytes acknowledged at the data level.
    pub(crate) delivered: u64,
    /// Bytes acknowledged that no captured subflow carried.
    pub(crate) unseen: u64,
    /// The subflow that filled the oldest gap, until it is taken.
    filled: Option<u16>,
    pub(crate) reinjected: u64,
    pub(crate) needless: u64,
    /// The first packets with reinjected data.
    pub(crate) reinjections: Vec<(u64, PacketRef)>,
    /// Most data in flight, bytes.
    pub(crate) largest_flight: u64,
    /// Largest amount of out-of-order data, bytes.
    pub(crate) largest_out_of_order: u64,
    /// Data sequence numbers far outside of the window.
    pub(crate) implausible: u64,
}

impl Stream {
    /// A stream that remembers at most `most` pieces of data in flight.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// Sets the initial data sequence number, which the key determines.
    pub(crate) fn start(&mut self, initial: u64) {
        if self.base.is_none() {
            self.base = Some(initial);
            (self.next, self.acknowledged) = (1, 1);
        }
    }

    /// Starts at the number of a subflow, where the data has no numbers of its own.
    pub(crate) const fn follow(&mut self, start: u64) {
        if self.base.is_none() {
            self.base = Some(0);
            (self.next, self.acknowledged) = (start, start);
        }
    }

    /// The distance of a 64-bit number from the first one.
    fn relative(&mut self, number: u64) -> Option<u64> {
        const MIDDLE: u64 = 1 << 41;
        let base = match self.base {
            Some(base) => base,
            None => {
                let base = number.wrapping_sub(MIDDLE);
                self.base = Some(base);
                (self.next, self.acknowledged) = (MIDDLE, MIDDLE);
                base
            }
        };
        let relative = number.wrapping_sub(base);
        let near = relative.abs_diff(self.next) < FARTHEST;
        if !near {
            self.implausible += 1;
        }
        near.then_some(relative)
    }

    /// The distance of a data sequence number of 32 bits.
    pub(crate) fn short(&mut self, number: u32) -> Option<u64> {
        let base = self.base?;
        let near = base.wrapping_add(self.next);
        self.relative(extend_data(number, near))
    }

    /// The distance of a data sequence number of 64 bits.
    pub(crate) fn wide(&mut self, number: u64) -> Option<u64> {
        self.relative(number)
    }

    /// Whether data was acknowledged that no captured subflow carried, as on an interface that was not captured.
    pub(crate) const fn lacks_a_subflow(&self) -> bool {
        self.unseen * 20 > self.new_bytes
    }

    /// Bytes sent and not acknowledged.
    pub(crate) const fn flight(&self) -> u64 {
        self.next - self.acknowledged
    }

    pub(crate) const fn out_of_order(&self) -> u64 {
        self.out_of_order
    }

    /// Bytes that the receiver still allows; None before its first window.
    pub(crate) fn window_left(&self) -> Option<u64> {
        self.edge.map(|edge| edge.saturating_sub(self.next))
    }

    /// The subflow of the oldest data that is not acknowledged; None without data, or if that data was not seen yet.
    pub(crate) fn oldest(&self) -> Option<u16> {
        self.chunks.front().map(|chunk| chunk.subflow).filter(|subflow| *subflow != UNSEEN)
    }

    /// The subflow that filled the oldest gap since the last call.
    pub(crate) const fn take_filled(&mut self) -> Option<u16> {
        self.filled.take()
    }

    /// Takes data that a subflow sends for the first time on itself.
    pub(crate) fn sent(
        &mut self,
        start: u64,
        length: u64,
        subflow: u16,
        time: u64,
        packet: PacketRef,
    ) -> Mapped {
        let end = start.saturating_add(length);
        let mut mapped = Mapped::default();
        let known = self.next;
        if start < known {
            self.sent_before(start, end.min(known), subflow, time, &mut mapped);
        }
        if end > known {
            let begin = start.max(known);
            mapped.new = end - begin;
            if begin > known {
                // Data that comes on another subflow, or that the capture misses.
                self.push(Chunk {
                    start: known,
                    end: begin,
                    subflow: UNSEEN,
                    time,
                    arrived: 0,
                    is_copied: false,
                });
            }
            self.push(Chunk { start: begin, end, subflow, time, arrived: 0, is_copied: false });
            self.next = end;
            self.new_bytes += mapped.new;
            self.largest_flight = self.largest_flight.max(self.flight());
        }
        if mapped.reinjected > 0 {
            self.reinjected += mapped.reinjected;
            self.needless += mapped.needless;
            if self.reinjections.len() < 8 {
                self.reinjections.push((time, packet));
            }
        }
        mapped
    }

    fn push(&mut self, chunk: Chunk) {
        if self.chunks.len() >= self.most {
            self.pop();
        }
        self.chunks.push_back(chunk);
    }

    fn pop(&mut self) {
        if let Some(chunk) = self.chunks.pop_front() {
            self.out_of_order = self.out_of_order.saturating_sub(u64::from(chunk.arrived));
            if chunk.subflow == UNSEEN && chunk.end <= self.acknowledged {
                self.unseen += chunk.end - chunk.start;
            }
        }
    }

    fn index_after(&self, at: u64) -> usize {
        self.chunks.partition_point(|chunk| chunk.end <= at)
    }

    fn sent_before(&mut self, start: u64, end: u64, subflow: u16, time: u64, mapped: &mut Mapped) {
        if start < self.acknowledged {
            let old = end.min(self.acknowledged) - start;
            mapped.reinjected += old;
            mapped.needless += old;
            mapped.original = subflow;
        }
        let mut index = self.index_after(start.max(self.acknowledged));
        let first = index;
        while let Some(chunk) = self.chunks.get(index)
            && chunk.start < end
            && index < first + MOST_WORK
        {
            if chunk.subflow == UNSEEN {
                index = self.fill(index, start, end, subflow, time, mapped);
                continue;
            }
            let chunk = &mut self.chunks[index];
            if chunk.subflow != subflow || chunk.is_copied {
                let bytes = chunk.end.min(end).saturating_sub(chunk.start.max(start));
                mapped.reinjected += bytes;
                mapped.original = chunk.subflow;
                mapped.age = time.saturating_sub(chunk.time);
                chunk.is_copied = true;
            }
            index += 1;
        }
    }

    /// Takes the first transmission of data in a gap; returns the index behind it.
    fn fill(
        &mut self,
        index: usize,
        start: u64,
        end: u64,
        subflow: u16,
        time: u64,
        mapped: &mut Mapped,
    ) -> usize {
        let gap = self.chunks[index].clone();
        if index == 0 && start <= gap.start {
            self.filled = Some(subflow);
        }
        let (low, high) = (gap.start.max(start), gap.end.min(end));
        mapped.new += high - low;
        self.new_bytes += high - low;
        self.chunks[index] = Chunk { start: low, end: high, subflow, time, arrived: 0, is_copied: false };
        let mut behind = index + 1;
        if gap.end > high {
            self.chunks.insert(behind, Chunk { start: high, ..gap.clone() });
        }
        if gap.start < low {
            self.chunks.insert(index, Chunk { end: low, ..gap });
            behind += 1;
        }
        if self.chunks.len() > self.most {
            self.pop();
            behind -= 1;
        }
        behind
    }

    /// Takes data that a subflow has acknowledged.
    pub(crate) fn arrived(&mut self, delivered: Delivered) {
        let (start, end) = (delivered.data, delivered.data.saturating_add(delivered.length));
        let mut index = self.index_after(start.max(self.acknowledged));
        let first = index;
        while let Some(chunk) = self.chunks.get_mut(index)
            && chunk.start < end
            && index < first + MOST_WORK
        {
            let bytes = chunk.end.min(end).saturating_sub(chunk.start.max(start));
            let left = (chunk.end - chunk.start).saturating_sub(u64::from(chunk.arrived));
            // Data that was not seen cannot arrive; the capture misses it.
            let newly = if chunk.subflow == UNSEEN { 0 } else { bytes.min(left) };
            chunk.arrived = chunk.arrived.saturating_add(u32::try_from(newly).unwrap_or(u32::MAX));
            self.out_of_order += newly;
            index += 1;
        }
        self.drop_acknowledged();
    }

    /// Takes a DATA_ACK, or an acknowledgement of TCP, and the window from there. Returns newly acknowledged bytes.
    pub(crate) fn acknowledge(&mut self, number: u64, window: u64) -> u64 {
        if self.base.is_none() && self.acknowledged == 0 {
            // Before any data, numbers start here: at the SYN, or in the middle of a connection.
            (self.next, self.acknowledged) = (number, number);
        }
        let edge = number.saturating_add(window);
        // RFC 8684 section 3.3.5: the right edge never moves to the left.
        self.edge = Some(self.edge.map_or(edge, |known| known.max(edge)));
        self.largest_window = self.largest_window.max(window);
        let mut newly = number.saturating_sub(self.acknowledged);
        if newly > 0 {
            // A FIN and a DATA_FIN count one, and are no data.
            newly -= u64::from(number == self.next.saturating_add(1));
            self.next = self.next.max(number);
            self.acknowledged = number;
            self.delivered += newly;
            self.drop_acknowledged();
        }
        self.largest_out_of_order = self.largest_out_of_order.max(self.out_of_order);
        newly
    }

    fn drop_acknowledged(&mut self) {
        while self.chunks.front().is_some_and(|chunk| chunk.end <= self.acknowledged) {
            self.pop();
        }
    }
}
