//! MPTCP version 0 (RFC 6824).

use crate::pair::{Fate, Pair, pattern};
use mptcp::{Config, EventKind, InterfaceChange, Mode, Version};
use mptcp_clock::Duration;
use mptcp_wire::{DataSequence, MpJoin, MptcpOption, Segment};

fn old() -> Config {
    Config { version: Version::V0, ..Config::default() }
}

fn mode(pair: &Pair) -> (Option<Mode>, Option<Mode>) {
    let client = pair.client.info(pair.now, pair.connection).map(|info| info.mode);
    let server = pair.accepted.and_then(|id| pair.server.info(pair.now, id)).map(|info| info.mode);
    (client, server)
}

fn options(segment: &Segment) -> impl Iterator<Item = &MptcpOption> {
    segment.options.mptcp.iter()
}

#[test]
fn data_crosses_two_paths() {
    let mut pair = Pair::builder().seed(1).links(&[5, 20]).config(old()).connect();
    pair.keep_log = true;
    let data = pattern(1_000_000);
    for turn in 1..=5 {
        pair.transfer(&data, Duration::from_secs(60));
        // Only the other path, for a while.
        let (gone, back) = (InterfaceChange::Down, InterfaceChange::Up);
        pair.interface(0, if turn % 2 == 1 { gone } else { back });
    }
    assert_eq!(pair.received[0].len(), 5 * data.len());
    assert!(pair.received[0].chunks(data.len()).all(|part| part == data));
    assert_eq!(mode(&pair), (Some(Mode::Multipath), Some(Mode::Multipath)));
    let info = pair.client.info(pair.now, pair.connection).expect("open");
    assert!(info.subflows.iter().take(2).all(|subflow| subflow.stats.bytes_acked > 0), "{:?}", info.subflows);
}

#[test]
fn the_handshake_is_that_of_rfc_6824() {
    let mut pair = Pair::builder().seed(2).links(&[5, 20]).config(old()).connect();
    pair.keep_log = true;
    pair.transfer(&pattern(200_000), Duration::from_secs(10));
    let capable: Vec<_> = pair
        .log
        .iter()
        .flat_map(|(_, to_server, _, segment)| options(segment).map(move |option| (*to_server, option)))
        .filter_map(|(to_server, option)| match option {
            MptcpOption::Capable(capable) => Some((to_server, *capable)),
            _ => None,
        })
        .collect();
    // A key in the SYN, one in the SYN/ACK, both in the third ACK; never with data.
    assert_eq!(capable.len(), 3, "{capable:?}");
    assert!(capable.iter().all(|(_, capable)| capable.version == 0 && capable.data.is_none()));
    let (client, server) = (capable[0].1.sender_key, capable[1].1.sender_key);
    assert!(client.is_some() && server.is_some());
    assert_eq!((capable[2].1.sender_key, capable[2].1.receiver_key), (client, server));
    // The token of the join and the first data sequence number come from SHA-1.
    let digest = Version::V0.digest(server.unwrap_or(0));
    let mut joins = pair.log.iter().flat_map(|(.., segment)| options(segment));
    let token = joins.find_map(|option| match *option {
        MptcpOption::Join(MpJoin::Syn { token, .. }) => Some(token),
        _ => None,
    });
    assert_eq!(token, Some(digest.token));
    let first = pair.log.iter().find_map(|(_, to_server, _, segment)| {
        segment.options.dss.and_then(|dss| dss.mapping).filter(|_| *to_server)
    });
    let start = Version::V0.digest(client.unwrap_or(0)).initial_sequence.wrapping_add(1);
    assert_eq!(first.map(|mapping| mapping.sequence), Some(DataSequence::Wide(start)));
}

#[test]
fn data_before_the_third_ack_completes_the_handshake() {
    let mut pair = Pair::builder().seed(3).links(&[5]).config(old()).connect();
    let mut third = true;
    pair.rule = Box::new(move |to_server, _, segment| {
        let drop = to_server && !segment.flags.syn() && std::mem::take(&mut third);
        if drop { Fate::Drop } else { Fate::Deliver }
    });
    let data = pattern(50_000);
    pair.transfer(&data, Duration::from_secs(20));
    assert_eq!(pair.received[0], data);
    assert_eq!(mode(&pair), (Some(Mode::Multipath), Some(Mode::Multipath)));
}

