//! Encodes and decodes TCP segments with MPTCP options, for the endpoint (`mptcp`) and its drivers.
//!
//! Owns the value types ([`Segment`], [`Options`], the MPTCP options), their encoding ([`Packet`]), and ICMP errors
//! about segments ([`Notice`]). Also owns sequence numbers, checksums, keys, tokens and HMACs. Holds no state and makes
//! no decisions. Any input parses to a value or an error, and never panics.
#![forbid(unsafe_code)]

mod checksum;
pub mod crypto;
mod cursor;
mod ecn;
mod error;
mod flags;
mod icmp;
mod ip;
mod mptcp;
mod options;
mod packet;
mod segment;
mod sequence;
mod tcp;

pub use checksum::Checksum;
pub use ecn::Codepoint;
pub use error::{EmitError, OptionError, ParseError};
pub use flags::Flags;
pub use icmp::{IcmpParseError, Notice, Undelivered};
pub use ip::{IpHeader, Ipv4Header, Ipv6Header};
pub use mptcp::{
    AddAddress, DataSequence, Dss, Mapping, MpCapable, MpJoin, MpPrio, MpTcpRst, MptcpOption, RemoveAddress,
    ResetReason,
};
pub use options::{Cookie, Options, Sack, SackBlock, Timestamps};
pub use packet::Packet;
pub use segment::Segment;
pub use sequence::Seq;
pub use tcp::ChecksumMode;
