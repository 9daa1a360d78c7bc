//! How fast a path delivers.
//!
//! Owns the rates of its last round trips. The best of them counts: a path that had less to send, or was held back, has not
//! become slower for that (as in BBR, draft-ietf-ccwg-bbr).

use mptcp_clock::{Duration, Instant};

/// Round trips of which the best counts.
const ROUNDS: usize = 8;
/// A round is at least so long, so that a few acknowledgements in a row are no rate.
const SHORTEST_ROUND: Duration = Duration::from_millis(10);

/// What a path delivered lately.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeliveryRate {
    since: Option<Instant>,
    bytes: u64,
    rates: [f64; ROUNDS],
    at: usize,
    best: f64,
}

impl DeliveryRate {
    /// `bytes` more have arrived, as an acknowledgement says.
    pub(crate) fn on_delivered(&mut self, now: Instant, bytes: u64, srtt: Option<Duration>) {
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
}

#[cfg(test)]
mod tests;
