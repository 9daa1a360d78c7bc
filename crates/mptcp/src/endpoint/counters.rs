//! What is counted over all connections of an endpoint.

/// What happened on all connections, as Linux's MIB of MPTCP counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// SYNs with an MP_CAPABLE that a listener could go on with (`MPCapableSYNRX`).
    pub capable_syns_received: u64,
    /// Of these, handshakes whose third step had none, so that they are TCP's (`MPCapableFallbackACK`).
    pub capable_fallback_acks: u64,
    /// SYNs answered by a cookie (`TCPReqQFullDoCookies`).
    pub cookies_sent: u64,
    /// Connections that began with the answer to one (`SyncookiesRecv`).
    pub cookies_accepted: u64,
    /// Segments of strangers that got no answer, because there were too many.
    pub unanswered: u64,
    /// Times that received payload exceeded [`crate::EndpointBounds::receive_memory`] (`TCPMemoryPressures`).
    pub memory_shortages: u64,
}
