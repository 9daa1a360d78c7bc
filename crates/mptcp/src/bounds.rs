//! What strangers and peers may make an endpoint hold and do.
//!
//! Owns the bounds that are settings, and what is used of them. docs/security.md has the whole table.

use mptcp_clock::Duration;

use crate::rate_limiter::RateLimiter;

/// Bounds of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointBounds {
    /// Answers to strangers that wait to be sent: resets, and SYN/ACKs with cookies. Beyond it there is no answer.
    pub stray_answers: usize,
    /// Resets for strangers, a second; as many may go at once.
    pub resets_per_second: u32,
    /// Received payload that waits in all connections together, bytes: unread, or out of order at either level. Beyond it a
    /// connection that an application has accepted keeps up to 64 KiB in order and 64 KiB out of order, and any other nothing; the
    /// rest is not acknowledged, and peers retransmit it. It lasts until three quarters are left. As Linux's `tcp_mem`. Default 256 MiB: 40 full buffers of the
    /// default size.
    pub receive_memory: u64,
}

impl Default for EndpointBounds {
    fn default() -> Self {
        Self { stray_answers: 256, resets_per_second: 1000, receive_memory: 256 << 20 }
    }
}

impl EndpointBounds {
    pub(crate) fn refusals(&self) -> RateLimiter {
        let rate = self.resets_per_second.max(1);
        RateLimiter::new(rate, Duration::from_nanos(1_000_000_000 / u64::from(rate)))
    }
}

/// What an endpoint holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointUse {
    /// Connections, those that are opening or ending among them.
    pub connections: usize,
    /// Received payload that waits in all of them, bytes: unread, or out of order at either level.
    pub receive_bytes: u64,
    /// Handshakes at listeners that are not over.
    pub half_open: usize,
    /// Connections that wait to be accepted.
    pub to_accept: usize,
    /// Answers to strangers that wait to be sent.
    pub stray_answers: usize,
    /// Joins that were answered though their connection has no place for them.
    pub join_requests: usize,
    /// Entries of the queue of deadlines.
    pub deadlines: usize,
    /// Cookies of TCP Fast Open that servers gave.
    pub cookies: usize,
}

/// What a connection holds that others decide about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionUse {
    /// Memory that received payload keeps alive, bytes: unread, or out of order at either level.
    pub receive_bytes: u64,
    /// Pieces of payload out of order, at both levels.
    pub pieces: usize,
    /// Mappings that wait for their payload.
    pub mappings: usize,
    /// Segments sent and not acknowledged, on all subflows.
    pub segments_in_flight: usize,
    /// Options that wait to be sent.
    pub signals: usize,
    /// Joins that are not confirmed.
    pub half_open_joins: usize,
    /// Addresses of the peer.
    pub remote_addresses: usize,
    /// Pairs of addresses that wait to be tried again.
    pub failed: usize,
    /// Places of subflows, the living and the dead.
    pub subflows: usize,
}
