//! A histogram of durations in constant memory, for the lateness of packets and of the driver loop.
//!
//! The driver loop passes packets between devices and simulated links. Owns the counts. Percentiles are
//! accurate to 3%, the maximum is exact. `verdict` decides from them whether results are accurate.

use mptcp_clock::Duration;

/// Bins per power of two.
const PARTS: u32 = 32;
const BITS: u32 = PARTS.trailing_zeros();

/// A histogram of durations.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Vec<u64>,
    longest: u64,
}

/// A summary of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// Number of values.
    pub count: u64,
    /// Median.
    pub p50: Duration,
    /// 99th percentile.
    pub p99: Duration,
    /// 99.9th percentile.
    pub p999: Duration,
    /// Maximum.
    pub max: Duration,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { counts: vec![0; ((64 - BITS + 1) * PARTS) as usize], longest: 0 }
    }
}

impl Lateness {
    /// Adds a value.
    #[inline]
    pub fn count(&mut self, length: Duration) {
        let nanos = length.as_nanos();
        self.longest = self.longest.max(nanos);
        if let Some(count) = self.counts.get_mut(place(nanos)) {
            *count += 1;
        }
    }

    /// The summary so far.
    #[must_use]
    pub fn spread(&self) -> Spread {
        let count = self.counts.iter().sum();
        let [p50, p99, p999] = [500, 990, 999].map(|part| self.quantile(count, part));
        Spread { count, p50, p99, p999, max: Duration::from_nanos(self.longest) }
    }

    /// The quantile of `part` per thousand.
    fn quantile(&self, all: u64, part: u128) -> Duration {
        let wanted = (u128::from(all) * part).div_ceil(1000) as u64;
        let mut seen = 0;
        let reached = |count: &u64| {
            seen += count;
            seen >= wanted
        };
        let found = self.counts.iter().position(reached).unwrap_or(0);
        Duration::from_nanos(if all == 0 { 0 } else { upper(found).min(self.longest) })
    }
}

/// The bin of a value.
fn place(nanos: u64) -> usize {
    if nanos < u64::from(PARTS) {
        return nanos as usize;
    }
    let power = nanos.ilog2() - BITS;
    ((power + 1) * PARTS) as usize + (nanos >> power) as usize - PARTS as usize
}

/// The upper end of a bin.
fn upper(place: usize) -> u64 {
    let parts = PARTS as usize;
    if place < parts {
        return place as u64;
    }
    let power = place / parts - 1;
    let next = (place % parts + parts + 1) as u128;
    u64::try_from((next << power) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_lies_where_it_is_counted() {
        for nanos in (0..10_000).chain((0..64).map(|power| 1 << power)).chain([u64::MAX]) {
            let at = place(nanos);
            assert!(upper(at) >= nanos, "{nanos}");
            assert!(at == 0 || upper(at - 1) < nanos, "{nanos}");
            assert!(upper(at) as f64 <= nanos as f64 * 1.04 + 1.0, "{nanos}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_lengths() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.spread(), Spread::default());
        for micros in 1..=1000 {
            lateness.count(Duration::from_micros(micros));
        }
        let spread = lateness.spread();
        assert_eq!((spread.count, spread.max), (1000, Duration::from_millis(1)));
        assert!((495..=520).contains(&spread.p50.as_micros()), "{spread:?}");
        assert!((990..=1000).contains(&spread.p99.as_micros()), "{spread:?}");
        assert!((999..=1000).contains(&spread.p999.as_micros()), "{spread:?}");
    }
}
