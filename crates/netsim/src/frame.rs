//! Frames, identifiers, and the causes of loss: the types that the network shares with its driver, which is
//! the program that runs the network.

use mptcp_clock::Instant;

/// A host or a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

/// An address, owned by one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AddressId(pub(crate) u16);

/// A duplex link: two directions with parameters of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub(crate) u32);

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectionId(pub(crate) u32);

/// A timer of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerId(pub(crate) u32);

macro_rules! indices {
    ($($name:ident),*) => {$(
        impl $name {
            /// The index in the order of creation, from 0, for tables of the driver.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
indices!(NodeId, AddressId, LinkId, DirectionId, TimerId);

impl LinkId {
    /// The direction from the first node of the link to the second.
    #[must_use]
    pub const fn forward(self) -> DirectionId {
        DirectionId(self.0 * 2)
    }

    /// The direction from the second node of the link to the first.
    #[must_use]
    pub const fn backward(self) -> DirectionId {
        DirectionId(self.0 * 2 + 1)
    }
}

impl DirectionId {
    /// The link of this direction.
    #[must_use]
    pub const fn link(self) -> LinkId {
        LinkId(self.0 / 2)
    }

    /// The opposite direction of the same link.
    #[must_use]
    pub const fn reverse(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// The ECN field of an IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Codepoint {
    /// Not ECN-capable: congested queues drop it.
    #[default]
    NotEct = 0,
    /// ECN-capable; queues may mark it more finely than `Ect0` (RFC 9331).
    Ect1 = 1,
    /// ECN-capable: congested queues mark it.
    Ect0 = 2,
    /// Marked: the frame met congestion.
    Ce = 3,
}

impl Codepoint {
    /// From the two bits.
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

    /// The two bits.
    #[must_use]
    #[inline]
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// Marks the frame if it is ECN-capable. Returns whether this call marked it.
    #[inline]
    pub(crate) fn mark(&mut self) -> bool {
        let marked = matches!(self, Self::Ect0 | Self::Ect1);
        if marked {
            *self = Self::Ce;
        }
        marked
    }
}

/// A frame. The network reads everything except the payload, and changes only the ECN mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<P> {
    /// Length in bytes: the IP packet and 14 bytes of Ethernet header.
    pub bytes: u32,
    /// Destination address.
    pub destination: AddressId,
    /// The upper 24 bits are the class, usually the number of the subflow, which filters match. The driver
    /// uses the lower 8 bits.
    pub label: u32,
    /// ECN codepoint.
    pub ecn: Codepoint,
    /// Data of the driver, which the network moves but never copies.
    pub payload: P,
}

impl Frame<()> {
    /// The label of `class` (24 bits) with `detail` (8 bits).
    #[must_use]
    pub const fn label_of(class: u32, detail: u8) -> u32 {
        class << 8 | detail as u32
    }
}

impl<P> Frame<P> {
    /// The class, which filters match.
    #[must_use]
    pub const fn class(&self) -> u32 {
        self.label >> 8
    }

    /// The detail, which filters ignore.
    #[must_use]
    pub const fn detail(&self) -> u8 {
        self.label as u8
    }
}

/// The cause of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The queue was full.
    QueueFull,
    /// Random loss of the link.
    Chance,
    /// The frame is longer than the maximum of the link.
    TooLong,
    /// The link was down, or went down while it held the frame.
    Down,
    /// Random loss of a filter.
    Filter,
    /// A station or access point gave up after the last retry.
    Retries,
    /// The queue discipline dropped the frame.
    Discipline,
    /// The frame is delivered with a bit error, and its receiver drops it because of the checksum.
    Corrupted,
    /// A node neither owns the destination nor has a route to it.
    NoRoute,
}

/// A dropped frame, returned to the driver (see [`crate::Network::keep_lost`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost<P> {
    /// Time of the drop. A random loss is dated to the end of the serialisation.
    pub at: Instant,
    /// The direction of the drop; for [`Cause::NoRoute`], the incoming direction.
    pub direction: DirectionId,
    /// The cause.
    pub cause: Cause,
    /// The frame.
    pub frame: Frame<P>,
}
