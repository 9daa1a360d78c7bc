//! Complete transfers over one and several paths, with and without losses.

use crate::pair::{Fate, Pair, pattern};
use mptcp::congestion::Reno;
use mptcp::policy::Policies;
use mptcp::{Config, EventKind, InterfaceChange, Limit, Mode};
use mptcp_clock::{Duration, Rng};

fn check(mut pair: Pair, length: usize, limit: u64) -> Pair {
    let data = pattern(length);
    pair.transfer(&data, Duration::from_secs(limit));
    assert_eq!(pair.received[0].len(), data.len(), "not all arrived in {limit} s");
    assert!(pair.received[0] == data, "the content changed");
    pair
}

#[test]
fn tcp_transfers_a_file() {
    let pair = Pair::builder().seed(1).links(&[10]).config(Config::tcp()).connect();
    let pair = check(pair, 3_000_000, 60);
    let info = pair.client.info(pair.now, pair.connection).unwrap();
    assert_eq!(info.mode, Mode::Plain);
    assert_eq!(info.subflows.len(), 1);
    assert_eq!(info.subflows[0].retransmissions, 0);
}

#[test]
fn two_paths_transfer_a_file() {
    let pair = Pair::builder().seed(2).links(&[10, 15]).connect();
    let pair = check(pair, 3_000_000, 60);
    let info = pair.client.info(pair.now, pair.connection).unwrap();
    assert_eq!(info.mode, Mode::Multipath);
    assert_eq!(info.subflows.len(), 2);
    assert!(info.subflows.iter().all(|s| s.stats.bytes_sent > 10_000), "{info:#?}");
}

#[test]
fn every_scheduler_and_controller_survives_losses_on_both_paths() {
    let policies = Policies::default();
    for scheduler in policies.schedulers.names() {
        for congestion in policies.congestion.names() {
            let scheduler = policies.schedulers.find(scheduler).unwrap();
            let congestion = policies.congestion.find(congestion).unwrap();
            let config = Config { scheduler, congestion, ..Config::default() };
            let mut pair = Pair::builder().seed(3).links(&[10, 40]).config(config).connect();
            let mut chance = Rng::new(7, "loss");
            pair.rule = Box::new(move |_, _, _| if chance.chance(0.05) { Fate::Drop } else { Fate::Deliver });
            check(pair, 1_000_000, 200);
        }
    }
}

#[test]
fn losses_are_repaired_without_sack_or_rack() {
    for (sack, rack, timestamps) in
        [(true, false, true), (false, false, true), (false, false, false), (true, true, false)]
    {
        let config = Config { sack, rack, timestamps, ..Config::tcp() };
        let mut pair = Pair::builder().seed(4).links(&[10]).config(config).connect();
        let mut chance = Rng::new(8, "loss");
        pair.rule = Box::new(move |_, _, _| if chance.chance(0.03) { Fate::Drop } else { Fate::Deliver });
        check(pair, 500_000, 200);
    }
}

#[test]
fn single_loss_is_repaired_by_fast_retransmit() {
    let config = Config { congestion: Reno.into(), ..Config::tcp() };
    let mut pair = Pair::builder().seed(5).links(&[10]).config(config).connect();
    let mut count = 0;
    pair.rule = Box::new(move |to_server, _, segment| {
        count += usize::from(to_server && !segment.payload.is_empty());
        if count == 50 && to_server && !segment.payload.is_empty() {
            count += 1;
            return Fate::Drop;
        }
        Fate::Deliver
    });
    let pair = check(pair, 500_000, 10);
    let info = pair.client.info(pair.now, pair.connection).unwrap();
    assert_eq!((info.subflows[0].retransmissions, info.subflows[0].timeouts), (1, 0));
    assert_eq!(info.subflows[0].recoveries, 1);
}

#[test]
fn tail_loss_is_repaired_by_a_probe() {
    let mut pair = Pair::builder().seed(6).links(&[10]).config(Config::tcp()).connect();
    let mut last_seen = false;
    pair.rule = Box::new(move |to_server, _, segment| {
        if to_server && segment.flags.contains(mptcp_wire::Flags::PSH) && !last_seen {
            last_seen = true;
            return Fate::Drop;
        }
        Fate::Deliver
    });
    let pair = check(pair, 20_000, 10);
    let info = pair.client.info(pair.now, pair.connection).unwrap();
    assert_eq!(info.subflows[0].timeouts, 0);
    assert_eq!(info.subflows[0].retransmissions, 1);
}

#[test]
fn data_is_reinjected_if_a_path_becomes_unresponsive() {
    let mut pair = Pair::builder().seed(7).links(&[10, 20]).connect();
    pair.transfer(&pattern(100_000), Duration::from_secs(10));
    pair.received[0].clear();
    pair.rule = Box::new(|_, path, _| if path == 0 { Fate::Drop } else { Fate::Deliver });
    let pair = check(pair, 500_000, 30);
    let info = pair.client.info(pair.now, pair.connection).unwrap();
    assert!(info.reinjected_bytes > 0);
}

#[test]
fn interface_is_used_again_after_down_and_up() {
    let mut pair = Pair::builder().seed(8).links(&[10, 20]).connect();
    pair.transfer(&pattern(200_000), Duration::from_secs(10));
    pair.interface(0, InterfaceChange::Down);
    pair.transfer(&pattern(200_000), Duration::from_secs(10));
    let info = pair.client.info(pair.now, pair.connection).unwrap();
    let before = info.subflows[0].stats.bytes_sent;
    pair.interface(0, InterfaceChange::Up);
    pair.transfer(&pattern(4_000_000), Duration::from_secs(10));
    let info = pair.client.info(pair.now, pair.connection).unwrap();
    assert_eq!(info.subflows.len(), 3);
    assert_eq!(info.subflows[0].stats.bytes_sent, before, "a dead subflow sends nothing");
    // More than one write: bulk data fills all paths.
    assert!(info.subflows[2].stats.bytes_sent > 500_000);
    assert_eq!(pair.received[0].len(), 4_400_000);
}

