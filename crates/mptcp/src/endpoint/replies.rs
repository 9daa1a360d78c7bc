//! A connection that answers a SYN: with a token that no other has.

use mptcp_clock::Instant;
use mptcp_wire::Segment;

use crate::config::Config;
use crate::connection::Connection;
use crate::endpoint::Endpoint;
use crate::ids::InterfaceId;
use crate::subflow::{Origin, Subflow};

/// What a connection begins with that answers a SYN.
pub(crate) struct Answering {
    pub(crate) iss: u32,
    /// Our key; drawn where none is given.
    pub(crate) key: Option<u64>,
}

impl Endpoint {
    /// A connection for a SYN at a listener, and its first subflow.
    pub(crate) fn answering(
        &mut self,
        now: Instant,
        interface: InterfaceId,
        syn: &Segment,
        config: &Config,
        with: Answering,
    ) -> Option<(Connection, Subflow)> {
        let addresses = self.interfaces.addresses_seen_from(interface, config);
        // Tokens name connections: a key whose token is taken is drawn again (RFC 8684 section 3.1).
        let connection = loop {
            let random = self.next_random();
            let connection = Connection::new(now, config.clone(), false, random, addresses.clone(), with.key);
            if !self.demux.has_token(connection.token()) {
                break connection;
            }
            if with.key.is_some() {
                return None;
            }
        };
        let (local, remote) = (syn.destination, syn.source);
        let mut subflow =
            self.interfaces.subflow(interface, local, remote, Origin::Initial, with.iss, config);
        subflow.clock_mut().offset = self.secret.timestamp_offset(local, remote);
        Some((connection, subflow))
    }
}
