//! WiFi queues: the shared queue of the access point, aggregates, CoDel, and departure events.

use crate::wifi::{Bench, fixed, seconds};
use mptcp_clock::{Duration, Instant};
use netsim::{
    Aggregation, CellParameters, Discipline, Event, Frame, Network, QueueLimit, SendOutcome, Standard,
    StationParameters,
};

fn n() -> CellParameters {
    CellParameters {
        streams: 2,
        short_guard: true,
        aggregation: Some(Aggregation::default()),
        ring: 64,
        ..CellParameters::ideal(Standard::N)
    }
}

/// Mb/s of IP packets from one saturated station that fills aggregates.
fn carried(cell: CellParameters, distance: f64) -> f64 {
    let mut bench = Bench::new(2);
    let id = bench.cell(cell);
    bench.station(id, StationParameters { ring: 64, distance, ..Default::default() }, 1514);
    bench.fill(200);
    bench.run_until(seconds(1));
    bench.take_arrived();
    bench.run_until(seconds(11));
    bench.take_arrived()[0] as f64 * 1.2e-3
}

#[test]
fn aggregates_make_802_11n_two_to_four_times_as_fast_as_802_11g() {
    let g = carried(CellParameters::ideal(Standard::G), 3.0);
    let with = |streams, frames: Option<u32>| {
        let aggregation = frames.map(|max_frames| Aggregation { max_frames, ..Aggregation::default() });
        carried(CellParameters { streams, short_guard: false, aggregation, ..n() }, 3.0) / g
    };
    let alone = with(2, None);
    let (one, four, full) = (with(1, Some(32)), with(2, Some(4)), with(2, Some(32)));
    println!(
        "over 11g: no aggregates {alone:.2}, one stream {one:.2}, aggregates of 4 {four:.2}, of 32 {full:.2}"
    );
    assert!((1.2..1.6).contains(&alone), "a higher rate alone: {alone}");
    assert!((1.8..2.2).contains(&one), "one stream: {one}");
    assert!((2.0..3.0).contains(&four), "two streams, four frames: {four}");
    // 130 Mb/s, minus the overhead of one medium access per 32 frames.
    assert!((3.5..4.0).contains(&full), "two streams: {full}");
}

#[test]
fn frames_of_an_aggregate_fail_one_by_one_and_still_arrive_in_order() {
    let mut network = Network::new(3);
    let (access_point, station) = (network.add_host(), network.add_host());
    let cell = network.add_cell("cell", access_point, n()).expect("a cell");
    // At this distance, the highest rate loses some frames of an aggregate.
    let parameters = StationParameters { distance: 35.0, ring: 64, ..fixed(130_000_000) };
    let link = network.add_station("station", station, cell, parameters).expect("a station");
    let address = network.add_address(access_point, None).expect("known");
    for payload in 0..500u32 {
        network.send(
            Instant::ZERO,
            link.forward(),
            Frame { bytes: 1514, destination: address, label: 0, ecn: netsim::Codepoint::NotEct, payload },
        );
    }
    let mut arrived = Vec::new();
    while let Some((_, Event::Arrived { frame, .. })) = network.next() {
        arrived.push(frame.payload);
    }
    let mac = network.mac(link.forward()).expect("wireless");
    println!("{mac:?}");
    assert!(mac.failures > 10 && mac.retries > 100 && mac.transmissions < 250, "{mac:?}");
    assert!(arrived.is_sorted());
    assert_eq!(arrived.len() as u64 + mac.retry_drops, 500);
}

