//! What an ICMP error says of a segment.

/// Why a segment was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IcmpError {
    /// No route leads to the network.
    NetworkUnreachable,
    /// The host does not answer on its link.
    HostUnreachable,
    /// The host has no TCP.
    ProtocolUnreachable,
    /// Nobody listens there.
    PortUnreachable,
    /// A filter said so.
    Prohibited,
    /// Its hop limit ran out.
    TimeExceeded,
    /// It is too large for a link.
    TooBig {
        /// The longest packet that the link carries, bytes; 0 from routers that do not say (RFC 1191 section 5).
        mtu: u32,
    },
}
