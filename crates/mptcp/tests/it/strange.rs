//! What an endpoint makes of segments that no well-behaved peer sends; `crates/live/tests/it/raw_data.rs` shows what
//! Linux makes of them.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::hand::Hand;
use bytes::Bytes;
use mptcp::{Config, EventKind, Mode};
use mptcp_wire::MptcpOption;

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
