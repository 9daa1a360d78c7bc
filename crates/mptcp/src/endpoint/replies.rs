//! Creates the connection and the first subflow of a server, for a SYN or for the answer to a SYN cookie.
//!
//! Owns the choice of a key with a unique token, because the peer names the connection by that token. Never
//! decides whether a SYN is accepted.

use mptcp_clock::Instant;
use mptcp_wire::Segment;

use crate::config::Config;
use crate::connection::Connection;
use crate::endpoint::Endpoint;
use crate::ids::InterfaceId;
use crate::subflow::{Origin, Subflow};

/// Initial values of a connection that answers a SYN.
pub(crate) struct ReplyParameters {
    pub(crate) iss: u32,
    /// The local key; `None` for a random key.
    pub(crate) key: Option<u64>,
}

impl Endpoint {
    /// Creates a connection for a SYN at a listener, and its first subflow. Returns `None` if the given key
    /// has a token that is in use.
    pub(crate) fn accept_syn(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        syn: &Segment,
        config: &Config,
        parameters: ReplyParameters,
    ) -> Option<(Connection, Subflow)> {
        let addresses = self.interfaces.local_addresses(interface, config);
        // Tokens identify connections: a random key whose token is in use is replaced (RFC 8684 section 3.1).
        let connection = loop {
            let random = self.next_random();
            let connection =
                Connection::new(now, config.clone(), false, random, addresses.clone(), parameters.key);
            if !self.demux.has_token(connection.token()) {
                break connection;
            }
            if parameters.key.is_some() {
                return None;
            }
        };
        let (local, remote) = (syn.destination, syn.source);
        let mut subflow =
            self.interfaces.subflow(interface, local, remote, Origin::Initial, parameters.iss, config);
        subflow.clock_mut().offset = self.secret.timestamp_offset(local, remote);
        Some((connection, subflow))
    }
}
