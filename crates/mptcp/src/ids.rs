//! Ids of interfaces, connections and subflows, by which drivers and applications name them. No id is reused,
//! so an old id never reaches another connection.

/// An interface of an endpoint; a number in the order of creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InterfaceId(pub u32);

/// A connection of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl ConnectionId {
    /// The slot of the connection: an index for tables, unique among the open connections.
    #[must_use]
    pub fn slot(self) -> usize {
        self.slot as usize
    }
}

/// A subflow of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubflowId(u64);

impl SubflowId {
    /// Number of bits of an id that hold the slot.
    const SLOT: u32 = 6;
    /// Number of subflow slots of a connection.
    pub(crate) const SLOTS: usize = 1 << Self::SLOT;

    pub(crate) const fn new(number: u64, slot: usize) -> Self {
        debug_assert!(slot < Self::SLOTS);
        Self(number << Self::SLOT | slot as u64)
    }

    /// Number of the subflow in its connection, in the order of creation, from 0.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0 >> Self::SLOT
    }

    /// The slot of the subflow. It may be reused after the subflow has ended.
    pub(crate) const fn slot(self) -> usize {
        (self.0 & (Self::SLOTS as u64 - 1)) as usize
    }
}

impl std::fmt::Display for SubflowId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.number().fmt(f)
    }
}
