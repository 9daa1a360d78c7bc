//! Requirements of the RFCs that other test suites check, one per test.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::pair::{Fate, Pair, pattern};
use crate::test_peer::{self, TestPeer};
use bytes::Bytes;
use mptcp::{CloseReason, Config, Endpoint, EventKind, Keepalive, LinuxCompat, Mode, SubflowState};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::{Flags, MptcpOption, ResetReason, Segment, Timestamps};

fn plain() -> Config {
    Config { nagle: false, ..Config::tcp() }
}

fn payload(sent: &[Segment]) -> usize {
    sent.iter().map(|segment| segment.payload.len()).sum()
}

/// RFC 9293 section 3.8.6: no new data is sent into a shrunk or closed window.
#[test]
fn shrunk_window_is_respected() {
    for (window, room) in [(0, 0), (1000, 536)] {
        let (mut remote, _) = TestPeer::open(plain());
        remote.send(remote.flow, 1, 1, |ack| ack.window = 50_000);
        remote.host.write(remote.now, remote.connection, Bytes::from(vec![1; 2000]));
        assert_eq!(payload(&remote.collect()), 2000);
        let answers = remote.send(remote.flow, 1, 2001, |ack| ack.window = window);
        assert!(answers.is_empty(), "{answers:?}");
        remote.host.write(remote.now, remote.connection, Bytes::from(vec![1; 20_000]));
        let sent = remote.collect();
        assert_eq!(payload(&sent), room, "a window of {window}");
        // An older, overtaken segment does not open the window.
        let sent = remote.send(remote.flow, 1, 1, |ack| ack.window = 50_000);
        assert_eq!(payload(&sent), 0);
        let sent = remote.send(remote.flow, 1, 2001 + room as u32, |ack| ack.window = 50_000);
        assert!(payload(&sent) > 0);
    }
}

/// RFC 5681 section 3.2: three duplicates are enough, even after an idle time with a window change.
#[test]
fn three_duplicate_acks_after_idle_trigger_fast_retransmit() {
    let config = Config { sack: false, rack: false, ..plain() };
    let (mut remote, _) = TestPeer::open(config);
    // Idle, with a different window.
    remote.send(remote.flow, 1, 1, |ack| ack.window = 30_000);
    remote.host.write(remote.now, remote.connection, Bytes::from(vec![1; 5000]));
    let first = remote.collect();
    assert!(first.len() >= 5);
    for duplicate in 1..=3 {
        let sent = remote.send(remote.flow, 1, 1, |ack| ack.window = 30_000);
        let again = sent.iter().any(|segment| segment.sequence == first[0].sequence);
        assert_eq!(again, duplicate == 3, "duplicate {duplicate}: {sent:?}");
    }
}

/// RFC 9293 section 3.10.5: an abort in SYN-SENT sends nothing.
#[test]
fn abort_in_syn_sent_sends_nothing() {
    let mut host = Endpoint::new(Rng::new(7, "host"));
    let interface = host.add_interface(test_peer::host_address(), false);
    let now = Instant::ZERO;
    let id = host.connect(now, interface, "10.0.0.9:80".parse().unwrap(), Config::default()).unwrap();
    assert!(host.poll_transmit(now).is_some_and(|sent| sent.segment.flags.syn()));
    host.abort(now, id);
    assert!(host.poll_transmit(now).is_none());
}

/// RFC 7323 section 3.2: resets have timestamps.
#[test]
fn resets_have_timestamps() {
    let mut host = Endpoint::new(Rng::new(7, "host"));
    let interface = host.add_interface(test_peer::host_address(), false);
    host.listen(80, Config::tcp()).unwrap();
    let now = Instant::ZERO;
    let mut syn = test_peer::segment(
        "10.0.0.9:1000".parse().unwrap(),
        (test_peer::host_address(), 80).into(),
        Flags::SYN,
        vec![],
    );
    syn.options.timestamps = Some(Timestamps { value: 77, echo: 0 });
    host.handle_segment(now, interface, syn.clone());
    let answer = host.poll_transmit(now).unwrap().segment;
    let mut ack = Segment { flags: Flags::ACK, sequence: answer.acknowledgment, ..syn };
    ack.acknowledgment = answer.sequence + 1;
    ack.options.timestamps = Some(Timestamps { value: 78, echo: answer.options.timestamps.unwrap().value });
    host.handle_segment(now, interface, ack);
    let id = host.connections().next().unwrap();
    host.abort(now, id);
    let reset = host.poll_transmit(now).unwrap().segment;
    assert!(reset.flags.rst() && reset.options.timestamps.is_some_and(|ts| ts.echo == 78), "{reset:?}");
}