#[test]
fn both_sides_close_in_order() {
    for config in [Config::tcp(), Config::default()] {
        let mut pair = Pair::builder().seed(9).links(&[10, 20]).config(config).connect();
        pair.transfer(&pattern(100_000), Duration::from_secs(10));
        pair.client.close(pair.now, pair.connection);
        pair.run(Duration::from_secs(1));
        assert!(pair.happened(false, EventKind::Finished), "{:?}", pair.events);
        let accepted = pair.accepted.unwrap();
        // The other direction still works.
        let data = bytes::Bytes::from(pattern(50_000));
        assert_eq!(pair.server.write(pair.now, accepted, data.clone()), data.len());
        pair.run(Duration::from_secs(2));
        assert_eq!(pair.received[1], data);
        pair.server.close(pair.now, accepted);
        pair.run(Duration::from_secs(120));
        assert!(
            pair.events
                .iter()
                .any(|(client, kind)| *client
                    && matches!(kind, EventKind::Closed(mptcp::CloseReason::Finished)))
        );
        assert!(pair.events.iter().any(
            |(client, kind)| !*client && matches!(kind, EventKind::Closed(mptcp::CloseReason::Finished))
        ));
        assert_eq!(pair.client.connections().count() + pair.server.connections().count(), 0);
        assert!(!pair.step(), "nothing is left to happen");
    }
}

#[test]
fn paused_reader_closes_and_reopens_the_window() {
    for base in [Config::tcp(), Config::default()] {
        let config = Config { receive_buffer: 50_000, ..base };
        let mut pair = Pair::builder().seed(10).links(&[10, 20]).config(config).connect();
        pair.run(Duration::from_millis(200));
        pair.paused[0] = true;
        let data = pattern(300_000);
        let taken = pair.client.write(pair.now, pair.connection, bytes::Bytes::from(data.clone()));
        assert_eq!(taken, data.len());
        pair.run(Duration::from_secs(30));
        let info = pair.client.info(pair.now, pair.connection).unwrap();
        assert!(info.bytes_acked <= 50_000, "acknowledged {} into a window of 50000", info.bytes_acked);
        pair.paused[0] = false;
        pair.run(Duration::from_secs(70));
        assert!(pair.received[0] == data);
    }
}

#[test]
fn path_is_used_soon_after_a_long_outage() {
    let mut pair = Pair::builder().seed(12).links(&[10, 40]).connect();
    pair.transfer(&pattern(100_000), Duration::from_secs(10));
    pair.rule = Box::new(|_, path, _| if path == 0 { Fate::Drop } else { Fate::Deliver });
    let start = pair.now;
    while pair.now.since(start) < Duration::from_secs(30) {
        pair.transfer(&pattern(50_000), Duration::from_secs(10));
        pair.run(Duration::from_millis(500));
    }
    let before = pair.client.info(pair.now, pair.connection).unwrap().subflows[0].stats.bytes_acked;
    pair.rule = Box::new(|_, _, _| Fate::Deliver);
    pair.run(Duration::from_millis(1_500));
    pair.transfer(&pattern(100_000), Duration::from_secs(10));
    let after = pair.client.info(pair.now, pair.connection).unwrap().subflows[0].stats.bytes_acked;
    assert!(after > before, "the path is back for more than a second and carries nothing");
}

#[test]
fn writer_never_blocked_gets_no_writable_event_and_counts_as_application_limited() {
    let limited = |length: usize, config: Config| {
        let mut pair = Pair::builder().links(&[10, 20]).config(config).connect();
        pair.run(Duration::from_secs(1));
        let data = bytes::Bytes::from(pattern(length));
        let taken = pair.client.write(pair.now, pair.connection, data.clone());
        pair.run(Duration::from_secs(2));
        let info = pair.client.info(pair.now, pair.connection).expect("it lives");
        let time = |limit| info.limits.iter().find(|(of, _)| *of == limit).expect("all are there").1;
        let told = pair.happened(true, EventKind::Writable);
        (taken < length, told, time(Limit::Application).as_secs_f64(), time(Limit::SendBuffer))
    };
    let (refused, told, idle, full) = limited(3_000, Config::default());
    assert!(!refused && !told && idle > 1.9 && full == Duration::ZERO, "{refused} {told} {idle} {full:?}");
    // A writer with more data than the buffer holds is notified, and the buffer was its limit.
    let (refused, told, _, full) = limited(40_000, Config { send_buffer: 5_000, ..Config::default() });
    assert!(refused && told && full > Duration::ZERO, "{refused} {told} {full:?}");
}

#[test]
fn no_data_waits_for_an_application_that_has_finished() {
    for multipath in [true, false] {
        let config = Config { multipath, ..Config::default() };
        let mut pair = Pair::builder().links(&[10]).config(config).connect();
        pair.client.write(pair.now, pair.connection, bytes::Bytes::from(pattern(3_000)));
        pair.run(Duration::from_secs(2));
        pair.client.close(pair.now, pair.connection);
        pair.run(Duration::from_secs(5));
        let info = pair.client.info(pair.now, pair.connection).expect("the server has not closed");
        let waits = info.limits.iter().find(|(of, _)| *of == Limit::Application).expect("all are there").1;
        assert!((1.5..2.2).contains(&waits.as_secs_f64()), "multipath {multipath}: {waits:?}");
    }
}
