//! A queue discipline without a line: the test says when packets come and when the line is free.

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

/// Beside a line of 8 Mb/s: a byte takes 1 us.
pub(super) struct Desk<Q> {
    pub(super) queue: Q,
    pub(super) rate: Option<Rate>,
    random: Rng,
    outcomes: PacketOutcomes,
    came: u32,
    /// Those that were dropped, by the order in which they came, and why.
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

    /// A packet comes. Whether it, or another one for it, was dropped.
    pub(super) fn put(&mut self, now: Instant, label: u32, bytes: u32, ecn: Codepoint) -> bool {
        let (packet, before) =
            (Packet { bytes, ecn, label, port: None, arrived: now, place: self.came }, self.dropped.len());
        self.came += 1;
        self.ask(now, |queue, wire| queue.enqueue(packet, wire));
        self.dropped.len() > before
    }

    /// The line is free.
    pub(super) fn take(&mut self, now: Instant) -> Option<Packet> {
        match self.ask(now, QueueDiscipline::dequeue) {
            Next::Packet(packet) => Some(packet),
            Next::At(_) | Next::Nothing => None,
        }
    }

    /// How many were marked so far.
    pub(super) fn marked(&self) -> u64 {
        self.outcomes.marked
    }
}
