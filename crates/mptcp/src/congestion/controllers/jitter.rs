//! Pseudo-random numbers with which BBR and BBRv3 desynchronise flows.
//!
//! Owns one generator, without a seed: the time of each call is its input. Flows differ because their
//! acknowledgements arrive at different nanoseconds, and a simulation repeats exactly.

use mptcp_clock::Instant;

/// State of the generator.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JitterRng {
    state: u64,
}

impl JitterRng {
    fn next(&mut self, now: Instant) -> u64 {
        // SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), with the time mixed in.
        self.state = (self.state ^ now.as_nanos()).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns an integer from 0 to `bound` - 1; 0 if `bound` is 0.
    pub(crate) fn below(&mut self, now: Instant, bound: u64) -> u64 {
        self.next(now) % bound.max(1)
    }

    /// Returns a number from 0 (inclusive) to 1 (exclusive).
    pub(crate) fn unit(&mut self, now: Instant) -> f64 {
        (self.next(now) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_over_their_range() {
        let mut jitter = JitterRng::default();
        let now = |number: u64| Instant::from_nanos(1_000 * number);
        let units: Vec<f64> = (0..1000).map(|number| jitter.unit(now(number))).collect();
        assert!(units.iter().all(|unit| (0.0..1.0).contains(unit)));
        let mean = units.iter().sum::<f64>() / 1000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
        let mut counts = [0; 7];
        (0..700).for_each(|number| counts[jitter.below(now(number), 7) as usize] += 1);
        assert!(counts.iter().all(|count| (60..140).contains(count)), "{counts:?}");
        assert_eq!(jitter.below(now(0), 0), 0);
    }
}
