//! Counters over all connections of an endpoint.
//!
//! They include events that belong to no connection, such as dropped SYNs. Owns no logic: the endpoint
//! increments them.

/// Event counters, named after the MPTCP MIB of Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// SYNs with a usable MP_CAPABLE at a listener (`MPCapableSYNRX`).
    pub capable_syns_received: u64,
    /// MPTCP handshakes that fell back to TCP because the third ACK had no MP_CAPABLE
    /// (`MPCapableFallbackACK`).
    pub capable_fallback_acks: u64,
    /// SYNs answered with a SYN cookie (`TCPReqQFullDoCookies`).
    pub cookies_sent: u64,
    /// Connections created from a SYN cookie (`SyncookiesRecv`).
    pub cookies_accepted: u64,
    /// Segments with an unknown four-tuple that were dropped without a reply because of a limit.
    pub unanswered: u64,
    /// Times that the received payload exceeded [`crate::EndpointBounds::receive_memory`]
    /// (`TCPMemoryPressures`).
    pub memory_shortages: u64,
}
