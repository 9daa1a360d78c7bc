//! Errors of parsing and encoding.
//!
//! Owns one enum for each operation: [`OptionError`] for the option field of a TCP header, [`ParseError`] for a packet,
//! and [`EmitError`] for encoding. An unknown MPTCP option is no error: the parser ignores it and keeps its bytes.

use thiserror::Error;

/// A malformed option field of a TCP header (RFC 9293 section 3.2).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OptionError {
    /// The option field has an impossible size.
    #[error("an option field of {length} bytes: must be 0 to 40, in steps of 4")]
    Space {
        /// Length of the field, in bytes.
        length: usize,
    },
    /// The field ends after the kind.
    #[error("option kind {kind} at offset {offset} lacks its length byte: the option field ends there")]
    NoLength {
        /// Option kind.
        kind: u8,
        /// Bytes from the start of the options.
        offset: usize,
    },
    /// The length exceeds the field, or is less than the two bytes of every option.
    #[error("option kind {kind} at offset {offset} has length {length}: must be 2 to {room}")]
    Length {
        /// Option kind.
        kind: u8,
        /// Bytes from the start of the options.
        offset: usize,
        /// The option's length byte.
        length: u8,
        /// Bytes from `offset` to the end of the options.
        room: usize,
    },
    /// A known option kind has a wrong length.
    #[error("option kind {kind} ({name}) at offset {offset} has length {length}: must be {expected}")]
    Size {
        /// Option kind.
        kind: u8,
        /// Name of the option.
        name: &'static str,
        /// Bytes from the start of the options.
        offset: usize,
        /// The option's length byte.
        length: u8,
        /// Valid lengths.
        expected: &'static str,
    },
}

/// Bytes that are no complete TCP segment in an IP packet.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The packet is shorter than a header states.
    #[error("the {what} needs {needed} bytes, but only {available} are available")]
    Truncated {
        /// The truncated part of the packet.
        what: &'static str,
        /// Required length, in bytes.
        needed: usize,
        /// Available length, in bytes.
        available: usize,
    },
    /// The packet is neither IPv4 nor IPv6.
    #[error("IP version {0}: must be 4 or 6")]
    Version(u8),
    /// A length field contradicts another one.
    #[error("the {what} is {length} bytes: must be at least {least}")]
    Length {
        /// Name of the field.
        what: &'static str,
        /// Value of the field.
        length: usize,
        /// Minimum value.
        least: usize,
    },
    /// The checksum of the IPv4 header is wrong (RFC 791 section 3.1).
    #[error("the IPv4 header checksum is {found:#06x}: must be {expected:#06x}")]
    HeaderChecksum {
        /// The value in the packet.
        found: u16,
        /// The computed value.
        expected: u16,
    },
    /// The packet is a fragment (RFC 791 section 3.2, RFC 8200 section 4.5).
    #[error("a fragment at byte {offset} of its packet: must be reassembled first")]
    Fragment {
        /// Offset of the fragment's payload, in bytes.
        offset: usize,
    },
    /// The destination is not the final address of the routing header (RFC 8200 section 4.4).
    #[error("a routing header with {0} segments left: must be 0")]
    StillRouted(u8),
    /// The packet carries another protocol.
    #[error("IP protocol {0}: must be 6 (TCP)")]
    NotTcp(u8),
    /// The checksum of the TCP segment is wrong (RFC 9293 section 3.1).
    #[error("the TCP checksum is {found:#06x}: must be {expected:#06x}")]
    TcpChecksum {
        /// The value in the packet.
        found: u16,
        /// The computed value.
        expected: u16,
    },
    /// A TCP option is malformed.
    #[error("TCP {0}")]
    Option(#[from] OptionError),
}

/// A value that cannot be encoded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EmitError {
    /// Too many options for one header.
    #[error("the options take {length} bytes: must be at most 40")]
    OptionSpace {
        /// Length of the options with padding, in bytes.
        length: usize,
    },
    /// No form of the option can carry this combination of fields.
    #[error("{option} cannot be encoded: {rule}")]
    Form {
        /// The option.
        option: &'static str,
        /// The violated rule.
        rule: &'static str,
    },
    /// The addresses and the IP header have different families.
    #[error("source, destination and IP header must all be IPv4 or all be IPv6")]
    Family,
    /// IPv4 options that exceed the header length field (RFC 791 section 3.1).
    #[error("{length} bytes of IPv4 options: must be 0 to 40, in steps of 4")]
    Ipv4Options {
        /// Length of the options, in bytes.
        length: usize,
    },
    /// A flow label beyond its 20 bits (RFC 8200 section 3).
    #[error("IPv6 flow label {0:#x}: must be below 0x100000")]
    FlowLabel(u32),
    /// The extension headers do not end at a TCP header.
    #[error("the IPv6 extension headers do not end exactly where a TCP header begins")]
    Extensions,
    /// The packet exceeds its length field.
    #[error("a packet of {length} bytes: must be at most {limit}")]
    PacketLength {
        /// Length of the packet, in bytes.
        length: usize,
        /// Maximum length, in bytes.
        limit: usize,
    },
    /// The buffer is too small.
    #[error("a packet of {needed} bytes does not fit the {room} bytes of the buffer")]
    Room {
        /// Length of the packet, in bytes.
        needed: usize,
        /// Free space of the buffer, in bytes.
        room: usize,
    },
}