/// RFC 8684 section 3.7: the response to MP_FAIL has data sequence numbers of the peer.
#[test]
fn mp_fail_response_has_the_data_sequence_number_of_the_peer() {
    let (mut remote, _) = TestPeer::open(Config { checksum: false, ..Config::default() });
    remote.send_data(remote.flow, 1, 1, 10);
    let fail = MptcpOption::Fail(remote.host_number(1));
    let answers = remote.send(remote.flow, 11, 1, |ack| ack.options.mptcp.push(fail));
    let told = answers.iter().flat_map(|answer| &answer.options.mptcp).find_map(|option| match option {
        MptcpOption::Fail(number) => Some(*number),
        _ => None,
    });
    assert_eq!(told, Some(TestPeer::number(11)));
}

/// RFC 8684 section 3.7: MP_FAIL is repeated with the data acknowledgement until the peer responds. The first
/// MP_FAIL is lost here.
#[test]
fn mp_fail_is_repeated_until_it_is_answered() {
    let config = || Config { checksum: true, ..Config::default() };
    let mut pair = Pair::builder().seed(9).links(&[10]).config(config()).connect();
    let (mut changed, mut dropped) = (false, false);
    pair.rule = Box::new(move |to_server, _, segment| {
        let fails = segment.options.mptcp.iter().any(|option| matches!(option, MptcpOption::Fail(_)));
        if to_server && segment.payload.len() > 500 && !changed && segment.options.dss.is_some() {
            changed = true;
            let mut other = segment.clone();
            let mut bytes = other.payload.to_vec();
            bytes[100] ^= 1;
            other.payload = bytes.into();
            return Fate::Replace(Box::new(other));
        }
        if fails && !dropped {
            dropped = true;
            return Fate::Drop;
        }
        Fate::Deliver
    });
    pair.keep_log = true;
    let took = pair.transfer(&pattern(300_000), Duration::from_secs(20));
    assert_eq!(pair.received[0].len(), 300_000);
    assert!(took < Duration::from_secs(2), "{took:?}");
    let mode = |endpoint: &Endpoint, id| endpoint.info(pair.now, id).unwrap().mode;
    assert_eq!(mode(&pair.client, pair.connection), Mode::Plain);
    assert_eq!(mode(&pair.server, pair.accepted.unwrap()), Mode::Plain);
    let fails = pair.log.iter().filter(|(_, to_server, _, segment)| {
        !to_server && segment.options.mptcp.iter().any(|option| matches!(option, MptcpOption::Fail(_)))
    });
    assert!((2..=17).contains(&fails.count()));
}

/// RFC 8985 section 7.3: a tail loss probe sends new data if there is some, even if Nagle's algorithm holds
/// it.
#[test]
fn tail_loss_probe_sends_new_data() {
    let mut pair = Pair::builder().seed(9).links(&[50]).config(Config::tcp()).connect();
    pair.transfer(&pattern(20_000), Duration::from_secs(5));
    pair.run(Duration::from_secs(1));
    pair.keep_log = true;
    pair.rule = Box::new(
        |to_server, _, segment| {
            if to_server && !segment.payload.is_empty() { Fate::Drop } else { Fate::Deliver }
        },
    );
    pair.client.write(pair.now, pair.connection, Bytes::from(vec![1; 1000]));
    pair.settle();
    // Nagle's algorithm holds this data.
    pair.client.write(pair.now, pair.connection, Bytes::from(vec![2; 10]));
    pair.settle();
    pair.run(Duration::from_millis(450));
    let sent: Vec<u8> =
        pair.log.iter().filter(|(_, up, ..)| *up).filter_map(|(.., s)| s.payload.first().copied()).collect();
    assert_eq!(sent, [1, 2], "first the segment, then the probe");
}

