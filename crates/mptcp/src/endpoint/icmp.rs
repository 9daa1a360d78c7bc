//! What the network says of segments that it did not deliver (RFC 792, RFC 4443).
//!
//! Owns the way from the quoted segment to its subflow. Anybody can send such messages: what they quote has to be in
//! flight (RFC 5927 section 4.1), and an open connection is never ended by one (section 5.2).

use std::net::SocketAddr;

use mptcp_clock::Instant;
use mptcp_wire::Seq;

use crate::endpoint::Endpoint;
use crate::icmp_error::IcmpError;

/// An ICMP error about a segment of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpMessage {
    /// Source of the segment: our address and port.
    pub local: SocketAddr,
    /// Its destination.
    pub remote: SocketAddr,
    /// Its sequence number.
    pub sequence: Seq,
    /// What happened to it.
    pub error: IcmpError,
}

impl Endpoint {
    /// An ICMP error came in. Before the handshake is over it ends the subflow, as in Linux; after it, it is remembered
    /// ([`crate::SubflowInfo::icmp`]). Returns whether it was believed.
    pub fn handle_icmp(&mut self, now: Instant, message: IcmpMessage) -> bool {
        let Some((slot, subflow)) = self.demux.owner(message.local, message.remote) else { return false };
        let found = self.slots.connection_at(slot);
        let believed = found.is_some_and(|c| c.handle_icmp(now, subflow, message.sequence, message.error));
        if believed {
            self.after_change(now, slot);
        }
        believed
    }
}
