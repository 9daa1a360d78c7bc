//! Attacks on handshakes: floods of SYNs and joins, old connections, and invalid addresses.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::net::{IpAddr, SocketAddr};

use crate::pair::{self, Pair};
use crate::test_peer::{self, TestPeer};
use bytes::Bytes;
use mptcp::path_manager::NdiffPorts;
use mptcp::{Config, Endpoint, EventKind, InterfaceId, Mode, SubflowState, Version};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::{AddAddress, Flags, MpCapable, MpJoin, MptcpOption, Segment, Timestamps, crypto};

const HOST: [u8; 4] = [10, 0, 0, 1];

/// A host with a backlog of 4 and a client, with `flood` forged SYNs per segment of the client.
fn connects_under_flood(config: Config, client: Config, flood: u32) -> (Mode, Vec<u8>, Endpoint) {
    let mut host = Endpoint::new(Rng::new(3, "host"));
    let far = host.add_interface(HOST.into(), false);
    host.listen_on(80, config, None, Some(4)).unwrap();
    let mut near = Endpoint::new(Rng::new(3, "near"));
    let here = near.add_interface([10, 0, 0, 2].into(), false);
    let mut now = Instant::ZERO + Duration::from_secs(100);
    let mut forged = 0_u32;
    let mut storm = |host: &mut Endpoint, now: Instant| {
        for _ in 0..flood {
            forged += 1;
            let peer = SocketAddr::from(([11, (forged >> 16) as u8, (forged >> 8) as u8, forged as u8], 9));
            let mut syn = Segment::new(peer, (HOST, 80).into());
            syn.flags = Flags::SYN;
            syn.options.timestamps = Some(Timestamps { value: forged, echo: 0 });
            host.handle_segment(now, far, syn);
        }
        while host
            .poll_transmit(now)
            .is_some_and(|sent| sent.segment.destination.ip() != IpAddr::from([10, 0, 0, 2]))
        {}
    };
    storm(&mut host, now);
    let id = near.connect(now, here, (HOST, 80).into(), client).unwrap();
    let data: Vec<u8> = (0..200_000_u32).map(|at| (at * 7) as u8).collect();
    assert_eq!(near.write(now, id, Bytes::from(data.clone())), data.len());
    let (mut received, mut accepted) = (Vec::new(), None);
    for _ in 0..2000 {
        now += Duration::from_millis(1);
        while let Some(sent) = near.poll_transmit(now) {
            host.handle_segment(now, far, sent.segment);
            while let Some(back) = host.poll_transmit(now) {
                if back.segment.destination.ip() == IpAddr::from([10, 0, 0, 2]) {
                    near.handle_segment(now, here, back.segment);
                }
            }
        }
        while let Some(back) = host.poll_transmit(now) {
            if back.segment.destination.ip() == IpAddr::from([10, 0, 0, 2]) {
                near.handle_segment(now, here, back.segment);
            }
        }
        storm(&mut host, now);
        host.handle_timeout(now);
        near.handle_timeout(now);
        while let Some(event) = host.poll_event() {
            if event.kind == EventKind::Accepted {
                accepted = Some(event.connection);
                host.accept(event.connection);
            }
        }
        if let Some(id) = accepted {
            while let Some(bytes) = host.read(now, id) {
                received.extend_from_slice(&bytes);
            }
        }
        if received.len() == data.len() {
            break;
        }
    }
    assert!(received == data, "{} of {}", received.len(), data.len());
    (host.info(now, accepted.unwrap()).unwrap().mode, received, host)
}

