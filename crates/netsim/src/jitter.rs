//! Variation of the propagation delay of a link. Draws delays; the direction handles ordering.

use mptcp_clock::{Duration, Rng};

/// The distribution of delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Uniform in delay ± spread.
    Uniform,
    /// Approximately normal with `spread` as standard deviation: the sum of four uniform numbers (Irwin-Hall).
    /// The deviation never exceeds 3.47 `spread`.
    Normal,
}

/// Jitter of a link direction. Delays below zero become zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// Half-width or standard deviation of the distribution.
    pub spread: Duration,
    /// The distribution.
    pub shape: Spread,
    /// Whether frames may be reordered. Otherwise no frame arrives before the previous one.
    pub reorder: bool,
}

impl Jitter {
    /// The minimum delay around `delay`.
    pub(crate) fn earliest(&self, delay: Duration) -> Duration {
        let reach = match self.shape {
            Spread::Uniform => self.spread,
            Spread::Normal => self.spread.mul_f64(3.47) + Duration::from_nanos(1),
        };
        Duration::from_nanos(delay.as_nanos().saturating_sub(reach.as_nanos()))
    }

    /// The mean delay around `delay`. It exceeds `delay` if negative delays become zero.
    #[must_use]
    pub fn mean(&self, delay: Duration) -> Duration {
        let (spread, nominal) = (self.spread.as_secs_f64(), delay.as_secs_f64());
        if spread <= 0.0 {
            return delay;
        }
        // The correction is the mean of the negative part, an integral of the Irwin-Hall distribution.
        let (width, distance) = match self.shape {
            Spread::Uniform => {
                let start = (1.0 - nominal / spread).max(0.0) / 2.0;
                (2.0 * spread, start * start / 2.0)
            }
            Spread::Normal => {
                let width = 3f64.sqrt() * spread;
                let start = (2.0 - nominal / width).max(0.0);
                (width, (fifth_power(start) - 4.0 * fifth_power((start - 1.0).max(0.0))) / 120.0)
            }
        };
        delay + Duration::from_nanos((width * distance * 1e9).round() as u64)
    }

    /// A random delay around `delay`.
    pub(crate) fn draw(&self, delay: Duration, stream: &mut Rng) -> Duration {
        let spread = self.spread.as_nanos();
        let offset = match self.shape {
            Spread::Uniform => {
                stream.below(spread.saturating_mul(2).saturating_add(1)) as i64 - spread as i64
            }
            Spread::Normal => {
                let bits = stream.next_u64();
                let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xffff).sum();
                let centred = sum as f64 / 65_535.0 - 2.0;
                (centred * 3f64.sqrt() * spread as f64).round() as i64
            }
        };
        Duration::from_nanos(delay.as_nanos().saturating_add_signed(offset))
    }
}

fn fifth_power(x: f64) -> f64 {
    let square = x * x;
    square * square * x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_that_of_many_draws() {
        let mut stream = Rng::new(1, "jitter");
        for shape in [Spread::Uniform, Spread::Normal] {
            for (delay, spread) in [(30, 20), (30, 0), (30, 100), (0, 50)] {
                let jitter = Jitter { spread: Duration::from_millis(spread), shape, reorder: false };
                let delay = Duration::from_millis(delay);
                let draws = 100_000;
                let sum: f64 = (0..draws).map(|_| jitter.draw(delay, &mut stream).as_secs_f64()).sum();
                let (found, expected) = (sum / f64::from(draws), jitter.mean(delay).as_secs_f64());
                assert!(
                    (found - expected).abs() < 0.001,
                    "{shape:?} {delay:?} {spread}: {found}, {expected}"
                );
            }
        }
    }
}
