//! Extreme and invalid settings, and endless address announcements.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::net::SocketAddr;

use crate::pair::{Fate, Pair, pattern};
use crate::test_peer::{self, TestPeer};
use mptcp::{Config, Endpoint, Keepalive};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::{AddAddress, Flags, MpCapable, MptcpOption, crypto};

/// A change of the settings.
type Change = fn(&mut Config);

/// S10: data arrives with buffers, windows and limits at the limits of their types.
#[test]
fn extreme_sizes_carry_data() {
    let all: [(&str, Change); 5] = [
        ("no initial window", |config| config.initial_window = 0),
        ("nothing may wait unsent", |config| config.notsent_lowat = Some(0)),
        ("the largest receive buffer", |config| config.receive_buffer = u64::MAX),
        ("the largest send buffer", |config| config.send_buffer = u64::MAX),
        ("no timeout", |config| config.min_rto = Duration::ZERO),
    ];
    for (name, change) in all {
        for autotuning in [false, true] {
            let mut config = Config::default();
            config.mechanisms.autotuning = autotuning;
            change(&mut config);
            let mut pair = Pair::builder().links(&[5, 9]).config(config).connect();
            pair.transfer(&pattern(100_000), Duration::from_secs(20));
            assert_eq!(pair.received[0].len(), 100_000, "{name}, autotuning {autotuning}");
        }
    }
}

/// Data arrives with the minimum and maximum MSS, and with a user timeout of 0, which disables it.
#[test]
fn invalid_mss_and_user_timeout_are_replaced_by_valid_values() {
    let all: [(&str, Change); 4] = [
        ("no MSS", |config| config.mss = 0),
        ("an MSS that options fill", |config| config.mss = 40),
        ("an MSS that no packet carries", |config| config.mss = u16::MAX),
        ("a user timeout of 0", |config| config.user_timeout = Some(Duration::ZERO)),
    ];
    for (name, change) in all {
        for base in [Config::tcp(), Config::default()] {
            let mut config = base;
            change(&mut config);
            let mut pair = Pair::builder().links(&[5, 9]).config(config).connect();
            let lost = pair.segments + 20;
            pair.rule = Box::new({
                let mut count = 0;
                move |_, _, _| {
                    count += 1;
                    if count == lost { Fate::Drop } else { Fate::Deliver }
                }
            });
            pair.transfer(&pattern(20_000), Duration::from_secs(20));
            assert_eq!(pair.received[0].len(), 20_000, "{name}");
        }
    }
}

/// S10: keepalive with a zero interval does not wake the host repeatedly at one time.
#[test]
fn keepalive_with_zero_interval_lets_time_advance() {
    let keepalive =
        Some(Keepalive { idle: Duration::from_secs(1), interval: Duration::ZERO, probes: u32::MAX });
    for later in [false, true] {
        let (mut remote, _) =
            TestPeer::open(Config { keepalive: keepalive.filter(|_| !later), ..Config::default() });
        remote.send_data(remote.flow, 1, 1, 10);
        if later {
            remote.host.set_keepalive(remote.now, remote.connection, keepalive);
        }
        let begin = remote.now;
        for _ in 0..5_000 {
            let Some(at) = remote.host.poll_timeout() else { break };
            remote.now = remote.now.max(at);
            remote.host.handle_timeout(remote.now);
            remote.collect();
        }
        assert!(remote.now.since(begin) >= Duration::from_secs(2), "{:?}", remote.now.since(begin));
    }
}

/// S6c: a server that keeps announcing refused ports makes its client try only a few of them.
#[test]
fn announced_ports_are_joined_at_a_limited_rate() {
    let mut host = Endpoint::new(Rng::new(7, "host"));
    let interface = host.add_interface(test_peer::host_address(), false);
    let mut now = Instant::ZERO + Duration::from_secs(1);
    let peer: SocketAddr = "10.0.0.9:80".parse().unwrap();
    host.connect(now, interface, peer, Config::default()).unwrap();
    let syn = host.poll_transmit(now).unwrap().segment;
    let mut answer = test_peer::segment(peer, syn.source, Flags::SYN | Flags::ACK, Vec::new());
    answer.acknowledgment = syn.sequence + 1;
    let capable = MpCapable {
        version: 1,
        flags: MpCapable::HMAC,
        sender_key: Some(test_peer::KEY),
        receiver_key: None,
        data: None,
    };
    answer.options.mptcp.push(MptcpOption::Capable(capable));
    host.handle_segment(now, interface, answer);
    let third = host.poll_transmit(now).unwrap().segment;
    let Some(&MptcpOption::Capable(MpCapable { sender_key: Some(key), .. })) = third.options.mptcp.first()
    else {
        panic!("{third:?}");
    };
    let mut asked = BTreeSet::new();
    for port in 1_000..60_000_u16 {
        let (id, address) = ((port % 255) as u8 + 1, [10, 0, 0, 8].into());
        let hmac = Some(crypto::add_address_hmac(test_peer::KEY, key, id, address, Some(port)));
        let add = AddAddress { echo: false, id, address, port: Some(port), hmac };
        let mut ack = test_peer::segment(peer, syn.source, Flags::ACK, vec![MptcpOption::AddAddress(add)]);
        ack.sequence = mptcp_wire::Seq::new(1);
        ack.acknowledgment = syn.sequence + 1;
        host.handle_segment(now, interface, ack);
        while let Some(sent) = host.poll_transmit(now) {
            let sent = sent.segment;
            if sent.flags.syn() {
                asked.insert(sent.destination.port());
                let mut reset =
                    test_peer::segment(sent.destination, sent.source, Flags::RST | Flags::ACK, Vec::new());
                reset.acknowledgment = sent.sequence + 1;
                host.handle_segment(now, interface, reset);
            }
        }
        now += Duration::from_millis(1);
    }
    // In one minute: 16 at once, and one per ten seconds.
    assert!((1..=16 + 6).contains(&asked.len()), "{} ports of 59 000", asked.len());
}
