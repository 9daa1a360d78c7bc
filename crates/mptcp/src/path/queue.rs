//! The queue that a path's own packets form at its bottleneck.
//!
//! A sender knows what it sent and when. With the bottleneck rate, that gives the time at which the bottleneck has sent all of it: a virtual
//! FIFO (first in, first out) queue. What round trips show beyond it is the queue of other flows.
//!
//! Whether a queue stands at the bottleneck of a path, and whether a loss may be its overflow.
//!
//! As CoDel sees it (RFC 8289 section 3): by the shortest RTT of a round, because bursts make single samples long.

use mptcp_clock::{Duration, Instant};

/// The virtual FIFO queue of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OwnQueue {
    /// When the bottleneck will have sent everything that it was given.
    free: Instant,
    /// The longest that a packet waited and was serialised, in this round trip and in the one before.
    longest: [Duration; 2],
    round_ends: Instant,
}

impl OwnQueue {
    /// Data leaves now whose serialisation at the bottleneck takes `time`; `round` is the smoothed RTT.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Instant, time: Duration, round: Duration) {
        self.free = self.free.max(now) + time;
        if now >= self.round_ends {
            self.longest = [Duration::ZERO, self.longest[0]];
            self.round_ends = now + round;
        }
        self.longest[0] = self.longest[0].max(self.free.since(now));
    }

    /// How long a packet that leaves now waits behind those before it, if all of them are still in flight.
    #[inline]
    pub(crate) fn wait(&self, now: Instant) -> Duration {
        self.free.since(now)
    }

    /// The longest wait of the last two round trips, with the packet's own serialisation.
    #[inline]
    pub(crate) fn longest(&self) -> Duration {
        self.longest[0].max(self.longest[1])
    }
}

/// Jitter of a host: no shorter delay is a queue.
const NOISE: Duration = Duration::from_millis(1);

/// The shortest RTTs of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Standing {
    /// The shortest RTT of data; that of a handshake does not tell how long a full segment takes to serialise.
    shortest: Duration,
    latest: Duration,
    /// The shortest of the last round, and of this one so far.
    last: Duration,
    current: Duration,
    ends: Instant,
}

impl Default for Standing {
    fn default() -> Self {
        Self {
            shortest: Duration::MAX,
            latest: Duration::ZERO,
            last: Duration::ZERO,
            current: Duration::MAX,
            ends: Instant::ZERO,
        }
    }
}

impl Standing {
    /// A sample of the RTT of data; `round` is the smoothed RTT.
    #[inline]
    pub(crate) fn on_sample(&mut self, now: Instant, sample: Duration, round: Duration) {
        (self.shortest, self.latest) = (self.shortest.min(sample), sample);
        self.current = self.current.min(sample);
        if now >= self.ends {
            (self.last, self.current, self.ends) = (self.current, Duration::MAX, now + round);
        }
    }

    /// Whether a queue stands that is longer than `own`, the time that the sender's own packets take: every RTT of the last round was longer than the shortest by
    /// that and a sixteenth, and by more than jitter.
    pub(crate) fn is_longer_than(&self, own: Duration) -> bool {
        self.last - own > self.shortest.min(Duration::MAX - NOISE) + (self.shortest / 16).max(NOISE)
    }

    /// Whether what is lost now may have met a full queue: one stands, or the latest RTT shows one of a third of the shortest RTT. In slow start
    /// a sixteenth is enough: the sample tells of the round before, and the window has doubled since.
    pub(crate) fn may_be_full(&self, slow_start: bool) -> bool {
        let enough = if slow_start { (self.shortest / 16).max(NOISE) } else { self.shortest / 3 };
        self.is_longer_than(Duration::ZERO) || self.latest > self.shortest.min(Duration::MAX / 2) + enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    #[test]
    fn packets_wait_for_those_before_them_and_no_longer() {
        let (mut queue, start) = (OwnQueue::default(), Instant::ZERO + ms(100));
        (0..3).for_each(|_| queue.on_sent(start, ms(10), ms(50)));
        assert_eq!((queue.wait(start), queue.wait(start + ms(20))), (ms(30), ms(10)));
        assert_eq!(queue.wait(start + ms(40)), Duration::ZERO);
        queue.on_sent(start + ms(40), ms(10), ms(50));
        assert_eq!(queue.wait(start + ms(40)), ms(10), "an idle bottleneck begins at once");
    }

    #[test]
    fn the_longest_wait_is_that_of_two_round_trips() {
        let mut queue = OwnQueue::default();
        let at = |time| Instant::ZERO + ms(time);
        (0..3).for_each(|_| queue.on_sent(at(100), ms(10), ms(50)));
        queue.on_sent(at(160), ms(10), ms(50));
        assert_eq!(queue.longest(), ms(30));
        queue.on_sent(at(220), ms(10), ms(50));
        assert_eq!(queue.longest(), ms(10));
    }
}

#[cfg(test)]
mod standing_tests {
    use super::*;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    /// What is known after samples of these RTTs, one every 10 ms, in rounds of 40 ms.
    fn after(rtts: &[u64]) -> Standing {
        let mut standing = Standing::default();
        for (at, &rtt) in rtts.iter().enumerate() {
            standing.on_sample(Instant::ZERO + ms(10 * at as u64), ms(rtt), ms(40));
        }
        standing
    }

    #[test]
    fn a_queue_stands_if_all_of_a_round_is_longer() {
        assert!(!after(&[]).is_longer_than(Duration::ZERO));
        assert!(!after(&[40; 12]).is_longer_than(Duration::ZERO));
        let standing = after(&[40, 50, 50, 50, 50, 50, 50, 50, 50]);
        assert!(standing.is_longer_than(Duration::ZERO) && standing.is_longer_than(ms(7)));
        assert!(!standing.is_longer_than(ms(8)), "its own packets take as long");
        assert!(!after(&[40, 50, 50, 50, 50, 50, 40, 50, 50]).is_longer_than(Duration::ZERO), "a burst");
    }

    #[test]
    fn a_loss_may_be_an_overflow_if_the_latest_rtt_shows_a_queue() {
        assert!(!after(&[40, 53]).may_be_full(false) && after(&[40, 54]).may_be_full(false));
        assert!(!after(&[40, 42]).may_be_full(true) && after(&[40, 43]).may_be_full(true), "slow start");
    }
}
