//! PIE (RFC 8033), as tc-pie(8): a chance of being dropped on arrival, moved by a controller that holds the delay at a target.
//!
//! Owns one row and the controller. The delay is measured: how long the packet that leaves has waited (RFC 8033 section 5.2, the
//! timestamps).

use mptcp_clock::{Duration, Instant};

use super::row::Row;
use super::{Next, Packet, QueueDiscipline, Wire};
use crate::queue_limit::QueueLimit;

/// RFC 8033 section 4.4: the burst that passes without drops.
const MOST_BURST: Duration = Duration::from_millis(150);
/// RFC 8033 section 5.5: a delay of this much raises the chance whatever the controller says.
const FAR_TOO_LONG: Duration = Duration::from_millis(250);
/// RFC 8033 section 5.4: chances add up to this much before a packet is dropped, and to no more than this.
const SPREAD: (f64, f64) = (0.85, 8.5);

/// A chance so small is none.
const NOTHING: f64 = 1e-12;

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pie {
    /// What never fits.
    pub limit: QueueLimit,
    /// The delay that it aims at.
    pub target: Duration,
    /// How often the chance moves.
    pub tupdate: Duration,
    /// The weight of the distance from the target, 1/s.
    pub alpha: f64,
    /// The weight of the change of the delay, 1/s.
    pub beta: f64,
    /// Mark what may be marked while the chance is small, instead of dropping it.
    pub ecn: bool,
    /// A full frame of the line, bytes: with two of them waiting nothing is dropped (RFC 8033 section 4.1).
    pub frame: u32,
    /// How small (RFC 8033 section 5.1: mark_ecnth).
    pub mark_below: f64,
}

impl Default for Pie {
    /// tc's and RFC 8033's: 1000 packets, 15 ms, 15 ms, 1/8, 5/4, no marks, 10 %.
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

/// A queue under it.
#[derive(Debug)]
pub struct PieQueue {
    settings: Pie,
    row: Row,
    chance: f64,
    delay: Duration,
    delay_before: Duration,
    burst_left: Duration,
    /// Chances added up since the last drop.
    sum: f64,
    /// When the chance moves next.
    update_at: Instant,
}

impl PieQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: Pie) -> Self {
        Self {
            settings,
            row: Row::default(),
            chance: 0.0,
            delay: Duration::ZERO,
            delay_before: Duration::ZERO,
            burst_left: MOST_BURST,
            sum: 0.0,
            update_at: Instant::ZERO,
        }
    }

    /// Moves the chance as often as it was due: nothing it depends on changed since the last call.
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
                // At rest: it stays so as often as it was due.
                let missed = now.since(self.update_at).as_nanos() / every.as_nanos();
                self.update_at += every * missed;
            }
        }
    }

    /// RFC 8033 section 4.2, with the safeguards of section 5.
    fn update(&mut self) {
        let Pie { target, alpha, beta, .. } = self.settings;
        let (delay, before) = (self.delay.as_secs_f64(), self.delay_before.as_secs_f64());
        let mut step = alpha * (delay - target.as_secs_f64()) + beta * (delay - before);
        // A small chance moves in small steps.
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
            self.burst_left = MOST_BURST;
        }
    }

    /// RFC 8033 section 4.1 with section 5.4: drops come as far apart as chance would have them on average.
    fn hits(&mut self, wire: &mut Wire<'_>) -> bool {
        if !self.burst_left.is_zero() {
            return false;
        }
        let calm = self.delay_before < self.settings.target / 2 && self.chance < 0.2;
        if calm || self.row.bytes() <= 2 * u64::from(self.settings.frame) {
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
        if !self.settings.limit.fits(self.row.len(), self.row.bytes(), packet.bytes, wire.rate) {
            self.sum = 0.0;
            return wire.drop_full(packet);
        }
        if self.hits(wire) {
            let mark = self.settings.ecn && self.chance <= self.settings.mark_below;
            if !mark || !wire.mark(&mut packet) {
                return wire.drop_early(packet);
            }
        }
        self.row.push(packet);
    }

    fn dequeue(&mut self, wire: &mut Wire<'_>) -> Next {
        self.catch_up(wire.now);
        let Some(packet) = self.row.pop() else {
            self.delay = Duration::ZERO;
            return Next::Nothing;
        };
        self.delay = if self.row.is_empty() { Duration::ZERO } else { wire.now.since(packet.arrived) };
        Next::Packet(packet)
    }

    fn clear(&mut self) {
        *self = Self::new(self.settings);
    }
}

#[cfg(test)]
mod tests;
