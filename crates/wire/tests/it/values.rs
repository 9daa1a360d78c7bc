//! Arithmetic of the value types: wrapping numbers and sums of lengths.

use bytes::Bytes;
use mptcp_wire::crypto::Version;
use mptcp_wire::{
    Codepoint, DataSequence, Dss, Flags, MptcpOption, Options, Packet, Segment, Seq, Timestamps,
};

#[test]
fn a_sequence_number_is_later_up_to_half_the_circle_ahead() {
    let origin = Seq::new(u32::MAX - 1);
    assert_eq!((origin + 3).value(), 1);
    assert_eq!((origin + 3).offset_from(origin), 3);
    assert_eq!((origin - 3).offset_from(origin), -3);
    assert_eq!((origin + 0x7fff_ffff).offset_from(origin), i32::MAX);
    assert_eq!((origin + 0x8000_0000).offset_from(origin), i32::MIN);
}

#[test]
fn a_sequence_number_prints_with_a_hash() {
    assert_eq!(format!("{:?}", Seq::new(17)), "#17");
}

#[test]
fn a_short_data_sequence_stands_for_the_nearest_whole_one() {
    let near = 0x5_0000_0010;
    let cases = [
        (0x0000_0020, 0x5_0000_0020),
        (0x0000_0010, 0x5_0000_0010),
        (0xffff_fff0, 0x4_ffff_fff0),
        (0x8000_000f, 0x5_8000_000f),
        (0x8000_0010, 0x4_8000_0010),
    ];
    for (low, expected) in cases {
        assert_eq!(DataSequence::Short(low).expand(near), expected, "{low:#x}");
    }
    assert_eq!(DataSequence::Short(1).expand(u64::MAX), 1);
    assert_eq!(DataSequence::Short(u32::MAX).expand(0), u64::MAX);
    assert_eq!(DataSequence::Wide(7).expand(near), 7);
}

#[test]
fn the_highest_sacked_number_is_found_across_the_wrap() {
    let mut options = Options::default();
    assert_eq!(options.highest_sacked(), None);
    let block = |left: u32, right: u32| (Seq::new(left), Seq::new(right));
    options.sack.extend([block(0xffff_ff00, 0xffff_fff0), block(5, 10), block(0, 3)]);
    assert_eq!(options.highest_sacked(), Some(Seq::new(10)));
}

#[test]
fn syn_and_fin_take_a_sequence_number_each() {
    let mut segment = Segment::new(([10, 0, 0, 1], 1).into(), ([10, 0, 0, 2], 2).into());
    segment.payload = Bytes::from_static(b"abc");
    assert_eq!(segment.sequence_length(), 3);
    segment.flags = Flags::SYN | Flags::FIN | Flags::ACK;
    assert_eq!(segment.sequence_length(), 5);
}

#[test]
fn flags_keep_twelve_bits_and_print_as_tcpdump_does() {
    assert_eq!(Flags::from_bits(0xf012).bits(), 0x012);
    assert_eq!(format!("{:?}", Flags::SYN | Flags::ACK), "S.");
    assert_eq!(format!("{:?}", Flags::from_bits(0xfff)), "SFRP.UEW");
    assert_eq!(format!("{:?}", Flags::NONE), "");
    assert!((Flags::SYN | Flags::ACK).contains(Flags::ACK) && !Flags::SYN.ack());
}

#[test]
fn each_flag_is_asked_for_by_its_own_bit() {
    let asked = |flags: Flags| [flags.fin(), flags.syn(), flags.rst(), flags.ack()];
    assert_eq!(asked(Flags::FIN), [true, false, false, false]);
    assert_eq!(asked(Flags::SYN), [false, true, false, false]);
    assert_eq!(asked(Flags::RST), [false, false, true, false]);
    assert_eq!(asked(Flags::ACK), [false, false, false, true]);
    assert_eq!(asked(Flags::NONE), [false; 4]);
    assert!(!Flags::SYN.contains(Flags::SYN | Flags::ACK), "one of two is not all");
}

