//! A flow of datagrams: sent at a rate, or as fast as this host's own queue takes them.
//!
//! Owns the sender's socket buffer and its clock. Never sees a link: the world sends.

use mptcp_clock::{Duration, Instant};

/// What the network carries in place of a segment's number.
pub(super) const DATAGRAM: u32 = u32::MAX;
/// The same, with a wrong bit.
pub(super) const DAMAGED: u32 = u32::MAX - 1;
/// UDP and IPv4 headers, bytes.
const HEADERS: u32 = 28;
/// What Linux counts for a packet in a socket buffer beyond its bytes.
const OVERHEAD: u64 = 768;

#[derive(Debug)]
pub(super) struct Datagrams {
    bytes: u32,
    interval: Option<Duration>,
    /// How many the socket buffer holds.
    room: u64,
    /// How many wait in this host's queue.
    waiting: u64,
    due: Instant,
    pub running: bool,
    /// Payload bytes that were sent.
    pub sent: u64,
}

impl Datagrams {
    pub(super) fn new(bytes: u32, rate: Option<u64>, buffer: u64) -> Self {
        let interval = rate.map(|rate| Duration::from_secs_f64(f64::from(bytes) * 8.0 / rate as f64));
        Self {
            bytes,
            interval,
            room: (buffer / (u64::from(bytes + HEADERS) + OVERHEAD)).max(1),
            waiting: 0,
            due: Instant::ZERO,
            running: false,
            sent: 0,
        }
    }

    /// Bytes of the IP packet.
    pub(super) fn packet(&self) -> u32 {
        self.bytes + HEADERS
    }

    pub(super) fn start(&mut self, now: Instant) {
        self.running = true;
        self.due = now;
    }

    /// Whether a datagram goes now; it counts as sent.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let goes = self.running
            && match self.interval {
                Some(_) => self.due <= now,
                None => self.waiting < self.room,
            };
        if goes {
            self.due += self.interval.unwrap_or(Duration::ZERO);
            self.sent += u64::from(self.bytes);
        }
        goes
    }

    /// The one just taken waits in this host's queue.
    pub(super) fn queued(&mut self) {
        self.waiting += 1;
    }

    /// One has left the queue.
    pub(super) fn departed(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
    }

    /// Nothing of it waits any more, whatever became of it.
    pub(super) fn forget_queue(&mut self) {
        self.waiting = 0;
    }

    /// Payload bytes of one.
    pub(super) fn payload(&self) -> u64 {
        u64::from(self.bytes)
    }

    /// Whether it sends as fast as the queue takes it.
    pub(super) fn is_greedy(&self) -> bool {
        self.interval.is_none()
    }

    /// When the next one goes, for those that go at a rate.
    pub(super) fn next(&self) -> Option<Instant> {
        (self.running && self.interval.is_some()).then_some(self.due)
    }
}
