//! The Internet checksum: the example of RFC 1071, odd chunks, the DSS pseudo-header.

use mptcp_wire::Checksum;
use proptest::collection::vec;
use proptest::prelude::*;

/// RFC 1071 section 3.
const EXAMPLE: [u8; 8] = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];

fn sum(chunks: &[&[u8]]) -> Checksum {
    let mut checksum = Checksum::new();
    chunks.iter().for_each(|chunk| checksum.add(chunk));
    checksum
}

/// The definition of the checksum, word by word.
fn slowly(bytes: &[u8]) -> u16 {
    bytes.chunks(2).fold(0u16, |sum, word| {
        let word = u16::from_be_bytes([word[0], *word.get(1).unwrap_or(&0)]);
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}

#[test]
fn the_example_of_rfc_1071_sums_to_ddf2() {
    assert_eq!(sum(&[&EXAMPLE]).folded(), 0xddf2);
    assert_eq!(sum(&[&EXAMPLE]).value(), !0xddf2);
}

#[test]
fn chunks_may_be_cut_anywhere_even_at_odd_places() {
    for first in 0..=8 {
        for second in first..=8 {
            let pieces = [&EXAMPLE[..first], &EXAMPLE[first..second], &EXAMPLE[second..]];
            assert_eq!(sum(&pieces).folded(), 0xddf2, "cut at {first} and {second}");
        }
    }
}

#[test]
fn both_forms_of_zero_are_accepted() {
    let all_ones = sum(&[&[0xff, 0xff]]);
    assert_eq!(all_ones.value(), 0);
    assert!(all_ones.accepts(0) && all_ones.accepts(0xffff) && !all_ones.accepts(1));
}

#[test]
fn a_sum_of_64_kilobytes_of_ones_does_not_overflow() {
    assert_eq!(sum(&[&[0xff; 65_536]]).folded(), 0xffff);
}

#[test]
fn the_tcp_pseudo_header_has_addresses_protocol_and_length() {
    let by_hand = [192, 0, 2, 1, 198, 51, 100, 2, 0, 6, 0x12, 0x34];
    let v4 = Checksum::tcp([192, 0, 2, 1].into(), [198, 51, 100, 2].into(), 0x1234);
    assert_eq!(v4.folded(), slowly(&by_hand));

    let (source, destination) = ([0x20; 16], [0xfd; 16]);
    let by_hand = [&source[..], &destination, &[0, 1, 0x12, 0x34, 0, 0, 0, 6]].concat();
    let v6 = Checksum::tcp(source.into(), destination.into(), 0x1_1234);
    assert_eq!(v6.folded(), slowly(&by_hand));
}

#[test]
fn the_dss_pseudo_header_has_the_whole_data_sequence_number() {
    let by_hand = [1, 2, 3, 4, 5, 6, 7, 8, 0xa, 0xb, 0xc, 0xd, 0, 5, 0, 0, b'h', b'e', b'l', b'l', b'o'];
    let mut dss = Checksum::dss(0x0102_0304_0506_0708, 0x0a0b_0c0d, 5);
    dss.add(b"hel");
    dss.add(b"lo");
    assert_eq!(dss.value(), !slowly(&by_hand));
    assert!(dss.accepts(dss.value()));
}

proptest! {
    #[test]
    fn any_chunks_sum_as_the_definition_says(chunks in vec(vec(any::<u8>(), 0..100), 0..8)) {
        let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
        // Both forms of zero are the same number; only a sum of zeros is positive zero.
        prop_assert_eq!(sum(&chunks).folded(), slowly(&chunks.concat()));
    }
}
