//! What an application does with a connection: writes, reads, ends it, looks at it.
//!
//! Owns the way from a connection's number to the connection. What follows inside is the connection's affair.

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
        let place = self.slots.place(id)?;
        let result = self.slots.connection_at(place).map(work);
        self.after_change(now, place);
        result
    }

    /// Writes to a connection without copying; returns how many bytes its send buffer took. When it
    /// was not all, [`crate::EventKind::Writable`] says when to go on. 0 when the connection is gone, and when its buffer is
    /// full: [`Self::try_write`] tells one from the other.
    pub fn write(&mut self, now: Instant, id: ConnectionId, data: Bytes) -> usize {
        self.write_with(now, id, data, WriteFlags::default())
    }

    /// As [`Self::write`]; `None` when the connection is gone, and `Some(0)` when its send buffer is full.
    pub fn try_write(&mut self, now: Instant, id: ConnectionId, data: Bytes) -> Option<usize> {
        self.with(now, id, |connection| connection.write(&data, WriteFlags::default()))
    }

    /// The same with flags, as Linux's send(2).
    pub fn write_with(&mut self, now: Instant, id: ConnectionId, data: Bytes, flags: WriteFlags) -> usize {
        self.with(now, id, |connection| connection.write(&data, flags)).unwrap_or(0)
    }

    /// What was written with the promise of more waits no longer for it.
    pub fn end_more(&mut self, now: Instant, id: ConnectionId) {
        self.with(now, id, Connection::end_more);
    }

    /// Room in a connection's send buffer, bytes.
    #[must_use]
    pub fn writable(&self, id: ConnectionId) -> u64 {
        self.connection(id).map_or(0, Connection::writable)
    }

    /// Somebody waits for room in a connection's send buffer: [`crate::EventKind::Writable`] will say when there is some.
    pub fn await_writable(&mut self, now: Instant, id: ConnectionId) {
        self.with(now, id, Connection::await_writable);
    }

    /// The next bytes of a connection, in order; None when there are none now.
    pub fn read(&mut self, now: Instant, id: ConnectionId) -> Option<Bytes> {
        let connection = self.slots.connection_mut(id)?;
        let data = connection.read(now)?;
        if connection.needs_window_update_segment() {
            self.enqueue(id.place);
        }
        self.account(id.place);
        Some(data)
    }

    /// Hands all bytes of a connection that can be read now to `take`, in order.
    #[inline]
    pub fn read_all(&mut self, now: Instant, id: ConnectionId, mut take: impl FnMut(Bytes)) {
        let Some(connection) = self.slots.connection_mut(id) else { return };
        while let Some(data) = connection.read(now) {
            take(data);
        }
        if connection.needs_window_update_segment() {
            self.enqueue(id.place);
        }
        self.account(id.place);
    }

    /// No more will be written; what was written still arrives.
    pub fn close(&mut self, now: Instant, id: ConnectionId) {
        self.with(now, id, Connection::close_write);
    }

    /// Bytes of a connection that can be read now.
    #[must_use]
    pub fn readable(&self, id: ConnectionId) -> u64 {
        self.connection(id).map_or(0, Connection::readable)
    }

    /// Ends a connection at once, also one whose streams are over and whose subflows are not: unsent and unread data are lost,
    /// and nothing of it is left once its resets are sent.
    pub fn abort(&mut self, now: Instant, id: ConnectionId) {
        self.with(now, id, |connection| connection.abort(now));
    }

    /// Nobody will read from a connection that is over: what is unread is let go of, and with it the connection once its
    /// subflows have ended. Nothing is sent.
    pub fn discard(&mut self, now: Instant, id: ConnectionId) {
        self.with(now, id, Connection::discard);
    }

    /// A connection's state; None when it is over and everything about it was told.
    #[must_use]
    pub fn info(&self, now: Instant, id: ConnectionId) -> Option<ConnectionInfo> {
        self.connection(id).map(|connection| connection.info(now))
    }

    /// A connection to look at.
    #[must_use]
    pub fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        self.slots.connection(id)
    }

    /// Opens a further subflow of a connection, from an interface to an address of the peer's. Returns whether that is
    /// possible: not on TCP, not beyond the limit of subflows, not across IP versions.
    pub fn open_subflow(
        &mut self,
        now: Instant,
        id: ConnectionId,
        from: InterfaceId,
        to: SocketAddr,
    ) -> bool {
        self.with(now, id, |connection| connection.want_subflow(from, to)).unwrap_or(false)
    }

    /// Ends a subflow of a connection, which goes on over the others. Returns whether there was one.
    pub fn close_subflow(&mut self, now: Instant, id: ConnectionId, subflow: SubflowId) -> bool {
        self.with(now, id, |connection| connection.close_subflow(now, subflow)).unwrap_or(false)
    }

    /// Connections that exist.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        self.slots.ids()
    }
}
