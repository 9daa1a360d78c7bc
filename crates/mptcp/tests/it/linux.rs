//! Linux's behaviour where the RFCs leave a choice: each switch, and its default.

use crate::pair::{Fate, Pair, pattern};
use crate::test_peer::TestPeer;
use bytes::Bytes;
use mptcp::{Announced, Config, EventKind, LinuxCompat, LinuxStack};
use mptcp_clock::Duration;
use mptcp_wire::{DataSequence, Dss, Flags, MpJoin, MptcpOption, Segment};

fn linux() -> Config {
    Config { linux_compat: LinuxCompat::LINUX, ..Config::default() }
}

fn ack_of(segment: &Segment) -> Option<DataSequence> {
    segment.options.dss.and_then(|dss| dss.ack)
}

#[test]
fn data_acks_have_the_width_of_the_last_data_sequence_number() {
    let (mut remote, _) = TestPeer::open(linux());
    let narrow = |dss: Dss| Dss {
        mapping: dss.mapping.map(|mut mapping| {
            mapping.sequence = match mapping.sequence {
                DataSequence::Wide(number) => DataSequence::Short(number as u32),
                short => short,
            };
            mapping
        }),
        ..dss
    };
    let first = remote.send_data(remote.flow, 1, 1, 100);
    assert_eq!(ack_of(&first[0]), Some(DataSequence::Wide(TestPeer::number(101))));
    let dss = narrow(remote.dss(1, Some((101, 101, 100))));
    let second = remote.send(remote.flow, 101, 1, |segment| {
        segment.options.dss = Some(dss);
        segment.payload = Bytes::from(vec![1; 100]);
    });
    assert_eq!(ack_of(&second[0]), Some(DataSequence::Short(TestPeer::number(201) as u32)));
    // Out of order: the mapping is used once its data is in order.
    let early = remote.send_data(remote.flow, 301, 301, 100);
    assert_eq!(ack_of(&early[0]), Some(DataSequence::Short(TestPeer::number(201) as u32)));
}

#[test]
fn full_segments_leave_space_for_8_byte_data_acks() {
    for (wide_data_acks, length) in [(false, 1460 - 24), (true, 1460 - 28)] {
        let (mut remote, _) =
            TestPeer::open(Config { mss: 1460, timestamps: false, wide_data_acks, ..Config::default() });
        remote.send_data(remote.flow, 1, 1, 100);
        remote.host.write(remote.now, remote.connection, Bytes::from(vec![1; 50_000]));
        let sent = remote.collect();
        // The peer sent no MSS: 536 bytes (RFC 9293 section 3.7.1), less the options.
        assert_eq!(sent[0].payload.len(), length - (1460 - 536));
    }
}

#[test]
fn addresses_are_announced_with_the_keys_or_after_the_first_dss() {
    let announces = |sent: &[Segment]| {
        let any = |option: &MptcpOption| matches!(option, MptcpOption::AddAddress(_));
        sent.iter().any(|segment| segment.options.mptcp.iter().any(any))
    };
    // Also of the other IP version, because the settings list it.
    let announce = Some(vec![Announced { id: 4, address: "2001:db8::1".parse().unwrap() }]);
    for (config, early) in [(Config::default(), false), (linux(), true)] {
        let (mut remote, answers) = TestPeer::open(Config { announce: announce.clone(), ..config });
        assert_eq!(announces(&answers), early);
        let answers = remote.send_data(remote.flow, 1, 1, 100);
        assert_eq!(announces(&answers), !early);
    }
}

/// Both streams end; returns the segments of the host after the peer's DATA_FIN.
fn ending(config: Config) -> Vec<Segment> {
    let (mut remote, _) = TestPeer::open(config);
    remote.host.close(remote.now, remote.connection);
    remote.collect();
    let mut dss = remote.dss(2, Some((1, 0, 1)));
    dss.data_fin = true;
    remote.send(remote.flow, 1, 1, |segment| segment.options.dss = Some(dss))
}

#[test]
fn data_fin_is_acknowledged_before_or_with_the_fin() {
    let fins = |sent: &[Segment]| sent.iter().map(|segment| segment.flags.fin()).collect::<Vec<_>>();
    assert_eq!(fins(&ending(linux())), [false, true]);
    assert_eq!(fins(&ending(Config::default())), [true]);
}

#[test]
fn data_fin_is_retransmitted_after_the_shortest_rto() {
    for (config, times) in [(linux(), vec![200, 400, 800, 1600]), (Config::default(), vec![200, 600, 1400])] {
        let (mut remote, _) = TestPeer::open(config);
        remote.host.close(remote.now, remote.connection);
        assert_eq!(remote.collect().len(), 1);
        let sent = remote.sleep(Duration::from_secs(2));
        let at: Vec<u64> = sent.iter().map(|(at, _)| at.as_millis()).collect();
        assert_eq!(at, times);
    }
}

