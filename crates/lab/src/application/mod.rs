//! Applications: what the sender of a flow writes and when, one file for each kind.
//!
//! Owns the trait that an application implements, and the outlet through which it writes. An application says how much;
//! which bytes these are is the laboratory's business, which checks that each arrives in its place.

pub(crate) mod blocks;
pub(crate) mod bulk;
pub(crate) mod file;

use std::fmt;
use std::sync::Arc;

use mptcp::{ConnectionId, Endpoint};
use mptcp_clock::Instant;

use crate::measurements::Block;
use crate::pattern;

/// An application. One object sits at both ends of a flow, which carries data in one direction.
pub trait Application: fmt::Debug + Send {
    /// At the sender: the connection is open, has room again, or the time has come that it asked for. Writes what there
    /// is to write now.
    fn write(&mut self, now: Instant, outlet: &mut Outlet<'_>);

    /// Since when something that was handed over has not arrived, as far as the application can tell; `None` where nothing is
    /// missing or it cannot tell. One that always sends waits from the beginning.
    fn waits_since(&self) -> Option<Instant> {
        None
    }

    /// How many blocks were handed over before `since` and have not arrived, as far as the application can tell.
    fn overdue(&self, _since: Instant) -> u64 {
        0
    }

    /// At the receiver: `received` bytes have been read in order so far. What it times goes into `blocks`.
    fn read(&mut self, _now: Instant, _received: u64, _blocks: &mut Vec<Block>) {}
}

/// Makes the application of a flow.
pub type Maker = Arc<dyn Fn() -> Box<dyn Application> + Send + Sync>;

/// Where a sender writes.
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

    /// Bytes that the send buffer has room for.
    #[must_use]
    pub fn room(&self) -> u64 {
        self.endpoint.writable(self.connection)
    }

    /// Writes until so many bytes have been written in all, or the send buffer is full: then the application is asked
    /// again when there is room. True if all went.
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

    /// The same for so many bytes more.
    pub fn write(&mut self, bytes: u64) -> bool {
        self.write_to(self.written().saturating_add(bytes))
    }

    /// Asks again when the send buffer has room.
    pub fn await_writable(&mut self) {
        self.endpoint.await_writable(self.now, self.connection);
    }

    /// Asks again at `at`, if not before.
    pub fn wake_at(&mut self, at: Instant) {
        self.wake = Some(self.wake.map_or(at, |earlier| earlier.min(at)));
    }

    /// All is written: the connection is closed behind it, and the application is not asked again.
    pub fn close(&mut self) {
        if !self.closed {
            self.closed = true;
            self.endpoint.close(self.now, self.connection);
        }
    }

    /// Whether it closed, and when it wants to be asked.
    pub(crate) fn done(self) -> (bool, Option<Instant>) {
        (self.closed, self.wake)
    }
}
