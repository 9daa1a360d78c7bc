//! Handshakes with lost, late and foreign segments.

use crate::pair::{self, Fate, Pair, pattern};
use crate::test_peer::TestPeer;
use mptcp::{Config, EventKind, Mode};
use mptcp_clock::Duration;
use mptcp_wire::{Flags, MpJoin, MptcpOption, Segment, Seq};

fn delivers(pair: &mut Pair, length: usize) {
    let data = pattern(length);
    let before = pair.received[0].len();
    pair.transfer(&data, Duration::from_secs(60));
    assert!(pair.received[0][before..] == data, "{} of {length}", pair.received[0].len() - before);
}

/// Drops the first segment that `which` selects.
fn drop_first(mut which: impl FnMut(bool, &Segment) -> bool + 'static) -> pair::Rule {
    let mut done = false;
    Box::new(move |to_server, _, segment| {
        if !done && which(to_server, segment) {
            done = true;
            return Fate::Drop;
        }
        Fate::Deliver
    })
}

#[test]
fn lost_handshake_segments_are_retransmitted() {
    let bare = |segment: &Segment| segment.payload.is_empty() && !segment.flags.syn();
    for config in [Config::tcp(), Config::default()] {
        let rules: [(&str, pair::Rule); 4] = [
            ("SYN", drop_first(|to_server, s| to_server && s.flags.syn())),
            ("SYN/ACK", drop_first(|to_server, s| !to_server && s.flags.syn())),
            ("third ACK", drop_first(move |to_server, s| to_server && bare(s))),
            ("first data", drop_first(|to_server, s| to_server && !s.payload.is_empty())),
        ];
        for (lost, rule) in rules {
            let mut pair = Pair::builder().seed(20).links(&[10]).config(config.clone()).connect();
            pair.rule = rule;
            delivers(&mut pair, 50_000);
            let mode = pair.client.info(pair.now, pair.connection).unwrap().mode;
            assert_eq!(mode == Mode::Multipath, config.multipath, "without its {lost}");
        }
    }
}

#[test]
fn lost_third_ack_does_not_block_a_server_that_sends_first() {
    let mut pair = Pair::builder().seed(21).links(&[10]).connect();
    pair.rule = drop_first(|to_server, s| to_server && !s.flags.syn());
    pair.run(Duration::from_secs(5));
    let accepted = pair.accepted.unwrap();
    let data = pattern(50_000);
    pair.server.write(pair.now, accepted, data.clone().into());
    pair.run(Duration::from_secs(5));
    assert_eq!(pair.received[1], data);
}

/// The first window arrives before the keys: nothing is retransmitted, and the window stays.
#[test]
fn data_that_arrives_before_the_keys_is_kept() {
    let mut pair = Pair::builder().seed(25).links(&[10]).connect();
    let mut overtaken = Vec::new();
    let mut over = false;
    pair.rule = Box::new(move |to_server, _, segment| {
        if over || !to_server || segment.flags.syn() {
            return Fate::Deliver;
        }
        let keys = segment.options.mptcp.iter().any(|option| matches!(option, MptcpOption::Capable(_)));
        if keys {
            overtaken.push(segment.clone());
            return Fate::Drop;
        }
        over = segment.payload.len() < 1000;
        let late = if over { std::mem::take(&mut overtaken) } else { Vec::new() };
        Fate::Several([segment.clone()].into_iter().chain(late).collect())
    });
    delivers(&mut pair, 9_100);
    let info = pair.client.info(pair.now, pair.connection).unwrap();
    assert_eq!(info.subflows[0].retransmissions, 0, "{:#?}", info.subflows[0]);
    assert_eq!(info.mode, Mode::Multipath);
}

/// Data before the keys is limited, in segments and in bytes.
#[test]
fn data_before_the_keys_is_limited() {
    for (length, segments, bytes) in [(100, 16, 1_600), (20_000, 3, 60_000)] {
        let mut remote = TestPeer::begun(Config::default());
        for number in 0..100 {
            let sent = remote.send_data(remote.flow, 1 + number * u32::from(length), 1, length);
            assert!(sent.is_empty(), "{sent:?}");
        }
        let usage = remote.host.info(remote.now, remote.connection).unwrap().usage;
        assert_eq!(usage.receive_bytes, bytes, "{segments} segments of {length}");
    }
}

