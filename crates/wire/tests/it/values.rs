//! The arithmetic of the value types: numbers that wrap, lengths that add up.

use bytes::Bytes;
use mptcp_wire::{DataSequence, Flags, Options, Segment, Seq};

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
    assert!((Flags::SYN | Flags::ACK).contains(Flags::ACK) && !Flags::SYN.ack());
}