/// Minshall's variant of Nagle's algorithm: full segments in flight do not delay a partial segment.
#[test]
fn minshall_waits_only_for_partial_segments() {
    for (minshall, expected) in [(false, 1), (true, 2)] {
        let linux_compat = LinuxCompat { minshall, ..LinuxCompat::default() };
        let config = Config { linux_compat, mss: 536, timestamps: false, ..Config::tcp() };
        let (mut remote, _) = TestPeer::open(config);
        let mut write = |bytes: usize| {
            remote.host.write(remote.now, remote.connection, Bytes::from(vec![1; bytes]));
            remote.collect().len()
        };
        assert_eq!(write(546), expected);
        assert_eq!(write(10), 0, "now a small one is in flight, or waits");
    }
}

/// X10: a peer that ignores 15 window probes is considered dead; a responding peer may keep its window
/// closed.
#[test]
fn closed_window_and_an_unresponsive_peer_end_a_connection() {
    let closed = |answers: bool| {
        let (mut remote, _) = TestPeer::open(plain());
        remote.send(remote.flow, 1, 1, |ack| ack.window = 0);
        remote.host.write(remote.now, remote.connection, Bytes::from(vec![1; 5000]));
        remote.collect();
        let mut probes = 0;
        for _ in 0..86_400 {
            let sent = remote.sleep(Duration::from_secs(1)).len();
            probes += sent;
            if answers && sent > 0 {
                remote.send(remote.flow, 1, 1, |ack| ack.window = 0);
            }
        }
        (remote.events.contains(&EventKind::Closed(CloseReason::TimedOut)), probes)
    };
    let (over, probes) = closed(false);
    assert!(over && (15..=17).contains(&probes), "{probes} probes");
    assert!(!closed(true).0);
}

/// RFC 9293 section 3.8.4: keepalive probes detect a silent peer that does not respond.
#[test]
fn keepalive_detects_a_dead_peer() {
    let keepalive = Keepalive { idle: Duration::from_secs(10), interval: Duration::from_secs(2), probes: 3 };
    let run = |answers: bool, config: Config| {
        let (mut remote, _) = TestPeer::open(Config { keepalive: Some(keepalive), ..config });
        let mut asked = 0;
        for _ in 0..100 {
            let sent = remote.sleep(Duration::from_secs(1));
            asked += sent.iter().filter(|(_, s)| s.sequence == remote.flow.iss).count();
            if answers && !sent.is_empty() {
                remote.send(remote.flow, 1, 1, |_| {});
            }
        }
        (asked, remote.host.connections().count())
    };
    assert_eq!(run(false, Config::tcp()), (3, 0));
    let (asked, left) = run(true, Config::tcp());
    assert!((7..=10).contains(&asked) && left == 1, "{asked} asked, {left} left");
    assert_eq!(
        run(false, Config { keepalive: None, ..Config::default() }).0,
        3,
        "Multipath TCP: each subflow"
    );
    let (mut remote, _) = TestPeer::open(Config::tcp());
    assert!(remote.sleep(Duration::from_secs(100_000)).is_empty(), "off unless asked for");
    assert_eq!(remote.host.connections().count(), 1);
}

/// Two endpoints of this crate open further subflows while idle (RFC 8684 section 3.2 requires a DSS first).
#[test]
fn idle_connection_opens_subflows() {
    let mut pair = Pair::builder().seed(9).links(&[10, 20]).connect();
    pair.run(Duration::from_millis(200));
    let info = pair.client.info(pair.now, pair.connection).unwrap();
    assert_eq!(info.subflows.iter().filter(|s| s.state == SubflowState::Established).count(), 2);
    assert_eq!((info.bytes_sent, info.bytes_received), (0, 0));
}

