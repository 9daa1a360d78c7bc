//! Sequence numbers without wrap: 32-bit numbers become 64-bit distances from a base.

/// Extends the sequence numbers of one direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extender {
    base: u32,
    /// The last number as a distance, the reference of the next one.
    last: u64,
}

impl Extender {
    /// Distances start at `base`, which becomes `first`.
    pub(crate) const fn new(base: u32, first: u64) -> Self {
        Self { base: base.wrapping_sub(first as u32), last: first }
    }

    /// The distance of a number within 2^31 of the highest one so far; None if it lies before the base.
    pub(crate) fn extend(&mut self, number: u32) -> Option<u64> {
        let relative = number.wrapping_sub(self.base);
        let ahead = relative.wrapping_sub(self.last as u32).cast_signed();
        let extended = self.last.checked_add_signed(i64::from(ahead))?;
        self.last = self.last.max(extended);
        Some(extended)
    }
}

/// Extends a 32-bit data sequence number to the 64-bit number next to `near` (RFC 8684 section 3.3.1).
pub(crate) fn extend_data(short: u32, near: u64) -> u64 {
    let ahead = short.wrapping_sub(near as u32).cast_signed();
    near.wrapping_add_signed(i64::from(ahead))
}
