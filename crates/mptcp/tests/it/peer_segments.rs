//! Responses of an endpoint to single segments of a peer.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::test_peer::{self, KEY, TestPeer};
use bytes::Bytes;
use mptcp::{Announced, CloseReason, Config, EventKind, Mode};
use mptcp_clock::Duration;
use mptcp_wire::crypto::add_address_hmac;
use mptcp_wire::{
    AddAddress, DataSequence, Dss, Flags, MpCapable, MpPrio, MptcpOption, Options, ResetReason,
};

/// RFC 8684 section 3.1: MP_CAPABLE with the B flag, without H, or of another version is ignored.
#[test]
fn third_ack_with_an_unknown_option_falls_back_to_tcp() {
    let other = |version: u8, flags: u8, key: u64| {
        let (sender_key, receiver_key) = (Some(KEY), Some(key));
        MptcpOption::Capable(MpCapable { version, flags, sender_key, receiver_key, data: None })
    };
    for (version, flags) in [(1, MpCapable::HMAC | MpCapable::EXTENSIBILITY), (1, 0), (0, MpCapable::HMAC)] {
        let mut remote = TestPeer::begun(Config::default());
        let option = other(version, flags, remote.host_key);
        remote.send(remote.flow, 1, 1, |ack| ack.options.mptcp.push(option));
        assert_eq!(remote.mode(), Mode::Plain, "version {version}, flags {flags:#x}");
        let counters = remote.host.counters();
        assert_eq!((counters.capable_syns_received, counters.capable_fallback_acks), (1, 1));
    }
    let (remote, _) = TestPeer::open(Config::default());
    assert_eq!(remote.mode(), Mode::Multipath);
    assert_eq!(remote.host.counters().capable_fallback_acks, 0);
}

#[test]
fn tcp_connection_is_not_counted_as_mptcp() {
    let mut remote = TestPeer::begun(Config::default());
    let syn = test_peer::segment("10.0.0.9:2000".parse().unwrap(), remote.flow.host, Flags::SYN, Vec::new());
    remote.inject(syn);
    assert_eq!(remote.host.counters().capable_syns_received, 1);
}

fn announcing() -> Config {
    let announce = Some(vec![Announced { id: 4, address: [10, 0, 0, 4].into() }]);
    Config { announce, ..Config::default() }
}

fn announcements(sent: &[(Duration, mptcp_wire::Segment)]) -> usize {
    let announces = |option: &MptcpOption| matches!(option, MptcpOption::AddAddress(add) if !add.echo);
    sent.iter().filter(|(_, segment)| segment.options.mptcp.iter().any(announces)).count()
}

/// RFC 8684 section 3.4.1: an echo has the fields of the ADD_ADDR that it acknowledges.
#[test]
fn only_an_echo_of_the_same_address_stops_an_announcement() {
    for (id, address, again) in [(4, [10, 0, 0, 4], 0), (4, [1, 2, 3, 4], 2), (90, [10, 0, 0, 4], 2)] {
        let (mut remote, _) = TestPeer::open(announcing());
        // After the first data, the host announces its address; it never sends data itself.
        remote.send_data(remote.flow, 1, 1, 100);
        let echo = AddAddress { echo: true, id, address: address.into(), port: None, hmac: None };
        remote.send(remote.flow, 101, 1, |ack| ack.options.mptcp.push(MptcpOption::AddAddress(echo)));
        let sent = remote.sleep(Duration::from_secs(60));
        assert_eq!(announcements(&sent), again, "echo of {id}, {address:?}");
    }
}

/// RFC 8684 section 3.3.3: the peer's stream is over, the host's is not.
#[test]
fn fin_after_a_data_fin_keeps_the_sending_direction_open() {
    let (mut remote, _) = TestPeer::open(Config::default());
    let mut dss = remote.dss(1, Some((1, 0, 1)));
    dss.data_fin = true;
    remote.send(remote.flow, 1, 1, |segment| segment.options.dss = Some(dss));
    let dss = remote.dss(1, None);
    let answers = remote.send(remote.flow, 1, 1, |segment| {
        segment.flags |= Flags::FIN;
        segment.options.dss = Some(dss);
    });
    assert!(answers.iter().all(|answer| !answer.flags.fin()), "{answers:?}");
    remote.host.write(remote.now, remote.connection, Bytes::from_static(b"still here"));
    let sent = remote.collect();
    assert_eq!(sent[0].payload, "still here");
    remote.host.close(remote.now, remote.connection);
    let sent = remote.collect();
    assert!(sent[0].options.dss.unwrap().data_fin && !sent[0].flags.fin(), "{sent:?}");
}

