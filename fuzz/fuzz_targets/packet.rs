//! Any bytes are a packet or an error; a packet comes back as the same bytes.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mptcp_wire::{Checksum, ChecksumMode, Packet};

fuzz_target!(|bytes: &[u8]| {
    let _ = Packet::parse(&Bytes::copy_from_slice(bytes));

    // A fuzzer does not guess checksums: the IPv4 header's is made right before, TCP's by emission.
    let mut mended = bytes.to_vec();
    mend_header_checksum(&mut mended);
    let Ok(packet) = Packet::parse_with(&Bytes::copy_from_slice(&mended), ChecksumMode::Offloaded) else {
        return;
    };
    let mut emitted = Vec::new();
    packet.emit(&mut emitted).expect("what was parsed has a form");
    assert_eq!(emitted.len(), packet.length());
    let tcp = packet.ip.length() + 16;
    mended[tcp..tcp + 2].copy_from_slice(&emitted[tcp..tcp + 2]);
    assert_eq!(emitted, mended[..emitted.len()], "bytes of {packet:?}");
    assert_eq!(Packet::parse(&Bytes::from(emitted)).as_ref(), Ok(&packet));
});

fn mend_header_checksum(bytes: &mut [u8]) {
    let Some(first) = bytes.first() else { return };
    let length = usize::from(first & 0x0f) * 4;
    if first >> 4 == 4 && (20..=bytes.len()).contains(&length) {
        bytes[10..12].fill(0);
        let mut sum = Checksum::new();
        sum.add(&bytes[..length]);
        bytes[10..12].copy_from_slice(&sum.value().to_be_bytes());
    }
}