/// A subflow that a NAT has forgotten is reset and reopened, repeatedly only if the path works in between.
#[test]
fn reset_subflow_is_reopened() {
    let mut pair = Pair::builder().seed(9).links(&[10, 20]).connect();
    pair.transfer(&pattern(50_000), Duration::from_secs(5));
    let live = |pair: &Pair| {
        let info = pair.client.info(pair.now, pair.connection).unwrap();
        info.subflows.iter().filter(|s| s.state == SubflowState::Established).count()
    };
    assert_eq!(live(&pair), 2);
    for _ in 0..2 {
        let info = pair.client.info(pair.now, pair.connection).unwrap();
        let joined =
            info.subflows.iter().find(|s| s.id.number() > 0 && s.state == SubflowState::Established).unwrap();
        let mut reset = Segment::new(joined.remote, joined.local);
        reset.flags = Flags::RST;
        let theirs = pair.server.info(pair.now, pair.accepted.unwrap()).unwrap();
        assert!(!theirs.subflows.is_empty());
        // As a NAT would: with the expected sequence number.
        pair.keep_log = true;
        pair.transfer(&pattern(50_000), Duration::from_secs(5));
        let last =
            pair.log.iter().rev().find(|(_, up, path, s)| !up && *path == 1 && s.source == joined.remote);
        let last = last.map(|(.., s)| s.sequence + s.sequence_length()).unwrap();
        reset.sequence = last;
        pair.inject(false, 1, reset);
        assert_eq!(live(&pair), 1);
        pair.run(Duration::from_secs(20));
        assert_eq!(live(&pair), 2, "it came back");
    }
}

/// A connection that loses all paths while idle continues when one of them returns.
#[test]
fn an_idle_connection_survives_the_loss_of_its_path() {
    let mut pair = Pair::builder().seed(9).links(&[10]).connect();
    pair.keep_log = true;
    pair.transfer(&pattern(50_000), Duration::from_secs(5));
    pair.run(Duration::from_secs(1));
    let info = pair.client.info(pair.now, pair.connection).unwrap();
    let first = &info.subflows[0];
    // A middlebox resets the forgotten subflow at both ends.
    for to_server in [false, true] {
        let (from, to) = if to_server { (first.local, first.remote) } else { (first.remote, first.local) };
        let mut reset = Segment::new(from, to);
        reset.flags = Flags::RST;
        reset.sequence = next_number(&pair, to_server);
        pair.inject(to_server, 0, reset);
    }
    pair.run(Duration::from_secs(10));
    pair.transfer(&pattern(50_000), Duration::from_secs(5));
    assert_eq!(pair.received[0].len(), 100_000);
}

/// Next sequence number of one side, from its last segment.
fn next_number(pair: &Pair, of_client: bool) -> mptcp_wire::Seq {
    let last = pair
        .log
        .iter()
        .filter(|(_, up, ..)| *up == of_client)
        .map(|(.., s)| s.sequence + s.sequence_length());
    last.reduce(|most, next| if next.offset_from(most) > 0 { next } else { most }).unwrap()
}

/// Resets with the reasons for an unknown connection or an unwanted path are final.
#[test]
fn refused_join_is_not_retried() {
    let server = Config { max_subflows: 0, ..Config::default() };
    let mut pair = Pair::builder().seed(9).links(&[10, 20]).server(server).connect();
    pair.keep_log = true;
    pair.transfer(&pattern(50_000), Duration::from_secs(5));
    pair.run(Duration::from_secs(100));
    let syns = pair.log.iter().filter(|(_, up, path, s)| *up && *path == 1 && s.flags.syn()).count();
    assert_eq!(syns, 1);
    let told = |s: &Segment| {
        s.options
            .mptcp
            .iter()
            .any(|o| matches!(o, MptcpOption::TcpRst(why) if why.reason == ResetReason::PROHIBITED))
    };
    assert!(pair.log.iter().any(|(_, up, _, s)| !up && told(s)));
}

