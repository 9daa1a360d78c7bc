//! The queue that a path's own packets form at its bottleneck.
//!
//! A sender knows what it sent and when. With the bottleneck rate, that gives the time at which the bottleneck has sent all of it: a virtual
//! FIFO (first in, first out) queue. What round trips show beyond it is the queue of other flows.

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
