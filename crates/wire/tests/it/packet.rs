//! IP headers, checksums, padding, and packets without a complete TCP segment.

use bytes::Bytes;
use mptcp_wire::{
    ChecksumMode, Codepoint, EmitError, Flags, IpHeader, Ipv4Header, Ipv6Header, OptionError, Packet,
    ParseError, Segment, Seq,
};

fn segment(source: &str, destination: &str) -> Segment {
    Segment {
        sequence: Seq::new(1),
        flags: Flags::ACK | Flags::PSH,
        window: 512,
        payload: Bytes::from_static(b"payload"),
        ..Segment::new(source.parse().expect("address"), destination.parse().expect("address"))
    }
}

fn v4() -> Packet {
    Packet::new(segment("192.0.2.1:1000", "192.0.2.2:80"))
}

fn v6() -> Packet {
    Packet::new(segment("[2001:db8::1]:1000", "[2001:db8::2]:80"))
}

fn emitted(packet: &Packet) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.emit(&mut bytes).expect("a form");
    bytes
}

fn parse(bytes: Vec<u8>) -> Result<Packet, ParseError> {
    Packet::parse(&Bytes::from(bytes))
}

/// The packet with changed bytes and a matching IPv4 header checksum.
fn v4_with(changes: &[(usize, u8)]) -> Vec<u8> {
    let mut bytes = emitted(&v4());
    changes.iter().for_each(|&(at, byte)| bytes[at] = byte);
    bytes[10..12].fill(0);
    let mut sum = mptcp_wire::Checksum::new();
    sum.add(&bytes[..20]);
    bytes[10..12].copy_from_slice(&sum.value().to_be_bytes());
    bytes
}

/// An IPv6 packet with these extension headers in front of its TCP segment.
fn v6_with(next_header: u8, extensions: &[u8]) -> Vec<u8> {
    let mut bytes = emitted(&v6());
    bytes[6] = next_header;
    bytes.splice(40..40, extensions.iter().copied());
    let length = (bytes.len() - 40) as u16;
    bytes[4..6].copy_from_slice(&length.to_be_bytes());
    bytes
}

#[test]
fn a_plain_packet_has_ttl_64_and_is_not_fragmented() {
    assert_eq!(v4().ip, IpHeader::V4(Ipv4Header::default()));
    let bytes = emitted(&v4());
    assert_eq!(bytes[..10], [0x45, 0, 0, 47, 0, 0, 0x40, 0, 64, 6]);
    let bytes = emitted(&v6());
    assert_eq!(bytes[..8], [0x60, 0, 0, 0, 0, 27, 6, 64]);
}

#[test]
fn the_payload_shares_memory_with_the_input() {
    let input = Bytes::from(emitted(&v4()));
    let packet = Packet::parse(&input).unwrap();
    assert_eq!(packet.segment.payload.as_ptr(), input[40..].as_ptr());
}

#[test]
fn ethernet_padding_is_ignored() {
    for packet in [v4(), v6()] {
        let mut bytes = emitted(&packet);
        bytes.extend([0xee; 13]);
        assert_eq!(parse(bytes), Ok(packet));
    }
}

#[test]
fn every_field_of_an_ipv4_header_comes_back() {
    let header = Ipv4Header {
        traffic_class: 0xb8,
        identification: 0x1234,
        dont_fragment: false,
        reserved: true,
        ttl: 3,
        options: Bytes::from_static(&[0x94, 4, 0, 0, 1, 1, 1, 0]),
    };
    let mut packet = Packet { ip: IpHeader::V4(header), ..v4() };
    packet.segment.ecn = Codepoint::Ect1;
    let bytes = emitted(&packet);
    assert_eq!(bytes[..10], [0x47, 0xb9, 0, 55, 0x12, 0x34, 0x80, 0, 3, 6]);
    assert_eq!(bytes.len(), packet.length());
    assert_eq!(parse(bytes), Ok(packet));
}