#[test]
fn data_fin_is_sent_on_one_or_all_subflows() {
    for (config, count) in [(Config::default(), 1), (linux(), 2)] {
        let (mut remote, _) = TestPeer::open(config);
        remote.send_data(remote.flow, 1, 1, 100);
        let (second, _) = remote.join(2000);
        remote.send_data(second, 1, 101, 100);
        while remote.host.read(remote.now, remote.connection).is_some() {}
        remote.host.close(remote.now, remote.connection);
        let sent = remote.collect();
        let fins = sent.iter().filter(|segment| segment.options.dss.is_some_and(|dss| dss.data_fin)).count();
        assert_eq!(fins, count, "{sent:?}");
    }
}

#[test]
fn time_wait_responds_as_tcp_or_mptcp() {
    for (config, plain) in [(Config::default(), false), (linux(), true)] {
        let (mut remote, _) = TestPeer::open(config);
        remote.host.close(remote.now, remote.connection);
        remote.collect();
        let mut dss = remote.dss(2, Some((1, 0, 1)));
        dss.data_fin = true;
        remote.send(remote.flow, 1, 1, |segment| segment.options.dss = Some(dss));
        let dss = remote.dss(2, None);
        let last = remote.send(remote.flow, 1, 2, |segment| {
            segment.flags |= Flags::FIN;
            segment.options.dss = Some(dss);
        });
        assert_eq!(last.len(), 1, "{last:?}");
        assert_eq!(last[0].options.has_mptcp(), !plain);
    }
}

#[test]
fn third_ack_of_a_join_is_retransmitted_every_two_rtts_or_with_backoff() {
    for (config, expected) in [(linux(), vec![80, 80, 80]), (Config::default(), vec![240, 2000, 4000])] {
        let mut pair = Pair::builder().seed(22).links(&[10, 20]).config(config).connect();
        pair.keep_log = true;
        pair.rule = Box::new(|to_server, path, segment| {
            // The fourth ACK never arrives.
            if path == 1 && !to_server && !segment.flags.syn() { Fate::Drop } else { Fate::Deliver }
        });
        pair.transfer(&pattern(1000), Duration::from_secs(10));
        pair.run(Duration::from_secs(10));
        let hmac = |option: &MptcpOption| matches!(option, MptcpOption::Join(MpJoin::Ack { .. }));
        let thirds = pair.log.iter().filter(|entry| entry.1 && entry.3.options.mptcp.iter().any(hmac));
        let times: Vec<u64> = thirds.map(|entry| entry.0.as_millis()).take(4).collect();
        let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps, expected);
    }
}

#[test]
fn address_is_echoed_before_the_join_or_after_its_syn() {
    for (config, echo_first) in [(linux(), true), (Config::default(), false)] {
        let mut pair = Pair::builder().seed(23).links(&[10]).config(config).connect();
        pair.server.add_interface([10, 9, 0, 3].into(), false);
        pair.keep_log = true;
        pair.transfer(&pattern(5000), Duration::from_secs(10));
        pair.run(Duration::from_secs(1));
        let forth = || pair.log.iter().filter(|entry| entry.1).map(|entry| &entry.3);
        let echoes = |option: &MptcpOption| matches!(option, MptcpOption::AddAddress(add) if add.echo);
        let joins = |option: &MptcpOption| matches!(option, MptcpOption::Join(MpJoin::Syn { .. }));
        let echo = forth().position(|segment| segment.options.mptcp.iter().any(echoes)).unwrap();
        let join = forth().position(|segment| segment.options.mptcp.iter().any(joins)).unwrap();
        assert_eq!(echo < join, echo_first, "echo {echo}, join {join}");
    }
}

#[test]
fn slow_start_continues_if_more_than_half_of_the_window_was_in_flight() {
    let grows = |segments: u64| {
        let mut config = Config::tcp();
        config.linux_compat.cwnd_limited_per_round = true;
        let mut pair = Pair::builder().config(config).connect();
        pair.run(Duration::from_secs(1));
        let state = |pair: &Pair| {
            let info = pair.client.info(pair.now, pair.connection).expect("it lives");
            (info.subflows[0].cwnd, info.subflows[0].mss)
        };
        let (window, mss) = state(&pair);
        assert_eq!(window, 10 * mss);
        pair.client.write(pair.now, pair.connection, Bytes::from(pattern((segments * mss) as usize)));
        pair.run(Duration::from_secs(1));
        (state(&pair).0 - window) / mss
    };
    assert_eq!((grows(5), grows(6)), (0, 6));
}

