//! What can be wrong with bytes that came in, or with values that go out.
//!
//! Owns one enum for each operation: [`OptionError`] for the option field of a TCP header,
//! [`ParseError`] for a packet, [`EmitError`] for both on their way out. An MPTCP option that is not
//! understood is no error: it is ignored and kept verbatim.

use thiserror::Error;

/// Why the option field of a TCP header does not parse (RFC 9293 section 3.2).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OptionError {
    /// The field itself has an impossible size.
    #[error("an option field of {length} bytes: a TCP header has 0 to 40, in steps of 4")]
    Space {
        /// Bytes given.
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
    /// The length leaves the field, or is less than the two bytes that every option has.
    #[error("option kind {kind} at offset {offset} has length {length}: it must be 2 to {room}")]
    Length {
        /// Option kind.
        kind: u8,
        /// Bytes from the start of the options.
        offset: usize,
        /// What the option says.
        length: u8,
        /// Bytes from `offset` to the end of the options.
        room: usize,
    },
    /// A known kind with a size that it never has.
    #[error("option kind {kind} ({name}) at offset {offset} has length {length}: it must be {expected}")]
    Size {
        /// Option kind.
        kind: u8,
        /// What the kind is called.
        name: &'static str,
        /// Bytes from the start of the options.
        offset: usize,
        /// What the option says.
        length: u8,
        /// What it may be.
        expected: &'static str,
    },
}

/// Why bytes are not a whole TCP segment in an IP packet.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// A header says that there is more than was given.
    #[error("the {what} needs {needed} bytes and {available} are there")]
    Truncated {
        /// The part of the packet.
        what: &'static str,
        /// Bytes that it should have.
        needed: usize,
        /// Bytes that it has.
        available: usize,
    },
    /// Neither IPv4 nor IPv6.
    #[error("IP version {0}: it must be 4 or 6")]
    Version(u8),
    /// A length field contradicts another one.
    #[error("the {what} says {length} bytes: it must be at least {least}")]
    Length {
        /// The field.
        what: &'static str,
        /// What it says.
        length: usize,
        /// The least that makes sense.
        least: usize,
    },
    /// The checksum of the IPv4 header (RFC 791 section 3.1).
    #[error("the IPv4 header checksum is {found:#06x}: it must be {expected:#06x}")]
    HeaderChecksum {
        /// In the packet.
        found: u16,
        /// Computed.
        expected: u16,
    },
    /// A fragment (RFC 791 section 3.2, RFC 8200 section 4.5).
    #[error("not a whole segment but a fragment at byte {offset} of its packet: reassemble it first")]
    Fragment {
        /// Where its payload belongs, bytes.
        offset: usize,
    },
    /// The destination address is not yet the last one (RFC 8200 section 4.4).
    #[error("a routing header with {0} segments left: only its last stop can read it")]
    StillRouted(u8),
    /// Something else inside.
    #[error("IP protocol {0}: it must be 6 (TCP)")]
    NotTcp(u8),
    /// The checksum of the TCP segment (RFC 9293 section 3.1).
    #[error("the TCP checksum is {found:#06x}: it must be {expected:#06x}")]
    TcpChecksum {
        /// In the packet.
        found: u16,
        /// Computed.
        expected: u16,
    },
    /// A TCP option.
    #[error("TCP {0}")]
    Option(#[from] OptionError),
}

/// Why a value has no form on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EmitError {
    /// Too many options for one header.
    #[error("the options take {length} bytes: a TCP header has room for 40")]
    OptionSpace {
        /// What they would take, with padding.
        length: usize,
    },
    /// A combination of fields that no form of the option carries.
    #[error("this {option} has no form on the wire: {rule}")]
    Form {
        /// The option.
        option: &'static str,
        /// What would be right.
        rule: &'static str,
    },
    /// Addresses of different families, or not those of the header.
    #[error("source, destination and IP header must all be IPv4 or all be IPv6")]
    Family,
    /// IPv4 options that do not fit the header length field (RFC 791 section 3.1).
    #[error("{length} bytes of IPv4 options: it must be 0 to 40, in steps of 4")]
    Ipv4Options {
        /// Bytes given.
        length: usize,
    },
    /// A flow label beyond its 20 bits (RFC 8200 section 3).
    #[error("IPv6 flow label {0:#x}: it must be below 0x100000")]
    FlowLabel(u32),
    /// Extension headers that do not lead to a TCP header.
    #[error("the IPv6 extension headers do not end exactly where a TCP header begins")]
    Extensions,
    /// More than a length field can say.
    #[error("a packet of {length} bytes: {limit} is the most")]
    PacketLength {
        /// The packet's length, bytes.
        length: usize,
        /// The longest packet of this kind, bytes.
        limit: usize,
    },
    /// The buffer is too small.
    #[error("a packet of {needed} bytes does not fit the {room} bytes of the buffer")]
    Room {
        /// The packet's length, bytes.
        needed: usize,
        /// What the buffer can take, bytes.
        room: usize,
    },
}
