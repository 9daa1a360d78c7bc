//! How often something may be answered that costs its sender nothing.
//!
//! Owns one allowance: so many answers at once, and a further one after each interval. Never decides what is
//! answered.

use mptcp_clock::{Duration, Instant};

/// An allowance of answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateLimiter {
    burst: u32,
    interval: Duration,
    left: u32,
    /// Up to when intervals have been counted.
    since: Instant,
}

impl RateLimiter {
    /// `burst` answers at once, and one more after each `interval`.
    pub(crate) const fn new(burst: u32, interval: Duration) -> Self {
        Self { burst, interval, left: burst, since: Instant::ZERO }
    }

    /// Takes one, if there is one.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        let passed = now.since(self.since).as_nanos() / self.interval.as_nanos().max(1);
        if passed > 0 {
            self.left = self.left.saturating_add(passed.min(u64::from(self.burst)) as u32).min(self.burst);
            // What is left of an interval counts for the next one, unless the allowance is full.
            self.since = if self.left == self.burst { now } else { self.since + self.interval * passed };
        }
        let any = self.left > 0;
        if any {
            if self.left == self.burst {
                self.since = now;
            }
            self.left -= 1;
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Instant, RateLimiter};

    #[test]
    fn a_burst_and_then_one_for_each_interval() {
        let mut rate_limiter = RateLimiter::new(3, Duration::from_millis(10));
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let taken = |rate_limiter: &mut RateLimiter, now, tries| {
            (0..tries).filter(|_| rate_limiter.take(now)).count()
        };
        assert_eq!(taken(&mut rate_limiter, at(5), 100), 3);
        assert_eq!(taken(&mut rate_limiter, at(14), 100), 0);
        assert_eq!(taken(&mut rate_limiter, at(15), 100), 1);
        assert_eq!(taken(&mut rate_limiter, at(34), 100), 1);
        assert_eq!(taken(&mut rate_limiter, at(35), 100), 1);
        assert_eq!(taken(&mut rate_limiter, at(10_000), 100), 3);
    }
}
