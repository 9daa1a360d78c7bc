//! Contention with acknowledgement traffic, background stations, idle stations and 802.11b; and invalid cells.

use crate::wifi::{Bench, fixed, jain, saturate, seconds};
use mptcp_clock::{Duration, Instant};
use netsim::{
    Activity, Background, CellParameters, Change, Channel, Event, Frame, Network, Standard,
    StationParameters, TopologyError,
};

const MBPS: u64 = 1_000_000;

/// Mb/s of 1448-byte payloads from a station, whose frames of 1514 bytes the access point answers with frames
/// of 66 bytes, one per `every` frames, in a window of 40.
fn answered(cell: CellParameters, every: u32) -> f64 {
    let mut network = Network::new(4);
    let (access_point, station) = (network.add_host(), network.add_host());
    let cell = network.add_cell("cell", access_point, cell).expect("a cell");
    let link = network.add_station("station", station, cell, fixed(54 * MBPS)).expect("a station");
    let (up, down) = (network.add_address(access_point, None), network.add_address(station, None));
    let (up, down) = (up.expect("known"), down.expect("known"));
    let data =
        |payload| Frame { bytes: 1514, destination: up, label: 0, ecn: netsim::Codepoint::NotEct, payload };
    for number in 0..40 {
        network.send(Instant::ZERO, link.forward(), data(number));
    }
    let mut received = 0;
    while let Some((now, event)) = network.next_until(seconds(10)) {
        let Event::Arrived { frame, .. } = event else { continue };
        if frame.destination == down {
            for _ in 0..every {
                network.send(now, link.forward(), data(0));
            }
        } else {
            received += 1;
            if received % every == 0 {
                let answer = Frame {
                    bytes: 66,
                    destination: down,
                    label: 0,
                    ecn: netsim::Codepoint::NotEct,
                    payload: 0,
                };
                network.send(now, link.backward(), answer);
            }
        }
    }
    f64::from(received) * 1448.0 * 8.0 / 10e6
}

#[test]
fn a_closed_loop_carries_what_bounds_tcp() {
    // Without collisions, data and answers at 54 Mb/s: 23.9 and 20.2 Mb/s with short slots, 18.1 and 14.8 with
    // long ones. Both sides count down together, which saves slots, and collide occasionally.
    let long = CellParameters { short_slot: false, ..CellParameters::default() };
    for (cell, every, bound) in [
        (CellParameters::default(), 2, 23.9),
        (CellParameters::default(), 1, 20.2),
        (long.clone(), 2, 18.1),
        (long, 1, 14.8),
    ] {
        let carried = answered(cell, every);
        println!("an answer for each {every}: {carried:.2} Mb/s, {bound} expected");
        assert!((carried / bound - 1.0).abs() < 0.15, "{carried} Mb/s, {bound} expected");
    }
}

#[test]
fn background_stations_take_their_part_of_the_air() {
    let carried = |stations, activity| {
        let mut bench = Bench::new(3);
        let cell = bench.cell(CellParameters::default());
        let background = Background { stations, frame_bytes: 1514, rate: 54 * MBPS, activity };
        bench.network.add_background("neighbours", cell, background).expect("a fresh name");
        bench.station(cell, fixed(54 * MBPS), 1514);
        bench.fill(5);
        bench.run_until(seconds(30));
        bench.take_arrived()[0] as f64 / 30.0
    };
    let alone = carried(0, Activity::Saturated);
    for stations in [1, 3, 7] {
        let all = saturate(3, &CellParameters::default(), stations as usize + 1, 54 * MBPS, 1514, 30);
        let share = carried(stations, Activity::Saturated) * f64::from(stations + 1) / all.frames_per_second;
        assert!((share - 1.0).abs() < 0.05, "{stations} in the background: {share} of an equal share");
    }
    let half = Duration::from_millis(30);
    let sometimes = carried(1, Activity::OnOff { on: half, off: half });
    let middle = (alone + carried(1, Activity::Saturated)) / 2.0;
    assert!((sometimes / middle - 1.0).abs() < 0.05, "{sometimes} frames/s, {middle} expected");
}

