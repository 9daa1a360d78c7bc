//! Any bytes are a packet or an error; a packet comes back as the same bytes.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mptcp_wire::{ChecksumMode, Packet};

fuzz_target!(|bytes: &[u8]| {
    // A fuzzer does not guess checksums: unverified first, then made right by emission.
    let input = Bytes::copy_from_slice(bytes);
    let _ = Packet::parse(&input);
    let Ok(packet) = Packet::parse_with(&input, ChecksumMode::Offloaded) else { return };
    let mut emitted = Vec::new();
    packet.emit(&mut emitted).expect("what was parsed has a form");
    assert_eq!(emitted.len(), packet.length());
    assert!(emitted.len() <= bytes.len());
    let checksum = packet.ip.length() + 16;
    let differ = |at: usize| emitted[at] != bytes[at] && !(checksum..checksum + 2).contains(&at);
    // The IPv4 header's own checksum has two forms of zero.
    assert!(!(0..emitted.len()).any(|at| differ(at) && !(10..12).contains(&at)), "{packet:?}");
    assert_eq!(Packet::parse(&Bytes::from(emitted)).as_ref(), Ok(&packet));
});
