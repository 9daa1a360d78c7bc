//! What things are known by.

/// An interface of an endpoint, numbered in the order of their addition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InterfaceId(pub u32);

/// A connection of an endpoint. Never used again for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId {
    pub(crate) place: u32,
    pub(crate) generation: u32,
}

impl ConnectionId {
    /// A small number that no two connections have at the same time, for tables.
    #[must_use]
    pub fn place(self) -> usize {
        self.place as usize
    }
}

/// A subflow of a connection. Never used again for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubflowId(u64);

impl SubflowId {
    /// Bits of the slot, so that a subflow is found without a search.
    const SLOT: u32 = 6;
    /// Subflows that a connection has slots for.
    pub(crate) const SLOTS: usize = 1 << Self::SLOT;

    pub(crate) const fn new(number: u64, slot: usize) -> Self {
        debug_assert!(slot < Self::SLOTS);
        Self(number << Self::SLOT | slot as u64)
    }

    /// Which subflow of its connection it is, from 0 in the order in which they began.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0 >> Self::SLOT
    }

    /// Where it stands in its connection, which a later one may get.
    pub(crate) const fn slot(self) -> usize {
        (self.0 & (Self::SLOTS as u64 - 1)) as usize
    }
}

impl std::fmt::Display for SubflowId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.number().fmt(f)
    }
}
