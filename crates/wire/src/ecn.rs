//! The two bits of an IP header that say whether a packet may be marked, and whether it was (RFC 3168 section 5).
//!
//! Only a value: who sets and reads it is the business of endpoints and of the network.

/// The ECN field, in IPv4 and IPv6 alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Codepoint {
    /// Not ECN-capable: a congested queue has to drop it.
    #[default]
    NotEct = 0,
    /// ECN-capable; for experiments with finer marking (RFC 8311 section 4.2, RFC 9331).
    Ect1 = 1,
    /// ECN-capable.
    Ect0 = 2,
    /// Congestion was met.
    Ce = 3,
}

impl Codepoint {
    /// The two lower bits of a traffic class.
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

    /// As it stands in the header.
    #[must_use]
    #[inline]
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// Whether a queue may mark it in place of dropping it.
    #[must_use]
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}
