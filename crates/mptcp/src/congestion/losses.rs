//! How often a path loses.
//!
//! Owns when its last congestion events were that losses caused. One alone may be where slow start ended; how much arrives
//! between two of them is what a path that is used goes on with. Of what is long ago nothing is said: to know, it has to be used.

use mptcp_clock::{Duration, Instant};

/// Events that are remembered.
const EVENTS: usize = 4;
/// For so long.
const REMEMBERED: Duration = Duration::from_secs(60);

/// A congestion event, and what had arrived before it, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Event {
    delivered: u64,
    at: Instant,
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

    /// Something was lost, and the window reduced for it.
    pub(super) fn on_loss(&mut self, now: Instant) {
        if self.count == EVENTS {
            self.events.rotate_left(1);
            self.count -= 1;
        }
        self.events[self.count] = Event { delivered: self.delivered, at: now };
        self.count += 1;
    }

    /// The last one was none.
    pub(super) fn on_undo(&mut self) {
        self.count = self.count.saturating_sub(1);
    }

    /// Bytes that arrive from one loss to the next; None where there were not two of late.
    #[must_use]
    #[inline(never)]
    pub fn bytes_between(&self, now: Instant) -> Option<u64> {
        let known = &self.events[..self.count];
        let late = known.iter().position(|event| now.since(event.at) < REMEMBERED)?;
        let (first, pairs) = (known[late], known.len() - late - 1);
        (pairs > 0).then(|| (self.delivered - first.delivered) / pairs as u64)
    }
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
            losses.on_loss(at(time));
        }
        losses
    }

    #[test]
    fn one_loss_says_nothing_and_the_last_four_a_mean() {
        assert_eq!(lossy(&[]).bytes_between(at(1)), None);
        assert_eq!(lossy(&[1]).bytes_between(at(1)), None);
        let mut losses = lossy(&[1, 2]);
        assert_eq!(losses.bytes_between(at(2)), Some(1000));
        losses.on_delivered(500);
        assert_eq!(losses.bytes_between(at(2)), Some(1500), "it has gone better since");
        let mut many = lossy(&[1, 2, 3, 4, 5, 6]);
        many.on_delivered(3000);
        assert_eq!(many.bytes_between(at(6)), Some(2000));
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
}