#[test]
fn every_field_of_an_ipv6_header_comes_back() {
    let header = Ipv6Header {
        traffic_class: 0xb8,
        flow_label: 0xabcde,
        hop_limit: 3,
        next_header: 0,
        // Hop-by-hop options, then destination options of 16 bytes.
        extensions: Bytes::from_static(&[
            60, 0, 1, 4, 0, 0, 0, 0, 6, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ]),
    };
    let mut packet = Packet { ip: IpHeader::V6(header), ..v6() };
    packet.segment.ecn = Codepoint::Ect1;
    let bytes = emitted(&packet);
    assert_eq!(bytes[..8], [0x6b, 0x9a, 0xbc, 0xde, 0, 51, 0, 3]);
    assert_eq!(bytes.len(), packet.length());
    assert_eq!(parse(bytes), Ok(packet));
}

#[test]
fn a_wrong_checksum_is_an_error_that_says_the_right_one() {
    let mut bytes = emitted(&v4());
    let right = u16::from_be_bytes([bytes[10], bytes[11]]);
    bytes[10] ^= 0x40;
    let found = right ^ 0x4000;
    assert_eq!(parse(bytes), Err(ParseError::HeaderChecksum { found, expected: right }));

    for packet in [v4(), v6()] {
        let mut bytes = emitted(&packet);
        let at = packet.ip.length() + 16;
        let right = u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        bytes[at] ^= 0x40;
        let found = right ^ 0x4000;
        assert_eq!(parse(bytes), Err(ParseError::TcpChecksum { found, expected: right }));
    }
}

#[test]
fn an_offloaded_checksum_is_not_verified_and_holds_the_pseudo_header() {
    for packet in [v4(), v6()] {
        let mut bytes = Vec::new();
        packet.emit_with(&mut bytes, ChecksumMode::Offloaded).unwrap();
        let at = packet.ip.length() + 16;
        let length = (packet.length() - packet.ip.length()) as u32;
        let (source, destination) = (packet.segment.source.ip(), packet.segment.destination.ip());
        let pseudo = mptcp_wire::Checksum::tcp(source, destination, length).folded();
        assert_eq!(bytes[at..at + 2], pseudo.to_be_bytes());
        let bytes = Bytes::from(bytes);
        assert!(matches!(Packet::parse(&bytes), Err(ParseError::TcpChecksum { .. })));
        assert_eq!(Packet::parse_with(&bytes, ChecksumMode::Offloaded), Ok(packet.clone()));

        // The device sums from the TCP header on, including the field's value.
        let mut device = mptcp_wire::Checksum::new();
        device.add(&bytes[packet.ip.length()..]);
        let whole = emitted(&packet);
        assert_eq!(whole[at..at + 2], device.value().to_be_bytes());
    }
}

#[test]
fn a_fragment_is_not_a_whole_segment() {
    let more = parse(v4_with(&[(6, 0x20)])).unwrap_err();
    assert_eq!(more, ParseError::Fragment { offset: 0 });
    let later = parse(v4_with(&[(6, 0x01), (7, 0x02)])).unwrap_err();
    assert_eq!(later, ParseError::Fragment { offset: 0x102 * 8 });
    assert_eq!(later.to_string(), "a fragment at byte 2064 of its packet: must be reassembled first");

    assert_eq!(parse(v6_with(44, &[6, 0, 0, 1, 0, 0, 0, 9])), Err(ParseError::Fragment { offset: 0 }));
    assert_eq!(parse(v6_with(44, &[6, 0, 1, 8, 0, 0, 0, 9])), Err(ParseError::Fragment { offset: 0x108 }));
}

#[test]
fn a_fragment_header_of_a_whole_packet_is_kept() {
    // The second byte is reserved and no length (RFC 8200 section 4.5).
    for reserved in [0, 1] {
        let bytes = v6_with(44, &[6, reserved, 0, 0, 0, 0, 0, 9]);
        let packet = parse(bytes.clone()).unwrap();
        assert_eq!(emitted(&packet), bytes);
    }
}

#[test]
fn a_routing_header_counts_only_at_its_last_stop() {
    let bytes = v6_with(43, &[6, 0, 253, 0, 0, 0, 0, 0]);
    let packet = parse(bytes.clone()).unwrap();
    assert_eq!(emitted(&packet), bytes);
    assert_eq!(parse(v6_with(43, &[6, 0, 253, 2, 0, 0, 0, 0])), Err(ParseError::StillRouted(2)));
}

