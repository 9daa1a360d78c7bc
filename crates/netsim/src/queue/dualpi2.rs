//! DualPI2 (RFC 9332 appendix A), as tc-dualpi2(8): a low-latency queue for scalable flows with frequent
//! marks, and a queue for classic flows. One controller drives both, so that flows of both types get equal
//! rates.
//!
//! Owns both queues, the controller and their schedule.

use mptcp_clock::{Duration, Instant};

use super::packet_fifo::PacketFifo;
use super::{Next, Packet, QueueDiscipline, Wire};
use crate::frame::Codepoint;
use crate::queue_limit::QueueLimit;

/// Parameters of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2 {
    /// Limit of both queues together.
    pub limit: QueueLimit,
    /// Target delay of the classic queue.
    pub target: Duration,
    /// Update interval of the controller.
    pub tupdate: Duration,
    /// Integral gain, 1/s.
    pub alpha: f64,
    /// Proportional gain, 1/s.
    pub beta: f64,
    /// Coupling factor k: ratio of scalable marks to the base probability.
    pub coupling_factor: f64,
    /// Delay above which scalable packets are always marked, if others wait behind them. At least the
    /// serialisation time of two full packets is used.
    pub step_thresh: Duration,
    /// Minimum share of the link for classic flows, 0..=1.
    pub classic_protection: f64,
    /// A full frame of the link, bytes.
    pub frame: u32,
    /// Treats all ECN-capable packets as scalable, not only ECT(1) and CE: for DCTCP (RFC 8257).
    pub any_ect: bool,
}

impl Default for DualPi2 {
    /// Defaults of tc and RFC 9332: 10000 packets, 15 ms, 16 ms, 0.16, 3.2, k = 2, 1 ms, 10%.
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

/// A DualPI2 queue.
#[derive(Debug)]
pub struct DualPi2Queue {
    settings: DualPi2,
    scalable: PacketFifo,
    classic: PacketFifo,
    /// p' of RFC 9332. Classic packets are signalled with probability p'^2, scalable packets with k p'.
    base: f64,
    delay_before: Duration,
    update_at: Instant,
    /// Accumulated fractions of signals: scalable marks, classic signals, scalable drops under overload.
    sums: [f64; 3],
    /// Credit of the classic queue in bytes. While positive, the classic queue is served first.
    credit: i64,
}

impl DualPi2Queue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: DualPi2) -> Self {
        Self {
            settings,
            scalable: PacketFifo::default(),
            classic: PacketFifo::default(),
            base: 0.0,
            delay_before: Duration::ZERO,
            update_at: Instant::ZERO,
            sums: [0.0; 3],
            credit: 0,
        }
    }

    /// Runs all updates that were due (RFC 9332 figure 6).
    fn catch_up(&mut self, now: Instant) {
        let every = self.settings.tupdate.max(Duration::from_micros(100));
        if self.update_at == Instant::ZERO {
            self.update_at = now + every;
        }
        while self.update_at <= now {
            if self.delay_before.is_zero() && self.classic.is_empty() && self.scalable.is_empty() {
                // While both queues stay empty, each missed update has the same effect.
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

    /// Whether the next signal is due: when the sum of the probabilities exceeds one (RFC 9332 figure 5).
    fn recurs(&mut self, which: usize, likelihood: f64) -> bool {
        self.sums[which] += likelihood.min(1.0);
        let due = self.sums[which] > 1.0;
        if due {
            self.sums[which] -= 1.0;
        }
        due
    }

    /// Whether the scalable queue is served next: always, except for the minimum share of the classic queue.
    fn takes_scalable(&mut self) -> bool {
        if self.scalable.is_empty() && self.classic.is_empty() {
            self.credit = 0;
        }
        !self.scalable.is_empty() && (self.credit <= 0 || self.classic.is_empty())
    }

    /// Charges a queue for transmitted bytes, if the other queue has packets.
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
        // RFC 9332 section 2.4: p_C = (p')^2, p_CL = k p'. If p_CL reaches 1, only drops control the queue.
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
                // A single packet is never marked. At low link rates, the threshold is two full packets, so
                // pairs are not always marked.
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