/// A duplicate acknowledgement on its subflow, while data arrived on another and the window shrank.
#[test]
fn duplicate_acknowledgement_never_shrinks_the_window() {
    let by_subflow = LinuxStack { buffer_memory: false, ..LinuxStack::LINUX };
    for (linux_stack, offered) in [(LinuxStack::default(), 60_000 - 1_000), (by_subflow, 60_000)] {
        let (mut remote, _) = TestPeer::open(Config { linux_stack, ..Config::default() });
        remote.send_data(remote.flow, 1, 1, 100);
        remote.host.write(remote.now, remote.connection, Bytes::from(vec![1; 5_000]));
        remote.collect();
        let dss = remote.dss(1, None);
        remote.send(remote.flow, 101, 1, |segment| segment.options.dss = Some(dss));
        let dss = remote.dss(1_001, None);
        remote
            .send(remote.flow, 101, 1, |segment| (segment.window, segment.options.dss) = (59_000, Some(dss)));
        let room = |remote: &TestPeer| remote.host.info(remote.now, remote.connection).unwrap().peer_window;
        assert_eq!(room(&remote), offered);
        // A new acknowledgement gives the present space, but an earlier offer remains valid.
        let dss = remote.dss(2_001, None);
        remote.send(remote.flow, 101, 501, |segment| {
            (segment.window, segment.options.dss) = (58_000, Some(dss))
        });
        assert_eq!(room(&remote), offered - 1_000);
    }
}

/// A middlebox drops SYNs with MP_CAPABLE: later connections use TCP at once, for an hour.
#[test]
fn blackholed_mp_capable_makes_new_connections_tcp_for_an_hour() {
    let opened_within = |config: Config| {
        let mut pair = Pair::builder().config(config.clone()).connect();
        pair.rule = Box::new(|_, _, segment| {
            let capable =
                segment.options.mptcp.iter().any(|option| matches!(option, MptcpOption::Capable(_)));
            if segment.flags.syn() && capable { Fate::Drop } else { Fate::Deliver }
        });
        let mut waits = Vec::new();
        for hours in [0, 0, 1, 1] {
            pair.run(Duration::from_secs(3600 * hours + 60));
            let begin = pair.now;
            let at = mptcp::InterfaceId(0);
            let to = (crate::pair::server_address(), crate::pair::PORT).into();
            pair.connection =
                pair.client.connect(begin, at, to, config.clone()).expect("the interface is up");
            pair.events.clear();
            while !pair.happened(true, EventKind::Connected) && pair.step() {}
            waits.push(pair.now.since(begin).as_nanos() / 1_000_000_000);
        }
        waits
    };
    // The first connection detected the blackhole a minute ago. After an hour it is tried again, then not for
    // two hours.
    let asked = Config { linux_stack: LinuxStack::LINUX, ..Config::default() };
    assert_eq!(opened_within(asked), [0, 0, 7, 0]);
    assert_eq!(opened_within(Config::default()), [7; 4]);
}

/// Pingpong mode: in 200 requests with a response each, one per RTT, almost no segment is a pure
/// acknowledgement.
#[test]
fn responses_carry_the_acknowledgements_of_requests() {
    let pure = |config: Config| {
        let mut pair = Pair::builder().links(&[5]).config(config).connect();
        pair.run(Duration::from_millis(200));
        let server = pair.accepted.expect("it is accepted");
        let (client, begin) = (pair.connection, pair.received[1].len());
        pair.keep_log = true;
        for number in 1..=200 {
            let before = pair.received[0].len();
            pair.client.write(pair.now, client, Bytes::from(vec![1; 300]));
            while pair.received[0].len() < before + 300 {
                pair.step();
            }
            // The processing time of the application.
            pair.run(Duration::from_millis(2));
            pair.server.write(pair.now, server, Bytes::from(vec![2; 300]));
            while pair.received[1].len() < begin + number * 300 {
                pair.step();
            }
            pair.run(Duration::from_millis(2));
        }
        pair.log.iter().filter(|(_, _, _, segment)| segment.payload.is_empty()).count()
    };
    for base in [Config::tcp(), Config::default()] {
        let with = |pingpong| Config {
            linux_compat: LinuxCompat { pingpong, ..LinuxCompat::default() },
            ..base.clone()
        };
        let (before, after) = (pure(with(false)), pure(with(true)));
        assert!(before >= 30 && after <= 2, "{before} and {after} of 400 segments");
    }
}
