//! IP headers as values. They lack the addresses, which are fields of [`crate::Segment`].
//!
//! Owns the headers of both families, and finds the start of the TCP header. Never reassembles: a fragment is an error.
//! Decoding and encoding preserve every field.

use std::net::IpAddr;

use bytes::Bytes;

use crate::Codepoint;
use crate::error::{EmitError, ParseError};

mod received;
mod v4;
pub(crate) mod v6;

pub(crate) use received::{Received, TCP};
pub use v4::Ipv4Header;
pub use v6::Ipv6Header;

/// The header of either family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IpHeader {
    /// RFC 791.
    V4(Ipv4Header),
    /// RFC 8200.
    V6(Ipv6Header),
}

impl IpHeader {
    /// The default header of the family of `address`.
    #[must_use]
    pub fn for_address(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::V4(Ipv4Header::default()),
            IpAddr::V6(_) => Self::V6(Ipv6Header::default()),
        }
    }

    /// Encoded length with options or extension headers, in bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        match self {
            Self::V4(header) => header.length(),
            Self::V6(header) => header.length(),
        }
    }

    /// Parses a header that must carry `protocol`.
    pub(crate) fn parse(bytes: &Bytes, protocol: u8) -> Result<Received<IpHeader>, ParseError> {
        let Some(first) = bytes.first() else {
            return Err(ParseError::Truncated { what: "IP header", needed: 20, available: 0 });
        };
        match first >> 4 {
            4 => v4::parse(bytes, protocol).map(|received| received.with(Self::V4)),
            6 => v6::parse(bytes, protocol).map(|received| received.with(Self::V6)),
            version => Err(ParseError::Version(version)),
        }
    }

    /// Passes the encoded header to `put` piece by piece, after all checks. `transport` is the length of the rest of
    /// the packet, in bytes.
    pub(crate) fn emit(
        &self,
        source: IpAddr,
        destination: IpAddr,
        ecn: Codepoint,
        transport: usize,
        put: impl FnMut(&[u8]),
    ) -> Result<(), EmitError> {
        match (self, source, destination) {
            (Self::V4(header), IpAddr::V4(source), IpAddr::V4(destination)) => {
                header.emit(source, destination, ecn, transport, put)
            }
            (Self::V6(header), IpAddr::V6(source), IpAddr::V6(destination)) => {
                header.emit(source, destination, ecn, transport, put)
            }
            _ => Err(EmitError::Family),
        }
    }
}