#[test]
fn version_1_server_answers_version_0_with_tcp() {
    let mut pair = Pair::builder().seed(4).links(&[5, 20]).client(old()).connect();
    let data = pattern(100_000);
    pair.transfer(&data, Duration::from_secs(20));
    assert_eq!(pair.received[0], data);
    assert_eq!(mode(&pair), (Some(Mode::Plain), Some(Mode::Plain)));
}

#[test]
fn server_with_both_versions_uses_the_version_of_the_client() {
    let mut pair = Pair::builder().seed(5).links(&[5, 20]).server(old()).connect();
    pair.keep_log = true;
    let data = pattern(100_000);
    pair.transfer(&data, Duration::from_secs(20));
    assert_eq!(pair.received[0], data);
    assert_eq!(mode(&pair), (Some(Mode::Multipath), Some(Mode::Multipath)));
    let mut capable = pair.log.iter().flat_map(|(.., segment)| options(segment));
    assert!(capable.any(|option| matches!(option, MptcpOption::Capable(capable) if capable.version == 1)));
}

#[test]
fn path_is_removed_and_restored() {
    let mut pair = Pair::builder().seed(6).links(&[5, 20]).config(old()).connect();
    pair.keep_log = true;
    let data = pattern(400_000);
    pair.transfer(&data, Duration::from_secs(20));
    pair.interface(0, InterfaceChange::Down);
    pair.transfer(&data, Duration::from_secs(20));
    pair.interface(0, InterfaceChange::Up);
    pair.transfer(&data, Duration::from_secs(20));
    assert_eq!(pair.received[0].len(), 3 * data.len());
    // Options that version 0 does not have.
    let strange = |option: &MptcpOption| match option {
        MptcpOption::TcpRst(_) => true,
        MptcpOption::AddAddress(add) => add.echo || add.hmac.is_some(),
        _ => false,
    };
    assert!(!pair.log.iter().any(|(.., segment)| options(segment).any(strange)));
    pair.client.close(pair.now, pair.connection);
    pair.run(Duration::from_secs(1));
    if let Some(accepted) = pair.accepted {
        pair.server.close(pair.now, accepted);
    }
    pair.run(Duration::from_secs(5));
    assert!(pair.events.iter().any(|(_, kind)| matches!(kind, EventKind::Closed(_))), "{:?}", pair.events);
}

#[test]
fn a_forged_join_is_reset_and_the_connection_lives() {
    let mut pair = Pair::builder().seed(7).links(&[5, 20]).config(old()).connect();
    pair.rule = Box::new(|to_server, path, segment| {
        let mut changed = segment.clone();
        let mut hit = false;
        for option in &mut changed.options.mptcp {
            if let MptcpOption::Join(MpJoin::Ack { hmac }) = option {
                hmac[19] ^= 1;
                hit = to_server && path == 1;
            }
        }
        if hit { Fate::Replace(Box::new(changed)) } else { Fate::Deliver }
    });
    let data = pattern(200_000);
    pair.transfer(&data, Duration::from_secs(20));
    pair.run(Duration::from_secs(1));
    assert_eq!(pair.received[0], data);
    let info = pair.client.info(pair.now, pair.connection).expect("open");
    assert!(info.subflows[1].closed_by.is_some(), "{:?}", info.subflows[1]);
}

/// RFC 6824 has no MP_TCPRST: a refused join gets a reset without it.
#[test]
fn a_refused_join_gets_a_plain_reset() {
    let config = Config { version: Version::V0, ..Config::default() };
    let mut pair = Pair::builder()
        .seed(3)
        .links(&[5, 5])
        .client(config.clone())
        .server(Config { max_subflows: 0, ..config })
        .connect();
    pair.keep_log = true;
    pair.transfer(&pattern(50_000), Duration::from_secs(5));
    let resets: Vec<_> =
        pair.log.iter().filter(|(_, to_server, path, s)| !to_server && *path == 1 && s.flags.rst()).collect();
    assert!(!resets.is_empty());
    assert!(resets.iter().all(|(.., segment)| segment.options.mptcp.is_empty()));
}