#[test]
fn join_with_a_lost_fourth_ack_is_established() {
    let mut pair = Pair::builder().seed(22).links(&[10, 20]).connect();
    let mut joined = false;
    let mut lost = false;
    pair.rule = Box::new(move |to_server, path, segment| {
        let hmac = |o: &MptcpOption| matches!(o, MptcpOption::Join(MpJoin::Ack { .. }));
        joined |= to_server && segment.options.mptcp.iter().any(hmac);
        if path == 1 && joined && !to_server && !lost {
            lost = true;
            return Fate::Drop;
        }
        Fate::Deliver
    });
    delivers(&mut pair, 1_000);
    pair.run(Duration::from_secs(3));
    delivers(&mut pair, 400_000);
    let info = pair.client.info(pair.now, pair.connection).unwrap();
    assert!(info.subflows[1].stats.bytes_sent > 10_000, "{:#?}", info.subflows[1]);
}

#[test]
fn old_acknowledgement_does_not_end_the_handshake() {
    let mut pair = Pair::builder().seed(23).links(&[10]).connect();
    let syn = pair.client.poll_transmit(pair.now).unwrap().segment;
    let mut stale = Segment::new(syn.destination, syn.source);
    stale.flags = Flags::ACK;
    stale.acknowledgment = Seq::new(syn.sequence.value().wrapping_sub(7_000));
    pair.keep_log = true;
    pair.inject(false, 0, stale.clone());
    let answer = &pair.log[0].3;
    assert_eq!((answer.flags, answer.sequence), (Flags::RST, stale.acknowledgment));
    delivers(&mut pair, 20_000);
}

#[test]
fn wrong_acknowledgement_in_syn_received_is_reset_and_the_handshake_continues() {
    let mut pair = Pair::builder().seed(24).links(&[10]).connect();
    let syn = pair.client.poll_transmit(pair.now).unwrap().segment;
    pair.keep_log = true;
    pair.inject(true, 0, syn.clone());
    let mut wrong = Segment::new(syn.source, syn.destination);
    wrong.flags = Flags::ACK;
    wrong.sequence = syn.sequence + 1;
    wrong.acknowledgment = pair.log[0].3.sequence;
    pair.inject(true, 0, wrong);
    assert_eq!(pair.log[1].3.flags, Flags::RST);
    delivers(&mut pair, 20_000);
}

#[test]
fn simultaneous_open_falls_back_to_tcp() {
    let mut pair = Pair::builder().seed(25).links(&[10]).connect();
    let syn = pair.client.poll_transmit(pair.now).unwrap().segment;
    pair.keep_log = true;
    let mut theirs = Segment::new(syn.destination, syn.source);
    theirs.flags = Flags::SYN;
    theirs.sequence = Seq::new(9_000);
    theirs.window = 60_000;
    pair.rule = Box::new(|_, _, _| Fate::Drop);
    pair.inject(false, 0, theirs.clone());
    let answer = pair.log[0].3.clone();
    assert_eq!((answer.flags, answer.acknowledgment), (Flags::SYN | Flags::ACK, Seq::new(9_001)));
    theirs.flags = Flags::SYN | Flags::ACK;
    theirs.acknowledgment = syn.sequence + 1;
    pair.inject(false, 0, theirs);
    assert!(pair.happened(true, EventKind::Connected), "{:?}", pair.events);
    assert_eq!(pair.client.info(pair.now, pair.connection).unwrap().mode, Mode::Plain);
}

/// A host that guesses addresses and ports can forge a SYN, but cannot acknowledge the SYN of the host.
#[test]
fn forged_syn_neither_ends_nor_downgrades_a_handshake() {
    for paths in [&[10][..], &[10, 20]] {
        let mut pair = Pair::builder().seed(27).links(paths).connect();
        // A forged SYN arrives before each SYN/ACK.
        pair.rule = Box::new(|to_server, _, segment| {
            if to_server || !segment.flags.syn() {
                return Fate::Deliver;
            }
            let mut forged = segment.clone();
            (forged.flags, forged.sequence) = (Flags::SYN, segment.sequence + (1 << 30));
            Fate::Several(vec![forged, segment.clone()])
        });
        delivers(&mut pair, 50_000);
        let info = pair.client.info(pair.now, pair.connection).unwrap();
        assert_eq!((info.mode, info.subflows.len()), (Mode::Multipath, paths.len()), "{info:#?}");
        assert!(info.past.is_empty(), "no join had to be repeated: {info:#?}");
    }
}