#[test]
fn other_protocols_are_named() {
    assert_eq!(parse(v4_with(&[(9, 17)])), Err(ParseError::NotTcp(17)));
    assert_eq!(parse(v6_with(59, &[])), Err(ParseError::NotTcp(59)));
    assert_eq!(parse(v6_with(0, &[58, 0, 0, 0, 0, 0, 0, 0])), Err(ParseError::NotTcp(58)));
    assert_eq!(parse(vec![0x50; 40]), Err(ParseError::Version(5)));
}

#[test]
fn a_packet_cut_anywhere_is_an_error() {
    for bytes in [emitted(&v4()), emitted(&v6()), v6_with(0, &[6, 0, 1, 4, 0, 0, 0, 0])] {
        for length in 0..bytes.len() {
            let error = parse(bytes[..length].to_vec()).unwrap_err();
            assert!(matches!(error, ParseError::Truncated { .. }), "{length} bytes: {error}");
        }
    }
}

#[test]
fn a_packet_of_nothing_but_its_header_lacks_a_segment() {
    let total = v4_with(&[(2, 0), (3, 20)]);
    for bytes in [total[..20].to_vec(), total] {
        let error = parse(bytes).unwrap_err();
        assert_eq!(error, ParseError::Truncated { what: "TCP header", needed: 20, available: 0 });
    }
}

#[test]
fn an_extension_header_that_leaves_the_packet_is_an_error() {
    let error = parse(v6_with(0, &[6, 200, 0, 0, 0, 0, 0, 0])).unwrap_err();
    assert_eq!(error, ParseError::Truncated { what: "IPv6 extension header", needed: 1608, available: 35 });
}

#[test]
fn lengths_that_contradict_each_other_are_errors() {
    let error = parse(v4_with(&[(0, 0x44)])).unwrap_err();
    assert_eq!(error.to_string(), "the IPv4 header length is 16 bytes: must be at least 20");
    let error = parse(v4_with(&[(3, 19)])).unwrap_err();
    assert_eq!(error.to_string(), "the IPv4 total length is 19 bytes: must be at least 20");
    let mut bytes = v4_with(&[(0, 0x46), (3, 22)]);
    // The longer header covers the ports, so its checksum must match again.
    bytes[20..24].fill(0);
    let error = parse(bytes).unwrap_err();
    assert_eq!(error.to_string(), "the IPv4 total length is 22 bytes: must be at least 24");
    let error = parse(v4_with(&[(32, 0x40)])).unwrap_err();
    assert_eq!(error.to_string(), "the TCP data offset is 16 bytes: must be at least 20");
    let error = parse(v4_with(&[(32, 0xf0)])).unwrap_err();
    assert_eq!(error.to_string(), "the TCP header needs 60 bytes, but only 27 are available");
}

#[test]
fn a_malformed_option_is_named() {
    let mut bytes = v4_with(&[(32, 0x60)]);
    bytes[40..44].copy_from_slice(&[1, 2, 3, 1]);
    let error = Packet::parse_with(&Bytes::from(bytes), ChecksumMode::Offloaded).unwrap_err();
    let expected =
        OptionError::Size { kind: 2, name: "maximum segment size", offset: 1, length: 3, expected: "4" };
    assert_eq!(error, ParseError::Option(expected));
    assert_eq!(
        error.to_string(),
        "TCP option kind 2 (maximum segment size) at offset 1 has length 3: must be 4"
    );
}

#[test]
fn a_checksum_of_all_ones_is_accepted_as_zero() {
    let mut packet = v4();
    packet.segment.window = 0;
    let bytes = emitted(&packet);
    packet.segment.window = u16::from_be_bytes([bytes[36], bytes[37]]);
    let mut bytes = emitted(&packet);
    assert_eq!(bytes[36..38], [0, 0]);
    bytes[36..38].fill(0xff);
    assert_eq!(parse(bytes), Ok(packet));
}

