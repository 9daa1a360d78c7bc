//! A token bucket: a mean rate below the link rate, and a burst. Excess packets are queued (shaper, tc-tbf(8))
//! or dropped (policer, tc-police(8)).
//!
//! Owns one queue and the bucket.

use mptcp_clock::{Duration, Instant};

use super::packet_fifo::PacketFifo;
use super::{Next, Packet, QueueDiscipline, RateLimit, Wire};
use crate::queue_limit::QueueLimit;
use crate::rate::Rate;

/// The handling of packets for which there are too few tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Queued until there are enough tokens.
    Waits,
    /// Dropped on arrival.
    Drops,
}

/// Parameters of the token bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenBucket {
    /// Token rate, bit/s.
    pub rate: Rate,
    /// Size of the bucket in bytes; longer packets never pass.
    pub burst: u32,
    /// Limit of the queue.
    pub limit: QueueLimit,
    /// Shaper or policer.
    pub excess: Excess,
}

/// A token bucket queue.
#[derive(Debug)]
pub struct TokenBucketQueue {
    settings: TokenBucket,
    packets: PacketFifo,
    /// Tokens at the instant `seen`, expressed as the time that the bucket needs to gain them.
    tokens: Duration,
    seen: Instant,
}

impl TokenBucketQueue {
    /// An empty queue with a full bucket.
    #[must_use]
    pub fn new(settings: TokenBucket) -> Self {
        let tokens = settings.rate.serialisation(settings.burst);
        Self { settings, packets: PacketFifo::default(), tokens, seen: Instant::ZERO }
    }

    /// Takes tokens for `bytes`. The error is the time at which there are enough.
    fn take(&mut self, now: Instant, bytes: u32) -> Result<(), Instant> {
        let rate = self.settings.rate;
        self.tokens = (self.tokens + now.since(self.seen)).min(rate.serialisation(self.settings.burst));
        self.seen = now;
        let needed = rate.serialisation(bytes);
        if needed > self.tokens {
            return Err(now + (needed - self.tokens));
        }
        self.tokens -= needed;
        Ok(())
    }
}

impl QueueDiscipline for TokenBucketQueue {
    fn enqueue(&mut self, packet: Packet, wire: &mut Wire<'_>) {
        if packet.bytes > self.settings.burst {
            return wire.drop_full(packet);
        }
        if self.settings.excess == Excess::Drops && self.take(wire.now, packet.bytes).is_err() {
            return wire.drop_early(packet);
        }
        let rate = if self.settings.excess == Excess::Waits { Some(self.settings.rate) } else { wire.rate };
        if self.settings.limit.fits(self.packets.len(), self.packets.bytes(), packet.bytes, rate) {
            self.packets.push(packet);
        } else {
            wire.drop_full(packet);
        }
    }

    fn dequeue(&mut self, wire: &mut Wire<'_>) -> Next {
        let Some(first) = self.packets.first() else { return Next::Nothing };
        if self.settings.excess == Excess::Waits {
            let bytes = first.bytes;
            if let Err(ready) = self.take(wire.now, bytes) {
                return Next::At(ready);
            }
        }
        self.packets.pop().map_or(Next::Nothing, Next::Packet)
    }

    fn clear(&mut self) {
        self.packets.clear();
    }

    fn rate_limit(&self) -> Option<RateLimit> {
        Some(RateLimit { rate: self.settings.rate, drops: self.settings.excess == Excess::Drops })
    }
}

#[cfg(test)]
mod tests;
