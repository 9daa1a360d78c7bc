//! The ICMP errors that a TCP connection handles. Drivers translate ICMP types and codes to them.

/// Reason why a segment was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IcmpError {
    /// No route to the network.
    NetworkUnreachable,
    /// The host does not respond on its link.
    HostUnreachable,
    /// The host does not support TCP.
    ProtocolUnreachable,
    /// No socket listens on the port.
    PortUnreachable,
    /// A filter rejected the segment.
    Prohibited,
    /// The hop limit was exceeded.
    TimeExceeded,
    /// The packet exceeds the MTU of a link.
    TooBig {
        /// MTU of the link, bytes; 0 if the router does not report it (RFC 1191 section 5).
        mtu: u32,
    },
}
