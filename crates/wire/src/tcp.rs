//! The TCP header (RFC 9293 section 3.1).
//!
//! Owns parsing and encoding of the header, and the TCP checksum. Never acts on a field.

use std::net::{IpAddr, SocketAddr};

use arrayvec::ArrayVec;
use bytes::{Buf, Bytes};

use crate::cursor::Reader;
use crate::error::{EmitError, ParseError};
use crate::{Checksum, Codepoint, Flags, Options, Segment, Seq};

/// The place where TCP checksums are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChecksumMode {
    /// In software: verified when parsed, complete when encoded.
    #[default]
    Complete,
    /// In the device: not verified when parsed. When encoded, the field holds the folded sum of the pseudo-header for
    /// the device to complete (Linux's CHECKSUM_PARTIAL).
    Offloaded,
}

/// Offset of the checksum field in the header, in bytes.
const CHECKSUM_OFFSET: usize = 16;

/// An encoded header with options.
type Header = ArrayVec<u8, 60>;

struct Fields {
    source_port: u16,
    destination_port: u16,
    sequence: u32,
    acknowledgment: u32,
    offset_flags: u16,
    window: u16,
    checksum: u16,
    urgent: u16,
}

impl Fields {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        Some(Self {
            source_port: reader.u16()?,
            destination_port: reader.u16()?,
            sequence: reader.u32()?,
            acknowledgment: reader.u32()?,
            offset_flags: reader.u16()?,
            window: reader.u16()?,
            checksum: reader.u16()?,
            urgent: reader.u16()?,
        })
    }
}

/// Parses header, options and payload. The payload shares memory with `bytes`.
pub(crate) fn parse(
    source: IpAddr,
    destination: IpAddr,
    mut bytes: Bytes,
    mode: ChecksumMode,
) -> Result<Segment, ParseError> {
    let truncated = |needed| ParseError::Truncated { what: "TCP header", needed, available: bytes.len() };
    let fields = Fields::read(&bytes).ok_or_else(|| truncated(20))?;
    let header_length = usize::from(fields.offset_flags >> 12) * 4;
    if header_length < 20 {
        return Err(ParseError::Length { what: "TCP data offset", length: header_length, least: 20 });
    }
    let options = bytes.get(20..header_length).ok_or_else(|| truncated(header_length))?;
    if mode == ChecksumMode::Complete {
        verify(source, destination, &bytes, fields.checksum)?;
    }
    let options = Options::parse(options)?;
    bytes.advance(header_length);
    // An empty payload must not keep the memory alive.
    let payload = if bytes.is_empty() { Bytes::new() } else { bytes };
    Ok(Segment {
        source: SocketAddr::new(source, fields.source_port),
        destination: SocketAddr::new(destination, fields.destination_port),
        sequence: Seq::new(fields.sequence),
        acknowledgment: Seq::new(fields.acknowledgment),
        flags: Flags::from_bits(fields.offset_flags),
        window: fields.window,
        urgent: fields.urgent,
        ecn: Codepoint::NotEct,
        options,
        payload,
    })
}

fn verify(source: IpAddr, destination: IpAddr, bytes: &[u8], found: u16) -> Result<(), ParseError> {
    let mut sum = Checksum::tcp(source, destination, bytes.len() as u32);
    sum.add(bytes);
    if sum.folded() == 0xffff {
        return Ok(());
    }
    // Computes the sum without the field. A zero pads an odd last byte first.
    if bytes.len() % 2 == 1 {
        sum.add(&[0]);
    }
    sum.add(&(!found).to_be_bytes());
    Err(ParseError::TcpChecksum { found, expected: sum.value() })
}

/// Encodes header and options. The checksum covers the payload.
pub(crate) fn emit_header(segment: &Segment, mode: ChecksumMode) -> Result<Header, EmitError> {
    let options = segment.options.emit()?;
    let offset = (20 + options.len() as u16) / 4;
    let mut header = Header::new();
    header.extend(segment.source.port().to_be_bytes());
    header.extend(segment.destination.port().to_be_bytes());
    header.extend(segment.sequence.value().to_be_bytes());
    header.extend(segment.acknowledgment.value().to_be_bytes());
    header.extend((offset << 12 | segment.flags.bits()).to_be_bytes());
    header.extend(segment.window.to_be_bytes());
    header.extend([0, 0]);
    header.extend(segment.urgent.to_be_bytes());
    header.extend(options);

    let length = header.len() + segment.payload.len();
    let mut sum = Checksum::tcp(segment.source.ip(), segment.destination.ip(), length as u32);
    let checksum = match mode {
        ChecksumMode::Offloaded => sum.folded(),
        ChecksumMode::Complete => {
            sum.add(&header);
            sum.add(&segment.payload);
            sum.value()
        }
    };
    let field = header.iter_mut().skip(CHECKSUM_OFFSET);
    field.zip(checksum.to_be_bytes()).for_each(|(to, byte)| *to = byte);
    Ok(header)
}
