//! Bytes to segments and back.
//!
//! Owns the value types of a segment ([`Segment`], [`Options`], the MPTCP options), their encoding
//! ([`Packet`]), ICMP's word about segments that did not arrive ([`Notice`]), and the arithmetic they need: sequence numbers, checksums, keys, tokens, HMACs. Holds no
//! state and makes no decisions. Any bytes parse to a value or an error; nothing here panics on input.
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
