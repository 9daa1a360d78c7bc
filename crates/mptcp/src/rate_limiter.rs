//! A token bucket, which limits resets and challenge ACKs: forged segments trigger them at no cost.
//!
//! Owns one bucket. Never chooses a response.

use mptcp_clock::{Duration, Instant};

/// A token bucket for responses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateLimiter {
    burst: u32,
    interval: Duration,
    tokens: u32,
    /// Time until which tokens have been added.
    since: Instant,
}

impl RateLimiter {
    /// Creates a full bucket of `burst` tokens, with one more after each `interval`.
    pub(crate) const fn new(burst: u32, interval: Duration) -> Self {
        Self { burst, interval, tokens: burst, since: Instant::ZERO }
    }

    /// Takes a token; returns whether there was one.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        let passed = now.since(self.since).as_nanos() / self.interval.as_nanos().max(1);
        if passed > 0 {
            self.tokens =
                self.tokens.saturating_add(passed.min(u64::from(self.burst)) as u32).min(self.burst);
            // A partial interval is kept for the next token, unless the bucket is full.
            self.since = if self.tokens == self.burst { now } else { self.since + self.interval * passed };
        }
        let has_token = self.tokens > 0;
        if has_token {
            if self.tokens == self.burst {
                self.since = now;
            }
            self.tokens -= 1;
        }
        has_token
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Instant, RateLimiter};

    #[test]
    fn burst_is_followed_by_one_token_per_interval() {
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
