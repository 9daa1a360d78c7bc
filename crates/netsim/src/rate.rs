//! Link rates, and the transmission times of frames at them. Knows no queues and no absolute time.

use mptcp_clock::Duration;

/// Fractional bits of the reciprocal.
const PLACES: u32 = 32;

/// A link rate in bit/s, at least 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    bits_per_second: u64,
    /// Nanoseconds per byte in 32.32 fixed point, so that each frame costs a multiplication instead of a
    /// division. Rounding to nearest keeps integral results exact for frames below 4 GB.
    nanos_per_byte: u64,
}

impl Rate {
    /// A rate of `bits_per_second`; `None` below 8 bit/s.
    #[must_use]
    pub fn new(bits_per_second: u64) -> Option<Self> {
        if bits_per_second < 8 {
            return None;
        }
        let rate = u128::from(bits_per_second);
        let nanos_per_byte = ((8_000_000_000_u128 << PLACES) + rate / 2) / rate;
        Some(Self { bits_per_second, nanos_per_byte: nanos_per_byte as u64 })
    }

    /// The rate in bit/s.
    #[must_use]
    pub const fn bits_per_second(self) -> u64 {
        self.bits_per_second
    }

    /// Transmission time of `bytes`, rounded to the nearest nanosecond.
    #[must_use]
    pub const fn serialisation(self, bytes: u32) -> Duration {
        let fixed = self.nanos_per_byte as u128 * bytes as u128;
        Duration::from_nanos(((fixed + (1 << (PLACES - 1))) >> PLACES) as u64)
    }

    /// Number of whole bytes transmitted in `span`.
    #[must_use]
    pub const fn bytes_in(self, span: Duration) -> u64 {
        let bytes = span.as_nanos() as u128 * self.bits_per_second as u128 / 8_000_000_000;
        if bytes > u64::MAX as u128 { u64::MAX } else { bytes as u64 }
    }

    /// Transmission time at `other` of the bits that take `span` at this rate.
    #[must_use]
    pub(crate) fn carried_to(self, other: Self, span: Duration) -> Duration {
        let bits = u128::from(span.as_nanos()) * u128::from(self.bits_per_second);
        let rate = u128::from(other.bits_per_second);
        Duration::from_nanos(u64::try_from((bits + rate / 2) / rate).unwrap_or(u64::MAX))
    }
}