/// RFC 8684 section 3.5.
#[test]
fn fast_close_by_rst_resets_the_other_subflows() {
    let (mut remote, _) = TestPeer::open(Config::default());
    remote.send_data(remote.flow, 1, 1, 100);
    let (second, _) = remote.join(2000);
    let key = remote.host_key;
    let answers = remote.send(second, 1, 1, |segment| {
        segment.flags = Flags::RST | Flags::ACK;
        segment.options.mptcp.push(MptcpOption::FastClose(key));
    });
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers[0].flags.rst() && answers[0].destination == remote.flow.peer);
    let reset = answers[0].options.mptcp.iter().find_map(|option| match option {
        MptcpOption::TcpRst(reset) => Some(reset.reason),
        _ => None,
    });
    assert_eq!(reset, Some(ResetReason::UNSPECIFIED));
    assert!(remote.events.contains(&EventKind::Closed(CloseReason::Reset(None))));
}

/// RFC 8684 section 3.7: the infinite mapping arrives with the data that it maps.
#[test]
fn zero_length_mapping_without_data_is_no_fallback() {
    let (mut remote, _) = TestPeer::open(Config::default());
    let dss = remote.dss(1, Some((1, 1, 0)));
    remote.send(remote.flow, 1, 1, |segment| segment.options.dss = Some(dss));
    assert_eq!(remote.mode(), Mode::Multipath);
    remote.send_data(remote.flow, 1, 1, 100);
    let dss = remote.dss(1, Some((101, 101, 0)));
    remote.send(remote.flow, 101, 1, |segment| {
        segment.options.dss = Some(dss);
        segment.payload = Bytes::from_static(b"plain");
    });
    assert_eq!(remote.mode(), Mode::Plain);
}

/// RFC 8684 section 3.7: fallback is possible only while the subflow carried the stream byte by byte.
/// Repeated data would otherwise be read twice.
#[test]
fn no_fallback_after_the_peer_repeated_data() {
    for repeats in [false, true] {
        let (mut remote, _) = TestPeer::open(Config::default());
        remote.send_data(remote.flow, 1, 1, 100);
        remote.send_data(remote.flow, 101, if repeats { 1 } else { 101 }, 100);
        let answers =
            remote.send(remote.flow, 201, 1, |segment| segment.payload = Bytes::from_static(b"unmapped"));
        let ended = answers.iter().any(|answer| answer.flags.rst());
        assert_eq!((ended, remote.mode() == Mode::Plain), (repeats, !repeats), "{answers:?}");
        let read: usize = std::iter::from_fn(|| remote.host.read(remote.now, remote.connection))
            .map(|data| data.len())
            .sum();
        assert_eq!(read, if repeats { 100 } else { 208 });
    }
}

/// RFC 8684 section 3.3.8: MP_PRIO with an address ID belongs to version 0.
#[test]
fn mp_prio_in_version_0_format_is_ignored() {
    let (mut remote, _) = TestPeer::open(Config::default());
    for (address_id, backup) in [(Some(1), false), (None, true)] {
        let prio = MpPrio { backup: true, address_id };
        let dss = remote.dss(1, None);
        remote.send(remote.flow, 1, 1, |segment| {
            segment.options.dss = Some(dss);
            segment.options.mptcp.push(MptcpOption::Prio(prio));
        });
        let info = remote.host.info(remote.now, remote.connection).unwrap();
        assert_eq!(info.subflows[0].backup, backup);
    }
}

/// A client without a DSS so far, an ADD_ADDR for it, and the client's address and key.
fn client_with_keys() -> (mptcp::Endpoint, mptcp::ConnectionId, mptcp_wire::Segment, u64) {
    let mut host = mptcp::Endpoint::new(mptcp_clock::Rng::new(7, "client"));
    let near = host.add_interface([10, 0, 0, 1].into(), false);
    let peer = "10.0.0.9:80".parse().unwrap();
    let id = host.connect(NOW, near, peer, Config::default()).unwrap();
    let syn = host.poll_transmit(NOW).unwrap().segment;
    let mut answer = test_peer::segment(peer, syn.source, Flags::SYN | Flags::ACK, Vec::new());
    answer.acknowledgment = syn.sequence + 1;
    answer.options.timestamps = Some(mptcp_wire::Timestamps { value: 9, echo: 0 });
    let (sender_key, receiver_key) = (Some(KEY), None);
    let flags = MpCapable::HMAC;
    let capable = MpCapable { version: 1, flags, sender_key, receiver_key, data: None };
    answer.options.mptcp.push(MptcpOption::Capable(capable));
    host.handle_segment(NOW, near, answer);
    let third = host.poll_transmit(NOW).unwrap().segment;
    let Some(MptcpOption::Capable(MpCapable { sender_key: Some(key), .. })) = third.options.mptcp.first()
    else {
        panic!("no keys in {third:?}");
    };
    let key = *key;
    (host, id, third, key)
}

