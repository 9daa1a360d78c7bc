//! Bytes to segments and back.

mod checksum;
mod common;
mod corpus;
mod crypto;
mod fuzzed;
mod icmp;
mod linux;
mod mptcp_options;
mod options;
mod oracle;
mod packet;
mod roundtrip;
mod values;
