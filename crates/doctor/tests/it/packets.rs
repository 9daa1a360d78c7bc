//! IP headers: extension headers, fragments, tunnels, and packets that the capture cut.

use mptcp_doctor::capture::{SeenSegment, Skipped};
use mptcp_wire::{DataSequence, Timestamps};

use crate::common::{Flow, Form, Frame, MSS, RAW, S, dss, ip, pcap, read};

fn v4() -> Vec<u8> {
    ip(&Flow::first().data(0, 1, 100))
}

fn v6() -> Vec<u8> {
    ip(&Flow::new("[2001:db8::1]:40000", "[2001:db8::2]:443").data(0, 1, 100))
}

fn one(bytes: Vec<u8>) -> (Vec<SeenSegment>, Skipped) {
    cut(bytes, usize::MAX)
}

/// The segments of a packet of which the capture kept this many bytes.
fn cut(bytes: Vec<u8>, length: usize) -> (Vec<SeenSegment>, Skipped) {
    let mut frame = Frame::new(S, bytes);
    frame.bytes.truncate(length);
    let (segments, file) = read(&pcap(Form::link(RAW), &[frame]));
    (segments, file.skipped())
}

/// An IPv6 packet with extension headers, of which the first one has this number.
fn with_extensions(first: u8, headers: &[u8]) -> Vec<u8> {
    let mut bytes = v6();
    bytes[6] = first;
    bytes.splice(40..40, headers.iter().copied());
    let length = u16::try_from(bytes.len() - 40).unwrap();
    bytes[4..6].copy_from_slice(&length.to_be_bytes());
    bytes
}

#[track_caller]
fn has_payload(bytes: Vec<u8>, payload: u32) {
    let (segments, skipped) = one(bytes);
    assert_eq!(segments.len(), 1, "{skipped:?}");
    assert_eq!((segments[0].payload, segments[0].sequence), (payload, 1001));
}

