//! The places of connections, used again when a connection is over.
//!
//! Owns the numbers that connections are known by. A place has a generation, so that a number that somebody kept
//! never means a later connection.

use crate::connection::Connection;
use crate::ids::ConnectionId;

#[derive(Debug, Default)]
pub(super) struct Slot {
    pub connection: Option<Box<Connection>>,
    pub ready: bool,
    pub eventful: bool,
    /// Somebody may have changed the connection since it gave a segment last.
    pub disturbed: bool,
    /// The port whose listener it waits for.
    pub waits_at: Option<u16>,
    /// Its handshake is not over.
    pub opening: bool,
    /// Received payload that it holds, bytes, as the endpoint's pool counts it.
    pub held: u64,
    generation: u32,
}

impl Slot {
    /// How the connection in it is called, where `place` is its own.
    #[inline]
    pub(super) fn id(&self, place: u32) -> ConnectionId {
        ConnectionId { place, generation: self.generation }
    }
}

#[derive(Debug, Default)]
pub(super) struct Slots {
    list: Vec<Slot>,
    free: Vec<u32>,
}

impl Slots {
    /// Puts a connection into a place.
    pub(super) fn insert(&mut self, connection: Connection) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.list.push(Slot::default());
            self.list.len() as u32 - 1
        });
        self.list[place as usize].connection = Some(Box::new(connection));
        place
    }

    /// Empties a place.
    pub(super) fn remove(&mut self, place: u32) {
        let slot = &mut self.list[place as usize];
        if slot.connection.take().is_some() {
            slot.generation = slot.generation.wrapping_add(1);
            self.free.push(place);
        }
    }

    /// How the connection in a place is called.
    pub(super) fn id(&self, place: u32) -> ConnectionId {
        ConnectionId { place, generation: self.list[place as usize].generation }
    }

    /// The place of a connection that exists.
    pub(super) fn place(&self, id: ConnectionId) -> Option<u32> {
        let slot = self.list.get(id.place as usize)?;
        (slot.generation == id.generation && slot.connection.is_some()).then_some(id.place)
    }

    pub(super) fn at(&mut self, place: u32) -> &mut Slot {
        &mut self.list[place as usize]
    }

    /// The connection in a place, for somebody who may change it.
    #[inline]
    pub(super) fn connection_at(&mut self, place: u32) -> Option<&mut Connection> {
        let slot = self.list.get_mut(place as usize)?;
        slot.disturbed = true;
        slot.connection.as_deref_mut()
    }

    /// A connection, for somebody who may change it.
    #[inline]
    pub(super) fn connection_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        let slot = self.list.get_mut(id.place as usize).filter(|slot| slot.generation == id.generation)?;
        slot.disturbed = true;
        slot.connection.as_deref_mut()
    }

    pub(super) fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        self.place(id).and_then(|place| self.list[place as usize].connection.as_deref())
    }

    /// Places that are used.
    pub(super) fn used(&self) -> usize {
        self.list.len() - self.free.len()
    }

    /// Places that there are, used or not.
    pub(super) fn count(&self) -> u32 {
        self.list.len() as u32
    }

    /// The connections that exist.
    pub(super) fn ids(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        let used = self.list.iter().enumerate().filter(|(_, slot)| slot.connection.is_some());
        used.map(|(place, slot)| ConnectionId { place: place as u32, generation: slot.generation })
    }
}
