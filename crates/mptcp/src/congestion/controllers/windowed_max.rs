//! The greatest value of late: over a window that moves with rounds, or with whatever else counts up.
//!
//! Owns the three best candidates, in order of age (Kathleen Nichols' algorithm, as Linux's `lib/minmax.c` has it): exact while the
//! best is young, and never older than the window.

/// A windowed maximum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowedMax {
    /// When and how much: the best, the best since then, the best since that one.
    best: [(u64, f64); 3],
}

impl WindowedMax {
    /// The greatest value of the window.
    pub(crate) fn get(&self) -> f64 {
        self.best[0].1
    }

    /// Takes a value, `window` counts long, at count `at`, which never falls.
    pub(crate) fn take(&mut self, window: u64, at: u64, value: f64) {
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
            // The best is too old: the next in age are the best.
            self.best = [self.best[1], self.best[2], sample];
            if at - self.best[0].0 > window {
                self.best = [self.best[1], self.best[2], sample];
            }
        } else if self.best[1].0 == self.best[0].0 && age > window / 4 {
            // A quarter of the window without a second best: take one from the second quarter.
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
    fn the_best_of_the_window_counts_and_no_older_one() {
        let mut filter = WindowedMax::default();
        let mut values = Vec::new();
        // A sequence without a pattern; the filter is between the best of the window and that of all.
        for at in 0..1000_u64 {
            let value = f64::from((at.wrapping_mul(2_654_435_761) >> 7) as u16 % 1000);
            values.push(value);
            filter.take(10, at, value);
            let from = values.len().saturating_sub(11);
            let exact = values[from..].iter().copied().fold(0.0, f64::max);
            assert!(filter.get() <= exact, "{at}: {} above {exact}", filter.get());
            assert!(filter.get() >= value, "{at}");
        }
    }

    #[test]
    fn a_peak_is_forgotten_when_it_is_too_old() {
        let mut filter = WindowedMax::default();
        filter.take(10, 0, 100.0);
        for at in 1..=10 {
            filter.take(10, at, 50.0);
            assert!((filter.get() - 100.0).abs() < 1e-9, "{at}");
        }
        filter.take(10, 11, 50.0);
        assert!((filter.get() - 50.0).abs() < 1e-9);
    }

    /// What the filter says at each count, of these values at their counts.
    fn advertised(values: &[(u64, f64)]) -> Vec<f64> {
        let mut filter = WindowedMax::default();
        values.iter().map(|&(at, value)| (filter.take(10, at, value), filter.get()).1).collect()
    }

    #[test]
    fn after_the_best_the_best_since_then_counts() {
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
        // Where nothing came for a while, two of them are too old at once, or all.
        assert_eq!(advertised(&[(0, 100.0), (3, 90.0), (6, 80.0), (15, 10.0)])[3], 80.0);
        assert_eq!(advertised(&[(0, 100.0), (3, 90.0), (6, 80.0), (17, 10.0)])[3], 10.0);
    }

    #[test]
    fn as_much_as_the_best_is_the_best_and_younger() {
        assert_eq!(advertised(&[(0, 100.0), (9, 100.0), (19, 1.0)])[2], 100.0);
        // A second best that is reached again is younger, too.
        assert_eq!(advertised(&[(0, 100.0), (3, 70.0), (8, 70.0), (18, 1.0)])[3], 70.0);
        assert_eq!(advertised(&[(0, 100.0), (3, 70.0), (8, 60.0), (9, 65.0), (19, 1.0)])[4], 65.0);
    }
}
