//! The state of the application on the attacked host in a random case.
//!
//! The arena runs a case: an attacker sends packets to an endpoint, the victim, while this application uses
//! the endpoint. Random behaviour of the application lets a case reach more states of the endpoint. Owns
//! values only; `acts` chooses the application's calls.

use mptcp::{Config, ConnectionId};

/// An open connection of the application.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenConnection {
    pub id: ConnectionId,
    /// The application reads its data.
    pub reads: bool,
}

#[derive(Debug, Default)]
pub(super) struct Application {
    pub connections: Vec<OpenConnection>,
    /// Whether the application accepts a new connection. It never accepts one later.
    pub accepts: bool,
    /// The application reads data on new connections.
    pub reads: bool,
    /// The application closes a stream after the peer has closed its direction.
    pub closes: bool,
    /// Configurations of the case; each new connection takes one at random.
    pub configs: Vec<Config>,
}