#[test]
fn the_access_point_has_one_queue_for_all_its_stations() {
    let mut bench = Bench::new(3);
    let cell = bench.cell(CellParameters { queue: QueueLimit::Packets(10), ..CellParameters::default() });
    let (near, far) = (
        bench.listener(cell, fixed(54_000_000), 1514),
        bench.listener(cell, StationParameters { distance: 1000.0, ..fixed(54_000_000) }, 1514),
    );
    let frame = |bench: &Bench, flow: usize| Frame {
        bytes: 1514,
        destination: bench.destination(flow),
        label: 0,
        ecn: netsim::Codepoint::NotEct,
        payload: flow as u32,
    };
    let directions = [near, far].map(|flow| bench.flows[flow].direction);
    let outcomes: Vec<SendOutcome> = (0..12)
        .map(|number| {
            let flow = [far, near][number % 2];
            let frame = frame(&bench, flow);
            bench.network.send(Instant::ZERO, directions[flow], frame)
        })
        .collect();
    assert_eq!(
        outcomes.iter().filter(|fate| **fate == SendOutcome::Queued).count(),
        10,
        "both fill the same queue"
    );
    let mut arrivals = Vec::new();
    while let Some((at, event)) = bench.network.next() {
        if matches!(event, Event::Arrived { .. }) {
            arrivals.push(at);
        }
    }
    assert_eq!(arrivals.len(), 5);
    assert_eq!(bench.mac(far).retry_drops, 5);
    let waited = arrivals[0].since(Instant::ZERO);
    assert!(waited > Duration::from_millis(2), "the frames to the lost station went first: {waited}");
}

#[test]
fn departures_tell_how_long_a_frame_was_served_and_how_long_it_would_be_alone() {
    let mut bench = Bench::new(3);
    let cell = bench.cell(CellParameters::default());
    let flow = bench.station(cell, fixed(54_000_000), 1514);
    let direction = bench.flows[flow].direction;
    bench.network.watch_departures(direction, true);
    bench.fill(100);
    let (mut total, mut last, mut count) = (Duration::ZERO, Instant::ZERO, 0);
    while let Some((at, event)) = bench.network.next() {
        if let Event::Departed { service, alone, .. } = event {
            // DIFS, 7.5 slots, 254 us of data, SIFS, and 34 us of ACK.
            assert_eq!(alone, Duration::from_nanos(28_000 + 67_500 + 298_000));
            assert!(service + Duration::from_nanos(67_500) >= alone);
            total += service;
            last = at;
            count += 1;
        }
    }
    assert_eq!(count, 100);
    assert_eq!(total, last.since(Instant::ZERO), "services follow each other without a gap");
}

/// Median queueing delay in seconds for a sender with a window that grows by one frame per RTT of 20 ms and
/// halves at a drop, as in TCP.
fn median_wait(discipline: Discipline) -> f64 {
    let mut network = Network::new(5);
    let (access_point, station) = (network.add_host(), network.add_host());
    let cell = network.add_cell("cell", access_point, CellParameters::default()).expect("a cell");
    let delay = Duration::from_millis(20);
    let parameters = StationParameters { discipline, ring: 2, delay, ..fixed(54_000_000) };
    let link = network.add_station("station", station, cell, parameters).expect("a station");
    let address = network.add_address(access_point, None).expect("known");
    let (mut window, mut in_flight, mut dropped, mut waits) = (10.0, 0u64, 0, Vec::new());
    loop {
        let lost = network.counters(link.forward()).dropped_frames - dropped;
        if lost > 0 {
            (window, in_flight, dropped) = (window / 2.0, in_flight - lost, dropped + lost);
        }
        while in_flight < window as u64 {
            let now = network.now();
            let frame = Frame {
                bytes: 1514,
                destination: address,
                label: 0,
                ecn: netsim::Codepoint::NotEct,
                payload: now,
            };
            network.send(now, link.forward(), frame);
            in_flight += 1;
        }
        let Some((now, Event::Arrived { frame, .. })) = network.next_until(seconds(60)) else { break };
        window += 1.0 / window;
        in_flight -= 1;
        if now > seconds(20) {
            waits.push((now.since(frame.payload) - delay).as_secs_f64());
        }
    }
    waits.sort_by(f64::total_cmp);
    println!("{discipline:?}: median {:.1} ms, {dropped} dropped", waits[waits.len() / 2] * 1e3);
    waits[waits.len() / 2]
}

#[test]
fn codel_keeps_the_waiting_time_near_its_target() {
    let (target, interval) = (Duration::from_millis(5), Duration::from_millis(100));
    assert!(median_wait(Discipline::DropTail) > 0.1);
    let codel = median_wait(Discipline::CoDel { target, interval });
    assert!(codel < 0.01, "{codel} s");
}
