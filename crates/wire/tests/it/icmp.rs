//! Tests the parser of ICMP errors with hand-made, truncated and corrupted messages.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcp_wire::{Checksum, Flags, IcmpParseError, Notice, Packet, ParseError, Segment, Seq, Undelivered};
use proptest::prelude::*;

fn addresses(six: bool) -> (SocketAddr, SocketAddr) {
    let text = if six { ["[fd88::2]:4000", "[fd99::1]:80"] } else { ["10.88.1.2:4000", "10.99.0.1:80"] };
    let [source, destination] = text.map(|address| address.parse().expect("an address"));
    (source, destination)
}

/// The SYN that the messages quote.
fn syn(six: bool) -> Vec<u8> {
    let (source, destination) = addresses(six);
    let mut segment = Segment::new(source, destination);
    (segment.flags, segment.sequence, segment.options.mss) = (Flags::SYN, Seq::new(0x1234_5678), Some(1_460));
    let mut bytes = Vec::new();
    Packet::new(segment).emit(&mut bytes).expect("a form");
    bytes
}

/// A router's message about the SYN.
fn message(six: bool, kind: u8, code: u8, rest: u32, quote: &[u8]) -> Vec<u8> {
    let mut icmp = vec![kind, code, 0, 0];
    icmp.extend(rest.to_be_bytes());
    icmp.extend(quote);
    let mut sum = Checksum::new();
    let (router, us): (IpAddr, IpAddr) = if six {
        ("fd88::1".parse().expect("an address"), addresses(true).0.ip())
    } else {
        ("10.88.1.1".parse().expect("an address"), addresses(false).0.ip())
    };
    let octets = |address: IpAddr| match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    if six {
        sum.add(&[octets(router), octets(us)].concat());
        sum.add(&(icmp.len() as u32).to_be_bytes());
        sum.add(&[0, 0, 0, 58]);
    }
    sum.add(&icmp);
    icmp[2..4].copy_from_slice(&sum.value().to_be_bytes());
    let mut packet;
    if six {
        packet = vec![0x60, 0, 0, 0];
        packet.extend((icmp.len() as u16).to_be_bytes());
        packet.extend([58, 64]);
        packet.extend([octets(router), octets(us)].concat());
    } else {
        packet = vec![0x45, 0xc0];
        packet.extend((20 + icmp.len() as u16).to_be_bytes());
        packet.extend([0, 7, 0, 0, 64, 1, 0, 0]);
        packet.extend([octets(router), octets(us)].concat());
        let mut sum = Checksum::new();
        sum.add(&packet);
        packet[10..12].copy_from_slice(&sum.value().to_be_bytes());
    }
    packet.extend(icmp);
    packet
}

fn parse(packet: Vec<u8>) -> Result<Notice, IcmpParseError> {
    assert!(Notice::is_likely(&packet));
    Notice::parse(&Bytes::from(packet))
}

#[test]
fn each_code_of_both_families_has_its_meaning() {
    use Undelivered::{Host, Network, Port, Prohibited, Protocol, TimeExceeded, TooBig};
    let four = [
        Network,
        Host,
        Protocol,
        Port,
        TooBig { mtu: 1_400 },
        Host,
        Network,
        Host,
        Host,
        Prohibited,
        Prohibited,
        Network,
        Host,
        Prohibited,
        Prohibited,
        Prohibited,
    ];
    let four = four.into_iter().zip(0..).map(|(what, code)| (false, 3, code, what));
    let six = [Network, Prohibited, Network, Host, Port, Prohibited, Prohibited];
    let six = six.into_iter().zip(0..).map(|(what, code)| (true, 1, code, what));
    let others = [
        (false, 11, 0, TimeExceeded),
        (false, 11, 1, TimeExceeded),
        (true, 2, 0, TooBig { mtu: 1_400 }),
        (true, 3, 0, TimeExceeded),
        (true, 3, 1, TimeExceeded),
    ];
    for (family, kind, code, what) in four.chain(six).chain(others) {
        let (source, destination) = addresses(family);
        let expected = Notice { source, destination, sequence: Seq::new(0x1234_5678), what };
        assert_eq!(parse(message(family, kind, code, 1_400, &syn(family))), Ok(expected), "{kind} {code}");
    }
}

#[test]
fn what_its_first_header_calls_icmp_is_likely_to_be_so() {
    for six in [false, true] {
        let packet = message(six, 3, 1, 0, &syn(six));
        assert!(Notice::is_likely(&packet), "{six}");
        assert!(!Notice::is_likely(&syn(six)), "{six}");
        // The ICMP number of the other family is just another protocol. Without a version, the position of the field is
        // unknown.
        let protocol = if six { 6 } else { 9 };
        assert!(!Notice::is_likely(&packet[..protocol]), "cut before its protocol");
        let mut other = packet.clone();
        other[protocol] = if six { 1 } else { 58 };
        assert!(!Notice::is_likely(&other));
        let mut versionless = packet;
        versionless[0] = 0x50;
        assert!(!Notice::is_likely(&versionless));
    }
    assert!(!Notice::is_likely(&[]));
}

