//! Seeded random streams: xoshiro256++ (Blackman and Vigna), one stream for each component.

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers that is a pure function of a seed and a name.
///
/// Components draw from streams of their own, so adding one never changes what another draws.
#[derive(Clone, Debug)]
pub struct Stream {
    seed: u64,
    generator: Xoshiro256PlusPlus,
}

impl Stream {
    /// The stream called `name` under `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        let seed = mix(seed ^ fnv1a(name.as_bytes()));
        Self { seed, generator: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// A stream below this one; independent of how much was drawn here.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self::new(self.seed, name)
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// A number in [0, 1), uniform over the multiples of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with probability `p`. Draws nothing when `p` is 0 or less, or 1 or more.
    pub fn chance(&mut self, p: f64) -> bool {
        if p <= 0.0 {
            false
        } else if p >= 1.0 {
            true
        } else {
            self.unit() < p
        }
    }

    /// A number in [0, bound), or 0 when `bound` is 0 (Lemire's multiply-shift; bias below 2^-32
    /// for bounds below 2^32).
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Fills `bytes` with random bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.generator.fill_bytes(bytes);
    }
}

/// FNV-1a over bytes: a stable hash, the same on every machine.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The finaliser of SplitMix64: spreads close seeds far apart.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
