//! Numbers without a pattern, for controllers that must not do the same at the same time as others.
//!
//! Owns no chance: a controller has none of its own, so what it draws comes from the times at which it draws. Two flows draw
//! apart because no two acknowledgements come at one nanosecond, and a run is the same each time.

use mptcp_clock::Instant;

/// What was drawn so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JitterRng {
    state: u64,
}

impl JitterRng {
    fn next(&mut self, now: Instant) -> u64 {
        // SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), stirred by the time.
        self.state = (self.state ^ now.as_nanos()).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A whole number below `bound`, which is at least 1.
    pub(crate) fn below(&mut self, now: Instant, bound: u64) -> u64 {
        self.next(now) % bound.max(1)
    }

    /// At least 0, less than 1.
    pub(crate) fn unit(&mut self, now: Instant) -> f64 {
        (self.next(now) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_one_and_numbers_below_a_bound_are_spread_over_all_there_is() {
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
