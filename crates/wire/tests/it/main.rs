//! Tests of parsing and encoding.

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