#[test]
fn checksum_is_used_if_only_the_client_requires_it() {
    let mut pair = Pair::builder()
        .seed(26)
        .links(&[10])
        .client(Config { checksum: true, ..Config::default() })
        .connect();
    pair.keep_log = true;
    // A server that responds without the flag, as Linux.
    pair.rule = Box::new(|to_server, _, segment| {
        let mut segment = segment.clone();
        if !to_server && segment.flags.syn() {
            for option in &mut segment.options.mptcp {
                if let MptcpOption::Capable(capable) = option {
                    capable.flags &= !mptcp_wire::MpCapable::CHECKSUM_REQUIRED;
                }
            }
        }
        Fate::Replace(Box::new(segment))
    });
    delivers(&mut pair, 50_000);
    let mappings = pair.log.iter().filter(|(_, to_server, ..)| *to_server);
    let mut mappings = mappings.filter_map(|(.., segment)| segment.options.dss?.mapping);
    assert!(mappings.all(|mapping| mapping.checksum.is_some()));
}

#[test]
fn reset_far_outside_the_window_is_dropped_silently() {
    let mut pair = Pair::builder().seed(27).links(&[10]).connect();
    delivers(&mut pair, 10_000);
    pair.run(Duration::from_secs(1));
    pair.keep_log = true;
    let tuple = pair.client.info(pair.now, pair.connection).unwrap().subflows[0].clone();
    let mut reset = Segment::new(tuple.local, tuple.remote);
    reset.flags = Flags::RST;
    for sequence in (0..u32::MAX - 99_999_999).step_by(99_999_989) {
        reset.sequence = Seq::new(sequence);
        pair.inject(true, 0, reset.clone());
    }
    assert!(pair.log.is_empty(), "{:?}", pair.log);
    delivers(&mut pair, 10_000);
}

#[test]
fn joins_stop_at_the_limit_of_subflows() {
    let config = Config { max_subflows: 2, ..Config::default() };
    let mut pair = Pair::builder().seed(28).links(&[10, 10, 10, 10]).config(config).connect();
    delivers(&mut pair, 10_000);
    pair.run(Duration::from_secs(1));
    assert_eq!(pair.client.info(pair.now, pair.connection).unwrap().subflows.len(), 3);
}

#[test]
fn second_address_of_a_server_is_joined() {
    let mut pair = Pair::builder().seed(31).links(&[10]).connect();
    let second = std::net::IpAddr::from([10, 9, 0, 2]);
    pair.server.add_interface(second, false);
    delivers(&mut pair, 500_000);
    let subflows = pair.client.info(pair.now, pair.connection).unwrap().subflows;
    let remotes: Vec<_> = subflows.iter().map(|subflow| subflow.remote.ip()).collect();
    assert_eq!(remotes, [pair::server_address(), second]);
    assert!(subflows.iter().all(|subflow| subflow.stats.bytes_acked > 0));
}

#[test]
fn closed_listener_port_sends_resets() {
    let mut pair = Pair::builder().seed(32).links(&[10]).connect();
    assert!(pair.server.unlisten(pair::PORT));
    assert!(!pair.server.unlisten(pair::PORT));
    pair.run(Duration::from_secs(1));
    assert!(pair.happened(true, EventKind::Closed(mptcp::CloseReason::Refused)));
    assert!(pair.server.listen(pair::PORT, Config::default()).is_ok());
}

/// A subflow on probation carries no data until the time is over and the peer has acknowledged later data,
/// unless no other subflow works.
#[test]
fn join_on_probation_carries_no_data_while_others_can() {
    let config = Config { join_probation: Some(Duration::from_millis(100)), ..Config::default() };
    let mut pair = Pair::builder().seed(5).links(&[10, 1]).client(config).connect();
    pair.keep_log = true;
    let data = pattern(3_000_000);
    pair.transfer(&data, Duration::from_secs(30));
    assert_eq!(pair.received[0], data);
    let first = |path: usize, joins: bool| {
        let mut log = pair.log.iter().filter(|(_, to_server, on, _)| *to_server && *on == path);
        log.find(|(.., s)| if joins { s.flags.syn() } else { !s.payload.is_empty() })
            .map(|(at, ..)| *at)
            .unwrap()
    };
    // The handshake takes an RTT of 2 ms, and an acknowledgement on the first path another 20 ms.
    let waited = first(1, false).since(first(1, true));
    assert!(waited >= Duration::from_millis(122) && waited < Duration::from_millis(200), "{waited:?}");
}

#[test]
fn join_on_probation_carries_data_if_no_other_can() {
    let config = Config { join_probation: Some(Duration::from_secs(1000)), ..Config::default() };
    let mut pair = Pair::builder().seed(5).links(&[10, 1]).client(config).connect();
    pair.transfer(&pattern(100_000), Duration::from_secs(5));
    pair.interface(0, mptcp::InterfaceChange::Down);
    pair.transfer(&pattern(100_000), Duration::from_secs(5));
    assert_eq!(pair.received[0].len(), 200_000);
}
