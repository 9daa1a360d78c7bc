//! Numbers of a single subflow: bytes, losses, retransmissions, round trips, windows and rates.

use mptcp_doctor::{ConnectionReport, Protocol, Role, SubflowData};
use mptcp_wire::{DataSequence, Flags, Segment};

use crate::common::{Bulk, Flow, MS, MSS, S, Scene, dss, initial_data, near, only, raw, report_of};

const START: u64 = 100 * S;
const RTT: u64 = 20 * MS;
const GAP: u64 = 9 * MS;

/// A connection of which the client sends `bulk`, captured at the client.
fn at_client(change: impl Fn(&mut Bulk)) -> Scene {
    let mut scene = Scene::at(0, RTT);
    let flow = Flow::first();
    let end = scene.open_plain(&flow, START);
    let mut bulk = Bulk::plain(&flow, end, 100, GAP);
    change(&mut bulk);
    bulk.play(&mut scene);
    scene
}

fn client_data(connection: &ConnectionReport) -> &SubflowData {
    &connection.subflows[0].data[0]
}

#[test]
fn a_transfer_without_losses_has_exact_numbers() {
    let connection = only(&at_client(|_| {}).sorted());
    assert_eq!(connection.protocol, Protocol::Tcp);
    assert_eq!((connection.client.as_str(), connection.server.as_str()), ("10.0.0.1:40000", "10.0.1.1:443"));
    assert_eq!((connection.place.as_str(), connection.sender), ("client", Role::Client));
    assert!(!connection.has_both_ends);
    let data = &connection.data[0];
    assert_eq!((data.bytes, data.delivered), (140_000, 140_000));
    // From the first data to the last acknowledgement.
    let seconds = (99 * GAP + RTT) as f64 / 1e9;
    near(data.seconds, seconds);
    near(data.goodput, 140_000.0 * 8.0 / seconds / 1e6);
    assert_eq!(data.largest_window, 65_535 << 7);
    assert_eq!((data.largest_flight, data.largest_out_of_order), (4200, 0));
    assert_eq!((data.reinjected, data.needless), (0, 0));
    assert_eq!((connection.data[1].bytes, connection.data[1].delivered), (0, 0));
    let subflow = &connection.subflows[0];
    assert_eq!(subflow.handshake, "established");
    near(subflow.handshake_rtt.unwrap(), 20.0);
    let sent = client_data(&connection);
    assert_eq!((sent.bytes, sent.segments, sent.largest_flight), (140_000, 100, 4200));
    assert_eq!((sent.retransmissions, sent.lost, sent.timeouts, sent.reordered), (0, 0, 0, 0));
    assert_eq!((sent.uncaptured, sent.short_segments), (0, 0));
    near(sent.share, 1.0);
    near(sent.loss_rate, 0.0);
    near(sent.base_rtt.unwrap(), 20.0);
    for rtt in [sent.median_rtt, sent.p95_rtt] {
        assert!((rtt.unwrap() - 20.0).abs() < 0.7, "{rtt:?}");
    }
}

#[test]
fn series_add_up_to_the_totals() {
    let connection = only(&at_client(|bulk| bulk.lost = vec![30, 31, 60]).sorted());
    let data = &connection.data[0].series;
    let bytes: f64 = data.goodput.iter().map(|rate| rate * 1e6 / 8.0 * data.step).sum();
    near(bytes, 140_000.0);
    let sent = client_data(&connection);
    let series = &sent.series;
    let bytes: f64 = series.rate.iter().map(|rate| rate * 1e6 / 8.0 * series.step).sum();
    near(bytes, 140_000.0);
    let again: f64 = series.retransmitted.iter().map(|rate| rate * 1e6 / 8.0 * series.step).sum();
    near(again, 3.0 * f64::from(MSS));
    assert_eq!(u64::from(series.lost.iter().sum::<u32>()), sent.lost);
    assert_eq!(series.sent.iter().max(), Some(&140_001));
}

#[test]
fn losses_that_sack_shows_are_counted_once() {
    for lost in [vec![10], vec![10, 40, 41], vec![50, 52, 54], vec![20, 21, 22, 23, 24, 25]] {
        let connection = only(&at_client(|bulk| bulk.lost.clone_from(&lost)).sorted());
        let (sent, count) = (client_data(&connection), lost.len() as u64);
        assert_eq!((sent.lost, sent.retransmissions), (count, count), "{lost:?}");
        assert_eq!((sent.timeouts, sent.reordered), (0, 0), "{lost:?}");
        assert_eq!((sent.bytes, sent.segments), (140_000, 100 + count));
        near(sent.loss_rate, count as f64 / (100.0 + count as f64));
        let data = &connection.data[0];
        assert_eq!((data.bytes, data.delivered, data.reinjected), (140_000, 140_000, 0));
        near(sent.base_rtt.unwrap(), 20.0);
    }
}