const NOW: mptcp_clock::Instant = mptcp_clock::Instant::from_nanos(1_000_000_000);

/// The keys and the echo do not fit into one header. The HMAC of the ADD_ADDR shows that the keys are not
/// needed.
#[test]
fn add_addr_before_any_dss_is_echoed_and_confirms_the_keys() {
    for valid in [true, false] {
        let (mut host, id, third, key) = client_with_keys();
        let address = "2001:db8::7".parse().unwrap();
        let hmac = add_address_hmac(KEY, key, 12, address, Some(4321)) ^ u64::from(!valid);
        let add = AddAddress { echo: false, id: 12, address, port: Some(4321), hmac: Some(hmac) };
        let options = vec![MptcpOption::AddAddress(add)];
        let mut announcement = test_peer::segment(third.destination, third.source, Flags::ACK, options);
        announcement.sequence = mptcp_wire::Seq::new(1);
        announcement.acknowledgment = third.sequence;
        host.handle_segment(NOW, mptcp::InterfaceId(0), announcement);
        let echo = host.poll_transmit(NOW).map(|sent| sent.segment.options);
        let expected = MptcpOption::AddAddress(AddAddress { echo: true, hmac: None, ..add });
        assert!(echo.as_ref().is_none_or(|echo| echo.length() <= Options::SPACE), "{echo:?}");
        assert_eq!(echo.map(|echo| echo.mptcp), valid.then(|| vec![expected]));
        host.write(NOW, id, Bytes::from_static(b"first"));
        assert_eq!(host.poll_transmit(NOW).unwrap().segment.options.dss.is_some(), valid);
    }
}

#[test]
fn corked_connection_sends_after_a_timeout() {
    let linux_compat = mptcp::LinuxCompat { quiet_after_handshake: true, ..mptcp::LinuxCompat::default() };
    let (mut remote, _) = TestPeer::open(Config { linux_compat, ..Config::default() });
    remote.host.set_cork(remote.now, remote.connection, true);
    for _ in 0..2 {
        remote.host.write(remote.now, remote.connection, Bytes::from_static(b"little"));
        assert!(remote.collect().is_empty());
    }
    let sent = remote.sleep(Duration::from_millis(300));
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!((sent[0].0, &sent[0].1.payload[..]), (Duration::from_millis(200), &b"littlelittle"[..]));
    remote.host.write(remote.now, remote.connection, Bytes::from_static(b"more"));
    assert!(remote.collect().is_empty());
    remote.host.set_nodelay(remote.now, remote.connection, true);
    assert_eq!(remote.collect()[0].payload, "more");
    remote.host.write(remote.now, remote.connection, Bytes::from_static(b"last"));
    assert!(remote.collect().is_empty(), "corked goes before no delay");
    remote.host.set_cork(remote.now, remote.connection, false);
    assert_eq!(remote.collect()[0].payload, "last");
}

#[test]
fn data_acks_have_4_bytes_if_configured() {
    let (mut remote, _) = TestPeer::open(Config { wide_data_acks: false, ..Config::default() });
    let answers = remote.send_data(remote.flow, 1, 1, 100);
    assert!(matches!(answers[0].options.dss.unwrap().ack, Some(DataSequence::Short(_))));
}

#[test]
fn a_connection_without_subflows_ends_after_its_close_timeout() {
    let config = Config { close_timeout: Duration::from_secs(1), ..Config::default() };
    let (mut remote, _) = TestPeer::open(config);
    remote.send_data(remote.flow, 1, 1, 100);
    remote.send(remote.flow, 101, 1, |segment| segment.flags = Flags::RST | Flags::ACK);
    remote.sleep(Duration::from_millis(999));
    assert!(!remote.events.contains(&EventKind::Closed(CloseReason::TimedOut)));
    remote.sleep(Duration::from_millis(2));
    assert!(remote.events.contains(&EventKind::Closed(CloseReason::TimedOut)), "{:?}", remote.events);
}

