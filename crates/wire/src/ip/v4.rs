//! The IPv4 header (RFC 791 section 3.1).
//!
//! Owns parsing and encoding, with the header checksum. Never reassembles fragments.

use std::net::Ipv4Addr;

use bytes::Bytes;

use super::received::{DEFAULT_HOPS, ECN, Received, TCP};
use crate::cursor::Reader;
use crate::error::{EmitError, ParseError};
use crate::{Checksum, Codepoint};

const RESERVED: u16 = 0x8000;
const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;
const OFFSET: u16 = 0x1fff;

/// Fields of an IPv4 header, except for addresses and the computed lengths and checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ipv4Header {
    /// DSCP in the upper six bits (RFC 2474). The lower two are zero, and encoding ignores them:
    /// [`crate::Segment::ecn`] holds the ECN field.
    pub traffic_class: u8,
    /// Identification; has no meaning on unfragmented packets (RFC 6864 section 4.1).
    pub identification: u16,
    /// The don't fragment bit.
    pub dont_fragment: bool,
    /// The reserved bit; preserved, but not used.
    pub reserved: bool,
    /// Time to live, in hops.
    pub ttl: u8,
    /// Options with their padding: 0 to 40 bytes, a multiple of 4; preserved, but not used.
    pub options: Bytes,
}

impl Default for Ipv4Header {
    fn default() -> Self {
        Self {
            traffic_class: 0,
            identification: 0,
            dont_fragment: true,
            reserved: false,
            ttl: DEFAULT_HOPS,
            options: Bytes::new(),
        }
    }
}

/// The fixed fields, in order.
struct Fields {
    version_length: u8,
    traffic_class: u8,
    total_length: u16,
    identification: u16,
    fragment: u16,
    ttl: u8,
    protocol: u8,
    checksum: u16,
    source: [u8; 4],
    destination: [u8; 4],
}

impl Fields {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        Some(Self {
            version_length: reader.u8()?,
            traffic_class: reader.u8()?,
            total_length: reader.u16()?,
            identification: reader.u16()?,
            fragment: reader.u16()?,
            ttl: reader.u8()?,
            protocol: reader.u8()?,
            checksum: reader.u16()?,
            source: reader.array()?,
            destination: reader.array()?,
        })
    }
}

pub(super) fn parse(bytes: &Bytes, protocol: u8) -> Result<Received<Ipv4Header>, ParseError> {
    let truncated = |what, needed| ParseError::Truncated { what, needed, available: bytes.len() };
    let fields = Fields::read(bytes).ok_or_else(|| truncated("IPv4 header", 20))?;
    let header_length = usize::from(fields.version_length & 0x0f) * 4;
    if header_length < 20 {
        return Err(ParseError::Length { what: "IPv4 header length", length: header_length, least: 20 });
    }
    let header = bytes.get(..header_length).ok_or_else(|| truncated("IPv4 header", header_length))?;
    let total = usize::from(fields.total_length);
    if total < header_length {
        return Err(ParseError::Length { what: "IPv4 total length", length: total, least: header_length });
    }
    if bytes.len() < total {
        return Err(truncated("IPv4 packet", total));
    }
    verify(header, fields.checksum)?;
    if fields.fragment & (MORE_FRAGMENTS | OFFSET) != 0 {
        return Err(ParseError::Fragment { offset: usize::from(fields.fragment & OFFSET) * 8 });
    }
    if fields.protocol != protocol {
        return Err(ParseError::NotTcp(fields.protocol));
    }
    Ok(Received {
        header: Ipv4Header {
            traffic_class: fields.traffic_class & !ECN,
            identification: fields.identification,
            dont_fragment: fields.fragment & DONT_FRAGMENT != 0,
            reserved: fields.fragment & RESERVED != 0,
            ttl: fields.ttl,
            options: bytes.slice(20..header_length),
        },
        ecn: Codepoint::from_bits(fields.traffic_class),
        source: fields.source.into(),
        destination: fields.destination.into(),
        transport: header_length..total,
    })
}

fn verify(header: &[u8], found: u16) -> Result<(), ParseError> {
    let mut sum = Checksum::new();
    sum.add(header);
    if sum.folded() == 0xffff {
        return Ok(());
    }
    // Adding the complement of the field removes it from the sum.
    sum.add(&(!found).to_be_bytes());
    Err(ParseError::HeaderChecksum { found, expected: sum.value() })
}

impl Ipv4Header {
    pub(super) fn length(&self) -> usize {
        20 + self.options.len()
    }

    pub(super) fn emit(
        &self,
        source: Ipv4Addr,
        destination: Ipv4Addr,
        ecn: Codepoint,
        transport: usize,
        mut put: impl FnMut(&[u8]),
    ) -> Result<(), EmitError> {
        if self.options.len() > 40 || !self.options.len().is_multiple_of(4) {
            return Err(EmitError::Ipv4Options { length: self.options.len() });
        }
        let length = self.length() + transport;
        let limit = usize::from(u16::MAX);
        let total = u16::try_from(length).map_err(|_| EmitError::PacketLength { length, limit })?;
        let fragment =
            if self.reserved { RESERVED } else { 0 } | if self.dont_fragment { DONT_FRAGMENT } else { 0 };
        let [length_high, length_low] = total.to_be_bytes();
        let [id_high, id_low] = self.identification.to_be_bytes();
        let [fragment_high, fragment_low] = fragment.to_be_bytes();
        let [s0, s1, s2, s3] = source.octets();
        let [d0, d1, d2, d3] = destination.octets();
        let encode = |[sum_high, sum_low]: [u8; 2]| -> [u8; 20] {
            [
                0x40 | (self.length() / 4) as u8,
                self.traffic_class & !ECN | ecn.bits(),
                length_high,
                length_low,
                id_high,
                id_low,
                fragment_high,
                fragment_low,
                self.ttl,
                TCP,
                sum_high,
                sum_low,
                s0,
                s1,
                s2,
                s3,
                d0,
                d1,
                d2,
                d3,
            ]
        };
        let mut sum = Checksum::new();
        sum.add(&encode([0, 0]));
        sum.add(&self.options);
        put(&encode(sum.value().to_be_bytes()));
        put(&self.options);
        Ok(())
    }
}
