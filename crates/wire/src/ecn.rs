//! The ECN field of an IP header (RFC 3168 section 5).
//!
//! Owns the value only; endpoints and the network set and read it.

/// The ECN field of IPv4 and IPv6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Codepoint {
    /// Not ECN-capable: a congested queue must drop the packet.
    #[default]
    NotEct = 0,
    /// ECN-capable, for experiments with finer marking (RFC 8311 section 4.2, RFC 9331).
    Ect1 = 1,
    /// ECN-capable.
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Codepoint {
    /// The codepoint in the two lower bits of a traffic class.
    #[must_use]
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            1 => Self::Ect1,
            2 => Self::Ect0,
            3 => Self::Ce,
            _ => Self::NotEct,
        }
    }

    /// The bits in the header.
    #[must_use]
    #[inline]
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// Whether a queue may mark the packet instead of dropping it.
    #[must_use]
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}
