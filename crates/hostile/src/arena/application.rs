//! The victim's application: its list of connections, and for each whether it reads. Only values.

use mptcp::{Config, ConnectionId};

/// A connection as its application sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub id: ConnectionId,
    pub reads: bool,
}

#[derive(Debug, Default)]
pub(super) struct Application {
    pub held: Vec<Held>,
    /// Connections are taken from their listener as they come.
    pub accepts: bool,
    /// What comes is read, on new connections.
    pub reads: bool,
    /// A stream that the peer has ended is ended here too.
    pub closes: bool,
    pub configs: Vec<Config>,
}
