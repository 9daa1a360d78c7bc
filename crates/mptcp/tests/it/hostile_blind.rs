//! Blind attacks by a host that does not see the connection, and single invalid segments of a peer: RFC 5961,
//! RFC 5927 and the checks of RFC 8684.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::test_peer::{self, TestPeer};
use bytes::Bytes;
use mptcp::{CloseReason, Config, EventKind, IcmpError, IcmpMessage, Mode, SubflowState};
use mptcp_clock::Duration;
use mptcp_wire::{Flags, MpCapable, MpPrio, MptcpOption, RemoveAddress, Segment};

fn confirmed(config: Config) -> TestPeer {
    let (mut remote, _) = TestPeer::open(config);
    remote.send_data(remote.flow, 1, 1, 10);
    remote
}

/// The host has sent `length` bytes, and all of them are acknowledged.
fn sent(remote: &mut TestPeer, length: u32) {
    let payload = |sent: &[Segment]| sent.iter().map(|segment| segment.payload.len() as u32).sum::<u32>();
    let mut acknowledged = 0;
    for _ in 0..10_000 {
        remote.host.write(remote.now, remote.connection, Bytes::from(vec![0; 16_384]));
        let mut outstanding = payload(&remote.collect());
        while outstanding > 0 {
            acknowledged += outstanding;
            let dss = remote.dss(1 + u64::from(acknowledged), None);
            let answers = remote.send(remote.flow, 11, 1 + acknowledged, |ack| ack.options.dss = Some(dss));
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

fn info(remote: &TestPeer) -> mptcp::ConnectionInfo {
    remote.host.info(remote.now, remote.connection).unwrap()
}

/// X8: an acknowledgement older than the maximum window of the peer is dropped with its options (RFC 5961
/// section 5.2).
#[test]
fn options_of_an_old_acknowledgement_are_ignored() {
    let mut remote = confirmed(Config::default());
    sent(&mut remote, 2_000_000);
    remote.join(2000);
    let una = 1 + info(&remote).bytes_acked as u32;
    for old in [1, una - 1_000_000, una - 60_001] {
        remote.now += Duration::from_secs(1);
        let answers = remote.send(remote.flow, 11, old, |segment| {
            segment.options.mptcp.push(MptcpOption::Prio(MpPrio { backup: true, address_id: None }));
            segment.options.mptcp.push(remove(3));
        });
        assert!(answers.len() <= 1 && answers.iter().all(|answer| answer.payload.is_empty()), "{answers:?}");
        let info = info(&remote);
        assert!(!info.subflows[0].backup, "{old} of {una}");
        assert_eq!(info.subflows[1].state, SubflowState::Established, "{old} of {una}");
    }
    remote.send(remote.flow, 11, una - 60_000, |segment| {
        segment.options.mptcp.push(MptcpOption::Prio(MpPrio { backup: true, address_id: None }));
    });
    assert!(info(&remote).subflows[0].backup, "within the window it is the peer's");
}

/// X8: options are processed only in segments near the next expected one, not in the whole of a large window.
#[test]
fn options_far_ahead_in_the_window_are_ignored() {
    let mut remote = confirmed(Config::default());
    remote.join(2000);
    for (ahead, taken) in [(5_000_000, false), (70_000, false), (60_000, true)] {
        remote.send(remote.flow, 11 + ahead, 1, |segment| segment.options.mptcp.push(remove(3)));
        assert_eq!(info(&remote).subflows[1].state == SubflowState::Closed, taken, "{ahead} ahead");
    }
}

/// A payload far ahead in the window does not extend this range.
#[test]
fn payload_far_ahead_does_not_validate_options() {
    let mut remote = confirmed(Config::default());
    remote.join(2000);
    remote.send_data(remote.flow, 1_000_011, 1_000_011, 1_000);
    remote.send(remote.flow, 1_001_011, 1, |segment| segment.options.mptcp.push(remove(3)));
    assert_eq!(info(&remote).subflows[1].state, SubflowState::Established);
    // A flight of a real peer with a gap at its start extends the range step by step.
    for at in 0..1_000 {
        remote.send_data(remote.flow, 1_011 + at * 1_000, 1_011 + u64::from(at) * 1_000, 1_000);
    }
    remote.send(remote.flow, 1_001_011, 1, |segment| segment.options.mptcp.push(remove(3)));
    assert_eq!(info(&remote).subflows[1].state, SubflowState::Closed);
}

/// S4: the same for a DSS. An infinite mapping, or one with an unexpected checksum, is accepted only in
/// order. A DATA_ACK is accepted near the expected data.
#[test]
fn dss_far_ahead_in_the_window_is_ignored() {
    for joined in [false, true] {
        let mut remote = confirmed(Config { receive_buffer: 9 << 20, ..Config::default() });
        if joined {
            remote.join(2000);
        }
        remote.host.write(remote.now, remote.connection, Bytes::from(vec![0; 1_000]));
        remote.collect();
        for ahead in [1_000_000, 8_000_000, 70_000, 1_000] {
            let start = 11 + ahead;
            let forge = |remote: &mut TestPeer, length: u16, checksum: Option<u16>, ack: u64| {
                let mut dss = remote.dss(ack, Some((u64::from(start), start, length)));
                dss.mapping.iter_mut().for_each(|mapping| mapping.checksum = checksum);
                remote.send(remote.flow, start, 1, |segment| {
                    segment.options.dss = Some(dss);
                    segment.payload = Bytes::from_static(&[7; 10]);
                })
            };
            forge(&mut remote, 0, None, 1);
            forge(&mut remote, 10, Some(3), 1);
            if ahead > 65_535 {
                forge(&mut remote, 10, None, 1_001);
            }
            let info = info(&remote);
            assert_eq!((info.mode, info.bytes_acked), (Mode::Multipath, 0), "{ahead} ahead");
            assert!(info.subflows.iter().all(|s| s.state == SubflowState::Established), "{ahead} ahead");
        }
    }
}

/// S4: an infinite mapping that arrived early is accepted once it is in order.
#[test]
fn infinite_mapping_applies_in_order() {
    let mut remote = confirmed(Config::default());
    let infinite = |remote: &mut TestPeer| {
        let dss = remote.dss(1, Some((21, 21, 0)));
        remote.send(remote.flow, 21, 1, |segment| {
            segment.options.dss = Some(dss);
            segment.payload = Bytes::from_static(&[7; 10]);
        })
    };
    let answers = infinite(&mut remote);
    assert_eq!(answers.last().unwrap().acknowledgment.value(), 11);
    remote.send_data(remote.flow, 11, 11, 10);
    assert_eq!((remote.mode(), remote.host.readable(remote.connection)), (Mode::Multipath, 20));
    // A segment before the expected one is easier to guess, and is not accepted any more.
    let dss = remote.dss(1, Some((11, 11, 0)));
    remote.send(remote.flow, 11, 1, |segment| {
        segment.options.dss = Some(dss);
        segment.payload = Bytes::from_static(&[7; 20]);
    });
    assert_eq!((remote.mode(), remote.host.readable(remote.connection)), (Mode::Multipath, 20));
    infinite(&mut remote);
    assert_eq!((remote.mode(), remote.host.readable(remote.connection)), (Mode::Plain, 30));
}

/// X8: the last subflow stays, whatever addresses are removed.
#[test]
fn remove_addr_does_not_remove_the_last_subflow() {
    let mut remote = confirmed(Config::default());
    remote.send(remote.flow, 11, 1, |segment| segment.options.mptcp.push(remove(0)));
    assert_eq!(info(&remote).subflows[0].state, SubflowState::Established);
    remote.send_data(remote.flow, 11, 11, 10);
    assert_eq!(remote.host.readable(remote.connection), 20);
}

/// X9: a mapping without the negotiated checksum ends its subflow (RFC 8684 section 3.3).
#[test]
fn a_missing_checksum_resets_the_subflow() {
    let (mut remote, _) = TestPeer::open(Config { checksum: true, ..Config::default() });
    let answers = remote.send_data(remote.flow, 1, 1, 10);
    assert!(answers.iter().any(|answer| answer.flags.rst()), "{answers:?}");
    assert_eq!(remote.host.readable(remote.connection), 0);
}

/// X12: two ends that acknowledge unsent data do not loop forever.
#[test]
fn future_acknowledgements_are_answered_at_a_limited_rate() {
    let mut remote = confirmed(Config::default());
    let mut answers = 0;
    for _ in 0..100_000 {
        remote.now += Duration::from_micros(100);
        answers += remote.send(remote.flow, 11, 500, |_| {}).len();
    }
    assert!((10..=25).contains(&answers), "{answers} in ten seconds");
}

/// X12: the same for segments outside the window; repeated data is acknowledged for a while.
#[test]
fn out_of_window_segments_are_answered_at_a_limited_rate() {
    let mut remote = confirmed(Config::default());
    let mut answers = 0;
    for number in 0..10_000_u32 {
        remote.now += Duration::from_micros(100);
        answers += remote.send(remote.flow, 0x4000_0000 + number, 1, |_| {}).len();
    }
    assert!((1..=5).contains(&answers), "{answers} in a second");
    let mut answers = 0;
    for _ in 0..10_000 {
        remote.now += Duration::from_micros(100);
        answers += remote.send(remote.flow, 2, 1, |segment| segment.payload = Bytes::from(vec![1; 5])).len();
    }
    assert!((64..=300).contains(&answers), "{answers} in a second");
}

/// X13: an out-of-order FIN without options does not indicate a fallback.
#[test]
fn a_fin_out_of_order_does_not_end_multipath() {
    let mut remote = confirmed(Config::default());
    remote.send(remote.flow, 500, 1, |segment| segment.flags |= Flags::FIN);
    assert_eq!(info(&remote).mode, Mode::Multipath);
    remote.send_data(remote.flow, 11, 11, 600);
    assert_eq!((info(&remote).mode, remote.host.readable(remote.connection)), (Mode::Multipath, 610));
    assert!(!remote.events.contains(&EventKind::Finished), "there was more: it was not the end");
}

/// RFC 8684 section 3.1: the third ACK repeats the host's key; a wrong key is not from the client.
#[test]
fn third_ack_with_a_wrong_key_is_not_mptcp() {
    let mut remote = TestPeer::begun(Config::default());
    let keys = Some((test_peer::KEY, remote.host_key ^ 1));
    remote.send(remote.flow, 1, 1, |ack| ack.options.mptcp.push(test_peer::capable(MpCapable::HMAC, keys)));
    assert_eq!(info(&remote).mode, Mode::Plain);
}

/// RFC 5927: an ICMP error is accepted only if it quotes data in flight, and never ends an established
/// connection.
#[test]
fn icmp_errors_are_validated_and_fatal_only_during_the_handshake() {
    let mut remote = confirmed(Config::default());
    remote.host.write(remote.now, remote.connection, Bytes::from(vec![1; 100]));
    remote.collect();
    let message = |remote: &TestPeer, offset: u32| IcmpMessage {
        local: remote.flow.host,
        remote: remote.flow.peer,
        sequence: remote.flow.iss + offset,
        error: IcmpError::PortUnreachable,
    };
    for (offset, believed) in [(0, false), (1, true), (100, true), (101, false), (5000, false)] {
        let message = message(&remote, offset);
        assert_eq!(remote.host.handle_icmp(remote.now, message), believed, "{offset}");
    }
    let info = info(&remote);
    assert_eq!((info.closed, info.subflows[0].icmp), (None, Some(IcmpError::PortUnreachable)));
    let far = "10.0.0.77:80".parse().unwrap();
    let id = remote.host.connect(remote.now, remote.interface, far, Config::default()).unwrap();
    let syn: Vec<Segment> = remote.collect();
    let (local, sequence) = (syn[0].source, syn[0].sequence);
    let quoted = |sequence| IcmpMessage { local, remote: far, sequence, error: IcmpError::HostUnreachable };
    assert!(!remote.host.handle_icmp(remote.now, quoted(sequence + 1)));
    assert!(remote.host.handle_icmp(remote.now, quoted(sequence)));
    remote.collect();
    assert!(remote.events.contains(&EventKind::Closed(CloseReason::Unreachable)), "{:?}", remote.events);
    assert!(remote.host.connection(id).is_none());
}

/// RFC 7323 section 7.1: timestamps of two connections are unrelated.
#[test]
fn connections_have_different_timestamp_offsets() {
    let mut host = mptcp::Endpoint::new(mptcp_clock::Rng::new(7, "host"));
    let interface = host.add_interface(test_peer::host_address(), false);
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
