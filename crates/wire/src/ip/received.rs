//! The content of a received packet, and the constants that IPv4 and IPv6 have in common.
//!
//! Owns the values only; `v4` and `v6` parse packets into them.

use std::net::IpAddr;
use std::ops::Range;

use crate::Codepoint;

/// The ECN bits of a traffic class (RFC 3168 section 5).
pub(super) const ECN: u8 = 3;

/// IP protocol number of TCP.
pub(crate) const TCP: u8 = 6;

/// Default time to live or hop limit, as in Linux.
pub(super) const DEFAULT_HOPS: u8 = 64;

/// The content of a received packet. `H` is the type of its IP header, of version 4, 6 or either.
pub(crate) struct Received<H> {
    pub(crate) header: H,
    pub(crate) ecn: Codepoint,
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    /// Range of the transport header and its payload, without link padding.
    pub(crate) transport: Range<usize>,
}

impl<H> Received<H> {
    /// Converts the header with `form`.
    pub(super) fn with<O>(self, form: impl FnOnce(H) -> O) -> Received<O> {
        let Self { header, ecn, source, destination, transport } = self;
        Received { header: form(header), ecn, source, destination, transport }
    }
}
