//! A TCP segment as a value.
//!
//! Owns the value and its lengths; `packet` encodes it. The simulator passes segments without encoding them.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;

use crate::{Codepoint, Flags, Options, Seq};

/// A parsed TCP segment: addresses, header, options and payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address and port of the sender.
    pub source: SocketAddr,
    /// Address and port of the receiver.
    pub destination: SocketAddr,
    /// Sequence number of the first payload byte (or of the SYN).
    pub sequence: Seq,
    /// Next expected sequence number; 0 without [`Flags::ACK`].
    pub acknowledgment: Seq,
    /// Control bits.
    pub flags: Flags,
    /// The window field, before scaling.
    pub window: u16,
    /// The urgent pointer; preserved, but not used.
    pub urgent: u16,
    /// The ECN field of the IP header.
    pub ecn: Codepoint,
    /// TCP and MPTCP options.
    pub options: Options,
    /// Application data.
    pub payload: Bytes,
}

impl Segment {
    /// An empty segment between two addresses.
    #[must_use]
    pub fn new(source: SocketAddr, destination: SocketAddr) -> Self {
        Self {
            source,
            destination,
            sequence: Seq::default(),
            acknowledgment: Seq::default(),
            flags: Flags::NONE,
            window: 0,
            urgent: 0,
            ecn: Codepoint::NotEct,
            options: Options::default(),
            payload: Bytes::new(),
        }
    }

    /// Resets the segment to an empty one between two addresses, and keeps allocated memory.
    #[inline(always)]
    pub fn reset(&mut self, source: SocketAddr, destination: SocketAddr) {
        // The addresses (32 bytes each) are written first, so that they need not be held in registers.
        self.source = source;
        self.destination = destination;
        // Calls that may free memory come first, so that the compiler writes each later field only once.
        if !self.payload.is_empty() {
            self.payload = Bytes::new();
        }
        self.options.clear();
        self.sequence = Seq::default();
        self.acknowledgment = Seq::default();
        self.flags = Flags::NONE;
        self.window = 0;
        self.urgent = 0;
        self.ecn = Codepoint::NotEct;
    }

    /// Length in sequence space: payload bytes, plus one for SYN and one for FIN.
    #[must_use]
    pub fn sequence_length(&self) -> u32 {
        self.payload.len() as u32 + u32::from(self.flags.syn()) + u32::from(self.flags.fin())
    }

    /// Length of the TCP header with options, in bytes: 20 to 60, a multiple of 4.
    #[must_use]
    #[inline]
    pub fn header_length(&self) -> usize {
        20 + self.options.length()
    }

    /// Length of the IP packet in bytes, with an IP header without options.
    #[must_use]
    #[inline]
    pub fn packet_length(&self) -> usize {
        let ip = match self.source.ip() {
            IpAddr::V4(_) => 20,
            IpAddr::V6(_) => 40,
        };
        ip + self.header_length() + self.payload.len()
    }
}
