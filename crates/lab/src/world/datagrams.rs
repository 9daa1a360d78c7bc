//! A flow of datagrams: sent at a rate, with pauses or without, or as fast as this host's own queue takes them.
//!
//! Owns the sender's socket buffer and its clock. Never sees a link: the world sends.

use mptcp_clock::{Duration, Instant, Rng};

use super::datagram_delays::{DatagramDelays, NUMBERS};
use crate::measurements::DatagramSummary;

/// What the network carries in place of a segment's place in the pool: this bit, and the datagram's number.
const DATAGRAM: u32 = 1 << 31;
/// A datagram with a wrong bit.
const DAMAGED: u32 = NUMBERS;
/// UDP and IPv4 headers, bytes.
const HEADERS: u32 = 28;
/// What Linux counts for a packet in a socket buffer beyond its bytes.
const OVERHEAD: u64 = 768;

/// Whether a frame carries a datagram.
pub(super) fn is_datagram(payload: u32) -> bool {
    payload & DATAGRAM != 0
}

/// Whether a frame carries a datagram with a wrong bit.
pub(super) fn is_damaged(payload: u32) -> bool {
    is_datagram(payload) && payload & DAMAGED != 0
}

/// The same datagram with a wrong bit.
pub(super) fn damaged(payload: u32) -> u32 {
    payload | DAMAGED
}

/// When it pauses: times are drawn, exponentially.
#[derive(Debug)]
struct Pauses {
    /// Mean times of sending and of a pause.
    means: (Duration, Duration),
    stream: Rng,
    /// When the next one begins.
    begins: Instant,
}

impl Pauses {
    fn draw(&mut self, mean: Duration) -> Duration {
        mean.mul_f64(-(1.0 - self.stream.unit()).ln())
    }
}

#[derive(Debug)]
pub(super) struct Datagrams {
    bytes: u32,
    interval: Option<Duration>,
    /// How many the socket buffer holds.
    room: u64,
    /// How many wait in this host's queue.
    waiting: u64,
    due: Instant,
    pauses: Option<Pauses>,
    pub running: bool,
    /// Payload bytes that were sent.
    pub sent: u64,
    delays: DatagramDelays,
}

impl Datagrams {
    pub(super) fn new(bytes: u32, rate: Option<u64>, buffer: u64, delays: DatagramDelays) -> Self {
        let interval = rate.map(|rate| Duration::from_secs_f64(f64::from(bytes) * 8.0 / rate as f64));
        Self {
            bytes,
            interval,
            room: (buffer / (u64::from(bytes + HEADERS) + OVERHEAD)).max(1),
            waiting: 0,
            due: Instant::ZERO,
            pauses: None,
            running: false,
            sent: 0,
            delays,
        }
    }

    /// From now on it makes pauses, with these mean times of sending and of a pause.
    pub(super) fn pause(&mut self, means: (Duration, Duration), stream: Rng) {
        self.pauses = Some(Pauses { means, stream, begins: Instant::ZERO });
    }

    /// Bytes of the IP packet.
    pub(super) fn packet(&self) -> u32 {
        self.bytes + HEADERS
    }

    pub(super) fn start(&mut self, now: Instant) {
        self.running = true;
        self.due = now;
        if let Some(pauses) = &mut self.pauses {
            pauses.begins = now + pauses.draw(pauses.means.0);
        }
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
            // The clock of datagrams stands still in a pause, so that the rate while it sends is what was asked for.
            while let Some(pauses) = self.pauses.as_mut().filter(|pauses| pauses.begins <= self.due) {
                let (on, off) = pauses.means;
                let (off, on) = (pauses.draw(off), pauses.draw(on));
                self.due += off;
                pauses.begins += off + on;
            }
            self.sent += u64::from(self.bytes);
        }
        goes
    }

    /// What the frame of the one just taken carries.
    pub(super) fn next_payload(&mut self, now: Instant) -> u32 {
        DATAGRAM | self.delays.send(now)
    }

    /// One arrives, or a copy of one that has.
    pub(super) fn arrive(&mut self, now: Instant, payload: u32) {
        self.delays.arrive(now, payload & (NUMBERS - 1));
    }

    /// Delay and loss.
    pub(super) fn summary(&self, end: Instant) -> Option<DatagramSummary> {
        self.delays.summary(end)
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
