//! Link types: the segment is found behind each header.

use mptcp_doctor::capture::{LinkType, SeenSegment, Skipped};

use crate::common::{ETHERNET, Flow, Form, Frame, S, ip, open, pcap, read};

/// A data segment of 100 bytes as an IP packet, IPv4 or IPv6.
fn packet(is_v6: bool) -> Vec<u8> {
    let flow = if is_v6 {
        Flow::new("[2001:db8::1]:40000", "[2001:db8::2]:443")
    } else {
        Flow::new("10.0.0.1:40000", "10.0.1.1:443")
    };
    ip(&flow.data(0, 1, 100))
}

/// The segments and skipped packets of one frame.
fn frame(link: u32, bytes: Vec<u8>) -> (Vec<SeenSegment>, Skipped) {
    let (segments, file) = read(&pcap(Form::link(link), &[Frame::new(S, bytes)]));
    assert_eq!(file.packets(), 1);
    (segments, file.skipped())
}

/// Asserts that a header of a link type leads to the segment, and that no cut header does.
#[track_caller]
fn finds(link: u32, header: &[u8], is_v6: bool) {
    let bytes = [header, &packet(is_v6)].concat();
    let (segments, _) = frame(link, bytes.clone());
    let [segment] = segments.as_slice() else { panic!("link type {link}: {segments:?}") };
    assert_eq!((segment.from.port(), segment.to.port()), (40_000, 443));
    assert_eq!((segment.sequence, segment.payload), (1001, 100));
    assert_eq!(segment.from.is_ipv6(), is_v6);
    for length in 0..header.len() + 40 {
        let (segments, skipped) = frame(link, bytes[..length].to_vec());
        assert!(segments.is_empty(), "link type {link}, {length} bytes: {segments:?}");
        assert_eq!(skipped.not_ip + skipped.cut + skipped.invalid + skipped.not_tcp, 1, "{length}");
    }
}

/// Asserts that a frame has no segment, and is counted as no IP packet.
#[track_caller]
fn is_not_ip(link: u32, header: &[u8]) {
    let (segments, skipped) = frame(link, [header, &packet(false)].concat());
    assert!(segments.is_empty(), "{segments:?}");
    assert_eq!(skipped, Skipped { not_ip: 1, ..Skipped::default() });
}

/// An Ethernet header with this type field, and further headers.
fn ethernet(rest: &[u8]) -> Vec<u8> {
    [&[2; 12], rest].concat()
}

#[test]
fn ethernet_carries_both_versions_of_ip() {
    finds(ETHERNET, &ethernet(&[0x08, 0x00]), false);
    finds(ETHERNET, &ethernet(&[0x86, 0xdd]), true);
    is_not_ip(ETHERNET, &ethernet(&[0x08, 0x06]));
    // IEEE 802.3 with a length field.
    is_not_ip(ETHERNET, &ethernet(&[0x00, 0x8c]));
}

#[test]
fn vlan_tags_are_followed() {
    finds(ETHERNET, &ethernet(&[0x81, 0x00, 0x00, 0x05, 0x08, 0x00]), false);
    finds(ETHERNET, &ethernet(&[0x88, 0xa8, 0x00, 0x05, 0x81, 0x00, 0x00, 0x07, 0x86, 0xdd]), true);
    finds(ETHERNET, &ethernet(&[0x91, 0x00, 0x00, 0x05, 0x81, 0x00, 0x00, 0x07, 0x08, 0x00]), false);
    let tags = [0x81, 0x00, 0x00, 0x05].repeat(20);
    is_not_ip(ETHERNET, &ethernet(&[&tags[..], &[0x08, 0x00]].concat()));
}

#[test]
fn mpls_labels_end_at_the_bottom_of_the_stack() {
    finds(ETHERNET, &ethernet(&[0x88, 0x47, 0x00, 0x01, 0x01, 0x40]), false);
    finds(ETHERNET, &ethernet(&[0x88, 0x47, 0x00, 0x01, 0x00, 0x40, 0x00, 0x02, 0x01, 0x40]), true);
    finds(ETHERNET, &ethernet(&[0x88, 0x48, 0x00, 0x01, 0x01, 0x40]), false);
    let labels = [0x00, 0x01, 0x00, 0x40].repeat(20);
    is_not_ip(ETHERNET, &ethernet(&[&[0x88, 0x47], &labels[..]].concat()));
}

#[test]
fn pppoe_sessions_are_followed() {
    let session =
        |protocol: &[u8]| ethernet(&[&[0x88, 0x64, 0x11, 0x00, 0x00, 0x01, 0x00, 0x8e], protocol].concat());
    finds(ETHERNET, &session(&[0x00, 0x21]), false);
    finds(ETHERNET, &session(&[0x00, 0x57]), true);
    // LCP.
    is_not_ip(ETHERNET, &session(&[0xc0, 0x21]));
    // PPPoE within a VLAN, as many providers use it.
    let tagged = [0x81, 0x00, 0x00, 0x07, 0x88, 0x64, 0x11, 0x00, 0x00, 0x01, 0x00, 0x8e, 0x00, 0x21];
    finds(ETHERNET, &ethernet(&tagged), false);
    finds(51, &[0x11, 0x00, 0x00, 0x01, 0x00, 0x8e, 0x00, 0x21], false);
}