#[test]
fn mixed_families_have_no_form() {
    let mixed = Packet::new(segment("192.0.2.1:1", "[2001:db8::2]:80"));
    assert_eq!(mixed.emit(&mut Vec::new()), Err(EmitError::Family));
    let wrong_header = Packet { ip: v6().ip, ..v4() };
    assert_eq!(wrong_header.emit(&mut Vec::new()), Err(EmitError::Family));
}

#[test]
fn header_values_out_of_range_have_no_form() {
    let v4_options = |length: usize| {
        let header = Ipv4Header { options: vec![1; length].into(), ..Ipv4Header::default() };
        Packet { ip: IpHeader::V4(header), ..v4() }.emit(&mut Vec::new())
    };
    assert_eq!(v4_options(40), Ok(()));
    assert_eq!(v4_options(44), Err(EmitError::Ipv4Options { length: 44 }));
    assert_eq!(v4_options(6), Err(EmitError::Ipv4Options { length: 6 }));

    let v6_header = |header| Packet { ip: IpHeader::V6(header), ..v6() }.emit(&mut Vec::new());
    let labelled = |flow_label| v6_header(Ipv6Header { flow_label, ..Ipv6Header::default() });
    assert_eq!(labelled(0xf_ffff), Ok(()), "20 bits");
    assert_eq!(labelled(0x10_0000), Err(EmitError::FlowLabel(0x10_0000)));
    let loose = Bytes::from_static(&[6, 0, 0, 0, 0, 0, 0, 0, 0]);
    for (next_header, extensions) in [(0, loose), (17, Bytes::new()), (0, Bytes::new())] {
        let header = Ipv6Header { next_header, extensions, ..Ipv6Header::default() };
        assert_eq!(v6_header(header), Err(EmitError::Extensions));
    }
}

#[test]
fn the_longest_packets_fit_and_longer_ones_are_refused() {
    for (packet, limit) in [(v4(), 65_535), (v6(), 40 + 65_535)] {
        let mut longest = packet;
        longest.segment.payload = vec![7; limit - longest.ip.length() - 20].into();
        assert_eq!(parse(emitted(&longest)), Ok(longest.clone()));
        longest.segment.payload = vec![7; limit - longest.ip.length() - 19].into();
        let mut out = Vec::new();
        assert_eq!(longest.emit(&mut out), Err(EmitError::PacketLength { length: limit + 1, limit }));
        assert!(out.is_empty());
    }
}

#[test]
fn a_buffer_without_room_stays_as_it_was() {
    let packet = v4();
    let mut buffer = [0xaa; 46];
    let mut room = &mut buffer[..];
    assert_eq!(packet.emit(&mut room), Err(EmitError::Room { needed: 47, room: 46 }));
    assert_eq!(buffer, [0xaa; 46]);
}

#[test]
fn a_buffer_of_exactly_the_right_size_is_enough() {
    for packet in [v4(), v6()] {
        let mut buffer = vec![0xaa; packet.length()];
        let mut room = &mut buffer[..];
        assert_eq!(packet.emit(&mut room), Ok(()));
        assert!(room.is_empty());
        assert_eq!(buffer, emitted(&packet));
    }
}

#[test]
fn headers_alone_need_room_for_headers_alone_and_count_the_payload() {
    for packet in [v4(), v6()] {
        let needed = packet.length() - packet.segment.payload.len();
        let mut buffer = vec![0xaa; needed];
        let mut room = &mut buffer[..needed - 1];
        let refused = packet.emit_headers(&mut room, ChecksumMode::Complete);
        assert_eq!(refused, Err(EmitError::Room { needed, room: needed - 1 }));
        assert_eq!(buffer, vec![0xaa; needed]);

        assert_eq!(packet.emit_headers(&mut &mut buffer[..], ChecksumMode::Complete), Ok(()));
        buffer.extend_from_slice(&packet.segment.payload);
        assert_eq!(buffer, emitted(&packet));
    }
}

/// Links with `corrupt` in scenarios rely on this: every parser drops such a packet before it checks a DSS checksum.
#[test]
fn one_wrong_bit_is_always_found() {
    for padding in 0..3 {
        let mut packet = v4();
        packet.segment.payload = Bytes::from(vec![0x5a; 40 + padding]);
        let whole = emitted(&packet);
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(parse(bytes).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
        }
    }
}