#[test]
fn syn_is_retransmitted_up_to_its_limit() {
    let mut host = mptcp::Endpoint::new(mptcp_clock::Rng::new(7, "client"));
    let near = host.add_interface([10, 0, 0, 1].into(), false);
    let mut now = mptcp_clock::Instant::ZERO;
    let config = Config { syn_retries: 1, ..Config::default() };
    host.connect(now, near, "10.0.0.9:80".parse().unwrap(), config).unwrap();
    let mut syns = Vec::new();
    loop {
        syns.extend(std::iter::from_fn(|| host.poll_transmit(now)).map(|_| now.as_millis()));
        let mut events = std::iter::from_fn(|| host.poll_event());
        if events.any(|event| event.kind == EventKind::Closed(CloseReason::TimedOut)) {
            break;
        }
        now = host.poll_timeout().unwrap();
        host.handle_timeout(now);
    }
    assert_eq!((syns, now.as_millis()), (vec![0, 1000], 3000));
}

/// Linux acknowledges a segment before it passes it to the connection, so the DATA_ACK follows with the next
/// acknowledgement. A partial segment must not wait for that DATA_ACK.
#[test]
fn partial_segment_waits_only_for_acknowledgements_of_its_subflow() {
    let (mut remote, _) = TestPeer::open(Config::default());
    remote.send_data(remote.flow, 1, 1, 100);
    remote.host.write(remote.now, remote.connection, Bytes::from(vec![7; 600]));
    let sent = remote.collect();
    assert_eq!(sent.len(), 1, "the rest waits");
    let first = sent[0].payload.len() as u32;
    let dss = remote.dss(1, None);
    let sent = remote.send(remote.flow, 101, 1 + first, |ack| ack.options.dss = Some(dss));
    assert_eq!(sent.iter().map(|segment| segment.payload.len()).sum::<usize>(), 600 - first as usize);
}

/// Data acknowledged only on its subflow is retransmitted there if only a backup remains.
#[test]
fn data_without_a_data_ack_is_reinjected_if_only_a_backup_remains() {
    let (mut remote, _) = TestPeer::open(Config::default());
    remote.send_data(remote.flow, 1, 1, 100);
    let (joined, _) = remote.join(1_001);
    let prio = MptcpOption::Prio(MpPrio { backup: true, address_id: None });
    remote.send(joined, 1, 1, |ack| ack.options.mptcp.push(prio));
    remote.host.write(remote.now, remote.connection, Bytes::from(vec![7; 50]));
    let sent = remote.collect();
    assert_eq!((sent.len(), sent[0].destination), (1, remote.flow.peer));
    let dss = remote.dss(1, None);
    remote.send(remote.flow, 101, 51, |ack| ack.options.dss = Some(dss));
    let again = remote.sleep(Duration::from_secs(10));
    let (_, segment) = again.iter().find(|(_, segment)| !segment.payload.is_empty()).expect("it goes again");
    assert_eq!((segment.destination, &segment.payload[..]), (remote.flow.peer, &[7; 50][..]));
}

/// Linux's client that is closed while it handles the SYN/ACK sends a DATA_FIN instead of its keys. If a
/// retransmitted SYN/ACK brings no keys either, the connection falls back to TCP, as in Linux's server.
#[test]
fn fin_instead_of_the_keys_falls_back_to_tcp() {
    let end = |remote: &TestPeer, data: u64| Dss { data_fin: true, ..remote.dss(1, Some((data, 0, 1))) };
    let mut remote = TestPeer::begun(Config::default());
    let dss = end(&remote, 1);
    remote.send(remote.flow, 1, 1, |ack| ack.options.dss = Some(dss));
    assert!(!remote.events.contains(&EventKind::Accepted), "{:?}", remote.events);
    let again = remote.sleep(Duration::from_millis(1500));
    assert!(again.iter().any(|(_, segment)| segment.flags.syn()), "{again:?}");
    remote.send(remote.flow, 1, 1, |ack| ack.options.dss = Some(dss));
    assert!(remote.events.contains(&EventKind::Accepted), "{:?}", remote.events);
    assert_eq!(remote.mode(), Mode::Plain);
    // Data sent before is retransmitted with the keys.
    let mut remote = TestPeer::begun(Config::default());
    remote.sleep(Duration::from_millis(1500));
    let dss = end(&remote, 101);
    remote.send(remote.flow, 101, 1, |ack| ack.options.dss = Some(dss));
    assert!(!remote.events.contains(&EventKind::Accepted), "{:?}", remote.events);
    let keys = test_peer::capable(MpCapable::HMAC, Some((test_peer::KEY, remote.host_key)));
    remote.send(remote.flow, 1, 1, |ack| ack.options.mptcp.push(keys));
    assert_eq!(remote.mode(), Mode::Multipath);
}