/// X17: during a SYN flood, clients connect at once with MPTCP and all options, and no state is kept for the
/// flood.
#[test]
fn cookies_accept_clients_during_a_syn_flood() {
    let (mode, _, host) = connects_under_flood(Config::default(), Config::default(), 50);
    assert_eq!(mode, Mode::Multipath);
    let counters = host.counters();
    assert!(counters.cookies_sent > 50 && counters.cookies_accepted == 1, "{counters:?}");
    assert!(host.connections().count() <= 5, "{}", host.connections().count());
    let id = host.connections().find(|id| host.readable(*id) == 0 && host.connection(*id).is_some()).unwrap();
    assert!(host.info(Instant::ZERO, id).is_some());
    let (mode, ..) =
        connects_under_flood(Config::default(), Config { checksum: true, ..Config::default() }, 50);
    assert_eq!(mode, Mode::Multipath);
    let (mode, ..) = connects_under_flood(Config::default(), Config::tcp(), 50);
    assert_eq!(mode, Mode::Plain);
    let old = Config { version: Version::V0, ..Config::default() };
    let (mode, ..) = connects_under_flood(old.clone(), old, 50);
    assert_eq!(mode, Mode::Plain, "version 0 needs the key of the SYN");
    let bare = Config { timestamps: false, ..Config::default() };
    let (mode, ..) = connects_under_flood(Config::default(), bare, 50);
    assert_eq!(mode, Mode::Multipath, "without timestamps: without window scale and SACK");
}

/// A cookie is valid only for its client and a limited time.
#[test]
fn cookies_cannot_be_guessed_or_kept() {
    let mut host = Endpoint::new(Rng::new(3, "host"));
    let far = host.add_interface(HOST.into(), false);
    host.listen_on(80, Config::default(), None, Some(1)).unwrap();
    let now = Instant::ZERO + Duration::from_secs(100);
    let syn = |port: u16| {
        let mut syn = Segment::new(([10, 0, 0, 2], port).into(), (HOST, 80).into());
        syn.flags = Flags::SYN;
        syn
    };
    host.handle_segment(now, far, syn(1));
    while host.poll_transmit(now).is_some() {}
    host.handle_segment(now, far, syn(2));
    let answer = host.poll_transmit(now).unwrap().segment;
    let ack = |port: u16, acknowledgment| {
        let mut ack = syn(port);
        ack.flags = Flags::ACK;
        ack.sequence = answer.acknowledgment;
        ack.acknowledgment = acknowledgment;
        ack
    };
    let refused = |host: &mut Endpoint, now, ack| {
        host.handle_segment(now, far, ack);
        let reset = host.poll_transmit(now).is_some_and(|sent| sent.segment.flags.rst());
        reset && host.counters().cookies_accepted == 0
    };
    let right = answer.sequence + 1;
    assert!(refused(&mut host, now, ack(3, right)), "another port");
    (0..1000).for_each(|wrong| {
        assert!(
            wrong == 0
                || refused(
                    &mut host,
                    now + Duration::from_millis(2 * u64::from(wrong)),
                    ack(2, right + wrong)
                )
        )
    });
    assert!(refused(&mut host, now + Duration::from_secs(200), ack(2, right)), "too late");
    host.handle_segment(now + Duration::from_secs(60), far, syn(9));
    host.handle_segment(now + Duration::from_secs(60), far, ack(2, right));
    assert_eq!(host.counters().cookies_accepted, 1);
}

/// X16: incomplete joins do not block honest ones, which have proved their HMAC.
#[test]
fn half_open_joins_are_evicted() {
    let (mut remote, _) = TestPeer::open(Config::default());
    remote.send_data(remote.flow, 1, 1, 10);
    let token = Version::V1.digest(remote.host_key).token;
    let flood = |remote: &mut TestPeer, from: u16, count: u16| -> usize {
        let mut answers = 0;
        for port in from..from + count {
            let join = MpJoin::Syn { backup: false, address_id: 3, token, nonce: 5 };
            let peer = SocketAddr::new(remote.flow.peer.ip(), port);
            answers += remote
                .inject(test_peer::segment(peer, remote.flow.host, Flags::SYN, vec![MptcpOption::Join(join)]))
                .len();
        }
        answers
    };
    assert_eq!(flood(&mut remote, 3000, 2000), 2000, "those without a place are answered from the table");
    remote.sleep(Duration::from_secs(1));
    let (_, answers) = remote.join(2000);
    assert!(!answers.iter().any(|answer| answer.flags.rst()), "{answers:?}");
    let info = remote.host.info(remote.now, remote.connection).unwrap();
    assert_eq!(info.subflows.iter().filter(|s| s.state == SubflowState::Established).count(), 2);
    for round in 0..100 {
        remote.sleep(Duration::from_millis(300));
        flood(&mut remote, 10_000 + 100 * round, 100);
        let info = remote.host.info(remote.now, remote.connection).unwrap();
        assert!(info.usage.half_open_joins <= 8 && info.subflows.len() <= 64, "{:?}", info.usage);
    }
    // Every join with a valid HMAC is included in the limit.
    for port in 0..7 {
        remote.sleep(Duration::from_secs(2));
        remote.join(2100 + port);
    }
    remote.sleep(Duration::from_secs(2));
    let last = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| remote.join(2200)));
    assert!(last.is_err(), "eight beside the first one");
}

