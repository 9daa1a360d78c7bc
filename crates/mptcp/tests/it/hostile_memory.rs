//! What a peer or a stranger may make an endpoint hold: docs/security.md has the bounds.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::hand::{self, Flow, Hand};
use bytes::Bytes;
use mptcp::{Config, ConnectionUse, Mode};
use mptcp_clock::Duration;
use mptcp_wire::{AddAddress, DataSequence, Flags, MptcpOption, Segment, crypto};

const BUFFER: u64 = 1 << 20;
/// What a driver reads into.
const BLOCK: usize = 256 << 10;

fn small() -> Config {
    Config { receive_buffer: BUFFER, receive_block: 0, ..Config::default() }
}

fn usage(hand: &Hand) -> ConnectionUse {
    hand.host.info(hand.now, hand.connection).unwrap().usage
}

/// A host that is open, and one segment of data, so that it knows that the peer speaks Multipath TCP.
fn confirmed(config: Config) -> Hand {
    let (mut hand, _) = Hand::open(config);
    hand.send_data(hand.flow, 1, 1, 10);
    hand
}

/// Payload at an offset of the subflow's stream, mapped one to one.
fn at(hand: &mut Hand, flow: Flow, offset: u32, payload: Bytes) {
    let dss = hand.dss(1, Some((u64::from(offset), offset, payload.len() as u16)));
    hand.send(flow, offset, 1, |segment| {
        segment.options.dss = Some(dss);
        segment.payload = payload;
    });
}

/// The same on the first subflow.
fn first(hand: &mut Hand, offset: u32, payload: Bytes) {
    let flow = hand.flow;
    at(hand, flow, offset, payload);
}

/// X2: segments that are shifted by a byte each are kept once.
#[test]
fn shifted_segments_are_kept_once() {
    let mut hand = confirmed(small());
    for shift in 0..20_000 {
        first(&mut hand, 100 + shift, Bytes::from(vec![1; 1000]));
        let held = usage(&hand).receive_bytes;
        assert!(held <= 21_500, "{held} bytes after {shift}");
    }
    assert!(usage(&hand).pieces <= 4096, "{:?}", usage(&hand));
}

/// X2: at the data level too, where each segment is the next one of its subflow.
#[test]
fn shifted_data_is_kept_once() {
    let mut hand = confirmed(small());
    for shift in 0..20_000_u32 {
        let dss = hand.dss(1, Some((u64::from(100 + shift), 11 + 100 * shift, 100)));
        let flow = hand.flow;
        hand.send(flow, 11 + 100 * shift, 1, |segment| {
            segment.options.dss = Some(dss);
            segment.payload = Bytes::from(vec![1; 100]);
        });
        let held = usage(&hand).receive_bytes;
        assert!(held <= 21_000, "{held} bytes after {shift}");
    }
}

/// X2: a byte out of order does not keep the block that it was read into.
#[test]
fn bytes_out_of_order_do_not_keep_their_blocks() {
    let config = Config { receive_block: BLOCK as u64, ..small() };
    let mut hand = confirmed(config);
    let block = || Bytes::from(vec![1; BLOCK]);
    for place in 0..500 {
        first(&mut hand, 20 + 2 * place, block().slice(1000..1001));
    }
    let held = usage(&hand).receive_bytes;
    assert!(held <= 4 * BLOCK as u64, "{held} bytes for 500");
    // In order and not read: the same.
    first(&mut hand, 11, Bytes::from(vec![1; 1020]));
    for place in 0..500 {
        first(&mut hand, 1031 + 600 * place, block().slice(0..600));
    }
    let held = usage(&hand).receive_bytes;
    assert!(held <= 2 * 301_000 + 8 * BLOCK as u64, "{held} bytes for 301 000");
}

/// X2: subflows together hold no more out of order than twice the buffer, and a dead one holds nothing.
#[test]
fn subflows_share_what_waits_out_of_order() {
    let mut hand = confirmed(small());
    for port in 0..6 {
        let (flow, _) = hand.join(2000 + port);
        for place in 0..900_u32 {
            at(&mut hand, flow, 20 + 1100 * place, Bytes::from(vec![1; 1000]));
        }
    }
    let held = usage(&hand).receive_bytes;
    assert!((BUFFER..=2 * BUFFER + 65_536).contains(&held), "{held} bytes");
    let info = hand.host.info(hand.now, hand.connection).unwrap();
    for subflow in &info.subflows[1..] {
        assert!(hand.host.close_subflow(hand.now, hand.connection, subflow.id));
    }
    assert_eq!((usage(&hand).receive_bytes, usage(&hand).pieces), (10, 0));
    assert!(usage(&hand).mappings <= 1, "that of what is being read");
}

