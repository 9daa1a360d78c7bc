//! Connections that close: in order, by abort, with losses, and half-closed.

use crate::pair::{Fate, Pair, pattern};
use mptcp::scheduler::{Linux, Redundant};
use mptcp::{CloseReason, Config, EventKind, InterfaceChange, LinuxStack};
use mptcp_clock::Duration;
use mptcp_wire::{MptcpOption, Segment};

fn closed(pair: &Pair, client: bool) -> Vec<CloseReason> {
    let of_side = pair.events.iter().filter(|(side, _)| *side == client);
    of_side
        .filter_map(|(_, kind)| match kind {
            EventKind::Closed(how) => Some(*how),
            _ => None,
        })
        .collect()
}

fn nothing_is_left(pair: &mut Pair) {
    pair.run(Duration::from_secs(400));
    let left = (pair.client.connections().count(), pair.server.connections().count());
    assert_eq!(left, (0, 0), "{:?}", pair.events);
    assert!(!pair.step(), "nothing is left to happen");
}

#[test]
fn connection_without_data_closes_normally() {
    for config in [Config::tcp(), Config::default()] {
        let mut pair = Pair::builder().seed(30).links(&[10, 20]).config(config).connect();
        pair.client.close(pair.now, pair.connection);
        pair.run(Duration::from_millis(500));
        assert!(pair.happened(false, EventKind::Finished), "{:?}", pair.events);
        let accepted = pair.accepted.unwrap();
        pair.server.close(pair.now, accepted);
        nothing_is_left(&mut pair);
        assert_eq!(
            (closed(&pair, true), closed(&pair, false)),
            (vec![CloseReason::Finished], vec![CloseReason::Finished])
        );
    }
}

/// `write` returns 0 in both cases.
#[test]
fn try_write_distinguishes_a_full_buffer_from_a_missing_connection() {
    let mut pair = Pair::builder().seed(30).links(&[10]).connect();
    let (now, id) = (pair.now, pair.connection);
    let data = bytes::Bytes::from(vec![7; 64 << 20]);
    let taken = pair.client.try_write(now, id, data.clone());
    assert!(taken.is_some_and(|taken| taken > 0 && taken < data.len()), "{taken:?}");
    assert_eq!(pair.client.try_write(now, id, data.clone()), Some(0));
    pair.client.abort(now, id);
    nothing_is_left(&mut pair);
    assert_eq!(
        (pair.client.try_write(pair.now, id, data.clone()), pair.client.write(pair.now, id, data)),
        (None, 0)
    );
}

#[test]
fn connection_without_data_closes_although_its_third_ack_was_lost() {
    let mut pair = Pair::builder().seed(31).links(&[10]).connect();
    let mut lost = false;
    pair.rule = Box::new(move |to_server, _, segment| {
        if to_server && !segment.flags.syn() && !lost {
            lost = true;
            return Fate::Drop;
        }
        Fate::Deliver
    });
    pair.client.close(pair.now, pair.connection);
    pair.run(Duration::from_secs(10));
    assert!(pair.happened(false, EventKind::Finished), "{:?}", pair.events);
    assert!(
        !pair.events.iter().any(|event| matches!(event, (false, EventKind::FellBack(_)))),
        "{:?}",
        pair.events
    );
}

#[test]
fn lost_data_fin_is_reinjected_on_another_path() {
    let mut pair = Pair::builder().seed(32).links(&[10, 40]).connect();
    pair.transfer(&pattern(100_000), Duration::from_secs(10));
    pair.run(Duration::from_secs(5));
    // The fast path became unresponsive while nothing was in flight.
    pair.rule = Box::new(|_, path, _| if path == 0 { Fate::Drop } else { Fate::Deliver });
    pair.client.close(pair.now, pair.connection);
    pair.run(Duration::from_secs(10));
    assert!(pair.happened(false, EventKind::Finished), "{:?}", pair.events);
}

