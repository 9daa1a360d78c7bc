//! ICMP errors about sent segments (RFC 792, RFC 4443): they end failed handshakes early, and report the path
//! MTU.
//!
//! Owns the lookup of the subflow from the quoted segment. Any host can forge ICMP errors, so the quoted
//! sequence number must be in flight (RFC 5927 section 4.1). Never ends an established subflow because of an
//! ICMP error (RFC 5927 section 5.2).

use std::net::SocketAddr;

use mptcp_clock::Instant;
use mptcp_wire::Seq;

use crate::endpoint::Endpoint;
use crate::icmp_error::IcmpError;

/// An ICMP error about a segment that this endpoint sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpMessage {
    /// Source of the quoted segment: local address and port.
    pub local: SocketAddr,
    /// Destination of the quoted segment.
    pub remote: SocketAddr,
    /// Sequence number of the quoted segment.
    pub sequence: Seq,
    /// The error.
    pub error: IcmpError,
}

impl Endpoint {
    /// Handles an ICMP error. [`IcmpError::TooBig`] reduces the path MTU. Any other error is stored in
    /// [`crate::SubflowInfo::icmp`], and ends a subflow in SYN-SENT, as in Linux. Returns whether the error
    /// was accepted.
    pub fn handle_icmp(&mut self, now: Instant, message: IcmpMessage) -> bool {
        let Some((slot, subflow)) = self.demux.owner(message.local, message.remote) else { return false };
        let found = self.slots.connection_at(slot);
        let accepted = found.is_some_and(|c| c.handle_icmp(now, subflow, message.sequence, message.error));
        if accepted {
            self.after_change(now, slot);
        }
        accepted
    }
}