#[test]
fn what_is_no_error_about_a_packet_is_said_to_be_so() {
    for (six, kind, code) in [(false, 8, 0), (false, 3, 16), (false, 5, 1), (true, 128, 0), (true, 1, 7)] {
        let found = parse(message(six, kind, code, 0, &syn(six)));
        assert_eq!(found, Err(IcmpParseError::Kind { kind, code }));
    }
    let segment = Bytes::from(syn(false));
    assert!(!Notice::is_likely(&segment));
    assert_eq!(Notice::parse(&segment), Err(IcmpParseError::NotIcmp(6)));
    assert!(matches!(
        Notice::parse(&Bytes::new()),
        Err(IcmpParseError::Packet(ParseError::Truncated { .. }))
    ));
}

/// RFC 792 quotes the header and eight bytes; RFC 1812 section 4.3.2.3 and RFC 4443 quote as much as fits.
#[test]
fn eight_bytes_of_the_tcp_header_are_enough_and_seven_are_not() {
    for (six, header) in [(false, 20), (true, 40)] {
        let quote = syn(six);
        assert!(parse(message(six, if six { 1 } else { 3 }, 1, 0, &quote[..header + 8])).is_ok());
        for length in 0..header + 8 {
            let found = parse(message(six, if six { 1 } else { 3 }, 1, 0, &quote[..length]));
            assert!(
                matches!(found, Err(IcmpParseError::NoSegment | IcmpParseError::Truncated { .. })),
                "{length}: {found:?}"
            );
        }
    }
}

#[test]
fn options_and_extension_headers_in_the_quote_are_passed_over() {
    let mut quote = syn(false);
    quote[0] = 0x46;
    quote.splice(20..20, [1, 1, 1, 0]);
    assert_eq!(parse(message(false, 3, 3, 0, &quote)).expect("a notice").sequence, Seq::new(0x1234_5678));
    let mut quote = syn(true);
    quote[6] = 60;
    quote.splice(40..40, [6, 0, 1, 4, 0, 0, 0, 0]);
    assert_eq!(parse(message(true, 1, 4, 0, &quote)).expect("a notice").destination, addresses(true).1);
}

#[test]
fn quotes_of_other_protocols_and_of_later_fragments_are_refused() {
    let changed = |at: usize, byte: u8| {
        let mut quote = syn(false);
        quote[at] = byte;
        parse(message(false, 3, 1, 0, &quote))
    };
    for (at, byte) in [(9, 17), (7, 1), (6, 0x1f), (0, 0x44), (0, 0x65)] {
        assert_eq!(changed(at, byte), Err(IcmpParseError::NoSegment), "byte {at} is {byte}");
    }
    // Only the first fragment has the ports.
    assert!(changed(6, 0x20).is_ok());
    let mut quote = syn(true);
    quote[6] = 17;
    assert_eq!(parse(message(true, 1, 4, 0, &quote)), Err(IcmpParseError::NoSegment));
}

/// The parser detects every changed bit. The ICMP checksum covers all bytes behind the IP header, and ICMPv6's also the
/// addresses.
#[test]
fn every_changed_bit_behind_the_header_is_found() {
    for (six, from) in [(false, 20), (true, 40)] {
        let good = message(six, if six { 1 } else { 3 }, 1, 0, &syn(six));
        for bit in from * 8..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(parse(bad), Err(IcmpParseError::Checksum { .. })), "bit {bit}");
        }
        if six {
            let mut bad = good;
            bad[23] ^= 1;
            assert!(matches!(parse(bad), Err(IcmpParseError::Checksum { .. })));
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_parse_to_a_value_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Notice::parse(&Bytes::from(bytes));
    }

    /// The parser of the quote runs for any quote in a message with a valid checksum.
    #[test]
    fn any_quote_parses_to_a_value_or_an_error(
        six in any::<bool>(),
        kind in prop::sample::select(vec![1_u8, 2, 3, 11]),
        code in 0_u8..17,
        mut quote in prop::collection::vec(any::<u8>(), 0..120),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in any::<prop::sample::Index>(),
        real in any::<bool>(),
    ) {
        if real {
            quote = syn(six);
            for (at, byte) in changes {
                let at = at.index(quote.len());
                quote[at] = byte;
            }
            quote.truncate(cut.index(quote.len() + 1));
        }
        let _ = Notice::parse(&Bytes::from(message(six, kind, code, 0, &quote)));
    }
}
