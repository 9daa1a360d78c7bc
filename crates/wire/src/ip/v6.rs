//! The IPv6 header and the extension headers before a TCP header (RFC 8200).
//!
//! Owns parsing and encoding. Never processes an extension header, and never reassembles fragments.

use std::net::Ipv6Addr;

use bytes::Bytes;

use super::received::{DEFAULT_HOPS, ECN, Received, TCP};
use crate::Codepoint;
use crate::cursor::Reader;
use crate::error::{EmitError, ParseError};

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;

/// Fields of an IPv6 header, except for addresses and length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ipv6Header {
    /// DSCP in the upper six bits (RFC 2474). The lower two are zero, and encoding ignores them:
    /// [`crate::Segment::ecn`] holds the ECN field.
    pub traffic_class: u8,
    /// Flow label, 20 bits (RFC 6437).
    pub flow_label: u32,
    /// Hop limit.
    pub hop_limit: u8,
    /// Protocol number of the first extension header; 6 (TCP) if there is none.
    pub next_header: u8,
    /// Extension headers as received: hop-by-hop, routing, destination options, and the header of an atomic fragment
    /// (RFC 6946). Preserved, but not used.
    pub extensions: Bytes,
}

impl Default for Ipv6Header {
    fn default() -> Self {
        Self {
            traffic_class: 0,
            flow_label: 0,
            hop_limit: DEFAULT_HOPS,
            next_header: TCP,
            extensions: Bytes::new(),
        }
    }
}

/// The fixed header, in order.
struct Fields {
    version_class_label: u32,
    payload_length: u16,
    next_header: u8,
    hop_limit: u8,
    source: [u8; 16],
    destination: [u8; 16],
}

impl Fields {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        Some(Self {
            version_class_label: reader.u32()?,
            payload_length: reader.u16()?,
            next_header: reader.u8()?,
            hop_limit: reader.u8()?,
            source: reader.array()?,
            destination: reader.array()?,
        })
    }
}

pub(super) fn parse(bytes: &Bytes, protocol: u8) -> Result<Received<Ipv6Header>, ParseError> {
    let truncated = |what, needed| ParseError::Truncated { what, needed, available: bytes.len() };
    let fields = Fields::read(bytes).ok_or_else(|| truncated("IPv6 header", 40))?;
    let total = 40 + usize::from(fields.payload_length);
    let payload = bytes.get(40..total).ok_or_else(|| truncated("IPv6 packet", total))?;
    let start = 40 + extensions_length(fields.next_header, payload, protocol)?;
    Ok(Received {
        header: Ipv6Header {
            traffic_class: (fields.version_class_label >> 20) as u8 & !ECN,
            flow_label: fields.version_class_label & 0xf_ffff,
            hop_limit: fields.hop_limit,
            next_header: fields.next_header,
            extensions: bytes.slice(40..start),
        },
        ecn: Codepoint::from_bits((fields.version_class_label >> 20) as u8),
        source: fields.source.into(),
        destination: fields.destination.into(),
        transport: start..total,
    })
}

/// Length of the extension headers in front of the header of protocol `wanted`, in bytes.
pub(crate) fn extensions_length(first: u8, payload: &[u8], wanted: u8) -> Result<usize, ParseError> {
    let mut reader = Reader::new(payload);
    let mut protocol = first;
    while protocol != wanted {
        let available = reader.len();
        let truncated = |needed| ParseError::Truncated { what: "IPv6 extension header", needed, available };
        let mut header = reader;
        let [next, size, third, fourth] = match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION | FRAGMENT => header.array().ok_or_else(|| truncated(8))?,
            other => return Err(ParseError::NotTcp(other)),
        };
        // The length is in units of 8 bytes, without the first 8 (RFC 8200 section 4). A fragment header has a fixed
        // length, and the field is reserved.
        let length = if protocol == FRAGMENT { 8 } else { 8 + 8 * usize::from(size) };
        if protocol == FRAGMENT {
            let [offset, flags] = [third, fourth & 0xf8];
            let offset = u16::from_be_bytes([offset, flags]);
            // RFC 8200 section 4.5: 13 bits of offset in units of 8 bytes, two reserved bits, then the M flag.
            if offset != 0 || fourth & 1 != 0 {
                return Err(ParseError::Fragment { offset: usize::from(offset) });
            }
        }
        if protocol == ROUTING && fourth != 0 {
            return Err(ParseError::StillRouted(fourth));
        }
        reader.take(length).ok_or_else(|| truncated(length))?;
        protocol = next;
    }
    Ok(payload.len() - reader.len())
}

impl Ipv6Header {
    pub(super) fn length(&self) -> usize {
        40 + self.extensions.len()
    }

    pub(super) fn emit(
        &self,
        source: Ipv6Addr,
        destination: Ipv6Addr,
        ecn: Codepoint,
        transport: usize,
        mut put: impl FnMut(&[u8]),
    ) -> Result<(), EmitError> {
        if self.flow_label > 0xf_ffff {
            return Err(EmitError::FlowLabel(self.flow_label));
        }
        if extensions_length(self.next_header, &self.extensions, TCP) != Ok(self.extensions.len()) {
            return Err(EmitError::Extensions);
        }
        let payload = self.extensions.len() + transport;
        let payload = u16::try_from(payload).map_err(|_| EmitError::PacketLength {
            length: 40 + payload,
            limit: 40 + usize::from(u16::MAX),
        })?;
        let traffic_class = self.traffic_class & !ECN | ecn.bits();
        put(&(6 << 28 | u32::from(traffic_class) << 20 | self.flow_label).to_be_bytes());
        let [length_high, length_low] = payload.to_be_bytes();
        put(&[length_high, length_low, self.next_header, self.hop_limit]);
        put(&source.octets());
        put(&destination.octets());
        put(&self.extensions);
        Ok(())
    }
}
