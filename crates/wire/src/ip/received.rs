//! What both families find in a received packet.

use std::net::IpAddr;
use std::ops::Range;

use crate::Codepoint;

/// Bits of a traffic class that are the ECN field (RFC 3168 section 5).
pub(super) const ECN: u8 = 3;

/// IP protocol number of TCP.
pub(crate) const TCP: u8 = 6;

/// Time to live, or hop limit, of packets that say nothing else: Linux's default.
pub(super) const DEFAULT_HOPS: u8 = 64;

/// What a received packet holds.
pub(crate) struct Received<H> {
    pub(crate) header: H,
    pub(crate) ecn: Codepoint,
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    /// Where the header behind it and what follows stand, without link padding.
    pub(crate) transport: Range<usize>,
}

impl<H> Received<H> {
    /// The same with another form of its header.
    pub(super) fn with<O>(self, form: impl FnOnce(H) -> O) -> Received<O> {
        let Self { header, ecn, source, destination, transport } = self;
        Received { header: form(header), ecn, source, destination, transport }
    }
}
