//! Round trips between values and bytes preserve everything and never panic.

use crate::common::{options, segment};
use bytes::Bytes;
use mptcp_wire::{Checksum, ChecksumMode, Options, Packet};
use proptest::collection::vec;
use proptest::prelude::*;

/// Corrects the checksum of an IPv4 header, so that the parser continues.
fn mend_header_checksum(bytes: &mut [u8]) {
    let length = bytes.first().map_or(0, |first| usize::from(first & 0x0f) * 4);
    if bytes.first().is_some_and(|first| first >> 4 == 4) && (20..=bytes.len()).contains(&length) {
        bytes[10..12].fill(0);
        let mut sum = Checksum::new();
        sum.add(&bytes[..length]);
        bytes[10..12].copy_from_slice(&sum.value().to_be_bytes());
    }
}

/// Bytes similar to options: known kinds with arbitrary sizes, so that the parser passes the first length.
fn option_bytes() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![Just(30u8), 0u8..9, any::<u8>()];
    let piece = prop_oneof![
        1 => Just(vec![1]),
        1 => Just(vec![0]),
        8 => (kind, vec(any::<u8>(), 0..30)).prop_map(|(kind, body)| {
            let mut piece = vec![kind, body.len() as u8 + 2];
            piece.extend(body);
            piece
        }),
        1 => vec(any::<u8>(), 0..8),
    ];
    vec(piece, 0..6).prop_map(|pieces| {
        let mut bytes = pieces.concat();
        bytes.truncate(40);
        bytes.resize(bytes.len().next_multiple_of(4), 1);
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn options_come_back_as_they_were(options in options()) {
        let bytes = options.emit()?;
        prop_assert_eq!(bytes.len(), options.length());
        prop_assert_eq!(Options::parse(&bytes)?, options);
    }

    #[test]
    fn a_segment_comes_back_as_it_was(segment in segment()) {
        let packet = Packet::new(segment);
        let mut bytes = Vec::new();
        packet.emit(&mut bytes)?;
        prop_assert_eq!(bytes.len(), packet.length());
        prop_assert_eq!(bytes.len(), packet.segment.packet_length());
        prop_assert_eq!(Packet::parse(&Bytes::from(bytes))?, packet);
    }

    #[test]
    fn option_bytes_that_parse_come_back_as_they_were(bytes in option_bytes()) {
        if let Ok(options) = Options::parse(&bytes) {
            prop_assert_eq!(options.length(), bytes.len());
            let emitted = options.emit()?;
            prop_assert_eq!(emitted.as_slice(), &bytes[..]);
        }
    }

    #[test]
    fn any_option_bytes_are_a_value_or_an_error(bytes in vec(any::<u8>(), 0..64)) {
        let _ = Options::parse(&bytes);
    }

    #[test]
    fn canonical_fields_mean_the_same_as_the_verbatim_form(bytes in option_bytes()) {
        if let Ok(mut options) = Options::parse(&bytes) {
            options.make_canonical();
            if let Ok(emitted) = options.emit() {
                prop_assert_eq!(emitted.len(), options.length());
                prop_assert_eq!(Options::parse(&emitted)?, options);
            }
        }
    }

    #[test]
    fn any_bytes_are_a_packet_or_an_error(mut bytes in vec(any::<u8>(), 0..120), version in 3u8..8) {
        if let Some(first) = bytes.first_mut() {
            *first = version << 4 | *first & 0x0f;
        }
        mend_header_checksum(&mut bytes);
        let bytes = Bytes::from(bytes);
        let _ = Packet::parse(&bytes);
        let _ = Packet::parse_with(&bytes, ChecksumMode::Offloaded);
    }

    #[test]
    fn a_damaged_packet_that_parses_comes_back_as_it_was(
        segment in segment(), flips in vec(any::<(prop::sample::Index, u8)>(), 1..4), padding in 0usize..20,
    ) {
        let mut bytes = Vec::new();
        Packet::new(segment).emit(&mut bytes)?;
        let headers = bytes.len().min(120);
        for (index, bits) in flips {
            bytes[index.index(headers)] ^= bits;
        }
        bytes.resize(bytes.len() + padding, 0);
        mend_header_checksum(&mut bytes);
        if let Ok(packet) = Packet::parse_with(&Bytes::from(bytes.clone()), ChecksumMode::Offloaded) {
            let mut emitted = Vec::new();
            packet.emit(&mut emitted)?;
            let checksum = packet.ip.length() + 16;
            bytes[checksum..checksum + 2].copy_from_slice(&emitted[checksum..checksum + 2]);
            prop_assert_eq!(&emitted[..], &bytes[..emitted.len()]);
            prop_assert_eq!(Packet::parse(&Bytes::from(emitted))?, packet);
        }
    }
}
