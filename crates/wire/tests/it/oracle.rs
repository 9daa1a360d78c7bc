//! Compares encoded packets with an independent parser (etherparse), field by field.

use crate::common::segment;
use etherparse::{NetSlice, SlicedPacket, TcpOptionElement, TransportSlice};
use mptcp_wire::{Options, Packet, Segment};
use proptest::prelude::*;

/// The TCP options that etherparse supports, in order.
fn known_options(options: &Options) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{
        MaximumSegmentSize, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted, Timestamp,
        WindowScale,
    };
    let mut known = Vec::new();
    known.extend(options.mss.map(MaximumSegmentSize));
    known.extend(options.sack_permitted.then_some(SelectiveAcknowledgementPermitted));
    known.extend(options.timestamps.map(|timestamps| Timestamp(timestamps.value, timestamps.echo)));
    known.extend(options.window_scale.map(WindowScale));
    let mut blocks = options.sack.iter().map(|(left, right)| (left.value(), right.value()));
    if let Some(first) = blocks.next() {
        known.push(SelectiveAcknowledgement(first, [blocks.next(), blocks.next(), blocks.next()]));
    }
    known
}

fn agrees(segment: &Segment, bytes: &[u8]) -> Result<(), TestCaseError> {
    let sliced = SlicedPacket::from_ip(bytes)?;
    let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("no TCP in {bytes:?}") };
    let header = tcp.to_header();
    let checksum = match sliced.net {
        Some(NetSlice::Ipv4(ip)) => {
            let ip = ip.header();
            prop_assert_eq!(ip.header_checksum(), ip.to_header().calc_header_checksum());
            prop_assert_eq!(usize::from(ip.total_len()), bytes.len());
            prop_assert_eq!((ip.ttl(), ip.dont_fragment()), (64, true));
            prop_assert_eq!((ip.dcp().value(), ip.ecn().value()), (0, segment.ecn.bits()));
            prop_assert_eq!(segment.source.ip(), ip.source_addr());
            prop_assert_eq!(segment.destination.ip(), ip.destination_addr());
            tcp.calc_checksum_ipv4(ip.source(), ip.destination())?
        }
        Some(NetSlice::Ipv6(ip)) => {
            let ip = ip.header();
            prop_assert_eq!(usize::from(ip.payload_length()) + 40, bytes.len());
            prop_assert_eq!(ip.hop_limit(), 64);
            prop_assert_eq!(ip.traffic_class(), segment.ecn.bits());
            prop_assert_eq!(segment.source.ip(), ip.source_addr());
            prop_assert_eq!(segment.destination.ip(), ip.destination_addr());
            tcp.calc_checksum_ipv6(ip.source(), ip.destination())?
        }
        other => panic!("no IP in {other:?}"),
    };
    prop_assert_eq!(header.checksum, checksum);
    prop_assert_eq!(header.source_port, segment.source.port());
    prop_assert_eq!(header.destination_port, segment.destination.port());
    prop_assert_eq!(header.sequence_number, segment.sequence.value());
    prop_assert_eq!(header.acknowledgment_number, segment.acknowledgment.value());
    prop_assert_eq!(header.window_size, segment.window);
    prop_assert_eq!(header.urgent_pointer, segment.urgent);
    // etherparse has no field for the reserved bits, and calls AE by its old name NS.
    let bits = [
        header.fin, header.syn, header.rst, header.psh, header.ack, header.urg, header.ece, header.cwr,
        header.ns,
    ];
    let flags = bits.iter().rev().fold(0, |flags, &bit| flags << 1 | u16::from(bit));
    prop_assert_eq!(flags, segment.flags.bits() & 0x1ff);
    prop_assert_eq!(tcp.payload(), &segment.payload[..]);

    let theirs: Vec<_> = tcp
        .options_iterator()
        .filter_map(Result::ok)
        .filter(|option| *option != TcpOptionElement::Noop)
        .collect();
    prop_assert_eq!(theirs, known_options(&segment.options));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn etherparse_reads_what_we_emit(segment in segment()) {
        let packet = Packet::new(segment);
        let mut bytes = Vec::new();
        packet.emit(&mut bytes)?;
        agrees(&packet.segment, &bytes)?;
    }
}
