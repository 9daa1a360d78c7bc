//! Paths with a smaller MTU than that of both hosts, on one path and on two.

use std::sync::{Arc, Mutex};

use mptcp::{Config, IcmpError, IcmpMessage, MtuProbing, SubflowState};
use mptcp_clock::Duration;
use mptcp_wire::Segment;

use crate::pair::{Fate, Pair, pattern};

/// The segments that were too large.
type Refused = Arc<Mutex<Vec<Segment>>>;

/// From now on, the first path drops and records packets of more than `most` bytes in both directions.
fn narrow(pair: &mut Pair, most: usize) -> Refused {
    let refused = Refused::default();
    let list = Arc::clone(&refused);
    pair.rule = Box::new(move |to_server, path, segment| {
        if path > 0 || segment.packet_length() <= most {
            return Fate::Deliver;
        }
        if to_server {
            list.lock().expect("no panic").push(segment.clone());
        }
        Fate::Drop
    });
    refused
}

/// Sends data to the server for this time; a router reports the dropped packets if it has an MTU.
fn send(pair: &mut Pair, data: &[u8], refused: &Refused, mtu: Option<u32>, limit: Duration) {
    let start = pair.now;
    let before = pair.received[0].len();
    let mut rest = bytes::Bytes::copy_from_slice(data);
    while pair.received[0].len() < before + data.len() && pair.now.since(start) < limit {
        let taken = pair.client.write(pair.now, pair.connection, rest.clone());
        let _ = rest.split_to(taken);
        pair.run(Duration::from_millis(5));
        for segment in refused.lock().expect("no panic").drain(..) {
            if let Some(mtu) = mtu {
                let (local, remote) = (segment.source, segment.destination);
                let error = IcmpError::TooBig { mtu };
                let message = IcmpMessage { local, remote, sequence: segment.sequence, error };
                pair.client.handle_icmp(pair.now, message);
            }
        }
    }
    assert_eq!(pair.received[0].len(), before + data.len(), "after {}", pair.now.since(start));
    assert!(pair.received[0][before..] == *data, "it is intact");
}

fn first(pair: &Pair) -> mptcp::SubflowInfo {
    let info = pair.client.connection(pair.connection).expect("it lives").info(pair.now);
    info.subflows[0].clone()
}

#[test]
fn reduced_path_mtu_costs_one_timeout_and_no_data() {
    for config in [Config::tcp(), Config::default(), Config { checksum: true, ..Config::default() }] {
        let mut pair = Pair::builder().links(&[10]).config(config).connect();
        let none = Refused::default();
        send(&mut pair, &pattern(200_000), &none, None, Duration::from_secs(10));
        let refused = narrow(&mut pair, 1200);
        send(&mut pair, &pattern(500_000), &refused, Some(1200), Duration::from_secs(10));
        let path = first(&pair);
        assert_eq!(path.pmtu, 1200);
        // Larger packets have arrived: the router is believed only once nothing arrives any more (RFC 5927
        // section 7.2).
        assert_eq!(path.timeouts, 1);
    }
}

#[test]
fn small_initial_path_mtu_costs_no_timeout() {
    for config in [Config::tcp(), Config::default()] {
        let mut pair = Pair::builder().links(&[10]).config(config).connect();
        let refused = narrow(&mut pair, 1200);
        send(&mut pair, &pattern(500_000), &refused, Some(1200), Duration::from_secs(5));
        let path = first(&pair);
        assert_eq!((path.pmtu, path.timeouts, path.recoveries), (1200, 0, 0));
    }
}

#[test]
fn path_with_a_small_mtu_is_used_with_another_path() {
    let mut pair = Pair::builder().links(&[10, 15]).connect();
    let none = Refused::default();
    send(&mut pair, &pattern(100_000), &none, None, Duration::from_secs(5));
    let refused = narrow(&mut pair, 1000);
    send(&mut pair, &pattern(2_000_000), &refused, Some(1000), Duration::from_secs(20));
    pair.run(Duration::from_secs(2));
    let before = first(&pair);
    assert_eq!((before.pmtu, before.state), (1000, SubflowState::Established));
    send(&mut pair, &pattern(2_000_000), &refused, Some(1000), Duration::from_secs(20));
    let more = first(&pair).stats.bytes_acked - before.stats.bytes_acked;
    assert!(more > 50_000, "{more}");
}

#[test]
fn mtu_probing_detects_a_black_hole() {
    for links in [vec![10], vec![10, 15]] {
        let config = Config { mtu_probing: MtuProbing::BlackHole, ..Config::default() };
        let mut pair = Pair::builder().links(&links).config(config).connect();
        let none = Refused::default();
        send(&mut pair, &pattern(100_000), &none, None, Duration::from_secs(5));
        let refused = narrow(&mut pair, 1300);
        send(&mut pair, &pattern(4_000_000), &refused, None, Duration::from_secs(60));
        pair.run(Duration::from_secs(10));
        send(&mut pair, &pattern(4_000_000), &refused, None, Duration::from_secs(60));
        // The probed MTU is below the limit; with more data it is closer.
        let found = first(&pair).pmtu;
        // A host that has received nothing reserves space for an 8-byte data acknowledgement, which takes
        // four.
        assert!((1270..=1304).contains(&found), "{links:?}: {found}");
    }
}

#[test]
fn mtu_probing_from_a_small_size_finds_the_mtu_without_loss() {
    let config = Config { mtu_probing: MtuProbing::On, ..Config::default() };
    let mut pair = Pair::builder().links(&[10]).config(config).connect();
    pair.run(Duration::from_millis(100));
    assert_eq!(first(&pair).pmtu, 1064);
    let none = Refused::default();
    send(&mut pair, &pattern(3_000_000), &none, None, Duration::from_secs(20));
    let path = first(&pair);
    assert!(path.pmtu > 1492, "{}", path.pmtu);
    assert_eq!((path.recoveries, path.timeouts), (0, 0));
}

/// S13: a router that reports an MTU two bytes smaller for each segment causes few retransmitted flights.
#[test]
fn decreasing_mtu_reports_cost_few_flights() {
    for config in [Config::tcp(), Config::default()] {
        let mut pair = Pair::builder().links(&[10]).config(config).connect();
        let seen: Refused = Refused::default();
        let list = Arc::clone(&seen);
        pair.rule = Box::new(move |to_server, _, segment| {
            if to_server && !segment.payload.is_empty() {
                list.lock().expect("no panic").push(segment.clone());
                return Fate::Drop;
            }
            Fate::Deliver
        });
        let before = pair.segments;
        pair.client.write(pair.now, pair.connection, pattern(100_000).into());
        for message in 0..900 {
            pair.run(Duration::from_micros(100));
            let largest = |segment: &&Segment| segment.payload.len() > 460;
            let quoted = seen.lock().expect("no panic").iter().rev().find(largest).cloned();
            let Some(segment) = quoted else { continue };
            let error = IcmpError::TooBig { mtu: 1_498_u32.saturating_sub(2 * message).max(552) };
            let (local, remote) = (segment.source, segment.destination);
            let message = IcmpMessage { local, remote, sequence: segment.sequence, error };
            pair.client.handle_icmp(pair.now, message);
        }
        let sent = pair.segments - before;
        assert!(sent < 300, "{sent} segments for 10 of them");
    }
}
