//! What ICMP says of segments that were not delivered (RFC 792, RFC 4443).
//!
//! Owns the way from a packet to the segment that it quotes: its ports and sequence number, which stand in the first eight
//! bytes of the TCP header. Verifies the ICMP checksum. Never acts on anything: whoever does has to doubt it (RFC 5927).

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use thiserror::Error;

use crate::cursor::Reader;
use crate::error::ParseError;
use crate::ip::{self, TCP};
use crate::{Checksum, IpHeader, Seq};

/// IP protocol number of ICMP.
const ICMP: u8 = 1;
/// Next header of ICMPv6.
const ICMP6: u8 = 58;

/// Why a segment did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undelivered {
    /// No route leads to the network.
    Network,
    /// The host cannot be reached on its link.
    Host,
    /// The host has no TCP.
    Protocol,
    /// Nobody listens there.
    Port,
    /// A filter, a policy or a route said so.
    Prohibited,
    /// Its hop limit ran out, or its fragments did not come together in time.
    TimeExceeded,
    /// It is too large for a link.
    TooBig {
        /// The longest packet that the link carries, bytes; 0 from routers that do not say (RFC 1191 section 5).
        mtu: u32,
    },
}

/// An ICMP error about a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Who sent the segment.
    pub source: SocketAddr,
    /// Who should have had it.
    pub destination: SocketAddr,
    /// Its sequence number.
    pub sequence: Seq,
    /// What happened to it.
    pub what: Undelivered,
}

/// Why a packet is no ICMP error about a TCP segment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum IcmpParseError {
    /// The packet itself.
    #[error("{0}")]
    Packet(ParseError),
    /// Something else inside.
    #[error("IP protocol {0}: it must be 1 (ICMP), or 58 (ICMPv6) in IPv6")]
    NotIcmp(u8),
    /// It ends too early.
    #[error("the {what} needs {needed} bytes and {available} are there")]
    Truncated {
        /// The part of the message.
        what: &'static str,
        /// Bytes that it should have.
        needed: usize,
        /// Bytes that it has.
        available: usize,
    },
    /// The checksum of the message.
    #[error("the ICMP checksum is wrong: {found:#06x}")]
    Checksum {
        /// In the packet.
        found: u16,
    },
    /// Not about a packet that was not delivered.
    #[error("ICMP type {kind} code {code} says nothing about a packet that was not delivered")]
    Kind {
        /// Type.
        kind: u8,
        /// Code.
        code: u8,
    },
    /// The quoted packet holds no TCP header: another protocol, a later fragment, or no IP packet at all.
    #[error("what the ICMP message quotes does not begin a TCP segment")]
    NoSegment,
}

/// The fixed part of a message (RFC 792, RFC 4443 section 2.1); the quoted packet follows.
struct Head {
    kind: u8,
    code: u8,
    checksum: u16,
    /// Of a packet that was too big: ICMPv4 has the MTU in the lower half (RFC 1191 section 4).
    rest: u32,
}

impl Notice {
    /// Whether a packet is ICMP, as far as its first header says. Cheap; [`Self::parse`] finds out.
    #[must_use]
    pub fn is_likely(packet: &[u8]) -> bool {
        match packet.first().map(|first| first >> 4) {
            Some(4) => packet.get(9) == Some(&ICMP),
            Some(6) => packet.get(6) == Some(&ICMP6),
            _ => false,
        }
    }

    /// Reads a packet, verifying its checksums.
    ///
    /// # Errors
    /// [`IcmpParseError`] unless it is an ICMP error that quotes the beginning of a TCP segment.
    pub fn parse(packet: &Bytes) -> Result<Self, IcmpParseError> {
        let six = packet.first().is_some_and(|first| first >> 4 == 6);
        let received =
            IpHeader::parse(packet, if six { ICMP6 } else { ICMP }).map_err(|error| match error {
                ParseError::NotTcp(other) => IcmpParseError::NotIcmp(other),
                other => IcmpParseError::Packet(other),
            })?;
        let message = &packet[received.transport];
        let head = Head::parse(message)?;
        verify(received.source, received.destination, message, head.checksum)?;
        let quote = message.get(8..).unwrap_or_default();
        let what = head.what(six)?;
        let (source, destination, transport) =
            if six { quoted6(quote) } else { quoted4(quote) }.ok_or(IcmpParseError::NoSegment)?;
        let mut tcp = Reader::new(transport);
        let fields = (|| Some((tcp.u16()?, tcp.u16()?, tcp.u32()?)))();
        let (from, to, sequence) = fields.ok_or(IcmpParseError::Truncated {
            what: "quoted TCP header",
            needed: 8,
            available: transport.len(),
        })?;
        let (source, destination) = (SocketAddr::new(source, from), SocketAddr::new(destination, to));
        Ok(Self { source, destination, sequence: Seq::new(sequence), what })
    }
}

