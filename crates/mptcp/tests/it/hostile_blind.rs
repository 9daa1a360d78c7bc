//! What somebody can do who does not see a connection, and what a peer can do with one segment: RFC 5961, RFC 5927,
//! and the checks of RFC 8684.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::hand::{self, Hand};
use bytes::Bytes;
use mptcp::{CloseReason, Config, EventKind, IcmpError, IcmpMessage, Mode, SubflowState};
use mptcp_clock::Duration;
use mptcp_wire::{Flags, MpCapable, MpPrio, MptcpOption, RemoveAddress, Segment};

fn confirmed(config: Config) -> Hand {
    let (mut hand, _) = Hand::open(config);
    hand.send_data(hand.flow, 1, 1, 10);
    hand
}

/// The host has sent `length` bytes and all of it is acknowledged.
fn sent(hand: &mut Hand, length: u32) {
    let payload = |sent: &[Segment]| sent.iter().map(|segment| segment.payload.len() as u32).sum::<u32>();
    let mut acknowledged = 0;
    for _ in 0..10_000 {
        hand.host.write(hand.now, hand.connection, Bytes::from(vec![0; 16_384]));
        let mut outstanding = payload(&hand.collect());
        while outstanding > 0 {
            acknowledged += outstanding;
            let dss = hand.dss(1 + u64::from(acknowledged), None);
            let answers = hand.send(hand.flow, 11, 1 + acknowledged, |ack| ack.options.dss = Some(dss));
            outstanding = payload(&answers);
        }
        if acknowledged >= length {
            return;
        }
    }
    panic!("{acknowledged} of {length}");
}

fn remove(id: u8) -> MptcpOption {
    let mut option = RemoveAddress::default();
    option.ids.push(id);
    MptcpOption::RemoveAddress(option)
}

fn info(hand: &Hand) -> mptcp::ConnectionInfo {
    hand.host.info(hand.now, hand.connection).unwrap()
}

/// X8: an acknowledgement older than the largest window that the peer ever offered is not taken (RFC 5961 section 5.2), nor
/// what comes with it.
#[test]
fn an_old_acknowledgement_brings_nothing_with_it() {
    let mut hand = confirmed(Config::default());
    sent(&mut hand, 2_000_000);
    hand.join(2000);
    let una = 1 + info(&hand).bytes_acked as u32;
    for old in [1, una - 1_000_000, una - 60_001] {
        hand.now += Duration::from_secs(1);
        let answers = hand.send(hand.flow, 11, old, |segment| {
            segment.options.mptcp.push(MptcpOption::Prio(MpPrio { backup: true, address_id: None }));
            segment.options.mptcp.push(remove(3));
        });
        assert!(answers.len() <= 1 && answers.iter().all(|answer| answer.payload.is_empty()), "{answers:?}");
        let info = info(&hand);
        assert!(!info.subflows[0].backup, "{old} of {una}");
        assert_eq!(info.subflows[1].state, SubflowState::Established, "{old} of {una}");
    }
    hand.send(hand.flow, 11, una - 60_000, |segment| {
        segment.options.mptcp.push(MptcpOption::Prio(MpPrio { backup: true, address_id: None }));
    });
    assert!(info(&hand).subflows[0].backup, "within the window it is the peer's");
}

/// X8: options count only from segments near what comes next, not from all of a large window.
#[test]
fn options_far_ahead_in_the_window_are_not_taken() {
    let mut hand = confirmed(Config::default());
    hand.join(2000);
    for (ahead, taken) in [(5_000_000, false), (70_000, false), (60_000, true)] {
        hand.send(hand.flow, 11 + ahead, 1, |segment| segment.options.mptcp.push(remove(3)));
        assert_eq!(info(&hand).subflows[1].state == SubflowState::Closed, taken, "{ahead} ahead");
    }
}

/// A payload far ahead in the window moves no limit: the options of the next segment do not count either.
#[test]
fn a_payload_far_ahead_makes_nothing_near() {
    let mut hand = confirmed(Config::default());
    hand.join(2000);
    hand.send_data(hand.flow, 1_000_011, 1_000_011, 1_000);
    hand.send(hand.flow, 1_001_011, 1, |segment| segment.options.mptcp.push(remove(3)));
    assert_eq!(info(&hand).subflows[1].state, SubflowState::Established);
    // A flight of a real peer with a hole at its begin reaches far, piece by piece.
    for at in 0..1_000 {
        hand.send_data(hand.flow, 1_011 + at * 1_000, 1_011 + u64::from(at) * 1_000, 1_000);
    }
    hand.send(hand.flow, 1_001_011, 1, |segment| segment.options.mptcp.push(remove(3)));
    assert_eq!(info(&hand).subflows[1].state, SubflowState::Closed);
}

