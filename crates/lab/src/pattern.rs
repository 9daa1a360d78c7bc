//! The payload of simulated and emulated flows: a fixed pattern, so that the receiver can verify each byte.

use std::sync::LazyLock;

use bytes::Bytes;

/// Length of the pattern, bytes. The stream repeats it.
const LENGTH: usize = 1 << 20;

static PATTERN: LazyLock<&'static [u8]> = LazyLock::new(|| {
    let mut state = 0x243f_6a88_85a3_08d3_u64;
    let words = (0..LENGTH / 8).flat_map(|_| {
        // xorshift64 (Marsaglia): no sequence of the length of a segment repeats.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    Box::leak(words.collect::<Vec<u8>>().into_boxed_slice())
});

/// The stream from `offset`: `length` bytes, or fewer if the pattern ends before.
#[must_use]
pub fn bytes_at(offset: u64, length: u64) -> Bytes {
    let from = (offset % LENGTH as u64) as usize;
    let to = from + length.min((LENGTH - from) as u64) as usize;
    Bytes::from_static(&PATTERN[from..to])
}

/// Whether `data` equals the stream at `offset`.
#[must_use]
pub fn matches(mut offset: u64, mut data: &[u8]) -> bool {
    while !data.is_empty() {
        let from = (offset % LENGTH as u64) as usize;
        let length = data.len().min(LENGTH - from);
        let expected = &PATTERN[from..from + length];
        let (head, rest) = data.split_at(length);
        // The simulator does not copy payload, so both slices are usually the same memory.
        if !std::ptr::eq(head, expected) && head != expected {
            return false;
        }
        data = rest;
        offset += length as u64;
    }
    true
}