#[test]
fn idle_stations_change_nothing() {
    let among = |idle: u32| {
        let mut bench = Bench::new(3);
        let cell = bench.cell(CellParameters::default());
        for _ in 0..3 {
            bench.station(cell, StationParameters::default(), 1514);
        }
        for _ in 0..idle {
            let silent = bench.station(cell, StationParameters::default(), 1514);
            bench.flows[silent].active = false;
        }
        bench.fill(3);
        bench.run_until(seconds(3));
        bench.take_arrived()[..3].to_vec()
    };
    assert_eq!(among(0), among(5));
}

#[test]
fn the_access_point_gets_one_share_for_all_its_stations() {
    let mut bench = Bench::new(3);
    let cell = bench.cell(CellParameters::default());
    for _ in 0..2 {
        bench.station(cell, fixed(54 * MBPS), 1514);
    }
    for _ in 0..2 {
        bench.listener(cell, fixed(54 * MBPS), 1514);
    }
    bench.fill(5);
    bench.run_until(seconds(20));
    let frames = bench.take_arrived();
    assert!(jain(&[frames[0], frames[1], frames[2] + frames[3]]) > 0.999, "{frames:?}");
    assert!(frames[2].abs_diff(frames[3]) < 20, "one after the other: {frames:?}");
}

#[test]
fn protection_encryption_and_long_slots_cost_what_they_take() {
    let carried = |cell: CellParameters| 1e6 / saturate(3, &cell, 1, 54 * MBPS, 1514, 20).frames_per_second;
    let plain = CellParameters::default();
    // DIFS, 7.5 slots on average, 254 us of data, SIFS, 34 us of ACK.
    let base = carried(plain.clone());
    assert!((base - (28.0 + 67.5 + 254.0 + 10.0 + 34.0)).abs() < 1.0, "{base} us a frame");
    let protected = carried(CellParameters { protection: true, ..plain.clone() });
    // 192 us of preamble, 14 bytes at 11 Mb/s, SIFS.
    assert!((protected - base - (192.0 + 11.0 + 10.0)).abs() < 1.0, "{protected} us a frame");
    let slow = carried(CellParameters { protection: true, protection_rate: MBPS, ..plain.clone() });
    assert!((slow - base - (192.0 + 112.0 + 10.0)).abs() < 1.0, "{slow} us a frame");
    let encrypted = carried(CellParameters { wpa2: true, ..plain.clone() });
    assert!((0.0..4.5).contains(&(encrypted - base)), "16 bytes are at most one symbol: {encrypted} us");
    let long = carried(CellParameters { short_slot: false, ..plain });
    assert!((long - base - 9.5 * 11.0).abs() < 2.0, "{long} us a frame");
}

#[test]
fn a_station_that_goes_down_loses_what_it_holds_and_comes_back() {
    let mut bench = Bench::new(3);
    let cell = bench.cell(CellParameters::default());
    let flow = bench.station(cell, fixed(54 * MBPS), 1514);
    let link = bench.flows[flow].link;
    bench.network.schedule_link_change(seconds(1), link, Change::Up(false));
    bench.network.schedule_link_change(seconds(2), link, Change::Up(true));
    bench.fill(20);
    bench.run_until(seconds(2));
    let counters = bench.network.counters(link.forward());
    // The held frames, and those sent instead.
    assert!(counters.flushed_frames >= 20);
    assert_eq!(counters.backlog_frames, 0);
    bench.take_arrived();
    bench.fill(20);
    bench.run_until(seconds(3));
    assert!(bench.take_arrived()[0] > 2400);
}

#[test]
fn impossible_cells_are_refused_by_name() {
    let mut network = Network::<()>::new(1);
    let node = network.add_host();
    let a_at_2_4 = CellParameters { channel: Channel(6), ..CellParameters::ideal(Standard::A) };
    assert!(
        matches!(network.add_cell("a", node, a_at_2_4), Err(TopologyError::BadCell { name, .. }) if name == "a")
    );
    let cell = network.add_cell("a", node, CellParameters::default()).expect("a good cell");
    let again = network.add_cell("a", node, CellParameters::default());
    assert_eq!(again, Err(TopologyError::DuplicateCell("a".to_owned())));
    let itself = network.add_station("s", node, cell, StationParameters::default());
    assert_eq!(itself, Err(TopologyError::Loop("s".to_owned())));
    let mut other = Network::<()>::new(1);
    let node = other.add_host();
    let foreign = other.add_station("s", node, cell, StationParameters::default());
    assert_eq!(foreign, Err(TopologyError::UnknownCell(0)));
}
