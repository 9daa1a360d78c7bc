//! The state of the victim's application: its connections, and for each whether it reads.
//!
//! Owns values only; decides nothing.

use mptcp::{Config, ConnectionId};

/// A connection of the application.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub id: ConnectionId,
    pub reads: bool,
}

#[derive(Debug, Default)]
pub(super) struct Application {
    pub held: Vec<Held>,
    /// The application accepts connections at once.
    pub accepts: bool,
    /// The application reads data on new connections.
    pub reads: bool,
    /// The application closes a stream after the peer has closed its direction.
    pub closes: bool,
    pub configs: Vec<Config>,
}
