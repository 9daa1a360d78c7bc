//! Properties of any input, for the fuzz targets and for their corpora in `cargo test`.

use bytes::Bytes;
use mptcp_wire::{Checksum, ChecksumMode, Options, Packet};

/// Any bytes are options or an error. Options encode to the same bytes, and have the same meaning in canonical form.
pub fn options(bytes: &[u8]) {
    let Ok(mut options) = Options::parse(bytes) else { return };
    assert_eq!(options.length(), bytes.len(), "length of {options:?}");
    let emitted = options.emit().expect("what was parsed has a form");
    assert_eq!(emitted.as_slice(), bytes, "bytes of {options:?}");

    options.make_canonical();
    let Ok(canonical) = options.emit() else {
        assert!(options.length() > Options::SPACE, "only room can lack: {options:?}");
        return;
    };
    assert_eq!(canonical.len(), options.length(), "length of {options:?}");
    assert_eq!(Options::parse(&canonical).as_ref(), Ok(&options));
}

/// Any bytes are a packet or an error. A packet encodes to the same bytes.
pub fn packet(bytes: &[u8]) {
    let _ = Packet::parse(&Bytes::copy_from_slice(bytes));

    // A fuzzer does not guess checksums, so the IPv4 header checksum is corrected first. Encoding corrects the TCP
    // checksum.
    let mut corrected = bytes.to_vec();
    mend_header_checksum(&mut corrected);
    let Ok(packet) = Packet::parse_with(&Bytes::copy_from_slice(&corrected), ChecksumMode::Offloaded) else {
        return;
    };
    let mut emitted = Vec::new();
    packet.emit(&mut emitted).expect("what was parsed has a form");
    assert_eq!(emitted.len(), packet.length());
    let tcp = packet.ip.length() + 16;
    corrected[tcp..tcp + 2].copy_from_slice(&emitted[tcp..tcp + 2]);
    assert_eq!(emitted, corrected[..emitted.len()], "bytes of {packet:?}");
    assert_eq!(Packet::parse(&Bytes::from(emitted)).as_ref(), Ok(&packet));
}

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
