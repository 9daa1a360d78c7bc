//! DualPI2 (RFC 9332 appendix A), as tc-dualpi2(8): a queue for scalable flows that mark often and wait little, beside one for all
//! others; one controller moves both, so that flows of both kinds get alike.
//!
//! Owns both rows, the controller and the order between them.

use mptcp_clock::{Duration, Instant};

use super::row::Row;
use super::{Next, Packet, QueueDiscipline, Wire};
use crate::frame::Codepoint;
use crate::queue_limit::QueueLimit;

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2 {
    /// Of both rows together.
    pub limit: QueueLimit,
    /// The delay of the classic row that the controller aims at.
    pub target: Duration,
    /// How often it moves.
    pub tupdate: Duration,
    /// The weight of the distance from the target, 1/s.
    pub alpha: f64,
    /// The weight of the change of the delay, 1/s.
    pub beta: f64,
    /// How many times more often scalable flows are marked than the controller says (k).
    pub coupling_factor: f64,
    /// Scalable packets that waited longer, and longer than two full packets take, are marked in any case.
    pub step_thresh: Duration,
    /// The share of the line, 0..=1, that classic flows keep when scalable ones want all.
    pub classic_protection: f64,
    /// A full frame of the line, bytes.
    pub frame: u32,
    /// Whether all that may be marked counts as scalable, not only ECT(1) and CE: for DCTCP as RFC 8257 has it.
    pub any_ect: bool,
}

impl Default for DualPi2 {
    /// tc's and RFC 9332's: 10000 packets, 15 ms, 16 ms, 0.16, 3.2, k = 2, 1 ms, 10 %.
    fn default() -> Self {
        Self {
            limit: QueueLimit::Packets(10_000),
            target: Duration::from_millis(15),
            tupdate: Duration::from_millis(16),
            alpha: 0.16,
            beta: 3.2,
            coupling_factor: 2.0,
            step_thresh: Duration::from_millis(1),
            classic_protection: 0.1,
            frame: 1514,
            any_ect: false,
        }
    }
}

/// A queue under it.
#[derive(Debug)]
pub struct DualPi2Queue {
    settings: DualPi2,
    scalable: Row,
    classic: Row,
    /// p' of RFC 9332: classic flows see its square, scalable ones k times it.
    base: f64,
    delay_before: Duration,
    update_at: Instant,
    /// Fractions of marks and drops so far: scalable marks, classic signals, scalable drops under overload.
    sums: [f64; 3],
    /// What the classic row is owed, bytes; above zero it is its turn.
    credit: i64,
}

impl DualPi2Queue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: DualPi2) -> Self {
        Self {
            settings,
            scalable: Row::default(),
            classic: Row::default(),
            base: 0.0,
            delay_before: Duration::ZERO,
            update_at: Instant::ZERO,
            sums: [0.0; 3],
            credit: 0,
        }
    }

    /// RFC 9332 figure 6, as often as it was due.
    fn catch_up(&mut self, now: Instant) {
        let every = self.settings.tupdate.max(Duration::from_micros(100));
        if self.update_at == Instant::ZERO {
            self.update_at = now + every;
        }
        while self.update_at <= now {
            if self.delay_before.is_zero() && self.classic.is_empty() && self.scalable.is_empty() {
                // Each update takes as much away as the one before.
                let missed = now.since(self.update_at).as_nanos() / every.as_nanos();
                let each = self.settings.alpha * self.settings.target.as_secs_f64();
                self.base = (self.base - each * missed as f64).max(0.0);
                self.update_at += every * missed;
            }
            let at = self.update_at;
            let delay = self.classic.waited(at).max(self.scalable.waited(at));
            let (seconds, before) = (delay.as_secs_f64(), self.delay_before.as_secs_f64());
            let step = self.settings.alpha * (seconds - self.settings.target.as_secs_f64())
                + self.settings.beta * (seconds - before);
            self.base = (self.base + step).clamp(0.0, 1.0);
            self.delay_before = delay;
            self.update_at += every;
        }
    }

    /// RFC 9332 figure 5: whether it is time for one more, without chance.
    fn recurs(&mut self, which: usize, likelihood: f64) -> bool {
        self.sums[which] += likelihood.min(1.0);
        let due = self.sums[which] > 1.0;
        if due {
            self.sums[which] -= 1.0;
        }
        due
    }

    /// Weighted turns, bytes: scalable first, and a share for the classic row.
    fn takes_scalable(&mut self) -> bool {
        if self.scalable.is_empty() && self.classic.is_empty() {
            self.credit = 0;
        }
        !self.scalable.is_empty() && (self.credit <= 0 || self.classic.is_empty())
    }

    /// A row pays for what it sends while the other waits.
    fn charge(&mut self, scalable: bool, bytes: u32) {
        let other = if scalable { &self.classic } else { &self.scalable };
        if other.is_empty() {
            return;
        }
        let share = self.settings.classic_protection.clamp(0.0, 1.0);
        let part = if scalable { share } else { share - 1.0 };
        let most = i64::from(self.settings.frame) * 10;
        self.credit = (self.credit + (part * f64::from(bytes)).round() as i64).clamp(-most, most);
    }

    fn is_scalable(&self, ecn: Codepoint) -> bool {
        match ecn {
            Codepoint::Ect1 | Codepoint::Ce => true,
            Codepoint::Ect0 => self.settings.any_ect,
            Codepoint::NotEct => false,
        }
    }
}

impl QueueDiscipline for DualPi2Queue {
    fn enqueue(&mut self, packet: Packet, wire: &mut Wire<'_>) {
        self.catch_up(wire.now);
        let (packets, bytes) =
            (self.scalable.len() + self.classic.len(), self.scalable.bytes() + self.classic.bytes());
        if !self.settings.limit.fits(packets, bytes, packet.bytes, wire.rate) {
            return wire.drop_full(packet);
        }
        if self.is_scalable(packet.ecn) { self.scalable.push(packet) } else { self.classic.push(packet) }
    }

    fn dequeue(&mut self, wire: &mut Wire<'_>) -> Next {
        self.catch_up(wire.now);
        // RFC 9332 section 2.4: p_C = (p')^2, p_CL = k p'; above 1 for the latter nothing but drops can hold the queue.
        let classic_chance = self.base * self.base;
        let coupled = self.settings.coupling_factor * self.base;
        let overloaded = coupled >= 1.0;
        loop {
            let scalable = self.takes_scalable();
            let row = if scalable { &mut self.scalable } else { &mut self.classic };
            let Some(mut packet) = row.pop() else { return Next::Nothing };
            let more = !row.is_empty();
            self.charge(scalable, packet.bytes);
            if scalable {
                if overloaded && self.recurs(2, classic_chance) {
                    wire.drop_early(packet);
                    continue;
                }
                // A packet alone is not marked. Where two full packets take longer than the threshold, they are the threshold: a slow
                // line would mark whatever comes in pairs.
                let least = wire.serialisation(self.settings.frame.saturating_mul(2));
                let step = more && wire.now.since(packet.arrived) > self.settings.step_thresh.max(least);
                if step || self.recurs(0, coupled) {
                    wire.mark(&mut packet);
                }
            } else if self.recurs(1, classic_chance) && (overloaded || !wire.mark(&mut packet)) {
                wire.drop_early(packet);
                continue;
            }
            return Next::Packet(packet);
        }
    }

    fn clear(&mut self) {
        *self = Self::new(self.settings);
    }
}

#[cfg(test)]
mod tests;