/// S4: the same of what a DSS says. An infinite mapping, or one with a checksum that was not agreed on, ends Multipath TCP or a
/// subflow only in order; a DATA_ACK counts near what is here.
#[test]
fn a_dss_far_ahead_in_the_window_changes_nothing() {
    for joined in [false, true] {
        let mut hand = confirmed(Config { receive_buffer: 9 << 20, ..Config::default() });
        if joined {
            hand.join(2000);
        }
        hand.host.write(hand.now, hand.connection, Bytes::from(vec![0; 1_000]));
        hand.collect();
        for ahead in [1_000_000, 8_000_000, 70_000, 1_000] {
            let start = 11 + ahead;
            let forge = |hand: &mut Hand, length: u16, checksum: Option<u16>, ack: u64| {
                let mut dss = hand.dss(ack, Some((u64::from(start), start, length)));
                dss.mapping.iter_mut().for_each(|mapping| mapping.checksum = checksum);
                hand.send(hand.flow, start, 1, |segment| {
                    segment.options.dss = Some(dss);
                    segment.payload = Bytes::from_static(&[7; 10]);
                })
            };
            forge(&mut hand, 0, None, 1);
            forge(&mut hand, 10, Some(3), 1);
            if ahead > 65_535 {
                forge(&mut hand, 10, None, 1_001);
            }
            let info = info(&hand);
            assert_eq!((info.mode, info.bytes_acked), (Mode::Multipath, 0), "{ahead} ahead");
            assert!(info.subflows.iter().all(|s| s.state == SubflowState::Established), "{ahead} ahead");
        }
    }
}

/// S4: an infinite mapping that overtook the data before it counts once that is here.
#[test]
fn an_infinite_mapping_counts_in_order() {
    let mut hand = confirmed(Config::default());
    let infinite = |hand: &mut Hand| {
        let dss = hand.dss(1, Some((21, 21, 0)));
        hand.send(hand.flow, 21, 1, |segment| {
            segment.options.dss = Some(dss);
            segment.payload = Bytes::from_static(&[7; 10]);
        })
    };
    let answers = infinite(&mut hand);
    assert_eq!(answers.last().unwrap().acknowledgment.value(), 11);
    hand.send_data(hand.flow, 11, 11, 10);
    assert_eq!((hand.mode(), hand.host.readable(hand.connection)), (Mode::Multipath, 20));
    // One that begins before what is next is easier to guess, and counts no more.
    let dss = hand.dss(1, Some((11, 11, 0)));
    hand.send(hand.flow, 11, 1, |segment| {
        segment.options.dss = Some(dss);
        segment.payload = Bytes::from_static(&[7; 20]);
    });
    assert_eq!((hand.mode(), hand.host.readable(hand.connection)), (Mode::Multipath, 20));
    infinite(&mut hand);
    assert_eq!((hand.mode(), hand.host.readable(hand.connection)), (Mode::Plain, 30));
}

/// X8: the last subflow stays, whatever addresses are withdrawn.
#[test]
fn the_last_subflow_is_not_removed() {
    let mut hand = confirmed(Config::default());
    hand.send(hand.flow, 11, 1, |segment| segment.options.mptcp.push(remove(0)));
    assert_eq!(info(&hand).subflows[0].state, SubflowState::Established);
    hand.send_data(hand.flow, 11, 11, 10);
    assert_eq!(hand.host.readable(hand.connection), 20);
}

/// X9: without the checksum that was agreed on, a mapping ends its subflow (RFC 8684 section 3.3).
#[test]
fn a_missing_checksum_resets_the_subflow() {
    let (mut hand, _) = Hand::open(Config { checksum: true, ..Config::default() });
    let answers = hand.send_data(hand.flow, 1, 1, 10);
    assert!(answers.iter().any(|answer| answer.flags.rst()), "{answers:?}");
    assert_eq!(hand.host.readable(hand.connection), 0);
}

/// X12: two ends that acknowledge what the other never sent do not go on for ever.
#[test]
fn acknowledgements_of_the_future_are_answered_at_a_rate() {
    let mut hand = confirmed(Config::default());
    let mut answers = 0;
    for _ in 0..100_000 {
        hand.now += Duration::from_micros(100);
        answers += hand.send(hand.flow, 11, 500, |_| {}).len();
    }
    assert!((10..=25).contains(&answers), "{answers} in ten seconds");
}

