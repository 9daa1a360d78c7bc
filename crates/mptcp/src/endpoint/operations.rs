//! Socket operations of applications: write, read, close, abort and information.
//!
//! Owns the lookup of a connection by its id. Never changes the state of a connection itself.

use std::net::SocketAddr;

use bytes::Bytes;
use mptcp_clock::Instant;

use crate::connection::{Connection, ConnectionInfo, WriteFlags};
use crate::endpoint::Endpoint;
use crate::ids::{ConnectionId, InterfaceId, SubflowId};

impl Endpoint {
    pub(crate) fn with<T>(
        &mut self,
        now: Instant,
        id: ConnectionId,
        work: impl FnOnce(&mut Connection) -> T,
    ) -> Option<T> {
        let slot = self.slots.slot(id)?;
        let result = self.slots.connection_at(slot).map(work);
        self.after_change(now, slot);
        result
    }

    /// Writes to a connection without copying. Returns the number of bytes that the send buffer accepts. If
    /// it accepts only a part, [`crate::EventKind::Writable`] follows. Returns 0 if the buffer is full or the
    /// connection does not exist; [`Self::try_write`] distinguishes these cases.
    pub fn write(&mut self, now: Instant, id: ConnectionId, data: Bytes) -> usize {
        self.write_with(now, id, data, WriteFlags::default())
    }

    /// Writes as [`Self::write`] does. Returns `None` if the connection does not exist, `Some(0)` if its send buffer is
    /// full.
    pub fn try_write(&mut self, now: Instant, id: ConnectionId, data: Bytes) -> Option<usize> {
        self.with(now, id, |connection| connection.write(&data, WriteFlags::default()))
    }

    /// Writes as [`Self::write`] does, with the flags of Linux's `send(2)`.
    pub fn write_with(&mut self, now: Instant, id: ConnectionId, data: Bytes, flags: WriteFlags) -> usize {
        self.with(now, id, |connection| connection.write(&data, flags)).unwrap_or(0)
    }

    /// Ends the effect of `MSG_MORE`: held data is sent.
    pub fn end_more(&mut self, now: Instant, id: ConnectionId) {
        self.with(now, id, Connection::end_more);
    }

    /// Free space in the send buffer, bytes; 0 if the connection does not exist.
    #[must_use]
    pub fn writable(&self, id: ConnectionId) -> u64 {
        self.connection(id).map_or(0, Connection::writable)
    }

    /// Requests a [`crate::EventKind::Writable`] when the send buffer has space.
    pub fn await_writable(&mut self, now: Instant, id: ConnectionId) {
        self.with(now, id, Connection::await_writable);
    }

    /// Returns the next bytes in order; `None` if there are none.
    pub fn read(&mut self, now: Instant, id: ConnectionId) -> Option<Bytes> {
        let connection = self.slots.connection_mut(id)?;
        let data = connection.read(now)?;
        if connection.needs_window_update_segment() {
            self.enqueue(id.slot);
        }
        self.account(id.slot);
        Some(data)
    }

    /// Passes all readable bytes to `take`, in order.
    #[inline]
    pub fn read_all(&mut self, now: Instant, id: ConnectionId, mut take: impl FnMut(Bytes)) {
        let Some(connection) = self.slots.connection_mut(id) else { return };
        while let Some(data) = connection.read(now) {
            take(data);
        }
        if connection.needs_window_update_segment() {
            self.enqueue(id.slot);
        }
        self.account(id.slot);
    }

    /// Closes the sending direction. Written data is still delivered.
    pub fn close(&mut self, now: Instant, id: ConnectionId) {
        self.with(now, id, Connection::close_write);
    }

    /// Readable bytes.
    #[must_use]
    pub fn readable(&self, id: ConnectionId) -> u64 {
        self.connection(id).map_or(0, Connection::readable)
    }

    /// Aborts a connection, even if only its subflows are still open. Unsent and unread data is lost; the
    /// connection is removed once its resets are sent.
    pub fn abort(&mut self, now: Instant, id: ConnectionId) {
        self.with(now, id, |connection| connection.abort(now));
    }

    /// Discards the unread data of a closed connection, and removes the connection once its subflows have
    /// ended. Sends nothing.
    pub fn discard(&mut self, now: Instant, id: ConnectionId) {
        self.with(now, id, Connection::discard);
    }

    /// State of a connection; `None` once it is removed.
    #[must_use]
    pub fn info(&self, now: Instant, id: ConnectionId) -> Option<ConnectionInfo> {
        self.connection(id).map(|connection| connection.info(now))
    }

    /// The connection, for inspection; `None` if it does not exist.
    #[must_use]
    pub fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        self.slots.connection(id)
    }

    /// Opens a subflow from an interface to an address of the peer. Returns `false` after a fallback to TCP,
    /// at the limit of subflows, and if the IP versions differ.
    pub fn open_subflow(
        &mut self,
        now: Instant,
        id: ConnectionId,
        from: InterfaceId,
        to: SocketAddr,
    ) -> bool {
        self.with(now, id, |connection| connection.request_subflow(from, to)).unwrap_or(false)
    }

    /// Closes one subflow; the connection continues on the others. Returns whether the subflow existed.
    pub fn close_subflow(&mut self, now: Instant, id: ConnectionId, subflow: SubflowId) -> bool {
        self.with(now, id, |connection| connection.close_subflow(now, subflow)).unwrap_or(false)
    }

    /// Ids of all connections.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        self.slots.ids()
    }
}
