//! Distance: near the access point nothing is lost; a station slows down as it moves away, loses everything
//! far away, and recovers when it returns.

use crate::wifi::{Bench, fixed, seconds};
use mptcp_clock::Duration;
use netsim::{CellParameters, Change, Standard, StationParameters, StationRate};

/// Mb/s of frames, and the share of attempts in which the frame was too weak.
fn at(distance: f64, rate: StationRate, standard: Standard) -> (f64, f64) {
    let mut bench = Bench::new(4);
    let cell = bench.cell(CellParameters::ideal(standard));
    bench.station(cell, StationParameters { rate, distance, ..Default::default() }, 1514);
    bench.fill(10);
    bench.run_until(seconds(2));
    bench.take_arrived();
    bench.run_until(seconds(12));
    let mac = bench.mac(0);
    (bench.take_arrived()[0] as f64 * 1.2e-3, mac.failures as f64 / mac.transmissions as f64)
}

#[test]
fn within_ten_metres_the_highest_rate_is_nearly_free_of_errors() {
    for (standard, rate) in [(Standard::B, 11_000_000), (Standard::G, 54_000_000), (Standard::A, 54_000_000)]
    {
        let (fixed, failures) = at(10.0, StationRate::Fixed(rate), standard);
        assert!(failures < 0.001, "{standard:?}: {failures}");
        let (auto, _) = at(10.0, StationRate::Auto, standard);
        assert!(auto > 0.97 * fixed, "{standard:?}: rate control carries {auto} of {fixed} Mb/s");
    }
}

#[test]
fn throughput_falls_with_distance_until_nothing_is_left() {
    let metres = [5.0, 30.0, 45.0, 60.0, 80.0, 100.0, 130.0, 160.0, 200.0, 400.0];
    let carried: Vec<f64> =
        metres.iter().map(|&distance| at(distance, StationRate::Auto, Standard::G).0).collect();
    println!("{metres:?} m: {carried:.2?} Mb/s");
    for (near, far) in carried.iter().zip(&carried[1..]) {
        assert!(*far <= near * 1.01, "{carried:?}");
    }
    assert!(carried[0] > 30.0 && carried[7] > 1.0 && carried[9] == 0.0, "{carried:?}");
}

#[test]
fn rate_control_carries_nearly_what_the_best_fixed_rate_does() {
    for distance in [10.0, 35.0, 50.0, 70.0, 100.0, 140.0] {
        let rates = [6, 9, 12, 18, 24, 36, 48, 54].map(|rate| StationRate::Fixed(rate * 1_000_000));
        let best = rates.map(|rate| at(distance, rate, Standard::G).0).into_iter().fold(0.0, f64::max);
        let auto = at(distance, StationRate::Auto, Standard::G).0;
        println!("{distance} m: {auto:.2} of {best:.2} Mb/s");
        assert!(auto > 0.85 * best, "{distance} m: {auto} of {best} Mb/s");
    }
}

#[test]
fn one_frame_from_far_away_comes_over_without_any_before() {
    let arrived = |seed| {
        let mut bench = Bench::new(seed);
        let cell = bench.cell(CellParameters::ideal(Standard::G));
        let station = bench.station(cell, StationParameters { distance: 120.0, ..Default::default() }, 100);
        bench.send(station);
        bench.flows[station].active = false;
        bench.run_until(seconds(1));
        bench.take_arrived()[station]
    };
    let came: u64 = (1..=20).map(arrived).sum();
    assert!(came >= 19, "{came} of 20 frames");
}

#[test]
fn contention_does_not_lower_the_rate() {
    for n in [2, 8, 20] {
        let carried = |station: StationParameters| {
            let mut bench = Bench::new(6);
            let cell = bench.cell(CellParameters::ideal(Standard::G));
            for _ in 0..n {
                bench.station(cell, station.clone(), 1514);
            }
            bench.fill(5);
            bench.run_until(seconds(20));
            bench.take_arrived().iter().sum::<u64>() as f64
        };
        let (auto, best) = (carried(StationParameters::default()), carried(fixed(54_000_000)));
        println!("{n} stations: {:.3} of the fixed rate", auto / best);
        assert!(auto > 0.9 * best, "{n} stations: {auto} of {best} frames");
    }
}

#[test]
fn one_who_walks_away_and_back_recovers() {
    let mut bench = Bench::new(8);
    let cell = bench.cell(CellParameters::ideal(Standard::G));
    bench.station(cell, StationParameters::default(), 1514);
    let direction = bench.flows[0].direction;
    for step in 0..=100u64 {
        let there_and_back = 5.0 + 8.0 * (50.0 - (50.0 - step as f64).abs());
        let when = seconds(2) + Duration::from_millis(100) * step;
        bench.network.schedule_change(when, direction, Change::Distance(there_and_back));
    }
    bench.fill(10);
    let mut carried = Vec::new();
    for second in 1..=15 {
        bench.run_until(seconds(second));
        carried.push(bench.take_arrived()[0] as f64 * 12e-3);
    }
    println!("{carried:.1?} Mb/s");
    assert!(carried[6] < 0.05 * carried[0], "at the far end: {carried:?}");
    assert!(carried[12] > 0.95 * carried[0] && carried[14] > 0.97 * carried[0], "back: {carried:?}");
    let counters = bench.network.counters(direction);
    assert!(counters.retry_drops > 0);
    assert_eq!(bench.mac(0).retry_drops, counters.retry_drops);
}

#[test]
fn a_slow_station_takes_the_air_of_the_fast_ones() {
    // The performance anomaly of Heusse et al. (2003): equal shares of frames, not of airtime.
    let mut bench = Bench::new(8);
    let cell = bench.cell(CellParameters::ideal(Standard::G));
    bench.station(cell, fixed(54_000_000), 1514);
    bench.station(cell, fixed(6_000_000), 1514);
    bench.fill(10);
    bench.run_until(seconds(20));
    let frames = bench.take_arrived();
    assert!((frames[0] as f64 / frames[1] as f64 - 1.0).abs() < 0.05, "{frames:?}");
    assert!((frames[0] as f64 * 1.2e-3 / 2.0) < 5.5);
    assert!(bench.mac(1).airtime.as_secs_f64() > 6.0 * bench.mac(0).airtime.as_secs_f64());
}