#[test]
fn flags_that_are_joined_are_those_of_both_once() {
    let mut flags = Flags::SYN | Flags::ACK;
    flags |= Flags::ACK | Flags::PSH;
    assert_eq!(flags, Flags::SYN | Flags::ACK | Flags::PSH);
    assert_eq!(Flags::ACK | Flags::ACK, Flags::ACK);
}

/// RFC 3168 section 5: 00 is not ECN-capable, 01 and 10 are capable, and 11 is marked.
#[test]
fn the_ecn_field_is_two_bits_and_only_zero_is_not_capable() {
    let expected = [Codepoint::NotEct, Codepoint::Ect1, Codepoint::Ect0, Codepoint::Ce];
    for (bits, codepoint) in (0u8..).zip(expected) {
        assert_eq!(Codepoint::from_bits(bits), codepoint);
        assert_eq!(Codepoint::from_bits(bits | 0xfc), codepoint, "the DSCP above does not count");
        assert_eq!(codepoint.bits(), bits);
        assert_eq!(codepoint.is_capable(), bits != 0, "{codepoint:?}");
    }
}

#[test]
fn a_version_has_the_number_of_its_mp_capable() {
    assert_eq!([Version::V0.number(), Version::V1.number()], [0, 1]);
}

/// A segment whose every field differs from its default.
fn full() -> Segment {
    let mut segment = Segment::new(([10, 0, 0, 1], 1).into(), ([10, 0, 0, 2], 2).into());
    (segment.sequence, segment.acknowledgment) = (Seq::new(3), Seq::new(4));
    (segment.flags, segment.window, segment.urgent) = (Flags::ACK, 5, 6);
    segment.ecn = Codepoint::Ce;
    segment.payload = Bytes::from_static(b"abc");
    let options = &mut segment.options;
    (options.mss, options.window_scale, options.sack_permitted) = (Some(1460), Some(7), true);
    options.timestamps = Some(Timestamps { value: 8, echo: 9 });
    options.fast_open = Some([1, 2, 3, 4].into_iter().collect());
    options.fast_open_experimental = true;
    options.sack.push((Seq::new(10), Seq::new(11)));
    options.dss = Some(Dss::default());
    options.mptcp.push(MptcpOption::Fail(12));
    segment
}

#[test]
fn a_segment_that_is_used_again_is_as_a_new_one() {
    let (source, destination) = (([192, 0, 2, 1], 21).into(), ([192, 0, 2, 2], 22).into());
    let mut segment = full();
    segment.reset(source, destination);
    assert_eq!(segment, Segment::new(source, destination));
}

#[test]
fn cleared_options_are_none_in_an_unusual_form_too() {
    let mut options = full().options;
    options.clear();
    assert_eq!(options, Options::default());

    let mut unusual = Options::parse(&[99, 4, 0, 0]).expect("an unknown kind is no error");
    assert_eq!(unusual.length(), 4);
    unusual.clear();
    assert_eq!((unusual.length(), unusual), (0, Options::default()));
}

#[test]
fn multipath_tcp_is_there_with_a_dss_or_with_any_other_of_its_options() {
    let (mut with_dss, mut with_other) = (Options::default(), Options::default());
    with_dss.dss = Some(Dss::default());
    with_other.mptcp.push(MptcpOption::FastClose(1));
    assert!(with_dss.has_mptcp() && with_other.has_mptcp());
    let mut plain = Options::default();
    plain.mss = Some(1460);
    assert!(!plain.has_mptcp());
}

#[test]
fn lengths_are_those_of_the_headers_and_the_payload() {
    let mut four = Segment::new(([10, 0, 0, 1], 1).into(), ([10, 0, 0, 2], 2).into());
    four.payload = Bytes::from_static(b"abc");
    four.options.mss = Some(1460);
    assert_eq!((four.header_length(), four.packet_length()), (24, 20 + 24 + 3));
    assert_eq!(Packet::from(four).length(), 20 + 24 + 3);

    let mut six = Segment::new(([1; 16], 1).into(), ([2; 16], 2).into());
    six.payload = Bytes::from_static(b"abc");
    assert_eq!((six.header_length(), six.packet_length()), (20, 40 + 20 + 3));
    assert_eq!(Packet::from(six).length(), 40 + 20 + 3);
}