/// S2: a continuous flood of joins from spoofed addresses takes every free slot. An honest join succeeds
/// within its first tries, whatever its RTT. An acknowledgement without the keys has no effect.
#[test]
fn honest_joins_succeed_during_a_join_flood() {
    for (rate, round) in [(1_000_u32, 20_u32), (1_000, 200), (5_000, 100)] {
        let (mut remote, _) = TestPeer::open(Config::default());
        remote.send_data(remote.flow, 1, 1, 10);
        let token = Version::V1.digest(remote.host_key).token;
        let (mut spoofed, mut joined, mut tries) = (0_u32, 0, 0);
        let mut flood = |remote: &mut TestPeer, milliseconds: u32| {
            for _ in 0..milliseconds * rate / 1_000 {
                spoofed += 1;
                let join = MpJoin::Syn { backup: false, address_id: 4, token, nonce: spoofed };
                let from = std::net::Ipv4Addr::from(0x0b00_0000 + spoofed);
                let peer = SocketAddr::from((from, 4_000));
                remote.inject(test_peer::segment(
                    peer,
                    remote.flow.host,
                    Flags::SYN,
                    vec![MptcpOption::Join(join)],
                ));
                remote.sleep(Duration::from_millis(1_000) / rate.into());
            }
        };
        flood(&mut remote, 500);
        while joined < 20 {
            // RFC 6298: a SYN is retransmitted after a second, and so on; here each try is one SYN.
            tries += 1;
            let peer = SocketAddr::new(remote.flow.peer.ip(), 10_000 + tries);
            let join = MpJoin::Syn { backup: false, address_id: 3, token, nonce: 5 };
            let syn = test_peer::segment(peer, remote.flow.host, Flags::SYN, vec![MptcpOption::Join(join)]);
            let answers = remote.inject(syn);
            let answer = answers.iter().find(|answer| answer.destination == peer).unwrap();
            let Some(&MptcpOption::Join(MpJoin::SynAck { nonce, .. })) = answer.options.mptcp.first() else {
                panic!("{answer:?}");
            };
            let flow = test_peer::Flow { peer, iss: answer.sequence, ..remote.flow };
            flood(&mut remote, round);
            let hmac = |key| Version::V1.join_hmac(key, remote.host_key, 5, nonce);
            let (right, wrong) = (hmac(test_peer::KEY), hmac(test_peer::KEY + 1));
            if tries % 2 == 0 {
                let forged = MptcpOption::Join(MpJoin::Ack { hmac: wrong });
                let answers = remote.send(flow, 1, 1, |ack| ack.options.mptcp.push(forged));
                assert!(answers.iter().all(|answer| answer.flags.rst()), "{answers:?}");
                continue;
            }
            remote.send(flow, 1, 1, |ack| {
                ack.options.mptcp.push(MptcpOption::Join(MpJoin::Ack { hmac: right }))
            });
            let info = remote.host.info(remote.now, remote.connection).unwrap();
            let open =
                info.subflows.iter().find(|s| s.remote == peer && s.state == SubflowState::Established);
            if let Some(subflow) = open {
                joined += 1;
                assert!(remote.host.close_subflow(remote.now, remote.connection, subflow.id));
                remote.collect();
            }
            assert!(info.usage.half_open_joins <= 8 && remote.host.usage().join_requests <= 4096);
        }
        assert!(tries <= 50, "{tries} tries for 20 joins and as many forged ones at {rate} SYN/s");
        remote.sleep(Duration::from_secs(200));
    }
}

/// Subflows beyond the number of slots are never opened.
#[test]
fn subflows_never_exceed_their_slots() {
    let (mut remote, _) = TestPeer::open(Config { max_subflows: 255, ..Config::default() });
    remote.send_data(remote.flow, 1, 1, 10);
    for port in 0..48 {
        remote.join(2000 + port);
        remote.sleep(Duration::from_millis(10));
    }
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| remote.join(3000)));
    assert!(refused.is_err(), "49 are the most");
    assert!(remote.host.info(remote.now, remote.connection).unwrap().subflows.len() <= 64);
}

