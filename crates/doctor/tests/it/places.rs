//! The place of a capture: at the client, at the server, between them, at both ends, and from the middle of a connection.

use mptcp_doctor::{ConnectionReport, Protocol, Report, Role};
use mptcp_wire::Segment;

use crate::common::{Bulk, Flow, MS, MSS, S, Scene, near, only, raw, report_of};

const START: u64 = 100 * S;
const RTT: u64 = 20 * MS;
const GAP: u64 = 9 * MS;

/// An MPTCP transfer as a capture sees it that is this far from the client and from the server.
fn seen_at(distance: [u64; 2], change: impl Fn(&mut Bulk)) -> Scene {
    let mut scene = Scene::at(distance[0], distance[1]);
    let flow = Flow::first();
    // All captures use the same clock: the SYN leaves the client at `START`.
    let end = scene.open(&flow, START + distance[0] / 2) - distance[0] / 2;
    let mut bulk = Bulk::new(&flow, end, 100, GAP);
    change(&mut bulk);
    bulk.play(&mut scene);
    scene
}

#[test]
fn the_handshake_shows_the_place() {
    let cases = [
        ([0, RTT], "client"),
        ([2 * MS, RTT], "client"),
        ([RTT, 0], "server"),
        ([RTT, 3 * MS], "server"),
        ([RTT / 2, RTT / 2], "middle"),
        ([RTT / 3, RTT], "middle"),
        ([0, 0], "unknown"),
    ];
    for (distance, place) in cases {
        let connection = only(&seen_at(distance, |_| {}).sorted());
        assert_eq!(connection.place, place, "{distance:?}");
        assert_eq!(connection.data[0].bytes, 140_000);
        assert_eq!(connection.data[0].delivered, 140_000);
        assert_eq!(connection.subflows[0].data[0].lost, 0, "{distance:?}");
    }
}

#[test]
fn the_rtt_of_the_sender_is_found_at_each_place() {
    for distance in [[0, RTT], [RTT / 2, RTT / 2], [RTT, 0]] {
        let connection = only(&seen_at(distance, |_| {}).sorted());
        let sent = &connection.subflows[0].data[0];
        near(sent.base_rtt.unwrap(), 20.0);
        // Only the opener knows the RTT of the handshake for certain.
        assert_eq!(connection.subflows[0].handshake_rtt.is_some(), distance[0] == 0);
    }
}

#[test]
fn acknowledgements_near_the_receiver_are_no_rtt_after_a_repeated_syn() {
    let mut scene = Scene::at(0, RTT);
    let flow = Flow::first();
    scene.add(START, flow.syn());
    let end = scene.open(&flow, START + S);
    Bulk::new(&flow, end, 100, GAP).server_sends().play(&mut scene);
    let connection = only(&scene.sorted());
    assert_eq!(connection.subflows[0].repeated_syns, 1);
    assert_eq!(connection.subflows[0].data[1].bytes, 140_000);
    assert_eq!(connection.subflows[0].data[1].base_rtt, None);
}

#[test]
fn data_in_flight_is_that_of_the_sender() {
    for distance in [[0, RTT], [RTT / 2, RTT / 2], [RTT, 0]] {
        let connection = only(&seen_at(distance, |_| {}).sorted());
        let flight = connection.data[0].largest_flight;
        assert_eq!(flight, 3 * u64::from(MSS), "{distance:?}");
    }
}

#[test]
fn timestamps_show_the_rtt_far_from_the_sender() {
    for distance in [[0, RTT], [RTT / 2, RTT / 2], [RTT, 0]] {
        let mut scene = seen_at(distance, |_| {});
        scene.clock = Some(MS);
        let connection = only(&scene.sorted());
        let sent = &connection.subflows[0].data[0];
        let median = sent.median_rtt.unwrap();
        // Data echoes a timestamp up to a gap later.
        assert!((19.0..=29.5).contains(&median), "{distance:?}: {median}");
    }
}

