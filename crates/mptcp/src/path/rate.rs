//! How fast a path delivers.
//!
//! Owns the rates of its last round trips. The best of them counts: a path that had less to send, or was held back, has not
//! become slower for that (as in BBR, draft-ietf-ccwg-bbr).

use mptcp_clock::{Duration, Instant};

/// Round trips of which the best counts.
const ROUNDS: usize = 8;
/// A round is at least so long, so that a few acknowledgements in a row are no rate.
const SHORTEST_ROUND: Duration = Duration::from_millis(10);
/// A path whose rounds get faster by so many times is not as fast as its line yet.
const GROWN: f64 = 1.25;
/// Acknowledgements are of one burst if no more than this part of a round trip is between them.
const SPACED: u64 = 4;
/// Bytes behind a queue that tell its rate: an initial window (RFC 6928).
const QUEUE_DIVISOR: u64 = 14_600;
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
    /// The last round was faster than all before by `GROWN`.
    grows: bool,
    /// In this round so far something was always in flight, and no RTT was without a queue.
    busy: bool,
    /// Rate of the last round, if it was so then.
    measured: Option<f64>,
    train: Train,
    drain: Drain,
}

/// What has come behind a queue since there is one: at the line's rate, or at what others leave of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Drain {
    last: Instant,
    bytes: u64,
    time: Duration,
}

/// Acknowledgements close behind each other: what left at once comes as fast as the narrowest line lets it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Train {
    /// Since when bytes are counted, and when the last of them came.
    since: Instant,
    last: Instant,
    /// How long the latest of what came before them took; zero where that is not known.
    rtt: Duration,
    bytes: u64,
    acknowledgements: u32,
    /// Bytes a second; 0 before the first.
    rate: f64,
    /// No burst was longer than one acknowledgement so far.
    short: bool,
}

/// What an acknowledgement says has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrived {
    pub bytes: u64,
    /// How long the latest of it took; None where that is not known.
    pub rtt: Option<Duration>,
    /// The least that anything took.
    pub min_rtt: Option<Duration>,
    pub srtt: Option<Duration>,
    /// Next to nothing is in flight any more.
    pub empty: bool,
}

impl Arrived {
    /// Whether more than half of the time in which it came is that in which it left, where the latest before it took `first`.
    fn left_slowly(&self, first: Duration, took: Duration) -> bool {
        let last = self.rtt.unwrap_or_default();
        !first.is_zero() && !last.is_zero() && took + first * 2 > last * 2
    }

    /// It took longer than without a queue.
    fn is_queued(&self) -> bool {
        self.rtt.zip(self.min_rtt).is_some_and(|(rtt, least)| rtt > least + least / 8)
    }
}

impl Train {
    fn add(&mut self, now: Instant, arrived: &Arrived) {
        let begins = now.since(self.last) * SPACED > arrived.srtt.unwrap_or_default();
        self.last = now;
        if begins {
            // The first one says when it began, and not how long what it acknowledges took.
            return self.begin(now, arrived);
        }
        self.bytes += arrived.bytes;
        self.acknowledgements += 1;
        if self.acknowledgements >= 2 && now > self.since {
            let took = now.since(self.since);
            let rate = self.bytes as f64 / took.as_secs_f64();
            // What left as slowly as it came says nothing of the line, unless it was behind a queue.
            let slow = arrived.left_slowly(self.rtt, took) && !arrived.is_queued();
            if !slow || self.rate > 0.0 {
                let known = if slow && rate <= self.rate { self.rate } else { self.rate * FORGETS };
                self.rate = if self.short { rate } else { rate.max(known) };
                self.short = false;
            }
            self.begin(now, arrived);
        }
    }

    fn begin(&mut self, now: Instant, arrived: &Arrived) {
        (self.since, self.bytes, self.acknowledgements) = (now, 0, 0);
        self.rtt = arrived.rtt.unwrap_or_default();
    }
}

impl Drain {
    fn add(&mut self, now: Instant, arrived: &Arrived) {
        if arrived.is_queued() && !arrived.empty {
            self.bytes += arrived.bytes;
            self.time += now.since(self.last);
        } else if arrived.rtt.is_some() || arrived.empty {
            (self.bytes, self.time) = (0, Duration::ZERO);
        }
        self.last = now;
    }
}

impl DeliveryRate {
    /// Whether one acknowledgement would say something: as long as none came close behind another.
    #[inline]
    pub(crate) fn asks_one(&self) -> bool {
        self.train.short || self.train.rate == 0.0
    }

    /// One acknowledgement says that `bytes`, several segments that left at once, took `longer` than the least round trip: its peer has not
    /// delayed it (RFC 9293 section 3.8.6.3), and so that is how long the line took for them.
    #[cold]
    pub(crate) fn on_one(&mut self, bytes: u64, longer: Duration) {
        let took = longer.as_secs_f64();
        if took > 0.0 {
            self.train.rate = (bytes as f64 / took).max(self.train.rate * FORGETS);
            self.train.short = true;
        }
    }

    /// More has arrived.
    pub(crate) fn on_delivered(&mut self, now: Instant, arrived: &Arrived) {
        self.train.add(now, arrived);
        self.drain.add(now, arrived);
        let Arrived { bytes, srtt, .. } = *arrived;
        let Some(since) = self.since else {
            // What this acknowledgement covers took a time that is not known.
            self.since = Some(now);
            return;
        };
        self.busy &= !arrived.empty && (arrived.is_queued() || arrived.rtt.is_none());
        self.bytes += bytes;
        let round = srtt.unwrap_or_default().max(SHORTEST_ROUND);
        let length = now.since(since);
        if length < round {
            return;
        }
        let rate = self.bytes as f64 / length.as_secs_f64();
        self.measured = (self.busy && length < round * 2).then_some(rate);
        self.busy = true;
        // Where nothing came for long, nothing was sent.
        if length < round * 2 {
            self.grows = rate > GROWN * self.best;
            self.rates[self.at] = rate;
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

    /// The rate at which its queue gave, bytes a second; None where fewer than `least` bytes have come since there is one.
    #[must_use]
    pub fn drained(&self, least: u64) -> Option<f64> {
        let Drain { bytes, time, .. } = self.drain;
        (bytes >= least && !time.is_zero()).then(|| bytes as f64 / time.as_secs_f64())
    }

    /// Whether rounds get faster: what was delivered is of a smaller window then.
    #[must_use]
    pub fn grows(&self) -> bool {
        self.grows || self.best == 0.0
    }

    /// Bottleneck rate, bytes a second; None before it was measured. Whole round trips are a lower bound where less was sent than the bottleneck
    /// carries. Bursts show more: the bottleneck spaces their acknowledgements. But jitter compresses these, so no more counts than a queue
    /// of `QUEUE_DIVISOR` bytes has let through. A round trip in which a queue stood and something was always in flight measures the bottleneck
    /// itself: where it shows less than half of that, the path has become slower.
    #[must_use]
    pub fn bottleneck(&self) -> Option<f64> {
        let burst =
            self.drained(QUEUE_DIVISOR).map_or(self.train.rate, |drained| self.train.rate.min(drained));
        let bound = burst.max(self.best);
        let rate = self.measured.filter(|measured| 2.0 * measured < bound).unwrap_or(bound);
        (rate > 0.0).then_some(rate)
    }

    /// What the line carries, bytes a second, as far as bursts and whole round trips have told. None before the first burst.
    #[must_use]
    pub fn line(&self) -> Option<f64> {
        Some(self.burst_rate()?.max(self.best))
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
