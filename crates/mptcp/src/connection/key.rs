//! A key and what follows from it (RFC 8684 section 3.1).
//!
//! Owns the way between data sequence numbers on the wire and offsets in the stream.

use mptcp_wire::DataSequence;
use mptcp_wire::crypto::Version;

/// A key and what follows from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub value: u64,
    pub token: u32,
    /// Data sequence number of the first byte.
    pub first: u64,
}

impl Key {
    pub(crate) fn new(version: Version, value: u64) -> Self {
        let digest = version.digest(value);
        // RFC 8684 section 3.1: the initial number itself is taken by the handshake.
        Self { value, token: digest.token, first: digest.initial_sequence.wrapping_add(1) }
    }

    /// The number of the byte at `offset`.
    pub(crate) fn at(&self, offset: u64) -> u64 {
        self.first.wrapping_add(offset)
    }

    /// The offset nearest to `near` that a number on the wire stands for; None before the start.
    pub(crate) fn offset(&self, number: DataSequence, near: u64) -> Option<u64> {
        let offset = number.expand(self.at(near)).wrapping_sub(self.first);
        (offset < 1 << 62).then_some(offset)
    }
}
