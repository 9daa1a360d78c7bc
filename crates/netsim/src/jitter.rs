//! Variation of the propagation delay. Draws one delay at a time; ordering is the link's business.

use mptcp_clock::{Duration, Rng};

/// How delays scatter around the nominal one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Uniform in delay ± spread.
    Uniform,
    /// Near to normal with the spread as standard deviation: the sum of four uniform numbers
    /// (Irwin-Hall), so never further than 3.47 spreads from the nominal delay.
    Normal,
}

/// Jitter of a link direction. A delay never falls below zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// Half-width or standard deviation.
    pub spread: Duration,
    /// Its distribution.
    pub shape: Spread,
    /// Whether a frame may overtake the one before. If not, it arrives no earlier than that one.
    pub reorder: bool,
}

impl Jitter {
    /// The shortest delay that may be drawn around `delay`.
    pub(crate) fn earliest(&self, delay: Duration) -> Duration {
        let reach = match self.shape {
            Spread::Uniform => self.spread,
            Spread::Normal => self.spread.mul_f64(3.47) + Duration::from_nanos(1),
        };
        Duration::from_nanos(delay.as_nanos().saturating_sub(reach.as_nanos()))
    }

    /// The delay of the next frame, around `delay`.
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