#[test]
fn data_behind_a_loss_is_out_of_order() {
    let connection = only(
        &at_client(|bulk| {
            bulk.lost = vec![10];
            bulk.gap = 10 * MS;
        })
        .sorted(),
    );
    // Six segments arrive before the retransmission, 65 ms after the lost one.
    assert_eq!(connection.data[0].largest_out_of_order, 6 * u64::from(MSS));
}

#[test]
fn a_retransmission_after_a_pause_is_a_timeout() {
    let mut scene = Scene::at(0, RTT);
    let flow = Flow::first();
    let end = scene.open_plain(&flow, START);
    let last = Bulk::plain(&flow, end, 50, GAP).play(&mut scene);
    let next = 1 + 50 * MSS;
    scene.add(last + MS, flow.data(0, next, MSS));
    scene.add(last + 300 * MS, flow.data(0, next, MSS));
    scene.add(last + 300 * MS + RTT, flow.ack(1, next + MSS, &[]));
    let connection = only(&scene.sorted());
    let sent = client_data(&connection);
    assert_eq!((sent.timeouts, sent.lost, sent.retransmissions), (1, 1, 1));
    assert_eq!(connection.data[0].delivered, 51 * u64::from(MSS));
    near(connection.data[0].longest_stall, 0.319);
}

#[test]
fn a_pause_of_the_application_is_idle_time() {
    let mut scene = Scene::at(0, RTT);
    let flow = Flow::first();
    let end = scene.open_plain(&flow, START);
    let last = Bulk::plain(&flow, end, 50, GAP).play(&mut scene);
    let again = Bulk { first: 1 + 50 * MSS, ..Bulk::plain(&flow, last + 2 * S, 50, GAP) };
    again.play(&mut scene);
    let connection = only(&scene.sorted());
    assert!((connection.data[0].idle - 2.0).abs() < 0.01, "{}", connection.data[0].idle);
    assert!(connection.data[0].longest_stall < 0.1);
    assert_eq!(client_data(&connection).lost, 0);
}

#[test]
fn data_that_the_capture_lacks_is_counted_from_acknowledgements() {
    let scene = at_client(|_| {});
    let first = 1000 + 1 + 50 * MSS;
    // Ten segments in the middle are missing, and then all of the last half.
    let is_kept = |segment: &Segment, from: u32, to: u32| {
        let number = segment.sequence.value();
        segment.payload.is_empty() || number < from || number >= to
    };
    let mut segments = scene.sorted();
    segments.retain(|(_, one)| is_kept(one, first, u32::MAX));
    let connection = only(&segments);
    assert_eq!(client_data(&connection).uncaptured, 50 * u64::from(MSS));
    assert_eq!((connection.data[0].bytes, connection.data[0].delivered), (70_000, 140_000));
}

#[test]
fn syn_and_fin_are_no_data() {
    let mut scene = Scene::at(0, RTT);
    let flow = Flow::first();
    let end = scene.open_plain(&flow, START);
    let last = Bulk::plain(&flow, end, 10, GAP).play(&mut scene);
    let next = 1 + 10 * MSS;
    scene.add(last, flow.segment(0, next, 1, Flags::FIN | Flags::ACK));
    scene.add(last + RTT, flow.segment(1, 1, next + 1, Flags::FIN | Flags::ACK));
    scene.add(last + RTT, flow.segment(0, next + 1, 2, Flags::ACK));
    let connection = only(&scene.sorted());
    assert_eq!((connection.data[0].bytes, connection.data[0].delivered), (14_000, 14_000));
    assert_eq!((connection.data[1].bytes, connection.data[1].delivered), (0, 0));
    assert_eq!(client_data(&connection).uncaptured, 0);
}

#[test]
fn a_data_fin_is_no_data() {
    let mut scene = Scene::at(0, RTT);
    let flow = Flow::first();
    let end = scene.open(&flow, START);
    let last = Bulk::new(&flow, end, 10, GAP).play(&mut scene);
    let mut fin = flow.segment(0, 1 + 10 * MSS, 1, Flags::ACK);
    let number = DataSequence::Wide(initial_data(0).wrapping_add(14_001));
    fin.options.dss = Some(mptcp_wire::Dss { data_fin: true, ..dss(None, Some((number, 0, 1))) });
    scene.add(last + MS, fin);
    scene.add(last + MS + RTT, flow.data_ack(1, 1 + 10 * MSS, &[], 14_002));
    let connection = only(&scene.sorted());
    assert_eq!((connection.data[0].bytes, connection.data[0].delivered), (14_000, 14_000));
    assert!(connection.events.iter().any(|event| event.what == "DATA_FIN"), "{:?}", connection.events);
}

