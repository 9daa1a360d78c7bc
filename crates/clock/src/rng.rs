//! Seeded random streams, one for each component of a simulation, so that a run can be repeated.
//!
//! Owns two generators: xoshiro256++ (Blackman and Vigna) for simulations, and ChaCha20 (RFC 8439) for keys
//! and other numbers that must be unpredictable.

use chacha20::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers that is a pure function of a seed and a name.
///
/// Each component has its own stream, so that a new component does not change the numbers of others.
pub struct Rng {
    generator: Generator,
}

enum Generator {
    Fast { seed: u64, draws: Xoshiro256PlusPlus },
    Secret(Box<Secret>),
}

struct Secret {
    seed: [u8; 32],
    draws: ChaCha20Rng,
}

impl Rng {
    /// The stream called `name` under `seed`. Fast and predictable: for simulations.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        let seed = mix(seed ^ fnv1a(name.as_bytes()));
        Self { generator: Generator::Fast { seed, draws: Xoshiro256PlusPlus::seed_from_u64(seed) } }
    }

    /// A stream for keys on real networks (RFC 4086, RFC 8684 section 5). Without `seed`, nobody can predict
    /// the stream or its children.
    #[must_use]
    pub fn secret(seed: [u8; 32]) -> Self {
        Self { generator: Generator::Secret(Box::new(Secret { seed, draws: ChaCha20Rng::from_seed(seed) })) }
    }

    /// The child stream called `name`. It does not depend on the numbers drawn from the parent so far.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        match &self.generator {
            Generator::Fast { seed, .. } => Self::new(*seed, name),
            Generator::Secret(secret) => {
                // A separate keystream under the same key; the parent uses stream number 0.
                let mut draws = ChaCha20Rng::from_seed(secret.seed);
                draws.set_stream(fnv1a(name.as_bytes()).max(1));
                let mut seed = [0; 32];
                draws.fill_bytes(&mut seed);
                Self::secret(seed)
            }
        }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        match &mut self.generator {
            Generator::Fast { draws, .. } => draws.next_u64(),
            Generator::Secret(secret) => secret.draws.next_u64(),
        }
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

    /// A number in [0, bound), or 0 when `bound` is 0 (Lemire's multiply-shift). The bias is below 2^-32 for bounds
    /// below 2^32.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Fills `bytes` with random bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        match &mut self.generator {
            Generator::Fast { draws, .. } => draws.fill_bytes(bytes),
            Generator::Secret(secret) => secret.draws.fill_bytes(bytes),
        }
    }
}

/// Prints the generator's type, and never its state.
impl std::fmt::Debug for Rng {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.generator {
            Generator::Fast { .. } => "Rng(fast)",
            Generator::Secret(_) => "Rng(secret)",
        })
    }
}

/// FNV-1a over bytes: a stable hash, the same on every machine.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The finaliser of SplitMix64: maps close seeds to unrelated values.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
