//! A token bucket: a rate below the line's, and a burst that may go beyond it. What comes too fast waits (a shaper, as tc-tbf(8))
//! or is dropped (a policer, as tc-police(8)).
//!
//! Owns one row and the bucket.

use mptcp_clock::{Duration, Instant};

use super::row::Row;
use super::{Next, Packet, QueueDiscipline, RateLimit, Wire};
use crate::queue_limit::QueueLimit;
use crate::rate::Rate;

/// What becomes of packets that find no tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// They wait for them.
    Waits,
    /// They are dropped on arrival.
    Drops,
}

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenBucket {
    /// Tokens a second, bit/s.
    pub rate: Rate,
    /// Bytes that the bucket holds; a longer packet never gets through.
    pub burst: u32,
    /// Of what waits.
    pub limit: QueueLimit,
    /// Shaper or policer.
    pub excess: Excess,
}

/// A queue under it.
#[derive(Debug)]
pub struct TokenBucketQueue {
    settings: TokenBucket,
    row: Row,
    /// The tokens that there were at `seen`, as the time that they took to come.
    tokens: Duration,
    seen: Instant,
}

impl TokenBucketQueue {
    /// An empty queue with a full bucket.
    #[must_use]
    pub fn new(settings: TokenBucket) -> Self {
        let tokens = settings.rate.serialisation(settings.burst);
        Self { settings, row: Row::default(), tokens, seen: Instant::ZERO }
    }

    /// Takes the tokens for so many bytes, or says when there will be enough.
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
        if self.settings.limit.fits(self.row.len(), self.row.bytes(), packet.bytes, rate) {
            self.row.push(packet);
        } else {
            wire.drop_full(packet);
        }
    }

    fn dequeue(&mut self, wire: &mut Wire<'_>) -> Next {
        let Some(first) = self.row.first() else { return Next::Nothing };
        if self.settings.excess == Excess::Waits {
            let bytes = first.bytes;
            if let Err(ready) = self.take(wire.now, bytes) {
                return Next::At(ready);
            }
        }
        self.row.pop().map_or(Next::Nothing, Next::Packet)
    }

    fn clear(&mut self) {
        self.row.clear();
    }

    fn rate_limit(&self) -> Option<RateLimit> {
        Some(RateLimit { rate: self.settings.rate, drops: self.settings.excess == Excess::Drops })
    }
}

#[cfg(test)]
mod tests;
