//! Paths that appear, disappear, stall and fail during a connection.

use crate::pair::{Fate, Pair, pattern};
use mptcp::{Config, EventKind, InterfaceChange, Mode};
use mptcp_clock::Duration;

#[test]
fn last_interface_goes_down_and_up() {
    let mut pair = Pair::builder().seed(40).links(&[10]).connect();
    pair.transfer(&pattern(100_000), Duration::from_secs(10));
    let data = pattern(300_000);
    pair.client.write(pair.now, pair.connection, data.clone().into());
    pair.run(Duration::from_millis(15));
    pair.interface(0, InterfaceChange::Down);
    pair.run(Duration::from_secs(3));
    pair.interface(0, InterfaceChange::Up);
    pair.run(Duration::from_secs(10));
    assert_eq!(pair.received[0].len(), 400_000);
    assert!(pair.received[0][100_000..] == data);
    let live = |info: mptcp::ConnectionInfo| info.subflows.iter().filter(|s| s.closed_by.is_none()).count();
    assert_eq!(live(pair.client.info(pair.now, pair.connection).unwrap()), 1);
    assert_eq!(
        live(pair.server.info(pair.now, pair.accepted.unwrap()).unwrap()),
        1,
        "the old one is gone there too"
    );
}

#[test]
fn join_that_overtakes_a_remove_addr_survives() {
    // The announcement takes the slow path, the new subflow the fast one.
    let mut pair = Pair::builder().seed(41).links(&[5, 200]).connect();
    pair.transfer(&pattern(200_000), Duration::from_secs(10));
    pair.run(Duration::from_secs(2));
    pair.interface(0, InterfaceChange::Down);
    pair.interface(0, InterfaceChange::Up);
    pair.transfer(&pattern(200_000), Duration::from_secs(10));
    pair.run(Duration::from_secs(2));
    let info = pair.client.info(pair.now, pair.connection).unwrap();
    assert_eq!(info.subflows.len(), 3);
    assert_eq!(info.subflows[2].closed_by, None, "{:#?}", info.subflows[2]);
    assert!(info.subflows[2].stats.bytes_sent > 10_000);
}

#[test]
fn data_on_an_unresponsive_path_is_reinjected_on_a_new_interface() {
    let mut pair = Pair::builder().seed(42).links(&[10, 20]).connect();
    pair.interface(1, InterfaceChange::Down);
    pair.transfer(&pattern(100_000), Duration::from_secs(10));
    pair.rule = Box::new(|_, path, _| if path == 0 { Fate::Drop } else { Fate::Deliver });
    let data = pattern(200_000);
    pair.client.write(pair.now, pair.connection, data.into());
    pair.run(Duration::from_secs(5));
    pair.interface(1, InterfaceChange::Up);
    pair.run(Duration::from_secs(3));
    assert_eq!(pair.received[0].len(), 300_000);
}

#[test]
fn data_carried_by_two_paths_survives_the_death_of_both() {
    let mut pair = Pair::builder().seed(43).links(&[10, 20, 30]).connect();
    pair.interface(2, InterfaceChange::Down);
    pair.transfer(&pattern(100_000), Duration::from_secs(10));
    pair.run(Duration::from_secs(1));
    pair.rule = Box::new(|_, path, _| if path < 2 { Fate::Drop } else { Fate::Deliver });
    pair.client.write(pair.now, pair.connection, pattern(60_000).into());
    pair.run(Duration::from_secs(6));
    pair.interface(0, InterfaceChange::Down);
    pair.interface(1, InterfaceChange::Down);
    pair.interface(2, InterfaceChange::Up);
    pair.run(Duration::from_secs(3));
    assert_eq!(pair.received[0].len(), 160_000);
}

#[test]
fn probe_is_sent_while_a_partial_segment_waits() {
    // Nagle's algorithm holds the remaining data while the last full segment, which was lost, is in flight.
    let mut pair = Pair::builder().seed(44).links(&[10]).config(Config::tcp()).connect();
    pair.run(Duration::from_millis(100));
    let mut count = 0;
    pair.rule = Box::new(move |to_server, _, segment| {
        count += usize::from(to_server && !segment.payload.is_empty());
        if count == 2 && to_server { Fate::Drop } else { Fate::Deliver }
    });
    pair.client.write(pair.now, pair.connection, pattern(2 * 1448 + 100).into());
    pair.run(Duration::from_secs(5));
    let info = pair.client.info(pair.now, pair.connection).unwrap();
    assert_eq!(info.subflows[0].timeouts, 0);
    assert_eq!(pair.received[0].len(), 2 * 1448 + 100);
}

#[test]
fn both_directions_use_fast_recovery_at_the_same_time() {
    for config in [Config::tcp(), Config::default()] {
        let mut pair = Pair::builder().seed(45).links(&[20]).config(config).connect();
        pair.run(Duration::from_millis(200));
        let accepted = pair.accepted.unwrap();
        let mut count = 0;
        pair.rule = Box::new(move |_, _, segment| {
            count += usize::from(!segment.payload.is_empty());
            if !segment.payload.is_empty() && count % 37 == 0 { Fate::Drop } else { Fate::Deliver }
        });
        pair.keep_log = true;
        let data = pattern(400_000);
        pair.client.write(pair.now, pair.connection, data.clone().into());
        pair.server.write(pair.now, accepted, data.clone().into());
        pair.run(Duration::from_secs(30));
        assert!(pair.received[0] == data && pair.received[1] == data);
        let there = pair.client.info(pair.now, pair.connection).unwrap().subflows[0].timeouts;
        let back = pair.server.info(pair.now, accepted).unwrap().subflows[0].timeouts;
        assert!(there + back <= 1, "{there} and {back} timeouts: blocks did not get through");
        for (.., segment) in &pair.log {
            let size = segment.payload.len() + segment.options.length();
            assert!(size <= 1460, "a segment of {size} bytes exceeds the MSS: {segment:?}");
        }
    }
}

#[test]
fn tcp_connection_survives_an_interface_outage_as_on_linux() {
    let mut pair = Pair::builder().seed(46).links(&[10]).config(Config::tcp()).connect();
    pair.transfer(&pattern(10_000), Duration::from_secs(10));
    assert_eq!(pair.client.info(pair.now, pair.connection).unwrap().mode, Mode::Plain);
    pair.interface(0, InterfaceChange::Down);
    pair.rule = Box::new(|_, _, _| Fate::Drop);
    let data = pattern(10_000);
    pair.client.write(pair.now, pair.connection, data.clone().into());
    pair.run(Duration::from_secs(20));
    pair.rule = Box::new(|_, _, _| Fate::Deliver);
    pair.interface(0, InterfaceChange::Up);
    pair.run(Duration::from_secs(60));
    assert!(pair.received[0].ends_with(&data) && pair.received[0].len() == 20_000, "{:?}", pair.events);
    assert!(!pair.happened(true, EventKind::Closed(mptcp::CloseReason::TimedOut)), "{:?}", pair.events);
}

#[test]
fn path_that_drops_the_third_ack_of_joins_is_tried_once() {
    let mut pair = Pair::builder().seed(47).links(&[10, 20]).connect();
    pair.rule = Box::new(|to_server, path, segment| {
        let mut segment = segment.clone();
        if path == 1 && to_server && !segment.flags.syn() {
            segment.options.mptcp.clear();
        }
        Fate::Replace(Box::new(segment))
    });
    pair.transfer(&pattern(100_000), Duration::from_secs(10));
    pair.run(Duration::from_secs(60));
    assert_eq!(pair.client.info(pair.now, pair.connection).unwrap().subflows.len(), 2);
}
