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
