//! Selection among equal-cost paths.
//!
//! Nodes share load over them (ECMP). Owns the selection for one frame. Knows paths only by their index, and
//! ignores the state of links.

use mptcp_clock::Rng;

use crate::frame::AddressId;

/// The use of several equal-cost paths by a node.
#[derive(Debug, Default)]
pub enum Spreading {
    /// The first path in a search from the destination, by the order of links.
    #[default]
    First,
    /// ECMP: all frames of a flow take the same path. A flow is a label and a destination, so labels must
    /// number subflows to match five-tuples. Nodes need different salts. With a common salt, the flows that
    /// reach a node have similar hashes, and it uses only one of its paths.
    ByFlow {
        /// Salt of the hash of this node.
        salt: u64,
    },
    /// Packet spraying: a random path for each frame.
    ByFrame(Rng),
}

impl Spreading {
    /// Index of the path for a frame, out of `ways` (at least 1).
    #[inline]
    pub(crate) fn choose(&mut self, ways: usize, label: u32, to: AddressId) -> usize {
        match self {
            _ if ways < 2 => 0,
            Self::First => 0,
            Self::ByFlow { salt } => threshold(hash(*salt, label, to), ways),
            Self::ByFrame(stream) => stream.below(ways as u64) as usize,
        }
    }
}

/// Hash-threshold (RFC 2992 section 1): divides the hash space into equal regions, one per path.
fn threshold(hash: u64, ways: usize) -> usize {
    ((u128::from(hash) * ways as u128) >> 64) as usize
}

/// A hash in which every bit depends on every input bit (finaliser of SplitMix64: Steele, Lea and Flood,
/// OOPSLA 2014).
fn hash(salt: u64, label: u32, to: AddressId) -> u64 {
    let mut mixed = salt ^ (u64::from(label) << 16 | u64::from(to.0));
    for multiplier in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        mixed = (mixed ^ mixed >> 30).wrapping_mul(multiplier);
        mixed ^= mixed >> 31;
    }
    mixed
}

#[cfg(test)]
mod tests;