#[test]
fn losses_behind_the_capture_are_found_by_sack() {
    for distance in [[0, RTT], [RTT / 2, RTT / 2]] {
        let connection = only(&seen_at(distance, |bulk| bulk.lost = vec![30, 60, 61]).sorted());
        let sent = &connection.subflows[0].data[0];
        assert_eq!((sent.lost, sent.retransmissions, sent.timeouts), (3, 3, 0), "{distance:?}");
        assert_eq!((sent.bytes, connection.data[0].delivered), (140_000, 140_000));
    }
}

#[test]
fn losses_before_the_capture_are_found_by_gaps() {
    for distance in [[RTT / 2, RTT / 2], [RTT, 0]] {
        let lost_before = |bulk: &mut Bulk| {
            bulk.lost = vec![30, 60, 61];
            bulk.is_lost_before_capture = true;
        };
        let connection = only(&seen_at(distance, lost_before).sorted());
        let sent = &connection.subflows[0].data[0];
        assert_eq!((sent.lost, sent.retransmissions, sent.timeouts), (3, 3, 0), "{distance:?}");
        assert_eq!((sent.bytes, sent.reordered, sent.uncaptured), (140_000, 0, 0));
        let data = &connection.data[0];
        assert_eq!((data.bytes, data.delivered), (140_000, 140_000), "{distance:?}");
        assert_eq!((data.reinjected, data.needless), (0, 0));
    }
}

/// Segments that arrive at the server in this order, 1 ms apart.
fn in_order(order: &[u32]) -> ConnectionReport {
    let mut scene = Scene::at(RTT, 0);
    let flow = Flow::first();
    let end = scene.open(&flow, START);
    for (at, index) in (0..).zip(order) {
        let number = 1 + index * MSS;
        scene.add(end + at * MS, flow.mapped(0, number, MSS, number.into()));
    }
    let last = 1 + order.len() as u32 * MSS;
    scene.add(end + order.len() as u64 * MS, flow.data_ack(1, last, &[], last.into()));
    only(&scene.sorted())
}

#[test]
fn segments_that_arrive_late_are_reordered_and_not_lost() {
    let cases: [(&[u32], u64); 5] = [
        (&[0, 2, 1, 3, 4], 1),
        (&[0, 4, 1, 2, 3], 3),
        (&[0, 4, 3, 2, 1], 3),
        (&[0, 4, 2, 1, 3], 3),
        (&[0, 4, 2, 3, 1, 5], 3),
    ];
    for (order, reordered) in cases {
        let connection = in_order(order);
        let sent = &connection.subflows[0].data[0];
        assert_eq!((sent.reordered, sent.lost, sent.retransmissions), (reordered, 0, 0), "{order:?}");
        let bytes = order.len() as u64 * u64::from(MSS);
        assert_eq!(
            (sent.bytes, connection.data[0].bytes, connection.data[0].delivered),
            (bytes, bytes, bytes)
        );
    }
}

fn both_ends(change: impl Fn(&mut Bulk) + Copy) -> Report {
    let client = raw(&seen_at([0, RTT], change).sorted());
    let server = raw(&seen_at([RTT, 0], change).sorted());
    report_of(&[client, server]).unwrap()
}

#[test]
fn captures_of_both_ends_are_one_connection() {
    let report = both_ends(|_| {});
    assert_eq!(report.connections.len(), 1);
    let connection = &report.connections[0];
    assert!(connection.has_both_ends);
    // The client sends, so its capture is the better one.
    assert_eq!((connection.place.as_str(), connection.sender), ("client", Role::Client));
    assert_eq!(connection.protocol, Protocol::Mptcp);
    assert_eq!((connection.data[0].bytes, connection.data[0].delivered), (140_000, 140_000));
    assert_eq!(connection.ladder[0].packet.file, 0);
    let report = both_ends(|bulk| *bulk = bulk.clone().server_sends());
    let connection = &report.connections[0];
    assert_eq!((report.connections.len(), connection.place.as_str()), (1, "server"));
    assert_eq!((connection.sender, connection.ladder[0].packet.file), (Role::Server, 1));
    assert_eq!(connection.data[1].bytes, 140_000);
}

