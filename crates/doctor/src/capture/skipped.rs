//! Packets without a usable TCP segment, counted by reason.

use schemars::JsonSchema;
use serde::Serialize;

/// Packets without a TCP segment that can be used, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Skipped {
    /// Frames without an IP packet.
    pub not_ip: u64,
    /// IP packets of other protocols.
    pub not_tcp: u64,
    /// Fragments of IP packets after the first, and first fragments.
    pub fragments: u64,
    /// Packets whose headers the capture cut off.
    pub cut: u64,
    /// Packets with an invalid header.
    pub invalid: u64,
}

/// Why a packet has no usable segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unusable {
    NotIp,
    NotTcp,
    Fragment,
    Cut,
    Invalid,
}

impl Skipped {
    pub(super) fn count(&mut self, why: Unusable) {
        *match why {
            Unusable::NotIp => &mut self.not_ip,
            Unusable::NotTcp => &mut self.not_tcp,
            Unusable::Fragment => &mut self.fragments,
            Unusable::Cut => &mut self.cut,
            Unusable::Invalid => &mut self.invalid,
        } += 1;
    }

    /// The sum of both.
    pub(super) fn add(&mut self, other: Self) {
        self.not_ip += other.not_ip;
        self.not_tcp += other.not_tcp;
        self.fragments += other.fragments;
        self.cut += other.cut;
        self.invalid += other.invalid;
    }
}
