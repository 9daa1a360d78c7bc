//! PIE (RFC 8033), as tc-pie(8): a controller adapts the drop probability of arriving packets to hold the
//! queueing delay at a target.
//!
//! Owns one queue and the controller. The delay is the measured queueing delay of the departing packet
//! (timestamps of RFC 8033 section 5.2).

use mptcp_clock::{Duration, Instant};

use super::packet_fifo::PacketFifo;
use super::{Next, Packet, QueueDiscipline, Wire};
use crate::queue_limit::QueueLimit;

/// RFC 8033 section 4.4: maximum burst without drops.
const MAX_BURST: Duration = Duration::from_millis(150);
/// RFC 8033 section 5.5: a delay at which the probability always increases.
const FAR_TOO_LONG: Duration = Duration::from_millis(250);
/// RFC 8033 section 5.4: accumulated probability, below which no packet and above which every packet is
/// dropped.
const SPREAD: (f64, f64) = (0.85, 8.5);

/// Probabilities below this value become zero.
const NOTHING: f64 = 1e-12;

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pie {
    /// Hard limit of the queue.
    pub limit: QueueLimit,
    /// Target delay.
    pub target: Duration,
    /// Update interval of the probability.
    pub tupdate: Duration,
    /// Integral gain, 1/s.
    pub alpha: f64,
    /// Proportional gain, 1/s.
    pub beta: f64,
    /// Marks ECN-capable packets instead of dropping them while the probability is low.
    pub ecn: bool,
    /// A full frame of the link, bytes: with two of them queued, nothing is dropped (RFC 8033 section 4.1).
    pub frame: u32,
    /// Drop probability up to which packets are marked instead (mark_ecnth in RFC 8033 section 5.1).
    pub mark_below: f64,
}

impl Default for Pie {
    /// Defaults of tc and RFC 8033: 1000 packets, 15 ms, 15 ms, 1/8, 5/4, no marks, 10%.
    fn default() -> Self {
        Self {
            limit: QueueLimit::Packets(1000),
            target: Duration::from_millis(15),
            tupdate: Duration::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            ecn: false,
            frame: 1514,
            mark_below: 0.1,
        }
    }
}

/// A PIE queue.
#[derive(Debug)]
pub struct PieQueue {
    settings: Pie,
    packets: PacketFifo,
    chance: f64,
    delay: Duration,
    delay_before: Duration,
    burst_left: Duration,
    /// Accumulated probability since the last drop.
    sum: f64,
    /// Time of the next update.
    update_at: Instant,
}

impl PieQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: Pie) -> Self {
        Self {
            settings,
            packets: PacketFifo::default(),
            chance: 0.0,
            delay: Duration::ZERO,
            delay_before: Duration::ZERO,
            burst_left: MAX_BURST,
            sum: 0.0,
            update_at: Instant::ZERO,
        }
    }

    /// Runs all updates that were due; their inputs did not change since the last call.
    fn catch_up(&mut self, now: Instant) {
        let every = self.settings.tupdate.max(Duration::from_micros(100));
        if self.update_at == Instant::ZERO {
            self.update_at = now + every;
        }
        while self.update_at <= now {
            let before = (self.chance, self.delay_before, self.burst_left);
            self.update();
            self.update_at += every;
            if before == (self.chance, self.delay_before, self.burst_left) && self.update_at <= now {
                // In the steady state, further updates have no effect.
                let missed = now.since(self.update_at).as_nanos() / every.as_nanos();
                self.update_at += every * missed;
            }
        }
    }

    /// An update (RFC 8033 section 4.2), with the safeguards of section 5.
    fn update(&mut self) {
        let Pie { target, alpha, beta, .. } = self.settings;
        let (delay, before) = (self.delay.as_secs_f64(), self.delay_before.as_secs_f64());
        let mut step = alpha * (delay - target.as_secs_f64()) + beta * (delay - before);
        // Small probabilities change in small steps.
        step /= match self.chance {
            p if p < 1e-6 => 2048.0,
            p if p < 1e-5 => 512.0,
            p if p < 1e-4 => 128.0,
            p if p < 1e-3 => 32.0,
            p if p < 1e-2 => 8.0,
            p if p < 1e-1 => 2.0,
            _ => 1.0,
        };
        if self.chance >= 0.1 {
            step = step.min(0.02);
        }
        if self.delay > FAR_TOO_LONG {
            step += 0.02;
        }
        self.chance += step;
        if self.delay.is_zero() && self.delay_before.is_zero() {
            self.chance *= 0.98;
        }
        self.chance = if self.chance < NOTHING { 0.0 } else { self.chance.min(1.0) };
        let calm = self.delay < target / 2 && self.delay_before < target / 2;
        self.delay_before = self.delay;
        self.burst_left =
            Duration::from_nanos(self.burst_left.as_nanos().saturating_sub(self.settings.tupdate.as_nanos()));
        if self.chance == 0.0 && calm {
            self.burst_left = MAX_BURST;
        }
    }

    /// Whether to drop or mark the packet, with drops spread almost evenly (RFC 8033 sections 4.1 and 5.4).
    fn hits(&mut self, wire: &mut Wire<'_>) -> bool {
        if !self.burst_left.is_zero() {
            return false;
        }
        let calm = self.delay_before < self.settings.target / 2 && self.chance < 0.2;
        if calm || self.packets.bytes() <= 2 * u64::from(self.settings.frame) {
            return false;
        }
        if self.chance == 0.0 {
            self.sum = 0.0;
        }
        self.sum += self.chance;
        if self.sum < SPREAD.0 {
            return false;
        }
        let hit = self.sum >= SPREAD.1 || wire.random.chance(self.chance);
        if hit {
            self.sum = 0.0;
        }
        hit
    }
}

impl QueueDiscipline for PieQueue {
    fn enqueue(&mut self, mut packet: Packet, wire: &mut Wire<'_>) {
        self.catch_up(wire.now);
        if !self.settings.limit.fits(self.packets.len(), self.packets.bytes(), packet.bytes, wire.rate) {
            self.sum = 0.0;
            return wire.drop_full(packet);
        }
        if self.hits(wire) {
            let mark = self.settings.ecn && self.chance <= self.settings.mark_below;
            if !mark || !wire.mark(&mut packet) {
                return wire.drop_early(packet);
            }
        }
        self.packets.push(packet);
    }

    fn dequeue(&mut self, wire: &mut Wire<'_>) -> Next {
        self.catch_up(wire.now);
        let Some(packet) = self.packets.pop() else {
            self.delay = Duration::ZERO;
            return Next::Nothing;
        };
        self.delay = if self.packets.is_empty() { Duration::ZERO } else { wire.now.since(packet.arrived) };
        Next::Packet(packet)
    }

    fn clear(&mut self) {
        *self = Self::new(self.settings);
    }
}

#[cfg(test)]
mod tests;