impl Head {
    fn parse(message: &[u8]) -> Result<Self, IcmpParseError> {
        let mut reader = Reader::new(message);
        let head = (|| {
            let (kind, code, checksum) = (reader.u8()?, reader.u8()?, reader.u16()?);
            Some(Self { kind, code, checksum, rest: reader.u32()? })
        })();
        let available = message.len();
        head.ok_or(IcmpParseError::Truncated { what: "ICMP header", needed: 8, available })
    }

    fn what(&self, six: bool) -> Result<Undelivered, IcmpParseError> {
        use Undelivered::{Host, Network, Port, Prohibited, Protocol, TimeExceeded, TooBig};
        let (kind, code) = (self.kind, self.code);
        Ok(match (six, kind, code) {
            // RFC 792; codes from 6 on: RFC 1122 section 3.2.2.1 and RFC 1812 section 5.2.7.1.
            (false, 3, 0 | 6 | 11) => Network,
            (false, 3, 1 | 5 | 7 | 8 | 12) => Host,
            (false, 3, 2) => Protocol,
            (false, 3, 3) => Port,
            (false, 3, 4) => TooBig { mtu: self.rest & 0xffff },
            (false, 3, 9 | 10 | 13..=15) => Prohibited,
            (false, 11, 0 | 1) | (true, 3, 0 | 1) => TimeExceeded,
            // RFC 4443 sections 3.1 and 3.2.
            (true, 1, 0 | 2) => Network,
            (true, 1, 3) => Host,
            (true, 1, 4) => Port,
            (true, 1, 1 | 5 | 6) => Prohibited,
            (true, 2, _) => TooBig { mtu: self.rest },
            _ => return Err(IcmpParseError::Kind { kind, code }),
        })
    }
}

/// ICMPv4's checksum is over the message (RFC 792); ICMPv6's over a pseudo-header too (RFC 4443 section 2.3).
fn verify(source: IpAddr, destination: IpAddr, message: &[u8], found: u16) -> Result<(), IcmpParseError> {
    let mut sum = Checksum::new();
    if let (IpAddr::V6(source), IpAddr::V6(destination)) = (source, destination) {
        sum.add(&source.octets());
        sum.add(&destination.octets());
        sum.add(&u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes());
        sum.add(&[0, 0, 0, ICMP6]);
    }
    sum.add(message);
    if sum.folded() == 0xffff { Ok(()) } else { Err(IcmpParseError::Checksum { found }) }
}

/// Addresses and transport header of a quoted packet, which may be cut off anywhere behind its header.
type Quoted<'a> = (IpAddr, IpAddr, &'a [u8]);

fn quoted4(quote: &[u8]) -> Option<Quoted<'_>> {
    let header: &[u8; 20] = quote.first_chunk()?;
    let length = usize::from(header[0] & 0x0f) * 4;
    // The 13 bits of the offset: only the first fragment has the ports.
    let first = u16::from_be_bytes([header[6], header[7]]) & 0x1fff == 0;
    if header[0] >> 4 != 4 || length < 20 || header[9] != TCP || !first {
        return None;
    }
    let address = |at: usize| quote.get(at..)?.first_chunk::<4>().map(|octets| IpAddr::from(*octets));
    Some((address(12)?, address(16)?, quote.get(length..)?))
}

fn quoted6(quote: &[u8]) -> Option<Quoted<'_>> {
    let (header, rest) = quote.split_first_chunk::<40>()?;
    if header[0] >> 4 != 6 {
        return None;
    }
    let address = |at: usize| header.get(at..)?.first_chunk::<16>().map(|octets| IpAddr::from(*octets));
    let extensions = ip::v6::extensions_length(header[6], rest, TCP).ok()?;
    Some((address(8)?, address(24)?, rest.get(extensions..)?))
}
