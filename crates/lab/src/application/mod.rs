//! Applications decide how much data the sender of a flow writes, and when; one file per type.
//!
//! Owns the trait of an application, which extensions also implement, and the outlet through which it writes.
//! The laboratory generates the bytes and verifies them.

pub(crate) mod blocks;
pub(crate) mod bulk;
pub(crate) mod file;

use std::fmt;
use std::sync::Arc;

use mptcp::{ConnectionId, Endpoint};
use mptcp_clock::Instant;

use crate::measurements::Block;
use crate::pattern;

/// An application. One object represents both ends of a flow, which carries data in one direction.
pub trait Application: fmt::Debug + Send {
    /// Called at the sender when the connection opens, when the send buffer has space, and at the requested
    /// time. Writes the data that is due.
    fn write(&mut self, now: Instant, outlet: &mut Outlet<'_>);

    /// Time since which written data is missing at the receiver; `None` if nothing is missing, or if the
    /// application cannot tell. Bulk data is missing from the start on.
    fn waits_since(&self) -> Option<Instant> {
        None
    }

    /// Number of blocks written before `since` that have not arrived, if known.
    fn overdue(&self, _since: Instant) -> u64 {
        0
    }

    /// Called at the receiver when `received` bytes have been read in order. Appends completed blocks to
    /// `blocks`.
    fn read(&mut self, _now: Instant, _received: u64, _blocks: &mut Vec<Block>) {}
}

/// A factory of applications.
pub type Maker = Arc<dyn Fn() -> Box<dyn Application> + Send + Sync>;

/// The interface through which an application writes to its connection.
#[derive(Debug)]
pub struct Outlet<'a> {
    now: Instant,
    endpoint: &'a mut Endpoint,
    connection: ConnectionId,
    written: &'a mut u64,
    closed: bool,
    wake: Option<Instant>,
}

impl<'a> Outlet<'a> {
    pub(crate) fn new(
        now: Instant,
        endpoint: &'a mut Endpoint,
        connection: ConnectionId,
        written: &'a mut u64,
    ) -> Self {
        Self { now, endpoint, connection, written, closed: false, wake: None }
    }

    /// Bytes written so far.
    #[must_use]
    pub fn written(&self) -> u64 {
        *self.written
    }

    /// Free space in the send buffer, bytes.
    #[must_use]
    pub fn room(&self) -> u64 {
        self.endpoint.writable(self.connection)
    }

    /// Writes until `total` bytes have been written, or the send buffer is full; the application is then
    /// called again when there is space. Returns whether everything was written.
    pub fn write_to(&mut self, total: u64) -> bool {
        while *self.written < total {
            let data = pattern::bytes_at(*self.written, total - *self.written);
            let offered = data.len();
            let taken = self.endpoint.write(self.now, self.connection, data);
            *self.written += taken as u64;
            if taken < offered {
                return false;
            }
        }
        true
    }

    /// As `write_to`, for `bytes` more bytes.
    pub fn write(&mut self, bytes: u64) -> bool {
        self.write_to(self.written().saturating_add(bytes))
    }

    /// Requests a call when the send buffer has space.
    pub fn await_writable(&mut self) {
        self.endpoint.await_writable(self.now, self.connection);
    }

    /// Requests a call at `at` or earlier.
    pub fn wake_at(&mut self, at: Instant) {
        self.wake = Some(self.wake.map_or(at, |earlier| earlier.min(at)));
    }

    /// Closes the connection after all written data. The application is not called again.
    pub fn close(&mut self) {
        if !self.closed {
            self.closed = true;
            self.endpoint.close(self.now, self.connection);
        }
    }

    /// Whether the application closed the connection, and the time of its requested call.
    pub(crate) fn done(self) -> (bool, Option<Instant>) {
        (self.closed, self.wake)
    }
}
