//! An IP packet that carries one TCP segment.
//!
//! Owns the conversion between bytes and [`Packet`]. Never copies a received payload.

use bytes::{Buf, BufMut, Bytes};

use crate::error::{EmitError, ParseError};
use crate::ip::TCP;
use crate::{ChecksumMode, IpHeader, Segment, tcp};

/// An IP header and its segment. The segment holds the addresses; encoding computes lengths and checksums.
///
/// ```
/// use bytes::Bytes;
/// use mptcp_wire::{Flags, Packet, Segment};
///
/// let mut syn = Segment::new("10.0.0.1:1024".parse()?, "10.0.0.2:80".parse()?);
/// syn.flags = Flags::SYN;
/// syn.options.mss = Some(1460);
/// let mut bytes = Vec::new();
/// Packet::new(syn).emit(&mut bytes)?;
/// let packet = Packet::parse(&Bytes::from(bytes))?;
/// assert_eq!(packet.segment.options.mss, Some(1460));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The IP header, of the same family as the segment's addresses.
    pub ip: IpHeader,
    /// The segment.
    pub segment: Segment,
}

impl Packet {
    /// A packet with a default header: TTL 64, and "don't fragment" for IPv4.
    #[must_use]
    pub fn new(segment: Segment) -> Self {
        Self { ip: IpHeader::for_address(segment.source.ip()), segment }
    }

    /// Parses a packet and verifies its checksums. Ignores bytes behind the packet, such as Ethernet padding. The
    /// payload shares memory with `bytes`.
    ///
    /// [`Self::emit`] returns the same bytes. The only exception is a checksum of 0xffff, which becomes zero: both are
    /// the same number in one's complement.
    ///
    /// # Errors
    ///
    /// [`ParseError`] unless it is one complete TCP segment.
    pub fn parse(bytes: &Bytes) -> Result<Self, ParseError> {
        Self::parse_with(bytes, ChecksumMode::Complete)
    }

    /// [`Self::parse`] with an optional check of the TCP checksum. An IPv4 header checksum is always verified.
    ///
    /// # Errors
    ///
    /// [`ParseError`] unless it is one complete TCP segment.
    pub fn parse_with(bytes: &Bytes, mode: ChecksumMode) -> Result<Self, ParseError> {
        Self::parse_owned(bytes.clone(), mode)
    }

    /// [`Self::parse_with`] for callers that do not need the bytes afterwards: the payload takes them over.
    ///
    /// # Errors
    ///
    /// [`ParseError`] unless it is one complete TCP segment.
    pub fn parse_owned(mut bytes: Bytes, mode: ChecksumMode) -> Result<Self, ParseError> {
        let received = IpHeader::parse(&bytes, TCP)?;
        bytes.truncate(received.transport.end);
        bytes.advance(received.transport.start);
        let mut segment = tcp::parse(received.source, received.destination, bytes, mode)?;
        segment.ecn = received.ecn;
        Ok(Self { ip: received.header, segment })
    }

    /// Encoded length, in bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        self.ip.length() + self.segment.header_length() + self.segment.payload.len()
    }

    /// Appends the packet to a buffer. After an error the buffer is unchanged.
    ///
    /// # Errors
    ///
    /// [`EmitError`] if a value cannot be encoded, or the buffer lacks space.
    pub fn emit(&self, out: &mut impl BufMut) -> Result<(), EmitError> {
        self.emit_with(out, ChecksumMode::Complete)
    }

    /// [`Self::emit`] with a TCP checksum that is complete, or that a device completes.
    ///
    /// # Errors
    ///
    /// [`EmitError`] if a value cannot be encoded, or the buffer lacks space.
    pub fn emit_with(&self, out: &mut impl BufMut, mode: ChecksumMode) -> Result<(), EmitError> {
        let (needed, room) = (self.length(), out.remaining_mut());
        if needed > room {
            return Err(EmitError::Room { needed, room });
        }
        self.emit_headers(out, mode)?;
        out.put_slice(&self.segment.payload);
        Ok(())
    }

    /// Appends the packet without its payload, for callers that pass the payload on without a copy. Lengths and
    /// checksums include the payload.
    ///
    /// # Errors
    ///
    /// [`EmitError`] if a value cannot be encoded, or the buffer lacks space.
    pub fn emit_headers(&self, out: &mut impl BufMut, mode: ChecksumMode) -> Result<(), EmitError> {
        let Segment { source, destination, ecn, payload, .. } = &self.segment;
        let header = tcp::emit_header(&self.segment, mode)?;
        let (needed, room) = (self.ip.length() + header.len(), out.remaining_mut());
        if needed > room {
            return Err(EmitError::Room { needed, room });
        }
        let transport = header.len() + payload.len();
        self.ip.emit(source.ip(), destination.ip(), *ecn, transport, |bytes| out.put_slice(bytes))?;
        out.put_slice(&header);
        Ok(())
    }
}

impl From<Segment> for Packet {
    fn from(segment: Segment) -> Self {
        Self::new(segment)
    }
}
