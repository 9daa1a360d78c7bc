//! Responses to segments that no correct peer sends. `crates/live/tests/it/raw_data.rs` compares them with
//! Linux.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::test_peer::{KEY, TestPeer};
use bytes::Bytes;
use mptcp::{Config, EventKind, Mode};
use mptcp_clock::Duration;
use mptcp_wire::{AddAddress, MpPrio, MptcpOption};

fn is_over(remote: &TestPeer) -> bool {
    remote.events.iter().any(|event| matches!(event, EventKind::Closed(_)))
}

/// RFC 8684 section 3.3.1: unsent data cannot be acknowledged.
#[test]
fn a_data_ack_beyond_what_was_sent_is_ignored() {
    let (mut remote, _) = TestPeer::open(Config::default());
    remote.send_data(remote.flow, 1, 1, 100);
    remote.host.write(remote.now, remote.connection, Bytes::from(vec![7; 50]));
    remote.collect();
    for beyond in [52, 1_000_000, 1 << 40] {
        let dss = remote.dss(beyond, None);
        remote.send(remote.flow, 101, 1, |ack| ack.options.dss = Some(dss));
        let info = remote.host.info(remote.now, remote.connection).unwrap();
        assert_eq!((info.bytes_acked, info.mode), (0, Mode::Multipath), "up to {beyond}");
    }
    let dss = remote.dss(51, None);
    remote.send(remote.flow, 101, 51, |ack| ack.options.dss = Some(dss));
    assert_eq!(remote.host.info(remote.now, remote.connection).unwrap().bytes_acked, 50);
}

/// RFC 8684 section 3.5: the key proves the sender.
#[test]
fn fast_close_with_a_wrong_key_is_ignored() {
    let (mut remote, _) = TestPeer::open(Config::default());
    remote.send_data(remote.flow, 1, 1, 100);
    let key = remote.host_key;
    let answers =
        remote.send(remote.flow, 101, 1, |ack| ack.options.mptcp.push(MptcpOption::FastClose(key ^ 1)));
    assert!(answers.iter().all(|answer| !answer.flags.rst()) && !is_over(&remote), "{answers:?}");
    let answers = remote.send(remote.flow, 101, 1, |ack| ack.options.mptcp.push(MptcpOption::FastClose(key)));
    assert!(answers[0].flags.rst() && is_over(&remote));
}

/// A mapping for later bytes of the subflow does not apply to the present ones: they are not delivered under
/// it.
#[test]
fn mapping_for_later_bytes_does_not_cover_earlier_ones() {
    let (mut remote, _) = TestPeer::open(Config::default());
    remote.send_data(remote.flow, 1, 1, 100);
    while remote.host.read(remote.now, remote.connection).is_some() {}
    let dss = remote.dss(1, Some((101, 151, 50)));
    let answers = remote.send(remote.flow, 101, 1, |segment| {
        segment.options.dss = Some(dss);
        segment.payload = Bytes::from(vec![1; 50]);
    });
    let info = remote.host.info(remote.now, remote.connection);
    let multipath = info.is_some_and(|info| info.mode == Mode::Multipath && info.closed.is_none());
    let read = remote.host.read(remote.now, remote.connection);
    assert!(!multipath || read.is_none(), "{answers:?}");
}

/// A peer whose options a middlebox strips acknowledges data on its subflow, and answers each probe without a
/// DATA_ACK. It does not keep a connection forever.
#[test]
fn probes_answered_without_a_data_ack_end() {
    let (mut remote, _) = TestPeer::open(Config::default());
    remote.send_data(remote.flow, 1, 1, 10);
    remote.host.write(remote.now, remote.connection, Bytes::from(vec![0; 1_000]));
    let (mut next, mut sent, begin) = (1, remote.collect(), remote.now);
    let mut segments = 0;
    while !is_over(&remote) && remote.now.since(begin) < Duration::from_secs(6 * 3600) {
        segments += sent.len();
        for segment in std::mem::take(&mut sent) {
            let end = segment.sequence.offset_from(remote.flow.iss) as u32 + segment.payload.len() as u32;
            next = next.max(end);
            // An MP_PRIO gives no information on the data, but shows that the path passes some options.
            sent.extend(remote.send(remote.flow, 11, next, |answer| {
                answer.options.mptcp.push(MptcpOption::Prio(MpPrio { backup: false, address_id: None }));
            }));
        }
        let Some(at) = remote.host.poll_timeout() else { break };
        sent.extend(remote.sleep(at.since(remote.now)).into_iter().map(|(_, segment)| segment));
    }
    let took = remote.now.since(begin);
    assert!(took < Duration::from_secs(3600) && segments < 100, "{segments} segments in {took:?}");
}

/// Announcements of unusable addresses do not use up limits that other addresses need.
#[test]
fn useless_announcements_do_not_block_useful_ones() {
    let (mut remote, _) = TestPeer::open(Config::default());
    remote.send_data(remote.flow, 1, 1, 10);
    let announce = |remote: &mut TestPeer, id: u8, address: [u8; 4]| {
        let address = address.into();
        let hmac = mptcp_wire::crypto::add_address_hmac(KEY, remote.host_key, id, address, None);
        let add = AddAddress { echo: false, id, address, port: None, hmac: Some(hmac) };
        remote.send(remote.flow, 11, 1, |segment| segment.options.mptcp.push(MptcpOption::AddAddress(add)));
    };
    for number in 1..100 {
        announce(&mut remote, number, [127, 0, 0, number]);
    }
    announce(&mut remote, 200, [10, 0, 0, 10]);
    let info = remote.host.info(remote.now, remote.connection).unwrap();
    assert_eq!(info.usage.remote_addresses, 2, "the first one's, and the one that can be used");
}

/// S14: a window that opens by one byte per minute costs about one segment per minute, not a series of
/// probes.
#[test]
fn window_that_opens_byte_by_byte_costs_few_segments() {
    let (mut remote, _) = TestPeer::open(Config::tcp());
    let answer = |remote: &mut TestPeer, taken: u32, window: u16| {
        remote.send(remote.flow, 1, 1 + taken, |answer| answer.window = window)
    };
    answer(&mut remote, 0, 0);
    remote.host.write(remote.now, remote.connection, Bytes::from(vec![0; 10_000]));
    let (mut taken, mut segments) = (0, remote.collect().len());
    for _ in 0..30 {
        let mut sent = answer(&mut remote, taken, 1);
        for _ in 0..1_200 {
            sent.extend(remote.sleep(Duration::from_millis(50)).into_iter().map(|(_, segment)| segment));
            segments += sent.len();
            for segment in std::mem::take(&mut sent) {
                let end = segment.sequence.value() + segment.payload.len() as u32;
                let offset = end.wrapping_sub(remote.flow.iss.value()).cast_signed() - 1;
                taken = taken.max(offset.max(0).cast_unsigned());
                sent.extend(answer(&mut remote, taken, 0));
            }
        }
    }
    assert!((10..=30).contains(&taken) && segments <= 60, "{taken} bytes in {segments} segments");
}
