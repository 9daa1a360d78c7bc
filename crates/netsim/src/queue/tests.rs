//! A test bench for queue disciplines: the test controls arrivals, and when the link is idle.

use mptcp_clock::{Duration, Instant, Rng};

use super::{Next, Packet, PacketOutcomes, QueueDiscipline, Wire};
use crate::frame::{Cause, Codepoint};
use crate::rate::Rate;

pub(super) fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(n)
}

pub(super) fn ms(n: u64) -> Instant {
    us(n * 1000)
}

/// A discipline on a link of 8 Mb/s (1 us per byte).
pub(super) struct Desk<Q> {
    pub(super) queue: Q,
    pub(super) rate: Option<Rate>,
    random: Rng,
    outcomes: PacketOutcomes,
    came: u32,
    /// Dropped packets, by order of arrival, and their causes.
    pub(super) dropped: Vec<(u32, Cause)>,
}

impl<Q: QueueDiscipline> Desk<Q> {
    pub(super) fn new(queue: Q) -> Self {
        let (random, outcomes) = (Rng::new(1, "queue"), PacketOutcomes::default());
        Self { queue, rate: Rate::new(8_000_000), random, outcomes, came: 0, dropped: Vec::new() }
    }

    fn ask<R>(&mut self, now: Instant, call: impl FnOnce(&mut Q, &mut Wire<'_>) -> R) -> R {
        let mut wire = Wire { now, rate: self.rate, random: &mut self.random, outcomes: &mut self.outcomes };
        let said = call(&mut self.queue, &mut wire);
        self.dropped.extend(self.outcomes.dropped.drain(..).map(|(packet, cause)| (packet.place, cause)));
        said
    }

    /// A packet arrives. Returns whether it or another one was dropped.
    pub(super) fn put(&mut self, now: Instant, label: u32, bytes: u32, ecn: Codepoint) -> bool {
        let (packet, before) =
            (Packet { bytes, ecn, label, port: None, arrived: now, place: self.came }, self.dropped.len());
        self.came += 1;
        self.ask(now, |queue, wire| queue.enqueue(packet, wire));
        self.dropped.len() > before
    }

    /// Asks for the next packet, as an idle link does.
    pub(super) fn take(&mut self, now: Instant) -> Option<Packet> {
        match self.ask(now, QueueDiscipline::dequeue) {
            Next::Packet(packet) => Some(packet),
            Next::At(_) | Next::Nothing => None,
        }
    }

    /// Number of marks so far.
    pub(super) fn marked(&self) -> u64 {
        self.outcomes.marked
    }
}