#[test]
fn sequence_numbers_wrap() {
    let play = |initial: [u32; 2]| {
        let mut scene = Scene::at(0, RTT);
        let flow = Flow { initial, ..Flow::first() };
        let end = scene.open(&flow, START);
        Bulk { lost: vec![35, 36], ..Bulk::new(&flow, end, 100, GAP) }.play(&mut scene);
        report_of(&[raw(&scene.sorted())]).unwrap().to_json()
    };
    let usual = play([1000, 2000]);
    assert_eq!(usual, play([u32::MAX - 50_000, u32::MAX]));
    assert_eq!(usual, play([u32::MAX, 0]));
    assert_eq!(usual, play([0x7fff_ffff, 0x8000_0000]));
}

#[test]
fn short_data_acknowledgements_mean_the_same_as_long_ones() {
    let play = |is_short| {
        let mut scene = Scene::at(0, RTT);
        let flow = Flow::first();
        let end = scene.open(&flow, START);
        Bulk { is_short, lost: vec![35, 36], ..Bulk::new(&flow, end, 100, GAP) }.play(&mut scene);
        only(&scene.sorted())
    };
    let (long, short) = (play(false), play(true));
    assert_eq!(short.protocol, Protocol::Mptcp);
    let (one, other) = (&long.data[0], &short.data[0]);
    assert_eq!((one.bytes, one.delivered), (140_000, 140_000));
    assert_eq!(one.bytes, other.bytes);
    assert_eq!(one.delivered, other.delivered);
    assert_eq!(one.largest_window, other.largest_window);
    assert_eq!(one.largest_out_of_order, other.largest_out_of_order);
    near(one.goodput, other.goodput);
}

#[test]
fn a_copy_on_a_second_device_is_no_retransmission() {
    let mut segments = at_client(|_| {}).sorted();
    let copies: Vec<_> = segments.iter().map(|(time, one)| (time + 20_000, one.clone())).collect();
    segments.extend(copies);
    segments.sort_by_key(|(time, _)| *time);
    let report = report_of(&[raw(&segments)]).unwrap();
    assert_eq!(report.copies, 100);
    let sent = &report.connections[0].subflows[0].data[0];
    assert_eq!((sent.segments, sent.retransmissions, sent.lost), (100, 0, 0));
}

#[test]
fn a_port_that_is_used_again_is_a_new_connection() {
    let mut scene = at_client(|_| {});
    let flow = Flow { initial: [900_000, 800_000], ..Flow::first() };
    let start = START + 10 * S;
    let end = scene.open_plain(&flow, start);
    Bulk::plain(&flow, end, 40, GAP).play(&mut scene);
    let report = report_of(&[raw(&scene.sorted())]).unwrap();
    let bytes: Vec<u64> = report.connections.iter().map(|one| one.data[0].bytes).collect();
    assert_eq!(bytes, [140_000, 56_000]);
}

#[test]
fn the_window_scale_of_the_handshake_applies() {
    for (scale, expected) in [(Some(0), 1000), (Some(7), 128_000), (Some(14), 16_384_000), (None, 1000)] {
        let mut scene = at_client(|bulk| bulk.flow.window = 1000);
        for (_, segment) in scene.segments.iter_mut().filter(|(_, one)| one.flags.syn()) {
            segment.options.window_scale = scale;
            segment.window = 1000;
        }
        scene.segments[2].1.window = 1000;
        let connection = only(&scene.sorted());
        assert_eq!(connection.data[0].largest_window, expected, "{scale:?}");
    }
}

#[test]
fn segments_that_will_be_split_count_as_one() {
    let mut scene = Scene::at(0, RTT);
    let flow = Flow::first();
    let end = scene.open_plain(&flow, START);
    for index in 0..10 {
        let time = end + u64::from(index) * 50 * MS;
        scene.add(time, flow.data(0, 1 + index * 14_000, 14_000));
        scene.add(time + RTT, flow.ack(1, 1 + (index + 1) * 14_000, &[]));
    }
    let connection = only(&scene.sorted());
    let sent = client_data(&connection);
    assert_eq!((sent.bytes, sent.segments, sent.lost), (140_000, 10, 0));
    assert_eq!(connection.data[0].largest_flight, 14_000);
}

#[test]
fn mappings_beyond_4_gib_of_a_subflow_are_found() {
    let flow = Flow::first();
    let mut scene = Scene::at(RTT, 0);
    let mut time = scene.open(&flow, START);
    // A capture that lacks most of the data; the last gap contains the wrap of the relative numbers.
    let numbers = [1, 0x7000_0000, 0xe000_0000, 0xffff_f000, 0x100, 0x100 + MSS];
    for (index, number) in (0..).zip(numbers) {
        time += MS;
        scene.add(time, flow.mapped(0, number, MSS, u64::from(1 + index * MSS)));
    }
    scene.add(time, flow.data_ack(1, 0x100 + 2 * MSS, &[], u64::from(1 + 6 * MSS)));
    let connection = only(&scene.sorted());
    assert_eq!((connection.data[0].bytes, connection.data[0].delivered), (8400, 8400));
}