#[test]
fn linux_cooked_has_two_versions() {
    let cooked = |ethertype: [u8; 2]| [&[0, 4, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0][..], &ethertype].concat();
    finds(113, &cooked([0x08, 0x00]), false);
    finds(113, &cooked([0x86, 0xdd]), true);
    is_not_ip(113, &cooked([0x08, 0x06]));
    let second = |ethertype: [u8; 2]| {
        [&ethertype[..], &[0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 2, 2, 2, 2, 2, 2, 0, 0]].concat()
    };
    finds(276, &second([0x08, 0x00]), false);
    finds(276, &second([0x86, 0xdd]), true);
    finds(276, &[&second([0x81, 0x00])[..], &[0, 5, 8, 0]].concat(), false);
    is_not_ip(276, &second([0x08, 0x06]));
}

#[test]
fn raw_ip_has_several_numbers() {
    for link in [12, 14, 101, 228] {
        finds(link, &[], false);
    }
    for link in [12, 14, 101, 229] {
        finds(link, &[], true);
    }
    is_not_ip(101, &[0x00]);
}

#[test]
fn loopback_has_the_byte_order_of_its_host() {
    finds(0, &[2, 0, 0, 0], false);
    finds(0, &[0, 0, 0, 2], false);
    for family in [10, 24, 28, 30] {
        finds(0, &[family, 0, 0, 0], true);
        finds(0, &[0, 0, 0, family], true);
        finds(108, &[0, 0, 0, family], true);
    }
    finds(108, &[0, 0, 0, 2], false);
    is_not_ip(108, &[2, 0, 0, 0]);
    is_not_ip(0, &[7, 0, 0, 0]);
}

#[test]
fn ppp_has_short_and_long_headers() {
    for link in [9, 50] {
        finds(link, &[0xff, 0x03, 0x00, 0x21], false);
        finds(link, &[0xff, 0x03, 0x00, 0x57], true);
        finds(link, &[0x00, 0x21], false);
        // A compressed protocol field.
        finds(link, &[0x21], false);
        finds(link, &[0xff, 0x03, 0x57], true);
        is_not_ip(link, &[0xff, 0x03, 0xc0, 0x21]);
    }
}

/// An IEEE 802.11 header of a frame control field and the bytes before LLC.
fn wifi(control: [u8; 2], length: usize, ethertype: [u8; 2]) -> Vec<u8> {
    let mut header = control.to_vec();
    header.resize(length, 2);
    [&header[..], &[0xaa, 0xaa, 0x03, 0, 0, 0], &ethertype].concat()
}

#[test]
fn wifi_data_frames_are_read() {
    let v4 = [0x08, 0x00];
    // From the station, to it, and between access points.
    finds(105, &wifi([0x08, 0x01], 24, v4), false);
    finds(105, &wifi([0x08, 0x02], 24, [0x86, 0xdd]), true);
    finds(105, &wifi([0x08, 0x03], 30, v4), false);
    // QoS data, with and without the HT control field.
    finds(105, &wifi([0x88, 0x01], 26, v4), false);
    finds(105, &wifi([0x88, 0x03], 32, v4), false);
    finds(105, &wifi([0x88, 0x81], 30, v4), false);
    // An encrypted frame, a null frame, and a beacon.
    is_not_ip(105, &wifi([0x08, 0x41], 24, v4));
    is_not_ip(105, &wifi([0x48, 0x01], 24, v4));
    is_not_ip(105, &wifi([0x80, 0x00], 24, v4));
}

#[test]
fn radiotap_is_skipped_by_its_length() {
    let frame = wifi([0x88, 0x01], 26, [0x08, 0x00]);
    finds(127, &[&[0, 0, 8, 0, 0, 0, 0, 0][..], &frame].concat(), false);
    let mut long = vec![0, 0, 36, 0];
    long.resize(36, 7);
    finds(127, &[&long[..], &frame].concat(), false);
    // A length beyond the frame.
    let (segments, skipped) = frame_of_radiotap(&[0, 0, 0xff, 0xff, 0, 0, 0, 0], &frame);
    assert!(segments.is_empty());
    assert_eq!(skipped.cut, 1);
}

fn frame_of_radiotap(header: &[u8], rest: &[u8]) -> (Vec<SeenSegment>, Skipped) {
    frame(127, [header, rest, &packet(false)].concat())
}

#[test]
fn the_frame_check_sequence_is_no_payload() {
    let bytes = [&ethernet(&[0x08, 0x00])[..], &packet(false), &[1, 2, 3, 4]].concat();
    // The upper bits state its length.
    let (segments, _) = frame(0x5400_0000 | ETHERNET, bytes);
    assert_eq!(segments[0].payload, 100);
}

#[test]
fn an_unknown_link_type_gives_a_warning_with_its_number() {
    let (segments, mut file) = read(&pcap(Form::link(147), &[Frame::new(S, packet(false))]));
    assert!(segments.is_empty());
    assert_eq!(file.skipped().not_ip, 1);
    let warning = file.take_warning().unwrap().to_string();
    assert!(warning.starts_with("test.pcap: link type 147 cannot be read; use Ethernet (1)"), "{warning}");
    assert!(file.take_warning().is_none());
    assert_eq!(LinkType::from_number(147), None);
    assert_eq!(LinkType::from_number(1), Some(LinkType::Ethernet));
    assert!(open(&pcap(Form::link(147), &[])).is_ok());
}