#[test]
fn extension_headers_are_followed() {
    has_payload(v6(), 100);
    // Hop-by-hop options, then TCP.
    has_payload(with_extensions(0, &[6, 0, 1, 4, 0, 0, 0, 0]), 100);
    // Routing, destination options of 16 bytes, then TCP.
    let headers = [60, 0, 0, 0, 0, 0, 0, 0, 6, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    has_payload(with_extensions(43, &headers), 100);
    // An atomic fragment.
    has_payload(with_extensions(44, &[6, 0, 0, 0, 1, 2, 3, 4]), 100);
    // A header that is longer than the packet, and one of another protocol.
    let (segments, skipped) = one(with_extensions(0, &[6, 255, 1, 4, 0, 0, 0, 0]));
    assert!(segments.is_empty());
    assert_eq!(skipped.invalid, 1);
    let (_, skipped) = one(with_extensions(0, &[17, 0, 1, 4, 0, 0, 0, 0]));
    assert_eq!(skipped.not_tcp, 1);
}

#[test]
fn a_chain_of_many_extension_headers_is_given_up() {
    let headers: Vec<u8> = [0, 0, 1, 4, 0, 0, 0, 0].repeat(30);
    let (segments, skipped) = one(with_extensions(0, &headers));
    assert!(segments.is_empty());
    assert_eq!(skipped.not_tcp, 1);
}

#[test]
fn fragments_are_counted_and_not_used() {
    let mut first = v4();
    first[6..8].copy_from_slice(&0x2000_u16.to_be_bytes());
    let mut later = v4();
    later[6..8].copy_from_slice(&0x0010_u16.to_be_bytes());
    for bytes in [first, later, with_extensions(44, &[6, 0, 0, 1, 1, 2, 3, 4])] {
        let (segments, skipped) = one(bytes);
        assert!(segments.is_empty());
        assert_eq!(skipped, Skipped { fragments: 1, ..Skipped::default() });
    }
    let mut datagram = v4();
    datagram[6..8].copy_from_slice(&0x2000_u16.to_be_bytes());
    datagram[9] = 17;
    let (_, skipped) = one(datagram);
    assert_eq!(skipped, Skipped { not_tcp: 1, ..Skipped::default() });
}

#[test]
fn a_segment_for_offload_has_the_length_of_its_frame() {
    let mut bytes = ip(&Flow::first().data(0, 1, 40_000));
    bytes[2..4].fill(0);
    has_payload(bytes.clone(), 40_000);
    let (segments, _) = cut(bytes, 96);
    assert_eq!(segments[0].payload, 40_000);
    let mut six = v6();
    six[4..6].fill(0);
    has_payload(six, 100);
}

#[test]
fn padding_is_no_payload() {
    has_payload([v4(), vec![0; 30]].concat(), 100);
    has_payload([v6(), vec![0; 30]].concat(), 100);
}

#[test]
fn a_short_capture_length_keeps_the_payload_length() {
    let mut segment = Flow::first().data(0, 1, MSS);
    segment.options.timestamps = Some(Timestamps { value: 1, echo: 2 });
    segment.options.dss = Some(dss(None, Some((DataSequence::Wide(77), 1, MSS as u16))));
    let bytes = ip(&segment);
    let header = bytes.len() - MSS as usize;
    for length in header..bytes.len() {
        let (segments, _) = cut(bytes.clone(), length);
        assert_eq!(segments[0].payload, MSS);
        assert!(!segments[0].has_cut_options);
        assert_eq!(segments[0].data_numbers(), (77, u64::from(MSS), 0));
    }
    // Options are cut, but the header is there.
    for length in 40..header {
        let (segments, _) = cut(bytes.clone(), length);
        assert_eq!(segments[0].payload, MSS);
        assert!(segments[0].has_cut_options, "{length}");
    }
    let (segments, _) = cut(bytes.clone(), 20 + 20 + 12);
    assert!(segments[0].options.timestamps.is_some());
    assert!(segments[0].options.dss.is_none());
    for length in 0..40 {
        let (segments, skipped) = cut(bytes.clone(), length);
        assert!(segments.is_empty());
        assert_eq!(skipped, Skipped { cut: 1, ..Skipped::default() }, "{length}");
    }
}

/// An IPv4 header for this protocol and number of bytes.
fn outer(protocol: u8, inner: &[u8]) -> Vec<u8> {
    let mut bytes = v4()[..20].to_vec();
    bytes[9] = protocol;
    bytes[2..4].copy_from_slice(&u16::try_from(20 + inner.len()).unwrap().to_be_bytes());
    [&bytes, inner].concat()
}

#[test]
fn tunnels_of_ip_in_ip_are_followed() {
    has_payload(outer(41, &v6()), 100);
    has_payload(outer(4, &v4()), 100);
    let (segments, _) = one(outer(41, &v6()));
    assert!(segments[0].from.is_ipv6());
    // 4in6.
    let mut six = v6();
    six.truncate(40);
    six[6] = 4;
    six[4..6].copy_from_slice(&u16::try_from(v4().len()).unwrap().to_be_bytes());
    has_payload([six, v4()].concat(), 100);
    // Tunnels within tunnels end somewhere.
    let deep = (0..8).fold(v4(), |inner, _| outer(4, &inner));
    let (segments, skipped) = one(deep);
    assert!(segments.is_empty());
    assert_eq!(skipped.not_tcp, 1);
}

#[test]
fn a_cut_tunnel_keeps_the_payload_length() {
    let (segments, _) = cut(outer(41, &v6()), 20 + 40 + 20);
    assert_eq!(segments[0].payload, 100);
    let (segments, skipped) = cut(outer(41, &v6()), 20 + 30);
    assert!(segments.is_empty());
    assert_eq!(skipped.cut, 1);
}

#[test]
fn impossible_lengths_are_invalid() {
    let (at_ip, at_total, at_tcp) = (0, 3, 32);
    for (at, value) in [(at_ip, 0x44), (at_total, 10), (at_tcp, 0x40)] {
        let mut bytes = v4();
        bytes[at] = value;
        let (segments, skipped) = one(bytes);
        assert!(segments.is_empty(), "byte {at}");
        assert_eq!(skipped, Skipped { invalid: 1, ..Skipped::default() }, "byte {at}");
    }
    // The TCP header is longer than the packet.
    let mut bytes = ip(&Flow::first().third());
    bytes[32] = 0xf0;
    let (_, skipped) = one(bytes);
    assert_eq!(skipped.invalid, 1);
}

#[test]
fn options_of_ipv4_are_skipped() {
    let mut bytes = v4();
    bytes[0] = 0x46;
    bytes.splice(20..20, [1, 1, 1, 0]);
    let total = u16::try_from(bytes.len()).unwrap();
    bytes[2..4].copy_from_slice(&total.to_be_bytes());
    has_payload(bytes, 100);
}