/// RFC 7413 section 4.2.2: accepted data of a SYN is not retransmitted, the remaining data is sent.
#[test]
fn partially_acknowledged_syn_data_is_sent_again() {
    let mut host = Endpoint::new(Rng::new(7, "host"));
    let interface = host.add_interface(test_peer::host_address(), false);
    let now = Instant::ZERO;
    let peer = "10.0.0.9:80".parse().unwrap();
    let data = Bytes::from(pattern(1000));
    let id = host.connect_fast_open(now, interface, peer, plain(), data.clone(), false).unwrap();
    let syn = host.poll_transmit(now).unwrap().segment;
    assert_eq!(syn.payload, data);
    let mut answer = test_peer::segment(peer, syn.source, Flags::SYN | Flags::ACK, Vec::new());
    answer.acknowledgment = syn.sequence + (1 + 300);
    answer.payload = Bytes::from_static(b"and hello");
    host.handle_segment(now, interface, answer);
    let sent: Vec<Segment> =
        std::iter::from_fn(|| host.poll_transmit(now)).map(|sent| sent.segment).collect();
    assert!(!sent.iter().any(|segment| segment.flags.rst()), "{sent:?}");
    let rest: Vec<u8> = sent.iter().flat_map(|segment| segment.payload.to_vec()).collect();
    assert_eq!(rest, data[300..]);
    assert_eq!(host.read(now, id), Some(Bytes::from_static(b"and hello")), "a SYN/ACK may carry data too");
    assert_eq!(sent[0].acknowledgment.value(), 10);
}

/// A peer that acknowledges only its subflow, and then becomes silent, does not keep a connection forever.
#[test]
fn missing_data_acks_end_a_connection() {
    let (mut remote, _) = TestPeer::open(Config::default());
    remote.send_data(remote.flow, 1, 1, 10);
    remote.host.write(remote.now, remote.connection, Bytes::from(vec![1; 500]));
    assert_eq!(payload(&remote.collect()), 500);
    let dss = remote.dss(1, None);
    remote.send(remote.flow, 11, 501, |ack| ack.options.dss = Some(dss));
    let sent = remote.sleep(Duration::from_secs(7200));
    assert!(remote.events.contains(&EventKind::Closed(CloseReason::TimedOut)), "{} segments", sent.len());
    // A peer that responds is alive.
    let (mut remote, _) = TestPeer::open(Config::default());
    remote.send_data(remote.flow, 1, 1, 10);
    remote.host.write(remote.now, remote.connection, Bytes::from(vec![1; 500]));
    let mut acknowledged = 1 + payload(&remote.collect()) as u32;
    for _ in 0..7200 {
        let again = remote.sleep(Duration::from_secs(1));
        let ends = again
            .iter()
            .map(|(_, s)| s.sequence.offset_from(remote.flow.iss) as u32 + s.payload.len() as u32);
        acknowledged = ends.fold(acknowledged, u32::max);
        let dss = remote.dss(1, None);
        remote.send(remote.flow, 11, acknowledged, |ack| ack.options.dss = Some(dss));
    }
    assert!(!remote.events.iter().any(|event| matches!(event, EventKind::Closed(_))));
}

/// A closed connection opens no subflow, even if both happen at the same time.
#[test]
fn closed_connection_opens_no_subflow() {
    let config = Config { close_timeout: Duration::from_secs(1), ..Config::default() };
    let mut pair = Pair::builder().seed(9).links(&[10]).client(config).connect();
    pair.keep_log = true;
    pair.transfer(&pattern(50_000), Duration::from_secs(5));
    pair.run(Duration::from_secs(1));
    let info = pair.client.info(pair.now, pair.connection).unwrap();
    let first = &info.subflows[0];
    let mut reset = Segment::new(first.remote, first.local);
    reset.flags = Flags::RST;
    reset.sequence = next_number(&pair, false);
    pair.rule = Box::new(|_, _, _| Fate::Drop);
    pair.log.clear();
    pair.inject(false, 0, reset);
    pair.run(Duration::from_secs(600));
    assert!(pair.happened(true, EventKind::Closed(CloseReason::TimedOut)), "{:?}", pair.events);
    let syns = pair.log.iter().filter(|(_, up, _, segment)| *up && segment.flags.syn());
    assert_eq!(syns.count(), 0, "the wait for a further try is as long as the connection may live");
    assert_eq!(pair.client.connections().count(), 0);
}