/// The data in the queue of the unresponsive path has arrived on the other path; the stream still ends.
#[test]
fn queue_of_an_unresponsive_path_does_not_delay_the_data_fin() {
    let config =
        Config { scheduler: Linux::default().into(), linux_stack: LinuxStack::LINUX, ..Config::default() };
    let mut pair = Pair::builder().seed(35).links(&[20, 20]).config(config).connect();
    pair.run(Duration::from_millis(500));
    pair.rule = Box::new(|_, path, _| if path == 1 { Fate::Drop } else { Fate::Deliver });
    let data = pattern(150_000);
    pair.client.write(pair.now, pair.connection, data.clone().into());
    pair.client.close(pair.now, pair.connection);
    pair.run(Duration::from_secs(10));
    assert_eq!(pair.received[0].len(), data.len());
    assert!(pair.happened(false, EventKind::Finished), "{:?}", pair.events);
}

#[test]
fn lost_window_update_is_probed_for_on_every_path() {
    let config = Config { receive_buffer: 50_000, ..Config::default() };
    let mut pair = Pair::builder().seed(33).links(&[10, 40]).config(config).connect();
    pair.run(Duration::from_millis(500));
    pair.paused[0] = true;
    let data = pattern(200_000);
    pair.client.write(pair.now, pair.connection, data.clone().into());
    pair.run(Duration::from_secs(5));
    // The window updates are lost, and one path is unresponsive.
    pair.rule = Box::new(|_, _, _| Fate::Drop);
    pair.paused[0] = false;
    pair.run(Duration::from_millis(100));
    pair.rule = Box::new(|_, path, _| if path == 0 { Fate::Drop } else { Fate::Deliver });
    pair.run(Duration::from_secs(300));
    assert_eq!(pair.received[0].len(), data.len());
}

#[test]
fn a_simultaneous_close_ends_both_sides_once() {
    for config in [Config::tcp(), Config::default()] {
        let mut pair = Pair::builder().seed(34).links(&[10, 20]).config(config).connect();
        pair.transfer(&pattern(50_000), Duration::from_secs(10));
        let accepted = pair.accepted.unwrap();
        pair.client.close(pair.now, pair.connection);
        pair.server.close(pair.now, accepted);
        nothing_is_left(&mut pair);
        assert_eq!(
            (closed(&pair, true), closed(&pair, false)),
            (vec![CloseReason::Finished], vec![CloseReason::Finished])
        );
    }
}

#[test]
fn an_abort_ends_all_subflows_of_both_sides() {
    for server_aborts in [false, true] {
        let mut pair = Pair::builder().seed(35).links(&[10, 20]).connect();
        pair.transfer(&pattern(50_000), Duration::from_secs(10));
        let accepted = pair.accepted.unwrap();
        if server_aborts {
            pair.server.abort(pair.now, accepted);
        } else {
            pair.client.abort(pair.now, pair.connection);
        }
        pair.run(Duration::from_secs(1));
        assert_eq!(closed(&pair, !server_aborts), [CloseReason::Aborted]);
        assert_eq!(closed(&pair, server_aborts), [CloseReason::Reset(None)]);
        assert_eq!(pair.client.connections().count() + pair.server.connections().count(), 0);
    }
}

#[test]
fn fast_close_on_an_acknowledgement_is_answered_by_resets() {
    let mut pair = Pair::builder().seed(36).links(&[10, 20]).connect();
    pair.transfer(&pattern(50_000), Duration::from_secs(10));
    pair.run(Duration::from_secs(1));
    pair.keep_log = true;
    // The abort of the server, but on an acknowledgement (RFC 8684 section 3.5, option A).
    let accepted = pair.accepted.unwrap();
    pair.rule = Box::new(|to_server, _, segment| {
        if to_server || !segment.flags.rst() {
            return Fate::Deliver;
        }
        let mut segment: Segment = segment.clone();
        segment.flags = mptcp_wire::Flags::ACK;
        let ours = |o: &MptcpOption| matches!(o, MptcpOption::FastClose(_));
        segment.options.mptcp.retain(ours);
        Fate::Replace(Box::new(segment))
    });
    pair.server.abort(pair.now, accepted);
    pair.run(Duration::from_secs(1));
    assert_eq!(closed(&pair, true), [CloseReason::Reset(None)]);
    let resets = pair.log.iter().filter(|(_, to_server, _, s)| *to_server && s.flags.rst());
    let paths: std::collections::BTreeSet<usize> = resets.map(|(_, _, path, _)| *path).collect();
    assert_eq!(paths.len(), 2, "one on each subflow");
}

