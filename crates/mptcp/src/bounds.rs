//! Limits on the memory and work that peers and unknown hosts can cause.
//!
//! Owns the limits that can be set, and reports of the current use. docs/security.md lists all limits.

use mptcp_clock::Duration;

use crate::rate_limiter::RateLimiter;

/// Limits of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointBounds {
    /// Maximum number of queued stateless replies: resets, and SYN/ACKs with SYN cookies. Further segments
    /// get no reply.
    pub stray_answers: usize,
    /// Maximum rate of resets to unknown hosts, per second; also the maximum burst of resets.
    pub resets_per_second: u32,
    /// Maximum received payload in all buffers of all connections, bytes, as Linux's `tcp_mem`. Default: 256
    /// MiB, which is 40 full buffers of the default size.
    ///
    /// Above this limit, an accepted connection keeps up to 64 KiB in order and 64 KiB out of order, and any
    /// other connection keeps nothing. Dropped data is not acknowledged, so peers retransmit it. The
    /// restriction ends at three quarters of the limit.
    pub receive_memory: u64,
}

impl Default for EndpointBounds {
    fn default() -> Self {
        Self { stray_answers: 256, resets_per_second: 1000, receive_memory: 256 << 20 }
    }
}

impl EndpointBounds {
    pub(crate) fn reset_limiter(&self) -> RateLimiter {
        let rate = self.resets_per_second.max(1);
        RateLimiter::new(rate, Duration::from_nanos(1_000_000_000 / u64::from(rate)))
    }
}

/// Use of the limited resources of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointUse {
    /// Connections, including those that are opening or closing.
    pub connections: usize,
    /// Received payload in all buffers, bytes: unread, or out of order in a subflow or in the data stream.
    pub receive_bytes: u64,
    /// Half-open handshakes at listeners.
    pub half_open: usize,
    /// Connections in accept queues.
    pub to_accept: usize,
    /// Queued stateless replies.
    pub stray_answers: usize,
    /// Entries in the table of join requests.
    pub join_requests: usize,
    /// Entries in the heap of deadlines.
    pub deadlines: usize,
    /// Cached TCP Fast Open cookies of servers.
    pub cookies: usize,
}

/// Use of the resources of a connection that a peer can influence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionUse {
    /// Memory kept by received payload, bytes: unread, or out of order in a subflow or in the data stream.
    pub receive_bytes: u64,
    /// Out-of-order pieces of payload, in the subflows and in the data stream.
    pub pieces: usize,
    /// Mappings that wait for payload.
    pub mappings: usize,
    /// Unacknowledged segments on all subflows.
    pub segments_in_flight: usize,
    /// MPTCP options waiting to be sent.
    pub signals: usize,
    /// Joins whose handshake is unfinished.
    pub half_open_joins: usize,
    /// Known addresses of the peer.
    pub remote_addresses: usize,
    /// Address pairs waiting to be retried.
    pub failed: usize,
    /// Subflow slots in use, including those of ended subflows.
    pub subflows: usize,
}
