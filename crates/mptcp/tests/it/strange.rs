//! What an endpoint makes of segments that no well-behaved peer sends; `crates/live/tests/it/raw_data.rs` shows what
//! Linux makes of them.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::hand::{Hand, KEY};
use bytes::Bytes;
use mptcp::{Config, EventKind, Mode};
use mptcp_clock::Duration;
use mptcp_wire::{AddAddress, MpPrio, MptcpOption};

fn is_over(hand: &Hand) -> bool {
    hand.events.iter().any(|event| matches!(event, EventKind::Closed(_)))
}

/// RFC 8684 section 3.3.1: what was never sent cannot be acknowledged.
#[test]
fn a_data_ack_beyond_what_was_sent_is_ignored() {
    let (mut hand, _) = Hand::open(Config::default());
    hand.send_data(hand.flow, 1, 1, 100);
    hand.host.write(hand.now, hand.connection, Bytes::from(vec![7; 50]));
    hand.collect();
    for beyond in [52, 1_000_000, 1 << 40] {
        let dss = hand.dss(beyond, None);
        hand.send(hand.flow, 101, 1, |ack| ack.options.dss = Some(dss));
        let info = hand.host.info(hand.now, hand.connection).unwrap();
        assert_eq!((info.bytes_acked, info.mode), (0, Mode::Multipath), "up to {beyond}");
    }
    let dss = hand.dss(51, None);
    hand.send(hand.flow, 101, 51, |ack| ack.options.dss = Some(dss));
    assert_eq!(hand.host.info(hand.now, hand.connection).unwrap().bytes_acked, 50);
}

/// RFC 8684 section 3.5: the key is what shows that the peer means it.
#[test]
fn a_fast_close_with_a_wrong_key_is_none() {
    let (mut hand, _) = Hand::open(Config::default());
    hand.send_data(hand.flow, 1, 1, 100);
    let key = hand.host_key;
    let answers = hand.send(hand.flow, 101, 1, |ack| ack.options.mptcp.push(MptcpOption::FastClose(key ^ 1)));
    assert!(answers.iter().all(|answer| !answer.flags.rst()) && !is_over(&hand), "{answers:?}");
    let answers = hand.send(hand.flow, 101, 1, |ack| ack.options.mptcp.push(MptcpOption::FastClose(key)));
    assert!(answers[0].flags.rst() && is_over(&hand));
}

/// A mapping for bytes of the subflow that come later says nothing of those that are here: they are not delivered
/// as what it names.
#[test]
fn a_mapping_for_later_bytes_is_not_one_for_these() {
    let (mut hand, _) = Hand::open(Config::default());
    hand.send_data(hand.flow, 1, 1, 100);
    while hand.host.read(hand.now, hand.connection).is_some() {}
    let dss = hand.dss(1, Some((101, 151, 50)));
    let answers = hand.send(hand.flow, 101, 1, |segment| {
        segment.options.dss = Some(dss);
        segment.payload = Bytes::from(vec![1; 50]);
    });
    let info = hand.host.info(hand.now, hand.connection);
    let multipath = info.is_some_and(|info| info.mode == Mode::Multipath && info.closed.is_none());
    let read = hand.host.read(hand.now, hand.connection);
    assert!(!multipath || read.is_none(), "{answers:?}");
}

/// A peer from which a middlebox strips all options acknowledges data on its subflow and answers each question without a DATA_ACK. It
/// does not hold a connection for ever.
#[test]
fn questions_that_are_answered_without_a_data_ack_end() {
    let (mut hand, _) = Hand::open(Config::default());
    hand.send_data(hand.flow, 1, 1, 10);
    hand.host.write(hand.now, hand.connection, Bytes::from(vec![0; 1_000]));
    let (mut next, mut sent, begin) = (1, hand.collect(), hand.now);
    let mut segments = 0;
    while !is_over(&hand) && hand.now.since(begin) < Duration::from_secs(6 * 3600) {
        segments += sent.len();
        for segment in std::mem::take(&mut sent) {
            let end = segment.sequence.offset_from(hand.flow.iss) as u32 + segment.payload.len() as u32;
            next = next.max(end);
            // An old option says nothing of the data, and shows that the path still passes some.
            sent.extend(hand.send(hand.flow, 11, next, |answer| {
                answer.options.mptcp.push(MptcpOption::Prio(MpPrio { backup: false, address_id: None }));
            }));
        }
        let Some(at) = hand.host.poll_timeout() else { break };
        sent.extend(hand.sleep(at.since(hand.now)).into_iter().map(|(_, segment)| segment));
    }
    let took = hand.now.since(begin);
    assert!(took < Duration::from_secs(3600) && segments < 100, "{segments} segments in {took:?}");
}

/// Announcements of addresses to which nobody may connect use up nothing that others need.
#[test]
fn useless_announcements_keep_no_other_out() {
    let (mut hand, _) = Hand::open(Config::default());
    hand.send_data(hand.flow, 1, 1, 10);
    let announce = |hand: &mut Hand, id: u8, address: [u8; 4]| {
        let address = address.into();
        let hmac = mptcp_wire::crypto::add_address_hmac(KEY, hand.host_key, id, address, None);
        let add = AddAddress { echo: false, id, address, port: None, hmac: Some(hmac) };
        hand.send(hand.flow, 11, 1, |segment| segment.options.mptcp.push(MptcpOption::AddAddress(add)));
    };
    for number in 1..100 {
        announce(&mut hand, number, [127, 0, 0, number]);
    }
    announce(&mut hand, 200, [10, 0, 0, 10]);
    let info = hand.host.info(hand.now, hand.connection).unwrap();
    assert_eq!(info.usage.remote_addresses, 2, "the first one's, and the one that can be used");
}

/// S14: a window that opens by one byte a minute costs about one segment a minute, not a series of probes each time.
#[test]
fn a_window_that_opens_by_crumbs_costs_few_segments() {
    let (mut hand, _) = Hand::open(Config::tcp());
    let answer = |hand: &mut Hand, taken: u32, window: u16| {
        hand.send(hand.flow, 1, 1 + taken, |answer| answer.window = window)
    };
    answer(&mut hand, 0, 0);
    hand.host.write(hand.now, hand.connection, Bytes::from(vec![0; 10_000]));
    let (mut taken, mut segments) = (0, hand.collect().len());
    for _ in 0..30 {
        let mut sent = answer(&mut hand, taken, 1);
        for _ in 0..1_200 {
            sent.extend(hand.sleep(Duration::from_millis(50)).into_iter().map(|(_, segment)| segment));
            segments += sent.len();
            for segment in std::mem::take(&mut sent) {
                let end = segment.sequence.value() + segment.payload.len() as u32;
                let offset = end.wrapping_sub(hand.flow.iss.value()).cast_signed() - 1;
                taken = taken.max(offset.max(0).cast_unsigned());
                sent.extend(answer(&mut hand, taken, 0));
            }
        }
    }
    assert!((10..=30).contains(&taken) && segments <= 60, "{taken} bytes in {segments} segments");
}
