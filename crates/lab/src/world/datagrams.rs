//! A UDP flow: datagrams at a rate, with on and off periods, or as fast as the local queue accepts them.
//!
//! Owns the socket buffer of the sender and its timer. Never sees a link: the world, the running simulation,
//! sends.

use mptcp_clock::{Duration, Instant, Rng, math};

use super::datagram_delays::{DatagramDelays, NUMBERS};
use crate::measurements::DatagramSummary;

/// Marks a frame payload as a datagram; the other bits are its number.
const DATAGRAM: u32 = 1 << 31;
/// Marks a datagram with a bit error.
const DAMAGED: u32 = NUMBERS;
/// UDP and IPv4 headers, bytes.
const HEADERS: u32 = 28;
/// Overhead that Linux charges to the socket buffer per packet.
const OVERHEAD: u64 = 768;

/// Whether a frame carries a datagram.
pub(super) fn is_datagram(payload: u32) -> bool {
    payload & DATAGRAM != 0
}

/// Whether a frame carries a datagram with a bit error.
pub(super) fn is_damaged(payload: u32) -> bool {
    is_datagram(payload) && payload & DAMAGED != 0
}

/// Marks a datagram as one with a bit error.
pub(super) fn damaged(payload: u32) -> u32 {
    payload | DAMAGED
}

/// On and off periods, exponentially distributed.
#[derive(Debug)]
struct Pauses {
    /// Mean durations of on and off periods.
    means: (Duration, Duration),
    stream: Rng,
    /// Start of the next off period.
    begins: Instant,
}

impl Pauses {
    fn draw(&mut self, mean: Duration) -> Duration {
        mean.mul_f64(-math::ln(1.0 - self.stream.unit()))
    }
}

#[derive(Debug)]
pub(super) struct Datagrams {
    bytes: u32,
    interval: Option<Duration>,
    /// Number of datagrams that the socket buffer holds.
    room: u64,
    /// Number of datagrams in the local queue.
    waiting: u64,
    due: Instant,
    pauses: Option<Pauses>,
    pub running: bool,
    /// Payload bytes sent.
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

    /// Enables on and off periods with these means.
    pub(super) fn pause(&mut self, means: (Duration, Duration), stream: Rng) {
        self.pauses = Some(Pauses { means, stream, begins: Instant::ZERO });
    }

    /// Length of the IP packet, bytes.
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

    /// Whether a datagram is due. If so, counts it, and sets the time of the next one.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let goes = self.running
            && match self.interval {
                Some(_) => self.due <= now,
                None => self.waiting < self.room,
            };
        if goes {
            self.due += self.interval.unwrap_or(Duration::ZERO);
            // The timer stops in off periods, so that the rate holds in on periods.
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

    /// The frame payload of the datagram that was just taken.
    pub(super) fn next_payload(&mut self, now: Instant) -> u32 {
        DATAGRAM | self.delays.send(now)
    }

    /// A datagram, or a copy of one, arrives.
    pub(super) fn arrive(&mut self, now: Instant, payload: u32) {
        self.delays.arrive(now, payload & (NUMBERS - 1));
    }

    /// Summary of delay and loss.
    pub(super) fn summary(&self, end: Instant) -> Option<DatagramSummary> {
        self.delays.summary(end)
    }

    /// The datagram that was just taken is in the local queue.
    pub(super) fn queued(&mut self) {
        self.waiting += 1;
    }

    /// A datagram left the local queue.
    pub(super) fn departed(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
    }

    /// The local queue is empty, for any reason.
    pub(super) fn forget_queue(&mut self) {
        self.waiting = 0;
    }

    /// Payload bytes per datagram.
    pub(super) fn payload(&self) -> u64 {
        u64::from(self.bytes)
    }

    /// Whether the flow sends as fast as the local queue accepts datagrams.
    pub(super) fn is_greedy(&self) -> bool {
        self.interval.is_none()
    }

    /// Time of the next datagram; `None` for a flow without a rate, or while it does not run.
    pub(super) fn next(&self) -> Option<Instant> {
        (self.running && self.interval.is_some()).then_some(self.due)
    }
}