/// RFC 9293 section 3.10.7.4: a new SYN with higher sequence numbers ends TIME-WAIT.
#[test]
fn a_newer_syn_ends_time_wait() {
    let (mut remote, _) = TestPeer::open(Config::tcp());
    remote.host.close(remote.now, remote.connection);
    remote.collect();
    remote.send(remote.flow, 1, 2, |fin| fin.flags |= Flags::FIN);
    let info = remote.host.info(remote.now, remote.connection).unwrap();
    assert_eq!(info.subflows[0].state, SubflowState::TimeWait);
    let mut syn = test_peer::segment(remote.flow.peer, remote.flow.host, Flags::SYN, Vec::new());
    for (sequence, opens) in [(0, false), (1, false), (70_000, true)] {
        syn.sequence = mptcp_wire::Seq::new(sequence);
        let answers = remote.inject(syn.clone());
        let opened = answers.iter().any(|answer| answer.flags.contains(Flags::SYN | Flags::ACK));
        assert_eq!(opened, opens, "{sequence}: {answers:?}");
        if opens {
            assert!(answers[0].sequence.offset_from(remote.flow.iss) > 65_535, "behind the old numbers");
        }
    }
}

/// RFC 8684 section 3.1, flag C: no subflow is opened to the initial address, but to announced addresses.
#[test]
fn joins_are_refused_if_disabled() {
    for wanted in [true, false] {
        let server = Config { join_initial_address: wanted, ..Config::default() };
        let mut pair = Pair::builder().seed(4).links(&[5, 5]).server(server).connect();
        pair.transfer(&pair::pattern(50_000), Duration::from_secs(5));
        let info = pair.client.info(pair.now, pair.connection).unwrap();
        assert_eq!(info.subflows.len(), if wanted { 2 } else { 1 });
        let there = (pair::server_address(), pair::PORT).into();
        assert_eq!(pair.client.open_subflow(pair.now, pair.connection, InterfaceId(1), there), wanted);
    }
}

/// Unspecified, multicast and own addresses are not joined.
#[test]
fn invalid_announced_addresses_are_not_joined() {
    let mut pair = Pair::builder().seed(4).links(&[5]).connect();
    pair.transfer(&pair::pattern(50_000), Duration::from_secs(5));
    let ours = pair.client.info(pair.now, pair.connection).unwrap();
    let theirs = pair.server.info(pair.now, pair.accepted.unwrap()).unwrap();
    assert_eq!(ours.token, theirs.remote_token.unwrap());
    // A scripted peer knows its key.
    let addresses: [IpAddr; 7] = [
        [127, 0, 0, 1].into(),
        [224, 0, 0, 1].into(),
        [255; 4].into(),
        [0; 4].into(),
        test_peer::host_address(),
        "ff02::1".parse().unwrap(),
        "::1".parse().unwrap(),
    ];
    for (number, address) in addresses.into_iter().enumerate() {
        let mut host = Endpoint::new(Rng::new(7, "host"));
        let interface = host.add_interface(test_peer::host_address(), false);
        host.add_interface("fd00::1".parse().unwrap(), false);
        let now = Instant::ZERO;
        let peer: SocketAddr = "10.0.0.9:80".parse().unwrap();
        host.connect(now, interface, peer, Config::default()).unwrap();
        let syn = host.poll_transmit(now).unwrap().segment;
        let mut answer = test_peer::segment(peer, syn.source, Flags::SYN | Flags::ACK, Vec::new());
        answer.acknowledgment = syn.sequence + 1;
        answer.options.mptcp.push(MptcpOption::Capable(MpCapable {
            version: 1,
            flags: MpCapable::HMAC,
            sender_key: Some(test_peer::KEY),
            receiver_key: None,
            data: None,
        }));
        host.handle_segment(now, interface, answer);
        let third = host.poll_transmit(now).unwrap().segment;
        let Some(MptcpOption::Capable(MpCapable { sender_key: Some(key), .. })) = third.options.mptcp.first()
        else {
            panic!("{third:?}");
        };
        let id = number as u8 + 1;
        let hmac = Some(crypto::add_address_hmac(test_peer::KEY, *key, id, address, None));
        let add = AddAddress { echo: false, id, address, port: None, hmac };
        let mut ack = test_peer::segment(peer, syn.source, Flags::ACK, vec![MptcpOption::AddAddress(add)]);
        ack.sequence = mptcp_wire::Seq::new(1);
        ack.acknowledgment = syn.sequence + 1;
        host.handle_segment(now, interface, ack);
        let sent: Vec<Segment> =
            std::iter::from_fn(|| host.poll_transmit(now)).map(|sent| sent.segment).collect();
        assert!(!sent.iter().any(|segment| segment.flags.syn()), "{address}: {sent:?}");
    }
}

