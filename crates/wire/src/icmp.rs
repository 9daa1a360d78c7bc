//! Parses ICMP errors about TCP segments (RFC 792, RFC 4443).
//!
//! An endpoint ends handshakes and lowers its path MTU because of such errors. Owns the search for the quoted segment's
//! ports and sequence number, which are in the first eight bytes of the TCP header. Verifies the ICMP checksum. Never
//! acts on an error: the receiver must validate it (RFC 5927).

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

/// The reason why a segment was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undelivered {
    /// No route to the network.
    Network,
    /// The host is unreachable on its link.
    Host,
    /// The host does not support TCP.
    Protocol,
    /// No listener on the port.
    Port,
    /// Prohibited by a filter, a policy or a route.
    Prohibited,
    /// The hop limit or the reassembly time is exceeded.
    TimeExceeded,
    /// The segment exceeds a link's MTU.
    TooBig {
        /// MTU of the link, in bytes; 0 from routers that do not report it (RFC 1191 section 5).
        mtu: u32,
    },
}

/// An ICMP error about a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The segment's source.
    pub source: SocketAddr,
    /// The segment's destination.
    pub destination: SocketAddr,
    /// The segment's sequence number.
    pub sequence: Seq,
    /// The reason.
    pub what: Undelivered,
}

/// A packet that is no ICMP error about a TCP segment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum IcmpParseError {
    /// The IP packet is malformed.
    #[error("{0}")]
    Packet(ParseError),
    /// The packet carries another protocol.
    #[error("IP protocol {0}: must be 1 (ICMP), or 58 (ICMPv6) in IPv6")]
    NotIcmp(u8),
    /// The message is truncated.
    #[error("the {what} needs {needed} bytes, but only {available} are available")]
    Truncated {
        /// The truncated part of the message.
        what: &'static str,
        /// Required length, in bytes.
        needed: usize,
        /// Available length, in bytes.
        available: usize,
    },
    /// The checksum of the message is wrong.
    #[error("the ICMP checksum is wrong: {found:#06x}")]
    Checksum {
        /// The value in the packet.
        found: u16,
    },
    /// The message reports no undelivered packet.
    #[error("ICMP type {kind} code {code} reports no undelivered packet")]
    Kind {
        /// ICMP type.
        kind: u8,
        /// ICMP code.
        code: u8,
    },
    /// The quoted packet has no TCP header: another protocol, a later fragment, or no IP packet.
    #[error("the ICMP message does not quote the beginning of a TCP segment")]
    NoSegment,
}

/// The fixed part of a message (RFC 792, RFC 4443 section 2.1), in front of the quoted packet.
struct Head {
    kind: u8,
    code: u8,
    checksum: u16,
    /// Bytes 4 to 7: the MTU if the packet was too big. ICMPv4 has it in the lower half only (RFC 1191 section 4).
    rest: u32,
}

impl Notice {
    /// Whether the IP header states that a packet is ICMP. A quick test: only [`Self::parse`] verifies the packet.
    #[must_use]
    pub fn is_likely(packet: &[u8]) -> bool {
        match packet.first().map(|first| first >> 4) {
            Some(4) => packet.get(9) == Some(&ICMP),
            Some(6) => packet.get(6) == Some(&ICMP6),
            _ => false,
        }
    }

    /// Parses a packet and verifies its checksums.
    ///
    /// # Errors
    /// [`IcmpParseError`] unless the packet is an ICMP error that quotes the beginning of a TCP segment.
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
            // RFC 792. Codes from 6: RFC 1122 section 3.2.2.1 and RFC 1812 section 5.2.7.1.
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

/// ICMPv4's checksum covers the message (RFC 792); ICMPv6's also covers a pseudo-header (RFC 4443 section 2.3).
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

/// Addresses and transport header of a quoted packet, which may be truncated anywhere behind its IP header.
type Quoted<'a> = (IpAddr, IpAddr, &'a [u8]);

fn quoted4(quote: &[u8]) -> Option<Quoted<'_>> {
    let header: &[u8; 20] = quote.first_chunk()?;
    let length = usize::from(header[0] & 0x0f) * 4;
    // Only the fragment with offset 0 (13 bits) has the ports.
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
