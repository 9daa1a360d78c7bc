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
}
