//! The control bits of a TCP header (RFC 9293 section 3.1, RFC 3168 section 6.1).
//!
//! Owns the value only; never acts on a bit.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// The low 12 bits of bytes 13 and 14 of the TCP header: reserved bits, then AE, CWR, ECE, URG, ACK, PSH, RST, SYN,
/// FIN.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u16);

impl Flags {
    /// No bit set.
    pub const NONE: Self = Self(0);
    /// No more data from the sender.
    pub const FIN: Self = Self(0x001);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x002);
    /// Reset the connection.
    pub const RST: Self = Self(0x004);
    /// Push.
    pub const PSH: Self = Self(0x008);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x010);
    /// The urgent pointer is valid.
    pub const URG: Self = Self(0x020);
    /// ECN echo.
    pub const ECE: Self = Self(0x040);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x080);

    /// Creates flags from 12 bits; higher bits are dropped.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & 0xfff)
    }

    /// The 12 bits in the header.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether SYN is set.
    #[must_use]
    pub const fn syn(self) -> bool {
        self.contains(Self::SYN)
    }

    /// Whether ACK is set.
    #[must_use]
    pub const fn ack(self) -> bool {
        self.contains(Self::ACK)
    }

    /// Whether FIN is set.
    #[must_use]
    pub const fn fin(self) -> bool {
        self.contains(Self::FIN)
    }

    /// Whether RST is set.
    #[must_use]
    pub const fn rst(self) -> bool {
        self.contains(Self::RST)
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [(Flags, char); 8] = [
            (Flags::SYN, 'S'),
            (Flags::FIN, 'F'),
            (Flags::RST, 'R'),
            (Flags::PSH, 'P'),
            (Flags::ACK, '.'),
            (Flags::URG, 'U'),
            (Flags::ECE, 'E'),
            (Flags::CWR, 'W'),
        ];
        NAMES.iter().filter(|(flag, _)| self.contains(*flag)).try_for_each(|(_, name)| write!(f, "{name}"))
    }
}