/// X12: so are segments outside the window; a peer that repeats data is answered for a while.
#[test]
fn segments_outside_the_window_are_answered_at_a_rate() {
    let mut hand = confirmed(Config::default());
    let mut answers = 0;
    for number in 0..10_000_u32 {
        hand.now += Duration::from_micros(100);
        answers += hand.send(hand.flow, 0x4000_0000 + number, 1, |_| {}).len();
    }
    assert!((1..=5).contains(&answers), "{answers} in a second");
    let mut answers = 0;
    for _ in 0..10_000 {
        hand.now += Duration::from_micros(100);
        answers += hand.send(hand.flow, 2, 1, |segment| segment.payload = Bytes::from(vec![1; 5])).len();
    }
    assert!((64..=300).contains(&answers), "{answers} in a second");
}

/// X13: a FIN without options that is not in order is no sign of a fallback.
#[test]
fn a_fin_out_of_order_does_not_end_multipath() {
    let mut hand = confirmed(Config::default());
    hand.send(hand.flow, 500, 1, |segment| segment.flags |= Flags::FIN);
    assert_eq!(info(&hand).mode, Mode::Multipath);
    hand.send_data(hand.flow, 11, 11, 600);
    assert_eq!((info(&hand).mode, hand.host.readable(hand.connection)), (Mode::Multipath, 610));
    assert!(!hand.events.contains(&EventKind::Finished), "there was more: it was not the end");
}

/// RFC 8684 section 3.1: the third ACK repeats our key; with another one it is somebody else's.
#[test]
fn a_third_ack_with_a_wrong_key_is_none_of_multipath() {
    let mut hand = Hand::begun(Config::default());
    let keys = Some((hand::KEY, hand.host_key ^ 1));
    hand.send(hand.flow, 1, 1, |ack| ack.options.mptcp.push(hand::capable(MpCapable::HMAC, keys)));
    assert_eq!(info(&hand).mode, Mode::Plain);
}

/// RFC 5927: an ICMP error counts only when it quotes what is in flight, and ends no open connection.
#[test]
fn icmp_errors_are_checked_and_hard_only_while_opening() {
    let mut hand = confirmed(Config::default());
    hand.host.write(hand.now, hand.connection, Bytes::from(vec![1; 100]));
    hand.collect();
    let message = |hand: &Hand, offset: u32| IcmpMessage {
        local: hand.flow.host,
        remote: hand.flow.peer,
        sequence: hand.flow.iss + offset,
        error: IcmpError::PortUnreachable,
    };
    for (offset, believed) in [(0, false), (1, true), (100, true), (101, false), (5000, false)] {
        let message = message(&hand, offset);
        assert_eq!(hand.host.handle_icmp(hand.now, message), believed, "{offset}");
    }
    let info = info(&hand);
    assert_eq!((info.closed, info.subflows[0].icmp), (None, Some(IcmpError::PortUnreachable)));
    let far = "10.0.0.77:80".parse().unwrap();
    let id = hand.host.connect(hand.now, hand.interface, far, Config::default()).unwrap();
    let syn: Vec<Segment> = hand.collect();
    let (local, sequence) = (syn[0].source, syn[0].sequence);
    let quoted = |sequence| IcmpMessage { local, remote: far, sequence, error: IcmpError::HostUnreachable };
    assert!(!hand.host.handle_icmp(hand.now, quoted(sequence + 1)));
    assert!(hand.host.handle_icmp(hand.now, quoted(sequence)));
    hand.collect();
    assert!(hand.events.contains(&EventKind::Closed(CloseReason::Unreachable)), "{:?}", hand.events);
    assert!(hand.host.connection(id).is_none());
}

/// RFC 7323 section 7.1: timestamps of two connections tell nothing of each other.
#[test]
fn connections_have_timestamps_of_their_own() {
    let mut host = mptcp::Endpoint::new(mptcp_clock::Rng::new(7, "host"));
    let interface = host.add_interface(hand::host_address(), false);
    let now = mptcp_clock::Instant::ZERO + Duration::from_secs(1);
    for port in [80, 81, 82] {
        assert!(host.connect(now, interface, ([10, 0, 0, 9], port).into(), Config::default()).is_ok());
    }
    let mut values: Vec<u32> = std::iter::from_fn(|| host.poll_transmit(now))
        .map(|sent| sent.segment.options.timestamps.unwrap().value)
        .collect();
    values.sort_unstable();
    assert!(values.len() == 3 && values.windows(2).all(|two| two[1] - two[0] > 1000), "{values:?}");
}