#[test]
fn further_subflows_are_assigned_at_both_ends() {
    for opener in [0, 1] {
        let seen = |distance: [u64; 2]| {
            let mut scene = seen_at(distance, |_| {});
            let flow = match opener {
                0 => Flow::second(),
                _ => Flow::new("10.0.1.1:50000", "10.0.2.1:40000"),
            };
            // The other host is near if the server opens the subflow.
            scene.distance = if opener == 0 { distance } else { [distance[1], distance[0]] };
            let start = START + 100 * MS + scene.distance[0] / 2;
            let end = scene.join(&flow, start, opener, false) - scene.distance[0] / 2;
            let bulk = Bulk { data: Some(140_001), ..Bulk::new(&flow, end + S, 50, GAP) };
            Bulk { side: opener, ..bulk }.play(&mut scene);
            raw(&scene.sorted())
        };
        let report = report_of(&[seen([0, RTT]), seen([RTT, 0])]).unwrap();
        assert_eq!(report.connections.len(), 1, "opener {opener}");
        let connection = &report.connections[0];
        assert!(connection.has_both_ends);
        assert_eq!(connection.subflows.len(), 2, "opener {opener}");
        assert_eq!(connection.subflows[1].opener, Role::of(opener));
        assert_eq!(connection.subflows[1].data[0].bytes, 70_000);
        assert_eq!((connection.data[0].bytes, connection.data[0].delivered), (210_000, 210_000));
    }
}

/// The segments without the first ones.
fn from_the_middle(scene: &Scene, skipped: usize) -> Vec<(u64, Segment)> {
    scene.sorted().split_off(skipped)
}

#[test]
fn a_capture_that_starts_in_the_middle_counts_what_it_sees() {
    let scene = seen_at([0, RTT], |_| {});
    let all = scene.sorted();
    for skipped in 3..120 {
        let segments = from_the_middle(&scene, skipped);
        let missed = all[..skipped].iter().filter(|(_, one)| !one.payload.is_empty()).count() as u64;
        let connection = only(&segments);
        assert_eq!(connection.protocol, Protocol::Mptcp);
        let data = &connection.data[0];
        assert_eq!(data.bytes, 140_000 - missed * u64::from(MSS), "{skipped}");
        // Data before the capture may be acknowledged in it.
        assert!(data.delivered >= data.bytes && data.delivered <= data.bytes + 4200, "{skipped}: {data:?}");
        assert_eq!(connection.subflows[0].handshake, "not seen");
        assert_eq!(connection.subflows[0].data[0].lost, 0);
        assert_eq!((connection.client.as_str(), connection.sender), ("10.0.0.1:40000", Role::Client));
    }
}

#[test]
fn plain_tcp_from_the_middle_counts_what_it_sees() {
    let mut scene = Scene::at(0, RTT);
    let flow = Flow { initial: [u32::MAX - 30_000, 5], ..Flow::first() };
    let end = scene.open_plain(&flow, START);
    Bulk::plain(&flow, end, 100, GAP).play(&mut scene);
    for skipped in 3..120 {
        let segments = from_the_middle(&scene, skipped);
        let bytes: usize = segments.iter().map(|(_, one)| one.payload.len()).sum();
        let connection = only(&segments);
        let data = &connection.data[0];
        assert_eq!((connection.protocol, data.bytes), (Protocol::Tcp, bytes as u64), "{skipped}");
        assert!(data.delivered >= data.bytes && data.delivered <= data.bytes + 4200, "{skipped}: {data:?}");
        let sum: f64 = data.series.goodput.iter().map(|rate| rate * 1e6 / 8.0 * data.series.step).sum();
        near(sum, data.delivered as f64);
    }
}
