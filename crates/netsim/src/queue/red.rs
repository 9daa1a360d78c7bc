//! RED: random early detection (Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993), as tc-red(8).
//!
//! Drops or marks packets before the queue is full. Owns one queue and the moving average of its length.

use mptcp_clock::{Duration, Instant, math};

use super::packet_fifo::PacketFifo;
use super::{Next, Packet, QueueDiscipline, Wire};
use crate::queue_limit::QueueLimit;

/// Parameters of RED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Red {
    /// Hard limit of the queue.
    pub limit: QueueLimit,
    /// Average length in bytes below which nothing is dropped.
    pub min: u64,
    /// Average length in bytes at which the probability is `probability`. Above it, all packets are dropped
    /// or marked, unless `gentle`.
    pub max: u64,
    /// Probability at `max`, 0..=1.
    pub probability: f64,
    /// Mean packet size, bytes.
    pub avpkt: u32,
    /// Packets of mean size that may arrive in a burst while the average is small; see [`Self::weight`].
    pub burst: u32,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Drops packets above `max` even if they are ECN-capable.
    pub harddrop: bool,
    /// Increases the probability linearly to 1 between `max` and twice `max` ("gentle").
    pub gentle: bool,
}

impl Red {
    /// Weight of the newest length in the average, as tc computes it. With this weight, `burst` packets fit
    /// into an empty queue before the average reaches `min`. The largest of 1/2, 1/4, ... is used; `None` if
    /// none fits.
    #[must_use]
    pub fn weight(&self) -> Option<f64> {
        let burst = f64::from(self.burst);
        let needed = burst + 1.0 - self.min as f64 / f64::from(self.avpkt.max(1));
        let enough = |weight: &f64| needed <= (1.0 - math::pow(1.0 - weight, burst)) / weight;
        (needed >= 1.0).then(|| (1..32).map(|log| 1.0 / f64::from(1_u32 << log)).find(enough)).flatten()
    }
}

/// A RED queue.
#[derive(Debug)]
pub struct RedQueue {
    settings: Red,
    packets: PacketFifo,
    /// Weight of the newest length in the average.
    weight: f64,
    average: f64,
    /// Packets since the last drop or mark; -1 while the drop probability is zero.
    since_last: i64,
    empty_since: Option<Instant>,
}

impl RedQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: Red) -> Self {
        Self {
            settings,
            packets: PacketFifo::default(),
            weight: settings.weight().unwrap_or(1.0),
            average: 0.0,
            since_last: -1,
            empty_since: Some(Instant::ZERO),
        }
    }

    fn keep(&mut self, packet: Packet) {
        self.empty_since = None;
        self.packets.push(packet);
    }

    fn update_average(&mut self, wire: &Wire<'_>) {
        if let Some(since) = self.empty_since {
            self.empty_since = Some(wire.now);
            // The average decays as if small packets had arrived at an empty queue during the idle time
            // (section 4, "m").
            let each = wire.serialisation(self.settings.avpkt).max(Duration::from_nanos(1));
            let could = wire.now.since(since).as_secs_f64() / each.as_secs_f64();
            self.average *= math::pow(1.0 - self.weight, could);
        } else {
            self.average += self.weight * (self.packets.bytes() as f64 - self.average);
        }
    }

    /// Drop probability of the next packet, before drops are spread evenly.
    fn chance(&self) -> f64 {
        let Red { min, max, probability, gentle, .. } = self.settings;
        let (min, max) = (min as f64, max as f64);
        if self.average < min {
            0.0
        } else if self.average < max {
            probability * (self.average - min) / (max - min)
        } else if gentle && self.average < 2.0 * max {
            probability + (1.0 - probability) * (self.average - max) / max
        } else {
            1.0
        }
    }
}

impl QueueDiscipline for RedQueue {
    fn enqueue(&mut self, mut packet: Packet, wire: &mut Wire<'_>) {
        self.update_average(wire);
        if !self.settings.limit.fits(self.packets.len(), self.packets.bytes(), packet.bytes, wire.rate) {
            self.since_last = 0;
            return wire.drop_full(packet);
        }
        let chance = self.chance();
        if chance <= 0.0 {
            self.since_last = -1;
            return self.keep(packet);
        }
        self.since_last += 1;
        // Section 7: uniform distances between drops, not geometric.
        let left = 1.0 - self.since_last as f64 * chance;
        let hit = chance >= 1.0 || left <= 0.0 || wire.random.chance(chance / left);
        if hit {
            self.since_last = 0;
            let hard = self.settings.harddrop && self.average >= self.settings.max as f64;
            if hard || !self.settings.ecn || !wire.mark(&mut packet) {
                return wire.drop_early(packet);
            }
        }
        self.keep(packet);
    }

    fn dequeue(&mut self, wire: &mut Wire<'_>) -> Next {
        let Some(packet) = self.packets.pop() else {
            // As in tc: the idle time starts when the link finds no packet.
            self.empty_since.get_or_insert(wire.now);
            return Next::Nothing;
        };
        Next::Packet(packet)
    }

    fn clear(&mut self) {
        *self = Self::new(self.settings);
    }
}

#[cfg(test)]
mod tests;
