//! A TCP segment of a capture, without its payload.

use std::net::SocketAddr;

use mptcp_wire::{DataSequence, Flags, Options};
use schemars::JsonSchema;
use serde::Serialize;

use super::ip::{self, IpPacket};
use super::skipped::Unusable;

/// A packet of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct PacketRef {
    /// Number of the file in the order given, from 0.
    pub file: u16,
    /// Number of the packet in the file, from 1, as in Wireshark.
    pub number: u64,
}

/// An interface of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId {
    /// Number of the file.
    pub file: u16,
    /// Number of the interface in the file.
    pub interface: u16,
}

/// A TCP segment as captured.
#[derive(Clone, Debug)]
pub struct SeenSegment {
    /// Time of the capture, ns since 1970.
    pub time: u64,
    /// The packet.
    pub packet: PacketRef,
    /// The interface.
    pub source: SourceId,
    /// Address and port of the sender.
    pub from: SocketAddr,
    /// Address and port of the receiver.
    pub to: SocketAddr,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgment: u32,
    /// Control bits.
    pub flags: Flags,
    /// Window field, not scaled.
    pub window: u16,
    /// Payload length on the wire, bytes; the capture may have kept fewer.
    pub payload: u32,
    /// Options, up to the first one that the capture cut off.
    pub options: Options,
    /// Whether the capture cut off options, or an option is invalid.
    pub has_cut_options: bool,
}

/// Smallest TCP header, bytes.
const HEADER: usize = 20;

impl SeenSegment {
    /// The segment in an IP packet, of which `bytes` were captured, and which had `original` bytes on the wire.
    pub(super) fn parse(
        bytes: &[u8],
        original: usize,
        time: u64,
        packet: PacketRef,
        source: SourceId,
    ) -> Result<Self, Unusable> {
        let IpPacket { from, to, transport, length } = ip::parse(bytes, original)?;
        let header: &[u8; HEADER] = transport.first_chunk().ok_or(Unusable::Cut)?;
        let u16_at = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let u32_at =
            |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let header_length = usize::from(header[12] >> 4) * 4;
        if header_length < HEADER || header_length > length {
            return Err(Unusable::Invalid);
        }
        let kept = &transport[HEADER..header_length.min(transport.len())];
        let (options, error) = Options::parse_partial(kept);
        let bits = u16::from_be_bytes([header[12] & 0x0f, header[13]]);
        Ok(Self {
            time,
            packet,
            source,
            from: SocketAddr::new(from, u16_at(0)),
            to: SocketAddr::new(to, u16_at(2)),
            sequence: u32_at(4),
            acknowledgment: u32_at(8),
            flags: Flags::from_bits(bits),
            window: u16_at(14),
            payload: u32::try_from(length - header_length).unwrap_or(u32::MAX),
            has_cut_options: error.is_some() || kept.len() + HEADER < header_length,
            options,
        })
    }

    /// Data sequence number and length of the mapping, and the DATA_ACK; 0 where they are absent.
    #[must_use]
    pub fn data_numbers(&self) -> (u64, u64, u64) {
        let number = |sequence: DataSequence| match sequence {
            DataSequence::Short(number) => number.into(),
            DataSequence::Wide(number) => number,
        };
        let Some(dss) = &self.options.dss else { return (0, 0, 0) };
        let (sequence, length) =
            dss.mapping.as_ref().map_or((0, 0), |mapping| (number(mapping.sequence), mapping.length.into()));
        (sequence, length, dss.ack.map_or(0, number))
    }
}
