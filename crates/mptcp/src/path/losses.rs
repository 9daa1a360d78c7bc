//! The loss process of a path: when its congestion events were, and how much arrived between them.
//!
//! The mean loss interval is that of TFRC (RFC 5348 section 5.4): the last eight intervals, the older ones with less weight, and the one that
//! lasts where it makes the mean larger.

use mptcp_clock::{Duration, Instant};

/// Weights of the loss intervals, the latest first (RFC 5348 section 5.4).
const WEIGHTS: [f64; EVENTS - 1] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// Events that bound eight intervals.
const EVENTS: usize = 9;
/// Older events say nothing of the path as it is. An assumption: as long as a retransmission timer may be bounded (RFC 6298 section 2.5).
const LIFETIME: Duration = Duration::from_secs(60);
/// The loss interval before anything is known, segments: one loss counts half, and this prior the other half.
const PRIOR_INTERVAL: u64 = 1000;

/// One congestion event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Event {
    /// Bytes that had arrived on the path before it.
    delivered: u64,
    at: Instant,
    /// No queue showed, so that its cause is not congestion.
    random: bool,
}

/// The last congestion events of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    delivered: u64,
    /// The oldest first; `count` of them are in use.
    events: [Event; EVENTS],
    count: usize,
}

impl Losses {
    /// `bytes` more have arrived.
    #[inline]
    pub(crate) fn on_delivered(&mut self, bytes: u64) {
        self.delivered += bytes;
    }

    /// A congestion event; `random` where no queue showed.
    pub(crate) fn on_loss(&mut self, now: Instant, random: bool) {
        if self.count == EVENTS {
            self.events.rotate_left(1);
            self.count -= 1;
        }
        self.events[self.count] = Event { delivered: self.delivered, at: now, random };
        self.count += 1;
    }

    /// The last event was none: the segment had arrived.
    pub(crate) fn on_undo(&mut self) {
        self.count = self.count.saturating_sub(1);
    }

    /// Mean loss interval, bytes, with segments of `mss` bytes; None without an event in the last minute. A first event with a queue says where
    /// slow start ended, and nothing of an interval.
    #[must_use]
    pub fn interval(&self, now: Instant, mss: u64) -> Option<f64> {
        let known = &self.events[..self.count];
        let last = known.last().filter(|last| now.since(last.at) < LIFETIME)?;
        let open = (self.delivered - last.delivered) as f64;
        if let [only] = known {
            let prior = (PRIOR_INTERVAL * mss) as f64;
            return only.random.then_some(f64::midpoint(self.delivered as f64, prior));
        }
        let closed = || known.windows(2).rev().map(|pair| (pair[1].delivered - pair[0].delivered) as f64);
        Some(mean(closed()).max(mean(std::iter::once(open).chain(closed()))))
    }

    /// Whether the last event was a random loss.
    pub(crate) fn last_is_random(&self) -> bool {
        self.events[..self.count].last().is_some_and(|last| last.random)
    }

    /// Bytes that arrive without a loss: the loss interval, or what has arrived since the last event, or at all.
    #[must_use]
    pub fn arrives_without(&self, now: Instant, mss: u64) -> f64 {
        let last = self.events[..self.count].last().map_or(0, |event| event.delivered);
        self.interval(now, mss).unwrap_or((self.delivered - last) as f64)
    }
}

/// Weighted mean, the latest interval first.
fn mean(intervals: impl Iterator<Item = f64>) -> f64 {
    let (sum, weights) = intervals
        .zip(WEIGHTS)
        .fold((0.0, 0.0), |(sum, weights), (interval, weight)| (sum + weight * interval, weights + weight));
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    /// A kilobyte arrives before each of these events.
    fn lossy(times: &[u64]) -> Losses {
        let mut losses = Losses::default();
        for &time in times {
            losses.on_delivered(1_000);
            losses.on_loss(at(time), false);
        }
        losses
    }

    #[test]
    fn the_first_loss_of_a_full_window_gives_no_interval_and_two_give_one() {
        assert_eq!(lossy(&[]).interval(at(1), MSS), None);
        assert_eq!(lossy(&[1]).interval(at(1), MSS), None);
        assert_eq!(lossy(&[1, 2]).interval(at(2), MSS), Some(1_000.0));
    }

    #[test]
    fn a_single_random_loss_is_averaged_with_the_prior() {
        let mut losses = Losses::default();
        losses.on_delivered(1_000);
        losses.on_loss(at(1), true);
        assert_eq!(losses.interval(at(1), MSS), Some(500_500.0));
    }

    #[test]
    fn the_open_interval_counts_where_it_is_longer_and_old_intervals_weigh_less() {
        let mut losses = lossy(&[1, 2, 3, 4, 5]);
        assert_eq!(losses.interval(at(5), MSS), Some(1_000.0));
        losses.on_delivered(500);
        assert_eq!(losses.interval(at(5), MSS), Some(1_000.0));
        losses.on_delivered(4_300);
        // With four of 1000 that weigh 1, 1, 1 and 0.8.
        assert_eq!(losses.interval(at(5), MSS), Some((4_800.0 + 3_800.0) / 4.8));
        losses.on_loss(at(6), false);
        (7..15).for_each(|time| {
            losses.on_delivered(1_000);
            losses.on_loss(at(time), false);
        });
        let interval = losses.interval(at(14), MSS).expect("eight intervals");
        assert!((interval - 1_000.0).abs() < 1e-9, "{interval}");
    }

    #[test]
    fn losses_are_forgotten_after_a_minute_and_by_an_undo() {
        let mut losses = lossy(&[1, 30]);
        assert_eq!(losses.interval(at(89), MSS), Some(1_000.0));
        assert_eq!(losses.interval(at(90), MSS), None);
        losses.on_delivered(300);
        assert_eq!(losses.arrives_without(at(90), MSS), 300.0);
        losses.on_undo();
        assert_eq!(losses.interval(at(31), MSS), None);
    }
}