/// `ndiffports` opens its subflows within one IP version.
#[test]
fn ndiffports_uses_one_ip_version() {
    let manager = NdiffPorts { subflows: 4 }.into();
    let config = Config { path_manager: manager, ..Config::default() };
    let mut near = Endpoint::new(Rng::new(1, "near"));
    let mut far = Endpoint::new(Rng::new(1, "far"));
    near.add_interface("fd00::2".parse().unwrap(), false);
    let here = near.add_interface([10, 0, 0, 2].into(), false);
    let there = far.add_interface(HOST.into(), false);
    far.listen(80, Config::default()).unwrap();
    let mut now = Instant::ZERO;
    let id = near.connect(now, here, (HOST, 80).into(), config).unwrap();
    for _ in 0..200 {
        now += Duration::from_millis(1);
        while let Some(sent) = near.poll_transmit(now) {
            assert_eq!(sent.segment.source.is_ipv4(), sent.segment.destination.is_ipv4());
            far.handle_segment(now, there, sent.segment);
        }
        while let Some(sent) = far.poll_transmit(now) {
            near.handle_segment(now, here, sent.segment);
        }
        near.handle_timeout(now);
        far.handle_timeout(now);
    }
    assert_eq!(near.info(now, id).unwrap().subflows.len(), 4, "an idle connection joins too");
}

/// A device never gets a packet longer than IP allows.
#[test]
fn large_segments_fit_an_ip_packet() {
    let mut pair = Pair::builder().seed(4).links(&[5]).connect();
    pair.client.set_gso_max(InterfaceId(0), u16::MAX);
    let id = pair.client.connect(
        pair.now,
        InterfaceId(0),
        (pair::server_address(), pair::PORT).into(),
        Config::default(),
    );
    pair.connection = id.unwrap();
    pair.keep_log = true;
    pair.transfer(&pair::pattern(5_000_000), Duration::from_secs(20));
    let longest = pair.log.iter().map(|(.., segment)| segment.packet_length()).max();
    assert!(longest.is_some_and(|longest| (60_000..=65_535).contains(&longest)), "{longest:?}");
}

/// A SYN/ACK with a cookie has flag C like any other. A listener without a backlog also limits the number of
/// half-open handshakes.
#[test]
fn handshakes_are_bounded_without_a_backlog() {
    let mut host = Endpoint::new(Rng::new(3, "host"));
    let far = host.add_interface(HOST.into(), false);
    host.listen(80, Config { join_initial_address: false, ..Config::default() }).unwrap();
    let now = Instant::ZERO + Duration::from_secs(100);
    let mut last = None;
    for number in 0..5000_u32 {
        let peer = SocketAddr::from(([11, 0, (number >> 8) as u8, number as u8], 9));
        let mut syn = test_peer::segment(
            peer,
            (HOST, 80).into(),
            Flags::SYN,
            vec![test_peer::capable(MpCapable::HMAC, None)],
        );
        syn.options.timestamps = Some(Timestamps { value: number, echo: 0 });
        host.handle_segment(now, far, syn);
        last = host.poll_transmit(now).map(|sent| sent.segment);
    }
    assert_eq!(host.usage().half_open, 4096);
    assert!(host.counters().cookies_sent > 800, "{:?}", host.counters());
    let Some(MptcpOption::Capable(capable)) = last.as_ref().and_then(|last| last.options.mptcp.first())
    else {
        panic!("{last:?}");
    };
    assert_ne!(capable.flags & MpCapable::NO_JOIN_HERE, 0);
}
