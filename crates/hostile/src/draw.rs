//! Reads the choices of a case, a random attack, from bytes of a fuzzer or a seed.
//!
//! Owns the conversion of bytes to numbers. After the last byte, every choice is the first one. Each prefix
//! of a case is therefore also a case, and a failing case can be shortened.

use mptcp_clock::{Duration, Rng};

/// The bytes of a case.
#[derive(Debug)]
pub struct Draw<'a> {
    left: &'a [u8],
}

impl<'a> Draw<'a> {
    /// Reads choices from these bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    /// Whether all bytes are used.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Number of unused bytes.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left.len()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.left.split_first() else { return 0 };
        self.left = rest;
        first
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from(self.u16()) | u32::from(self.u16()) << 16
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from(self.u32()) | u64::from(self.u32()) << 32
    }

    /// A number below `bound`; 0 when `bound` is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let drawn = if bound <= 256 { usize::from(self.byte()) } else { self.u32() as usize };
        drawn.checked_rem(bound).unwrap_or(0)
    }

    /// True with a probability of `part` / 256; false after the last byte.
    pub(crate) fn chance(&mut self, part: u8) -> bool {
        !self.is_empty() && self.byte() < part
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.chance(128)
    }

    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A number of up to `bits` bits; every magnitude is equally likely.
    pub(crate) fn scaled(&mut self, bits: u32) -> u64 {
        let shift = u32::from(self.byte()) % (bits + 1);
        let mask = (1_u64 << shift) - 1;
        let drawn =
            if shift <= 8 { u64::from(self.byte()) } else { u64::from(self.u32()) << (bits.max(32) - 32) };
        mask / 2 + 1 + (drawn & (mask / 2))
    }

    /// A duration from a microsecond to three days.
    pub(crate) fn span(&mut self) -> Duration {
        let micros = self.scaled(38);
        Duration::from_micros(micros.min(3 * 86_400_000_000))
    }

    /// A value near `near` at which arithmetic often fails.
    pub(crate) fn edge(&mut self, near: u64) -> u64 {
        const EDGES: [i64; 20] = [
            0,
            1,
            -1,
            2,
            -2,
            64,
            -64,
            536,
            1_460,
            -1_460,
            65_535,
            65_536,
            -65_536,
            1 << 20,
            1 << 30,
            -(1 << 30),
            (1 << 31) - 1,
            1 << 31,
            1 << 32,
            -(1 << 31),
        ];
        match self.byte() {
            at if usize::from(at) < EDGES.len() * 8 => {
                near.wrapping_add_signed(EDGES[usize::from(at) % EDGES.len()])
            }
            at if at < 224 => near.wrapping_add_signed(i64::from(self.u16() as i16)),
            at if at < 248 => near.wrapping_add_signed(i64::from(self.u32() as i32)),
            _ => self.u64(),
        }
    }
}

/// The bytes of the case for a seed.
#[must_use]
pub fn bytes_of(seed: u64) -> Vec<u8> {
    let mut stream = Rng::new(seed, "hostile case");
    let length = 40 + stream.below(40) * (1 + stream.below(40));
    let mut bytes = vec![0; length as usize];
    stream.fill(&mut bytes);
    bytes
}