/// X5: holes beyond the bound are refused, and what was refused arrives when it is sent again.
#[test]
fn holes_are_bounded_and_nothing_is_lost() {
    let mut hand = confirmed(small());
    let mut place = 1;
    for _ in 0..50_000_u64 {
        // In no order: a step that is coprime to the range.
        place = (place + 33_331) % 100_000;
        first(&mut hand, 20 + 2 * place, Bytes::from(vec![1; 1]));
    }
    let bound = (BUFFER / 256) as usize;
    assert!(usage(&hand).pieces <= bound && usage(&hand).mappings <= bound, "{:?}", usage(&hand));
    for start in (11..210_011).step_by(1000) {
        first(&mut hand, start, Bytes::from(vec![1; 1000]));
    }
    assert_eq!(hand.host.readable(hand.connection), 210_010);
}

/// X4: echoes that can never be sent are not kept, and others only so many.
#[test]
fn echoes_are_bounded_and_never_kept_in_time_wait() {
    let announce = |hand: &mut Hand, sequence: u32, ack: u32, number: u32| {
        let address = std::net::IpAddr::from([10, 7, (number >> 8) as u8, number as u8]);
        let id = (number % 255 + 1) as u8;
        let hmac = Some(crypto::add_address_hmac(hand::KEY, hand.host_key, id, address, None));
        let add = AddAddress { echo: false, id, address, port: None, hmac };
        let mut segment =
            hand::segment(hand.flow.peer, hand.flow.host, Flags::ACK, vec![MptcpOption::AddAddress(add)]);
        segment.sequence = mptcp_wire::Seq::new(sequence);
        segment.acknowledgment = hand.flow.iss + ack;
        // Not polled: the answers pile up.
        hand.host.handle_segment(hand.now, hand.interface, segment);
    };
    let mut hand = confirmed(Config::default());
    for number in 0..10_000 {
        announce(&mut hand, 11, 1, number);
    }
    assert!(usage(&hand).signals <= 64 && usage(&hand).remote_addresses <= 16, "{:?}", usage(&hand));
    hand.collect();
    while hand.host.read(hand.now, hand.connection).is_some() {}
    // Both sides end; the host is the one that waits.
    hand.host.close(hand.now, hand.connection);
    hand.collect();
    let mut dss = hand.dss(2, Some((11, 0, 1)));
    dss.data_fin = true;
    hand.send(hand.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    let dss = hand.dss(2, None);
    hand.send(hand.flow, 11, 2, |fin| {
        fin.flags |= Flags::FIN;
        fin.options.dss = Some(dss);
    });
    let info = hand.host.info(hand.now, hand.connection).unwrap();
    assert_eq!(info.subflows[0].state, mptcp::SubflowState::TimeWait);
    let before = usage(&hand).signals;
    for number in 0..10_000 {
        announce(&mut hand, 12, 2, number);
    }
    assert!(usage(&hand).signals <= before, "{:?}", usage(&hand));
    hand.sleep(Duration::from_secs(61));
    assert_eq!(hand.host.connections().count(), 0);
}

/// X6: after both DATA_FINs nothing falls back, and whatever comes, the connection is over in the end.
#[test]
fn nothing_revives_a_connection_that_is_over() {
    let fail = |hand: &Hand| (hand.dss(2, None), Some(MptcpOption::Fail(hand.host_number(1))));
    let infinite = |hand: &Hand| (hand.dss(2, Some((11, 12, 0))), None);
    for number in 0..2 {
        let mut hand = confirmed(Config::default());
        while hand.host.read(hand.now, hand.connection).is_some() {}
        hand.host.close(hand.now, hand.connection);
        hand.collect();
        let mut dss = hand.dss(2, Some((11, 0, 1)));
        dss.data_fin = true;
        hand.send(hand.flow, 11, 1, |ack| ack.options.dss = Some(dss));
        let (dss, option) = if number == 0 { fail(&hand) } else { infinite(&hand) };
        hand.send(hand.flow, 11, 2, |segment| {
            segment.options.dss = Some(dss);
            segment.options.mptcp.extend(option);
            segment.payload = Bytes::from(vec![1; if number == 0 { 0 } else { 5 }]);
        });
        let mode = hand.host.info(hand.now, hand.connection).map(|info| info.mode);
        assert!(mode.is_none_or(|mode| mode == Mode::Multipath));
        hand.sleep(Duration::from_secs(130));
        assert_eq!(hand.host.connections().count(), 0, "case {number}");
    }
}

/// X6: aborting helps also when the streams are over and subflows wait for a FIN that never comes.
#[test]
fn an_abort_ends_what_is_ending() {
    let mut hand = confirmed(Config::default());
    while hand.host.read(hand.now, hand.connection).is_some() {}
    hand.host.close(hand.now, hand.connection);
    hand.collect();
    let mut dss = hand.dss(2, Some((11, 0, 1)));
    dss.data_fin = true;
    hand.send(hand.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    assert_eq!(hand.host.connections().count(), 1);
    hand.host.abort(hand.now, hand.connection);
    let sent = hand.collect();
    assert!(sent.iter().any(|segment| segment.flags.rst()), "{sent:?}");
    assert_eq!(hand.host.connections().count(), 0);
}

/// X14: all data acknowledged, nothing at the subflow: a minute after the end it is let go of.
#[test]
fn a_subflow_that_is_not_acknowledged_ends_with_its_connection() {
    let mut hand = confirmed(Config::default());
    while hand.host.read(hand.now, hand.connection).is_some() {}
    hand.host.write(hand.now, hand.connection, Bytes::from(vec![3; 4000]));
    hand.host.close(hand.now, hand.connection);
    hand.collect();
    let dss = hand.dss(4001, None);
    hand.send(hand.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    let mut dss = hand.dss(4002, Some((11, 0, 1)));
    dss.data_fin = true;
    hand.send(hand.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    assert!(usage(&hand).segments_in_flight > 0);
    hand.sleep(Duration::from_secs(62));
    assert_eq!(hand.host.connections().count(), 0);
}

/// Unread bytes that come one by one cost little more than themselves.
#[test]
fn single_bytes_that_nobody_reads_are_joined() {
    let mut hand = confirmed(Config { delayed_ack: true, ..small() });
    for place in 0..20_000 {
        first(&mut hand, 11 + place, Bytes::from(vec![place as u8]));
    }
    assert_eq!(hand.host.readable(hand.connection), 20_010);
    let mut pieces = 0;
    while hand.host.read(hand.now, hand.connection).is_some() {
        pieces += 1;
    }
    assert!(pieces < 10, "{pieces} pieces");
}

/// A DATA_FIN beyond the window hides no true one.
#[test]
fn a_data_fin_far_ahead_is_none() {
    let mut hand = confirmed(small());
    for far in [1 << 30, BUFFER + 100_000] {
        let mut dss = hand.dss(1, Some((far, 0, 1)));
        dss.data_fin = true;
        hand.send(hand.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    }
    // Within the window it is one, until the true one comes.
    for end in [5000, 11] {
        let mut dss = hand.dss(1, Some((end, 0, 1)));
        dss.data_fin = true;
        hand.send(hand.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    }
    assert!(hand.events.contains(&mptcp::EventKind::Finished), "{:?}", hand.events);
}

/// A stack of segments for nobody is answered at a rate, and none of it is kept (X1).
#[test]
fn answers_to_strangers_are_few() {
    let mut host = mptcp::Endpoint::new(mptcp_clock::Rng::new(7, "host"));
    let interface = host.add_interface(hand::host_address(), false);
    let now = mptcp_clock::Instant::ZERO + Duration::from_secs(1);
    for number in 0..100_000_u32 {
        let peer = std::net::SocketAddr::from(([10, 3, (number >> 8) as u8, number as u8], 7));
        let mut ack = Segment::new(peer, (hand::host_address(), 81).into());
        ack.flags = Flags::ACK;
        host.handle_segment(now, interface, ack);
    }
    assert!(host.usage().stray_answers <= 256, "{:?}", host.usage());
    let mut answers = 0;
    for millisecond in 0..1000 {
        let now = now + Duration::from_millis(millisecond);
        for _ in 0..100 {
            let mut ack = Segment::new(([10, 4, 0, 1], 7).into(), (hand::host_address(), 81).into());
            ack.flags = Flags::ACK;
            host.handle_segment(now, interface, ack);
        }
        answers += std::iter::from_fn(|| host.poll_transmit(now)).count();
    }
    assert!((1000..=2300).contains(&answers), "{answers} of 100 000");
    assert!(host.counters().unanswered > 90_000);
}

/// Sequence numbers of the data level that nobody sent move nothing.
#[test]
fn numbers_before_the_stream_are_none() {
    let mut hand = confirmed(small());
    let mut dss = hand.dss(1, Some((11, 11, 10)));
    if let Some(mapping) = &mut dss.mapping {
        mapping.sequence = DataSequence::Wide(Hand::number(0).wrapping_sub(1 << 40));
    }
    hand.send(hand.flow, 11, 1, |segment| {
        segment.options.dss = Some(dss);
        segment.payload = Bytes::from(vec![1; 10]);
    });
    let info = hand.host.info(hand.now, hand.connection).unwrap();
    assert_eq!((hand.host.readable(hand.connection), info.mode), (10, Mode::Multipath));
}

/// X14: also while the peer keeps its own half open and is silent.
#[test]
fn what_has_arrived_is_let_go_of_when_no_more_is_to_be_sent() {
    let mut hand = confirmed(Config { initial_window: 1000, nagle: false, ..Config::default() });
    while hand.host.read(hand.now, hand.connection).is_some() {}
    hand.host.write(hand.now, hand.connection, Bytes::from(vec![3; 40_000]));
    let sent = hand.collect().len();
    let dss = hand.dss(40_001, None);
    hand.send(hand.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    hand.host.close(hand.now, hand.connection);
    hand.collect();
    let before = usage(&hand).segments_in_flight;
    assert!(before >= sent, "{before} of {sent}");
    hand.sleep(Duration::from_secs(60));
    assert_eq!(usage(&hand).segments_in_flight, 0);
}

/// A peer that goes on beyond a closed window is not followed: what nobody reads stays within the buffer, in Multipath TCP and
/// in TCP, where nothing is acknowledged that is not kept.
#[test]
fn a_closed_window_is_closed() {
    for multipath in [true, false] {
        let config = Config { receive_buffer: 100_000, multipath, ..Config::default() };
        let (mut hand, _) = Hand::open(config);
        let mut acknowledged = 1;
        for number in 0..1000_u32 {
            let start = 1 + number * 1000;
            let dss = hand.dss(1, Some((u64::from(start), start, 1000)));
            let flow = hand.flow;
            let answers = hand.send(flow, start, 1, |segment| {
                segment.options.dss = Some(dss).filter(|_| multipath);
                segment.payload = Bytes::from(vec![1; 1000]);
            });
            for answer in answers {
                acknowledged = acknowledged.max(answer.acknowledgment.value());
            }
        }
        let held = hand.host.readable(hand.connection);
        assert!(held <= 100_000, "{held} bytes unread");
        assert!(usage(&hand).receive_bytes <= 400_000, "{:?}", usage(&hand));
        if !multipath {
            assert_eq!(u64::from(acknowledged), 1 + held);
        }
    }
}

/// A FIN behind what was cut off at the window is not the end.
#[test]
fn a_fin_beyond_the_window_does_not_shorten_the_stream() {
    let (mut hand, _) = Hand::open(Config { receive_buffer: 1000, ..Config::tcp() });
    for _ in 0..3 {
        hand.send(hand.flow, 1, 1, |segment| {
            segment.payload = Bytes::from(vec![1; 1400]);
            segment.flags |= Flags::FIN;
        });
        assert!(!hand.events.contains(&mptcp::EventKind::Finished));
    }
    assert_eq!(hand.host.readable(hand.connection), 1000);
    while hand.host.read(hand.now, hand.connection).is_some() {}
    hand.send(hand.flow, 1001, 1, |segment| {
        segment.payload = Bytes::from(vec![1; 400]);
        segment.flags |= Flags::FIN;
    });
    assert_eq!(hand.host.readable(hand.connection), 400);
    assert!(hand.events.contains(&mptcp::EventKind::Finished));
}

/// Of mappings that all hold the next byte one is kept.
#[test]
fn mappings_around_the_next_byte_are_one() {
    let mut hand = confirmed(small());
    for back in 0..5_000_u32 {
        let start = 11_u32.wrapping_sub(back);
        let dss = hand.dss(1, Some((20, start, (back + 1) as u16)));
        hand.send(hand.flow, 11, 1, |ack| ack.options.dss = Some(dss));
    }
    assert!(usage(&hand).mappings <= 2, "{:?}", usage(&hand));
}

/// A peer that acknowledges the data and not the subflow does not fill memory with what it has had.
#[test]
fn data_that_arrived_some_other_way_is_bounded_too() {
    let config = Config { send_buffer: 64_000, initial_window: 10_000, nagle: false, ..Config::default() };
    let mut hand = confirmed(config);
    let mut offset = 0;
    for _ in 0..1000 {
        hand.host.write(hand.now, hand.connection, Bytes::from(vec![1; 10_000]));
        offset += hand.collect().iter().map(|segment| segment.payload.len() as u64).sum::<u64>();
        let dss = hand.dss(1 + offset, None);
        let sent = hand.send(hand.flow, 11, 1, |ack| ack.options.dss = Some(dss));
        offset += sent.iter().map(|segment| segment.payload.len() as u64).sum::<u64>();
    }
    let info = hand.host.info(hand.now, hand.connection).unwrap();
    assert!(info.subflows[0].unacked <= 3 * 64_000, "{} bytes", info.subflows[0].unacked);
}
