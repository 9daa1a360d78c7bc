//! How fast a path delivers.
//!
//! Owns the rates of its last round trips. The best of them counts: a path that had less to send, or was held back, has not
//! become slower for that (as in BBR, draft-ietf-ccwg-bbr).

use mptcp_clock::{Duration, Instant};

/// Round trips of which the best counts.
const ROUNDS: usize = 8;
/// A round is at least so long, so that a few acknowledgements in a row are no rate.
const SHORTEST_ROUND: Duration = Duration::from_millis(10);
/// Acknowledgements are of one burst if no more than this part of a round trip is between them.
const SPACED: u64 = 4;
/// What is left of the best rate of a burst with each one that is slower.
const FORGETS: f64 = 0.98;

/// What a path delivered lately.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeliveryRate {
    since: Option<Instant>,
    bytes: u64,
    rates: [f64; ROUNDS],
    at: usize,
    best: f64,
    train: Train,
}

/// Acknowledgements close behind each other: what left at once comes as fast as the narrowest line lets it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Train {
    /// Since when bytes are counted, and when the last of them came.
    since: Instant,
    last: Instant,
    bytes: u64,
    acknowledgements: u32,
    /// Bytes a second; 0 before the first.
    rate: f64,
}

impl Train {
    fn add(&mut self, now: Instant, bytes: u64, srtt: Option<Duration>) {
        let begins = now.since(self.last) * SPACED > srtt.unwrap_or_default();
        self.last = now;
        if begins {
            // The first one says when it began, and not how long what it acknowledges took.
            return self.begin(now);
        }
        self.bytes += bytes;
        self.acknowledgements += 1;
        if self.acknowledgements >= 2 && now > self.since {
            let rate = self.bytes as f64 / now.since(self.since).as_secs_f64();
            self.rate = rate.max(self.rate * FORGETS);
            self.begin(now);
        }
    }

    fn begin(&mut self, now: Instant) {
        (self.since, self.bytes, self.acknowledgements) = (now, 0, 0);
    }
}

impl DeliveryRate {
    /// `bytes` more have arrived, as an acknowledgement says.
    pub(crate) fn on_delivered(&mut self, now: Instant, bytes: u64, srtt: Option<Duration>) {
        self.train.add(now, bytes, srtt);
        let Some(since) = self.since else {
            // What this acknowledgement covers took a time that is not known.
            self.since = Some(now);
            return;
        };
        self.bytes += bytes;
        let round = srtt.unwrap_or_default().max(SHORTEST_ROUND);
        let length = now.since(since);
        if length < round {
            return;
        }
        // Where nothing came for long, nothing was sent.
        if length < round * 2 {
            self.rates[self.at] = self.bytes as f64 / length.as_secs_f64();
            self.at = (self.at + 1) % ROUNDS;
            self.best = self.rates.iter().copied().fold(0.0, f64::max);
        }
        (self.since, self.bytes) = (Some(now), 0);
    }

    /// Bytes a second; None before the first whole round trip.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        (self.best > 0.0).then_some(self.best)
    }

    /// The rate at which what left at once arrived, bytes a second: of its narrowest line, where nobody else uses it. None before a few
    /// acknowledgements came close behind each other.
    #[must_use]
    pub fn burst_rate(&self) -> Option<f64> {
        (self.train.rate > 0.0).then_some(self.train.rate)
    }
}

#[cfg(test)]
mod tests;
