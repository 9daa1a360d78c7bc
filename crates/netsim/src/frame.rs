//! Frames, and the names of what they meet. Only values: nothing here decides anything.

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
            /// Its place in the order of creation, from 0: an index for the driver's own tables.
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
    /// The link this is a direction of.
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

/// What a queue may do to a frame where it is congested: the ECN field of an IP header (RFC 3168 section 5), by its values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Codepoint {
    /// Drop it.
    #[default]
    NotEct = 0,
    /// Mark it; a queue may do so more finely than with `Ect0` (RFC 9331).
    Ect1 = 1,
    /// Mark it.
    Ect0 = 2,
    /// It was marked.
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

    /// Marks it, if that is allowed; returns whether it is marked now and was not before.
    #[inline]
    pub(crate) fn mark(&mut self) -> bool {
        let marked = matches!(self, Self::Ect0 | Self::Ect1);
        if marked {
            *self = Self::Ce;
        }
        marked
    }
}

/// What travels. The network reads all but the payload, and changes the mark alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<P> {
    /// Bytes on the wire: the IP packet and 14 bytes of Ethernet header.
    pub bytes: u32,
    /// Where it goes.
    pub destination: AddressId,
    /// The upper 24 bits are the class, which filters match: which subflow the frame belongs to, as
    /// the driver numbers them. The lower 8 bits are a detail of the driver's own.
    pub label: u32,
    /// Whether queues may mark it, and whether one did.
    pub ecn: Codepoint,
    /// The driver's own; moved, never copied.
    pub payload: P,
}

impl Frame<()> {
    /// The label of `class`, of which the lower 24 bits count, with a `detail` of the driver's own.
    #[must_use]
    pub const fn label_of(class: u32, detail: u8) -> u32 {
        class << 8 | detail as u32
    }
}

impl<P> Frame<P> {
    /// What filters match.
    #[must_use]
    pub const fn class(&self) -> u32 {
        self.label >> 8
    }

    /// What filters ignore.
    #[must_use]
    pub const fn detail(&self) -> u8 {
        self.label as u8
    }
}

/// Why a frame never arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The queue was full.
    QueueFull,
    /// The link's random loss took it.
    Chance,
    /// It was longer than the link carries.
    TooLong,
    /// The link was down, or went down while it held the frame.
    Down,
    /// A filter's loss took it.
    Filter,
    /// A station or an access point gave it up after its last retry.
    Retries,
    /// The queue's discipline dropped it.
    Discipline,
    /// It arrives, but damaged: whoever reads it finds its checksum wrong.
    Corrupted,
    /// It reached a node that neither owns its destination nor knows a way there.
    NoRoute,
}

/// A frame that never arrived, given back to the driver (see [`crate::Network::keep_lost`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost<P> {
    /// When it was lost. A random loss falls at the end of the frame's serialisation.
    pub at: Instant,
    /// Where it was lost; for [`Cause::NoRoute`], the direction by which it came.
    pub direction: DirectionId,
    /// What took it.
    pub cause: Cause,
    /// The frame itself.
    pub frame: Frame<P>,
}
