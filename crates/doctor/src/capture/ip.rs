//! Finds the TCP header in an IP packet of which a capture may have kept only the start.
//!
//! Unlike `mptcp_wire::Packet::parse`, it accepts cut packets and ignores checksums, which network cards compute after
//! the capture.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::skipped::Unusable;

/// An IP packet that carries TCP.
pub(super) struct IpPacket<'a> {
    pub(super) from: IpAddr,
    pub(super) to: IpAddr,
    /// The captured part of the TCP segment.
    pub(super) transport: &'a [u8],
    /// Length of the TCP segment on the wire, bytes.
    pub(super) length: usize,
}

const TCP: u8 = 6;
/// Encapsulation of IPv4 and IPv6 in IP (RFC 2003, RFC 2473).
const IPV4: u8 = 4;
const IPV6: u8 = 41;
/// Tunnels within tunnels that are followed.
const DEEPEST: usize = 3;
/// Extension headers that are followed.
const MOST_EXTENSIONS: usize = 8;

/// Parses the packet in `bytes`; `original` is its length on the wire.
pub(super) fn parse(bytes: &[u8], original: usize) -> Result<IpPacket<'_>, Unusable> {
    let (mut bytes, mut original) = (bytes, original.max(bytes.len()));
    for _ in 0..DEEPEST {
        let first = *bytes.first().ok_or(Unusable::Cut)?;
        let (protocol, packet) = match first >> 4 {
            4 => v4(bytes, original)?,
            6 => v6(bytes, original)?,
            _ => return Err(Unusable::NotIp),
        };
        match protocol {
            TCP => return Ok(packet),
            IPV4 | IPV6 => (bytes, original) = (packet.transport, packet.length),
            _ => return Err(Unusable::NotTcp),
        }
    }
    Err(Unusable::NotTcp)
}

/// RFC 791 section 3.1.
fn v4(bytes: &[u8], original: usize) -> Result<(u8, IpPacket<'_>), Unusable> {
    let header: &[u8; 20] = bytes.first_chunk().ok_or(Unusable::Cut)?;
    let header_length = usize::from(header[0] & 15) * 4;
    if header_length < 20 {
        return Err(Unusable::Invalid);
    }
    // A segment that the network card will split has no length yet (TSO).
    let total = match u16::from_be_bytes([header[2], header[3]]) {
        0 => original,
        total => usize::from(total).min(original),
    };
    let length = total.checked_sub(header_length).ok_or(Unusable::Invalid)?;
    let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff;
    if fragment != 0 {
        return Err(if header[9] == TCP { Unusable::Fragment } else { Unusable::NotTcp });
    }
    let end = total.min(bytes.len());
    let transport = bytes.get(header_length..end).ok_or(Unusable::Cut)?;
    let address =
        |at: usize| IpAddr::V4(Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]));
    Ok((header[9], IpPacket { from: address(12), to: address(16), transport, length }))
}

/// RFC 8200 sections 3 and 4.
fn v6(bytes: &[u8], original: usize) -> Result<(u8, IpPacket<'_>), Unusable> {
    let header: &[u8; 40] = bytes.first_chunk().ok_or(Unusable::Cut)?;
    let mut length = match u16::from_be_bytes([header[4], header[5]]) {
        0 => original - 40,
        length => usize::from(length).min(original - 40),
    };
    let mut transport = &bytes[40..bytes.len().min(40 + length)];
    let mut next = header[6];
    for _ in 0..MOST_EXTENSIONS {
        let size = match next {
            // Hop-by-hop options, routing, destination options.
            0 | 43 | 60 => {
                let start: &[u8; 2] = transport.first_chunk().ok_or(Unusable::Cut)?;
                next = start[0];
                (usize::from(start[1]) + 1) * 8
            }
            44 => {
                let start: &[u8; 4] = transport.first_chunk().ok_or(Unusable::Cut)?;
                // An atomic fragment is a whole packet (RFC 6946).
                if u16::from_be_bytes([start[2], start[3]]) & 0xfff9 != 0 {
                    return Err(Unusable::Fragment);
                }
                next = start[0];
                8
            }
            _ => break,
        };
        length = length.checked_sub(size).ok_or(Unusable::Invalid)?;
        transport = transport.get(size..).ok_or(Unusable::Cut)?;
    }
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&header[at..at + 16]);
        IpAddr::V6(Ipv6Addr::from(octets))
    };
    Ok((next, IpPacket { from: address(8), to: address(24), transport, length }))
}
