//! Any bytes are a packet or an error; a packet comes back as the same bytes.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mptcp_wire::{ChecksumMode, IpHeader, Packet};

fuzz_target!(|bytes: &[u8]| {
    // A fuzzer does not guess checksums: unverified first, then made right by emission.
    let input = Bytes::copy_from_slice(bytes);
    let _ = Packet::parse(&input);
    let Ok(packet) = Packet::parse_with(&input, ChecksumMode::Offloaded) else { return };
    let mut emitted = Vec::new();
    packet.emit(&mut emitted).expect("what was parsed has a form");
    assert_eq!(emitted.len(), packet.length());
    assert!(emitted.len() <= bytes.len());
    // The TCP checksum was made right; an IPv4 header's has two forms of zero.
    let tcp = packet.ip.length() + 16;
    let ip = if matches!(packet.ip, IpHeader::V4(_)) { 10..12 } else { 0..0 };
    let same = |at: usize| emitted[at] == bytes[at] || (tcp..tcp + 2).contains(&at) || ip.contains(&at);
    assert!((0..emitted.len()).all(same), "bytes of {packet:?}");
    assert_eq!(Packet::parse(&Bytes::from(emitted)).as_ref(), Ok(&packet));
});
