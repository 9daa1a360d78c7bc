//! How often a path loses.
//!
//! Owns when its last congestion events were that losses caused. One alone may be where slow start ended, unless the window was not full;
//! how much arrives between two of them is what a path that is used goes on with. Of what is long ago nothing is said: to know, it has
//! to be used.

use mptcp_clock::{Duration, Instant};

/// Events that are remembered.
const EVENTS: usize = 9;
/// Of these so many tell whether chance loses now.
const LATEST: usize = 4;
/// What the intervals between them weigh, the latest first (RFC 5348 section 5.4).
const WEIGHTS: [f64; EVENTS - 1] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// Intervals of which a mean is one.
const LEAST: usize = 4;
/// For so long.
const REMEMBERED: Duration = Duration::from_secs(60);
/// Segments that arrive from one loss to the next where nothing is known: as many as a scheduler has nothing against.
pub(super) const USUAL: u64 = 1000;

/// A congestion event, and what had arrived before it, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Event {
    delivered: u64,
    at: Instant,
    /// What it is weighed beside where it is the only one, bytes; None where a full window may have caused it.
    usual: Option<u64>,
}

/// The last losses of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    delivered: u64,
    /// The oldest first; of these so many are in use.
    events: [Event; EVENTS],
    count: usize,
}

impl Losses {
    /// `bytes` more have arrived.
    #[inline]
    pub(super) fn on_delivered(&mut self, bytes: u64) {
        self.delivered += bytes;
    }

    /// Something was lost, and the window reduced for it. Where that was not full, what is `usual` between two losses says what one
    /// alone means, bytes.
    pub(super) fn on_loss(&mut self, now: Instant, usual: Option<u64>) {
        if self.count == EVENTS {
            self.events.rotate_left(1);
            self.count -= 1;
        }
        self.events[self.count] = Event { delivered: self.delivered, at: now, usual };
        self.count += 1;
    }

    /// The last one was none.
    pub(super) fn on_undo(&mut self) {
        self.count = self.count.saturating_sub(1);
    }

    /// Bytes that arrive from one loss to the next; None where there was none of late, or one alone that a full window may have caused.
    ///
    /// Another one alone is the first of what has arrived, and counts beside one that is as usual: the mean of a gamma distribution's
    /// parameters, which is what a rate of events is known by.
    #[must_use]
    #[inline(never)]
    pub fn bytes_between(&self, now: Instant) -> Option<u64> {
        let known = &self.events[..self.count];
        let late = known.iter().position(|event| now.since(event.at) < REMEMBERED)?;
        let (first, pairs) = (known[late], known.len() - late - 1);
        match pairs {
            0 => first.usual.map(|usual| u64::midpoint(self.delivered, usual)),
            _ => Some((self.delivered - first.delivered) / pairs as u64),
        }
    }

    /// The same, or what has arrived since the last loss, or at all, where that says nothing.
    #[must_use]
    pub fn arrives_without(&self, now: Instant) -> u64 {
        let last = self.events[..self.count].last().map_or(0, |event| event.delivered);
        self.bytes_between(now).unwrap_or(self.delivered - last)
    }

    /// Whether one of its last losses is one that no full window caused.
    #[must_use]
    pub fn are_by_chance(&self, now: Instant) -> bool {
        let known = &self.events[self.count.saturating_sub(LATEST)..self.count];
        known.iter().any(|event| event.usual.is_some() && now.since(event.at) < REMEMBERED)
    }

    /// The mean of what arrives from one loss to the next, bytes, over the last intervals, of which the one that lasts counts where it is
    /// longer than that (RFC 5348 section 5.4); None after too few.
    pub(super) fn interval(&self) -> Option<f64> {
        if self.count <= LEAST {
            return None;
        }
        let known = &self.events[..self.count];
        let closed = known.windows(2).rev().map(|pair| (pair[1].delivered - pair[0].delivered) as f64);
        let open = std::iter::once((self.delivered - known[self.count - 1].delivered) as f64);
        let with_open = mean(open.chain(closed.clone()));
        Some(mean(closed).max(with_open))
    }
}

