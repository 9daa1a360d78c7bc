//! An IP packet that carries one TCP segment.
//!
//! Owns the way between bytes and [`Packet`]. Never copies a payload on the way in.

use bytes::{Buf, BufMut, Bytes};

use crate::error::{EmitError, ParseError};
use crate::ip::TCP;
use crate::{ChecksumMode, IpHeader, Segment, tcp};

/// An IP header and the segment in it. The addresses stand in the segment; lengths and checksums
/// are computed on emission.
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
    /// The IP header; of the family of the segment's addresses.
    pub ip: IpHeader,
    /// The segment.
    pub segment: Segment,
}

impl Packet {
    /// The segment in a plain header: TTL 64, for IPv4 "don't fragment".
    #[must_use]
    pub fn new(segment: Segment) -> Self {
        Self { ip: IpHeader::for_address(segment.source.ip()), segment }
    }

    /// Reads a packet, verifying its checksums. What follows it, such as the padding of a short
    /// Ethernet frame, is ignored. The payload shares memory with `bytes`.
    ///
    /// [`Self::emit`] gives the same bytes again. The one exception: a checksum sent as 0xffff, which
    /// one's complement does not tell from zero, comes back as zero.
    ///
    /// # Errors
    ///
    /// [`ParseError`] unless it is one whole TCP segment.
    pub fn parse(bytes: &Bytes) -> Result<Self, ParseError> {
        Self::parse_with(bytes, ChecksumMode::Complete)
    }

    /// [`Self::parse`], verifying the TCP checksum or not. An IPv4 header's is always verified.
    ///
    /// # Errors
    ///
    /// [`ParseError`] unless it is one whole TCP segment.
    pub fn parse_with(bytes: &Bytes, mode: ChecksumMode) -> Result<Self, ParseError> {
        Self::parse_owned(bytes.clone(), mode)
    }

    /// [`Self::parse_with`] for those who need the bytes no more: the payload takes their place.
    ///
    /// # Errors
    ///
    /// [`ParseError`] unless it is one whole TCP segment.
    pub fn parse_owned(mut bytes: Bytes, mode: ChecksumMode) -> Result<Self, ParseError> {
        let received = IpHeader::parse(&bytes, TCP)?;
        bytes.truncate(received.transport.end);
        bytes.advance(received.transport.start);
        let mut segment = tcp::parse(received.source, received.destination, bytes, mode)?;
        segment.ecn = received.ecn;
        Ok(Self { ip: received.header, segment })
    }

    /// Encoded length, bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        self.ip.length() + self.segment.header_length() + self.segment.payload.len()
    }

    /// Appends the packet to a buffer; on an error the buffer is as it was.
    ///
    /// # Errors
    ///
    /// [`EmitError`] if a value has no form on the wire, or the buffer has no room.
    pub fn emit(&self, out: &mut impl BufMut) -> Result<(), EmitError> {
        self.emit_with(out, ChecksumMode::Complete)
    }

    /// [`Self::emit`], with a complete TCP checksum or one for a device to complete.
    ///
    /// # Errors
    ///
    /// [`EmitError`] if a value has no form on the wire, or the buffer has no room.
    pub fn emit_with(&self, out: &mut impl BufMut, mode: ChecksumMode) -> Result<(), EmitError> {
        let (needed, room) = (self.length(), out.remaining_mut());
        if needed > room {
            return Err(EmitError::Room { needed, room });
        }
        self.emit_headers(out, mode)?;
        out.put_slice(&self.segment.payload);
        Ok(())
    }

    /// Appends the packet without its payload, for those who hand that on where it lies. Lengths and checksums
    /// are those of the whole.
    ///
    /// # Errors
    ///
    /// [`EmitError`] if a value has no form on the wire, or the buffer has no room.
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
