//! A maximum over a sliding window, whose length is a number of rounds. BBR and BBRv3 filter rates with it.
//!
//! Owns the three best samples, as Kathleen Nichols' algorithm in Linux (`lib/minmax.c`). The result never
//! exceeds the true maximum and is never older than the window.

/// A windowed maximum filter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowedMax {
    /// Time and value of the best sample, the best sample after it, and the best sample after that.
    best: [(u64, f64); 3],
}

impl WindowedMax {
    /// The maximum in the window.
    pub(crate) fn get(&self) -> f64 {
        self.best[0].1
    }

    /// Adds `value` at count `at`, which never decreases; `window` is the length of the window in counts.
    pub(crate) fn update(&mut self, window: u64, at: u64, value: f64) {
        let sample = (at, value);
        if value >= self.best[0].1 || at - self.best[2].0 > window {
            self.best = [sample; 3];
            return;
        }
        if value >= self.best[1].1 {
            (self.best[1], self.best[2]) = (sample, sample);
        } else if value >= self.best[2].1 {
            self.best[2] = sample;
        }
        let age = at - self.best[0].0;
        if age > window {
            // The best sample has expired: the next two move up.
            self.best = [self.best[1], self.best[2], sample];
            if at - self.best[0].0 > window {
                self.best = [self.best[1], self.best[2], sample];
            }
        } else if self.best[1].0 == self.best[0].0 && age > window / 4 {
            // A quarter of the window has passed without a second best sample: takes one from the second
            // quarter.
            (self.best[1], self.best[2]) = (sample, sample);
        } else if self.best[2].0 == self.best[1].0 && age > window / 2 {
            self.best[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WindowedMax;

    #[test]
    fn result_is_never_above_the_true_maximum() {
        let mut filter = WindowedMax::default();
        let mut values = Vec::new();
        // A sequence without a pattern. The result must be between the latest value and the true maximum.
        for at in 0..1000_u64 {
            let value = f64::from((at.wrapping_mul(2_654_435_761) >> 7) as u16 % 1000);
            values.push(value);
            filter.update(10, at, value);
            let from = values.len().saturating_sub(11);
            let exact = values[from..].iter().copied().fold(0.0, f64::max);
            assert!(filter.get() <= exact, "{at}: {} above {exact}", filter.get());
            assert!(filter.get() >= value, "{at}");
        }
    }

    #[test]
    fn peak_expires_after_the_window() {
        let mut filter = WindowedMax::default();
        filter.update(10, 0, 100.0);
        for at in 1..=10 {
            filter.update(10, at, 50.0);
            assert!((filter.get() - 100.0).abs() < 1e-9, "{at}");
        }
        filter.update(10, 11, 50.0);
        assert!((filter.get() - 50.0).abs() < 1e-9);
    }

    /// Results after each of these (count, value) samples.
    fn advertised(values: &[(u64, f64)]) -> Vec<f64> {
        let mut filter = WindowedMax::default();
        values.iter().map(|&(at, value)| (filter.update(10, at, value), filter.get()).1).collect()
    }

    #[test]
    fn later_maxima_replace_an_expired_maximum() {
        let mut values = vec![(0, 100.0), (3, 90.0), (6, 80.0)];
        values.extend((7..=20).map(|at| (at, 50.0)));
        let expected = |at: u64| match at {
            0..=10 => 100.0,
            11..=13 => 90.0,
            14..=16 => 80.0,
            _ => 50.0,
        };
        let expected: Vec<f64> = values.iter().map(|&(at, _)| expected(at)).collect();
        assert_eq!(advertised(&values), expected);
        // After a long gap, two samples or all three expire at once.
        assert_eq!(advertised(&[(0, 100.0), (3, 90.0), (6, 80.0), (15, 10.0)])[3], 80.0);
        assert_eq!(advertised(&[(0, 100.0), (3, 90.0), (6, 80.0), (17, 10.0)])[3], 10.0);
    }

    #[test]
    fn equal_value_replaces_the_older_sample() {
        assert_eq!(advertised(&[(0, 100.0), (9, 100.0), (19, 1.0)])[2], 100.0);
        // An equal second best sample replaces the older one.
        assert_eq!(advertised(&[(0, 100.0), (3, 70.0), (8, 70.0), (18, 1.0)])[3], 70.0);
        assert_eq!(advertised(&[(0, 100.0), (3, 70.0), (8, 60.0), (9, 65.0), (19, 1.0)])[4], 65.0);
    }
}
