//! Bytes to segments and back.
//!
//! Owns the value types of a segment ([`Segment`], [`Options`], the MPTCP options), their encoding,
//! and the arithmetic they need: sequence numbers, checksums, keys, tokens, HMACs. Holds no state
//! and makes no decisions. Any bytes parse to a value or an error; nothing here panics on input.
#![forbid(unsafe_code)]

mod flags;
mod mptcp;
mod options;
mod segment;
mod sequence;

pub use flags::Flags;
pub use mptcp::{
    AddAddress, DataSequence, Dss, Mapping, MpCapable, MpJoin, MpPrio, MpTcpRst, MptcpOption, RemoveAddress,
    ResetReason,
};
pub use options::{Options, Sack, SackBlock, Timestamps};
pub use segment::Segment;
pub use sequence::Seq;