#[test]
fn peer_that_vanishes_after_the_end_does_not_keep_the_connection() {
    let mut pair = Pair::builder().seed(37).links(&[10]).connect();
    pair.transfer(&pattern(50_000), Duration::from_secs(10));
    let accepted = pair.accepted.unwrap();
    // All FINs of the server are lost.
    pair.rule = Box::new(
        |to_server, _, segment| {
            if !to_server && segment.flags.fin() { Fate::Drop } else { Fate::Deliver }
        },
    );
    pair.client.close(pair.now, pair.connection);
    pair.server.close(pair.now, accepted);
    pair.run(Duration::from_secs(100));
    assert_eq!(closed(&pair, true), [CloseReason::Finished]);
    assert_eq!(pair.client.connections().count(), 0);
}

#[test]
fn data_fin_fits_next_to_sack_blocks() {
    // The server's stream has gaps while the client closes: SACK blocks and DATA_FIN share a header.
    let mut pair = Pair::builder().seed(38).links(&[10]).connect();
    pair.run(Duration::from_millis(200));
    let accepted = pair.accepted.unwrap();
    let mut count = 0;
    pair.rule = Box::new(move |to_server, _, segment| {
        count += usize::from(!to_server && !segment.payload.is_empty());
        let hole = !to_server && !segment.payload.is_empty() && (count == 2 || count == 4 || count == 6);
        if hole { Fate::Drop } else { Fate::Deliver }
    });
    pair.server.write(pair.now, accepted, pattern(14_000).into());
    pair.settle();
    pair.run(Duration::from_millis(10));
    pair.client.close(pair.now, pair.connection);
    pair.run(Duration::from_secs(5));
    assert!(pair.happened(false, EventKind::Finished));
    assert_eq!(pair.received[1].len(), 14_000);
}

#[test]
fn connection_ends_if_its_only_interface_goes_down_during_the_handshake() {
    for config in [Config::tcp(), Config::default()] {
        let mut pair = Pair::builder().seed(39).links(&[10]).config(config).connect();
        pair.settle();
        pair.interface(0, InterfaceChange::Down);
        assert_eq!(closed(&pair, true), [CloseReason::TimedOut]);
        pair.run(Duration::from_secs(400));
        assert_eq!(pair.client.connections().count() + pair.server.connections().count(), 0);
    }
}

#[test]
fn at_the_end_of_data_only_new_data_may_exceed_the_window() {
    // Redundant scheduler: data of one path is also sent on the other, while little new data is left.
    let config = || Config { scheduler: Redundant.into(), ..Config::default() };
    for segments in 10..50 {
        let mut pair = Pair::builder().seed(37).links(&[10, 35]).config(config()).connect();
        pair.run(Duration::from_millis(200));
        let mss = pair.client.info(pair.now, pair.connection).unwrap().subflows[0].mss;
        let data = pattern(segments * mss as usize + 100);
        assert_eq!(pair.client.write(pair.now, pair.connection, data.clone().into()), data.len());
        pair.client.close(pair.now, pair.connection);
        while pair.received[0].len() < data.len() && pair.step() {
            let info = pair.client.info(pair.now, pair.connection).unwrap();
            for subflow in info.subflows {
                assert!(subflow.in_flight <= subflow.cwnd, "{segments} segments: {subflow:?}");
            }
        }
        assert!(pair.received[0] == data);
    }
}