fn mean(intervals: impl Iterator<Item = f64>) -> f64 {
    let (sum, weights) = intervals
        .zip(WEIGHTS)
        .fold((0.0, 0.0), |(sum, weights), (interval, weight)| (sum + weight * interval, weights + weight));
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn lossy(times: &[u64]) -> Losses {
        let mut losses = Losses::default();
        for &time in times {
            losses.on_delivered(1000);
            losses.on_loss(at(time), None);
        }
        losses
    }

    #[test]
    fn one_loss_says_nothing_and_more_a_mean() {
        assert_eq!(lossy(&[]).bytes_between(at(1)), None);
        assert_eq!(lossy(&[1]).bytes_between(at(1)), None);
        let mut one = lossy(&[1]);
        one.on_delivered(300);
        assert_eq!(one.arrives_without(at(1)), 300, "since then");
        let mut losses = lossy(&[1, 2]);
        assert_eq!(losses.bytes_between(at(2)), Some(1000));
        losses.on_delivered(500);
        assert_eq!(losses.bytes_between(at(2)), Some(1500), "it has gone better since");
        assert_eq!(losses.arrives_without(at(2)), 1500);
        let mut many = lossy(&[1, 2, 3, 4, 5, 6]);
        many.on_delivered(3000);
        assert_eq!(many.bytes_between(at(6)), Some(1600));
        let mut more = lossy(&[1; 12]);
        more.on_delivered(8000);
        assert_eq!(more.bytes_between(at(6)), Some(2000), "the last nine");
    }

    #[test]
    fn one_loss_of_a_window_that_was_not_full_counts_beside_a_usual_one() {
        let mut losses = Losses::default();
        losses.on_delivered(1000);
        losses.on_loss(at(1), Some(3000));
        assert_eq!(losses.bytes_between(at(1)), Some(2000));
        losses.on_delivered(4000);
        assert_eq!(losses.bytes_between(at(2)), Some(4000), "it has gone well since");
        assert_eq!(losses.bytes_between(at(61)), None, "long ago");
        losses.on_loss(at(62), None);
        assert_eq!(losses.bytes_between(at(62)), None);
        losses.on_loss(at(63), Some(3000));
        assert_eq!(losses.bytes_between(at(63)), Some(0), "two say more");
        losses.on_undo();
        assert_eq!(losses.bytes_between(at(63)), None, "what is left is one of a full window");
    }

    #[test]
    fn a_loss_that_no_full_window_caused_is_by_chance() {
        let mut losses = lossy(&[1, 2]);
        assert!(!losses.are_by_chance(at(2)));
        losses.on_loss(at(3), Some(3000));
        losses.on_loss(at(4), None);
        assert!(losses.are_by_chance(at(62)) && !losses.are_by_chance(at(63)));
        (5..7).for_each(|time| losses.on_loss(at(time), None));
        assert!(losses.are_by_chance(at(7)));
        losses.on_loss(at(8), None);
        assert!(!losses.are_by_chance(at(8)), "the last four were of full windows");
    }

    #[test]
    fn what_is_long_ago_is_forgotten() {
        let losses = lossy(&[1, 30, 40]);
        assert_eq!(losses.bytes_between(at(60)), Some(1000));
        assert_eq!(losses.bytes_between(at(61)), Some(1000), "of the last two");
        assert_eq!(losses.bytes_between(at(90)), None);
        assert_eq!(losses.bytes_between(at(1000)), None);
    }

    #[test]
    fn a_loss_that_was_none_does_not_count() {
        let mut losses = lossy(&[1, 2]);
        losses.on_undo();
        assert_eq!(losses.bytes_between(at(2)), None);
        losses.on_undo();
        losses.on_undo();
        assert_eq!(losses.bytes_between(at(2)), None);
    }

    #[test]
    fn an_interval_is_a_mean_of_the_last_ones_and_the_one_that_lasts_counts_where_it_is_longer() {
        assert_eq!(lossy(&[1, 2, 3, 4]).interval(), None, "three of them");
        let mut losses = lossy(&[1, 2, 3, 4, 5]);
        assert_eq!(losses.interval(), Some(1000.0));
        losses.on_delivered(500);
        assert_eq!(losses.interval(), Some(1000.0));
        losses.on_delivered(4_300);
        // With four of 1000 that weigh 1, 1, 1 and 0.8.
        assert_eq!(losses.interval(), Some((4_800.0 + 3_800.0) / 4.8));
        losses.on_loss(at(6), None);
        (7..15).for_each(|time| {
            losses.on_delivered(1000);
            losses.on_loss(at(time), None);
        });
        assert!((losses.interval().expect("eight of them") - 1000.0).abs() < 1e-9);
    }
}
