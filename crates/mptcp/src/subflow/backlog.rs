//! The queue of a subflow: data assigned to it ahead of its congestion window, as in Linux's write queue.
//! Used only with [`crate::LinuxStack::subflow_queues`], for comparisons with Linux.
//!
//! Owns the order. Queued data has a fixed position in the subflow's stream, and leaves the queue only when
//! it is sent or the subflow ends. Never chooses data: the connection does.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

/// The maximum data in one socket buffer of the kernel, bytes.
const BUFFER: u64 = 65_215;
/// The capacity that an empty queue keeps, pieces.
const MAX_IDLE_CAPACITY: usize = 1024;

/// A piece of the stream, at most a full segment.
#[derive(Clone, Debug)]
pub(crate) struct QueuedData {
    /// The data offset of the first byte.
    pub data: u64,
    pub payload: Bytes,
    /// The data was assigned to another subflow before.
    pub repeated: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Backlog {
    queue: VecDeque<QueuedData>,
    bytes: u64,
    /// The size of the subflow's send buffer in bytes of memory; 0 before it is tuned.
    memory: u64,
    /// The acknowledged offset when the congestion window was restarted after idle time, and the pacing rate
    /// before the restart, bytes per second.
    pace: Option<(u64, u64)>,
    /// Bytes in the last kernel buffer.
    buffer: u64,
}

impl Backlog {
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }

    /// Enlarges the send buffer to `memory` bytes, if smaller.
    pub(crate) fn grow(&mut self, memory: u64) {
        self.memory = self.memory.max(memory);
    }

    /// Bytes of the first piece; 0 if empty.
    pub(crate) fn first(&self) -> u64 {
        self.queue.front().map_or(0, |waiting| waiting.payload.len() as u64)
    }

    /// The data offset of the first piece.
    pub(crate) fn first_data(&self) -> Option<u64> {
        self.queue.front().map(|waiting| waiting.data)
    }

    /// Whether the first piece was assigned to another subflow before.
    pub(crate) fn is_reinjection(&self) -> bool {
        self.queue.front().is_some_and(|waiting| waiting.repeated)
    }

    /// The length of the last piece, if data at offset `data` continues it.
    pub(crate) fn tail(&self, data: u64) -> Option<u64> {
        let last = self.queue.back().filter(|last| !last.repeated)?;
        let length = last.payload.len() as u64;
        (last.data + length == data).then_some(length)
    }

    /// Whether the queue holds one piece of less than a segment.
    pub(crate) fn is_small(&self, mss: u64) -> bool {
        self.bytes < mss && self.queue.len() == 1
    }

    /// The pacing rate before the congestion window was restarted, bytes per second. `None` if there was no
    /// restart, or if `una` has advanced since.
    pub(crate) fn pace(&self, una: u64) -> Option<f64> {
        self.pace.filter(|&(at, _)| at == una).map(|(_, pace)| pace as f64)
    }

    pub(crate) fn keep_pace(&mut self, una: u64, pace: Option<u64>) {
        if self.pace.is_none_or(|(at, _)| at != una) {
            self.pace = pace.map(|pace| (una, pace));
        }
    }

    /// Appends data. The data joins the last piece if it continues that piece and both fit into a segment.
    /// Returns whether the data began a new kernel buffer.
    pub(crate) fn add(&mut self, waiting: QueuedData, mss: u64) -> bool {
        let length = waiting.payload.len() as u64;
        let tail = if waiting.repeated { None } else { self.tail(waiting.data) };
        let begins = tail.is_none() || self.buffer + length > BUFFER / mss * mss;
        self.buffer = if begins { length } else { self.buffer + length };
        match self.queue.back_mut() {
            Some(last) if tail.is_some_and(|tail| tail + length <= mss) => {
                self.bytes += length;
                let mut whole = BytesMut::with_capacity(last.payload.len() + waiting.payload.len());
                whole.extend_from_slice(&last.payload);
                whole.extend_from_slice(&waiting.payload);
                last.payload = whole.freeze();
            }
            _ => self.push(waiting),
        }
        begins
    }

    pub(crate) fn push(&mut self, waiting: QueuedData) {
        self.bytes += waiting.payload.len() as u64;
        self.queue.push_back(waiting);
    }

    /// Takes the first piece, or up to `most` bytes of that piece; `None` if the queue is empty.
    pub(crate) fn pop(&mut self, most: u64) -> Option<QueuedData> {
        let front = self.queue.front_mut()?;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let waiting = if front.payload.len() > most {
            let part = QueuedData { payload: front.payload.split_to(most), ..*front };
            front.data += most as u64;
            part
        } else {
            self.queue.pop_front()?
        };
        self.bytes -= waiting.payload.len() as u64;
        if self.queue.is_empty() {
            self.queue.shrink_to(MAX_IDLE_CAPACITY);
        }
        Some(waiting)
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
        self.queue.shrink_to(MAX_IDLE_CAPACITY);
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_sent_in_order_and_split_for_smaller_segments() {
        let mut backlog = Backlog::default();
        backlog.push(QueuedData { data: 100, payload: Bytes::from(vec![1; 1000]), repeated: false });
        backlog.push(QueuedData { data: 1100, payload: Bytes::from(vec![2; 500]), repeated: false });
        assert_eq!((backlog.bytes(), backlog.first()), (1500, 1000));
        let taken: Vec<(u64, usize)> = std::iter::from_fn(|| backlog.pop(600))
            .map(|waiting| (waiting.data, waiting.payload.len()))
            .collect();
        assert_eq!(taken, [(100, 600), (700, 400), (1100, 500)]);
        assert!(backlog.is_empty() && backlog.bytes() == 0);
    }

    #[test]
    fn contiguous_data_joins_the_last_segment_and_buffer() {
        let waiting = |data, length, repeated| QueuedData {
            data,
            payload: Bytes::from(vec![data as u8; length]),
            repeated,
        };
        let mut backlog = Backlog::default();
        assert!(backlog.add(waiting(100, 300, false), 1000));
        assert!(!backlog.add(waiting(400, 700, false), 1000));
        assert!(!backlog.add(waiting(1100, 200, false), 1000));
        // Data at another offset and reinjected data get buffers of their own.
        assert!(backlog.add(waiting(5000, 100, false), 1000));
        assert!(backlog.add(waiting(5100, 100, true), 1000));
        let taken: Vec<(u64, usize)> = std::iter::from_fn(|| backlog.pop(1000))
            .map(|waiting| (waiting.data, waiting.payload.len()))
            .collect();
        assert_eq!(taken, [(100, 1000), (1100, 200), (5000, 100), (5100, 100)]);
        // A buffer holds up to 65 full segments.
        let begun: Vec<usize> = (0..200)
            .filter(|&at| backlog.add(waiting(1000 * at, 1000, false), 1000))
            .map(|at| at as usize)
            .collect();
        assert_eq!(begun, [0, 65, 130, 195]);
    }

    #[test]
    fn a_pace_is_kept_until_more_is_acknowledged() {
        let mut backlog = Backlog::default();
        backlog.keep_pace(7, Some(5000));
        backlog.keep_pace(7, Some(1000));
        assert_eq!((backlog.pace(7), backlog.pace(8)), (Some(5000.0), None));
        backlog.keep_pace(8, Some(1000));
        assert_eq!(backlog.pace(8), Some(1000.0));
    }
}
