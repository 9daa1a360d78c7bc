//! How a node chooses among ways of equally many hops.
//!
//! Owns the choice, one frame at a time. Never knows where a way leads, and never looks whether a link is up.

use mptcp_clock::Rng;

use crate::frame::AddressId;

/// How a node uses several ways of equally many hops.
#[derive(Debug, Default)]
pub enum Spreading {
    /// The one that is found first, looking back from the destination, by links in the order they were made.
    #[default]
    First,
    /// ECMP: all frames of one flow go one way. A flow is a label and a destination: a driver that numbers subflows by its labels
    /// has one for each five-tuple. Nodes with different salts choose independently: with one salt for all, a node would get just
    /// those flows for which the node before it chose the way to it, and use one of its own ways.
    ByFlow {
        /// What this node mixes into the hash.
        salt: u64,
    },
    /// Each frame goes another way, drawn from this stream: packet spraying.
    ByFrame(Rng),
}

impl Spreading {
    /// Which of `ways` a frame takes; there is one at least.
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

/// Hash-threshold (RFC 2992 section 1): the space of hashes is cut into equal regions, one for each way.
fn threshold(hash: u64, ways: usize) -> usize {
    ((u128::from(hash) * ways as u128) >> 64) as usize
}

/// Mixes until each bit depends on all (the finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
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
