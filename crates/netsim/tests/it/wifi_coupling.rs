//! Throughput of two coupled cells.

use crate::wifi::{Bench, fixed, seconds};
use netsim::{CellParameters, Channel, Coupling, Interference, Standard, StationParameters, StationRate};

/// Results with a saturated station in each of two cells.
struct Pair {
    /// Total of both cells relative to the first cell alone.
    ratio: f64,
    /// Share of the first cell.
    share: f64,
    /// Share of frames that the MACs gave up.
    given_up: f64,
}

fn pair(cells: [&CellParameters; 2], station: &StationParameters, prepare: impl Fn(&mut Bench)) -> Pair {
    let run = |both: bool| {
        let mut bench = Bench::new(1);
        for cell in cells {
            let id = bench.cell(cell.clone());
            bench.station(id, station.clone(), 1514);
        }
        prepare(&mut bench);
        bench.flows[1].active = both;
        bench.fill(10);
        bench.run_until(seconds(30));
        let given_up = bench.mac(0).retry_drops + bench.mac(1).retry_drops;
        (bench.take_arrived(), given_up as f64)
    };
    let (alone, _) = run(false);
    let (both, given_up) = run(true);
    let total = (both[0] + both[1]) as f64;
    Pair {
        ratio: total / alone[0] as f64,
        share: both[0] as f64 / total,
        given_up: given_up / (total + given_up),
    }
}

fn on(channel: u8) -> CellParameters {
    CellParameters { channel: Channel(channel), ..CellParameters::ideal(Standard::G) }
}

fn coupled(carrier_sense: f64, collision: f64) -> Pair {
    pair([&on(1), &on(1)], &fixed(54_000_000), |bench| {
        let [a, b] = [0, 1].map(|cell| bench.cell_id(cell));
        bench.network.couple(a, b, Coupling { carrier_sense, collision }).expect("known cells");
    })
}

#[test]
fn cells_that_hear_nothing_of_each_other_carry_twice_as_much_as_one() {
    let pair = coupled(0.0, 0.0);
    assert!((1.99..2.01).contains(&pair.ratio), "{}", pair.ratio);
}

#[test]
fn cells_that_hear_everything_of_each_other_are_one() {
    let pair = coupled(1.0, 1.0);
    assert!((0.97..1.03).contains(&pair.ratio), "{}", pair.ratio);
    assert!((pair.share - 0.5).abs() < 0.02);
}

#[test]
fn ideal_channels_are_one_medium_or_none() {
    let ideal = |a: u8, b: u8| pair([&on(a), &on(b)], &fixed(54_000_000), |_| ()).ratio;
    assert!((0.97..1.03).contains(&ideal(6, 6)));
    assert!((1.99..2.01).contains(&ideal(1, 6)));
    let between = ideal(1, 4);
    assert!((0.7..1.95).contains(&between), "{between}");
    let five = CellParameters::ideal(Standard::A);
    let bands = pair([&on(1), &five], &fixed(54_000_000), |_| ()).ratio;
    assert!((1.9..2.1).contains(&bands), "{bands}");
}

#[test]
fn channels_side_by_side_at_5_ghz_do_not_overlap() {
    let five = |channel| CellParameters { channel: Channel(channel), ..CellParameters::ideal(Standard::A) };
    let ratio = |a, b| pair([&five(a), &five(b)], &fixed(54_000_000), |_| ()).ratio;
    assert!((0.97..1.03).contains(&ratio(36, 36)));
    assert!((1.99..2.01).contains(&ratio(36, 40)));
}

/// The preset for cells on two channels, with and without protection, at a fixed rate and with rate control.
fn ucl(channels: [u8; 2], check: impl Fn(&str, &Pair)) {
    for protection in [false, true] {
        for (name, rate) in [("54 Mb/s", StationRate::Fixed(54_000_000)), ("automatic", StationRate::Auto)] {
            let station = StationParameters { rate, ..Default::default() };
            let [a, b] = channels.map(|channel| CellParameters { protection, ..on(channel) });
            let pair = pair([&a, &b], &station, |bench| bench.network.set_interference(Interference::Ucl));
            let case = format!(
                "channels {channels:?}, protection {protection}, {name}: ratio {:.3}, share {:.3}, given up {:.4}",
                pair.ratio, pair.share, pair.given_up
            );
            println!("{case}");
            check(&case, &pair);
        }
    }
}

#[test]
fn ucl_finds_channels_1_and_11_half_separate() {
    ucl([1, 11], |case, pair| {
        assert!((1.35..1.65).contains(&pair.ratio), "{case}");
        assert!((pair.share - 0.5).abs() < 0.05, "{case}");
        assert!(pair.given_up < 0.001, "{case}");
    });
}

#[test]
fn ucl_finds_one_channel_worse_than_shared() {
    ucl([1, 1], |case, pair| {
        assert!((0.5..0.75).contains(&pair.ratio), "{case}");
        assert!((pair.share - 0.5).abs() < 0.05, "{case}");
        assert!(pair.given_up > 0.02, "{case}");
    });
}

#[test]
fn ucl_finds_the_bands_separate() {
    let pair = pair([&on(1), &CellParameters::ideal(Standard::A)], &fixed(54_000_000), |bench| {
        bench.network.set_interference(Interference::Ucl);
    });
    assert!((1.9..2.1).contains(&pair.ratio), "{}", pair.ratio);
}

#[test]
fn a_cell_does_not_notice_a_cell_on_another_channel() {
    let alone = |others: u8| {
        let mut bench = Bench::new(9);
        for channel in 0..=others {
            let cell = bench.cell(on(1 + 5 * channel));
            for _ in 0..3 {
                bench.station(cell, StationParameters::default(), 1514);
            }
        }
        bench.fill(5);
        bench.run_until(seconds(5));
        bench.take_arrived()[..3].to_vec()
    };
    assert_eq!(alone(0), alone(1));
    assert_eq!(alone(0), alone(2));
}

/// Carrier sense and collision of two channels, in thousandths.
fn factors(interference: Interference, a: u8, b: u8) -> (f64, f64) {
    let one = interference.coupling(Channel(a), Channel(b));
    assert_eq!(one, interference.coupling(Channel(b), Channel(a)), "the same in both directions");
    (one.carrier_sense, one.collision)
}

#[test]
fn channels_overlap_less_the_further_they_are_apart() {
    let ideal = |a, b| {
        let (sense, collision) = factors(Interference::Ideal, a, b);
        assert_eq!(sense, collision);
        (sense * 100.0).round() as i32
    };
    assert_eq!([1, 2, 3, 4, 5, 6, 7, 14].map(|other| ideal(1, other)), [100, 80, 60, 40, 20, 0, 0, 0]);
    assert_eq!([36, 37, 38, 40, 44, 165].map(|other| ideal(36, other)), [100, 75, 50, 0, 0, 0]);
    assert_eq!(ideal(14, 36), 0);
}

/// The table of `Interference::Ucl`.
#[test]
fn ucl_senses_less_on_one_channel_than_on_two() {
    let ucl = |a, b| {
        let (sense, collision) = factors(Interference::Ucl, a, b);
        [(sense * 1000.0).round() as i32, (collision * 1000.0).round() as i32]
    };
    assert_eq!(ucl(6, 6), [50, 1000]);
    assert_eq!(ucl(1, 3), [275, 525]);
    assert_eq!([5, 6, 11].map(|other| ucl(1, other)), [[500, 50]; 3]);
    // As ideal for unmeasured channels.
    assert_eq!([36, 38, 40].map(|other| ucl(36, other)), [[1000, 1000], [500, 500], [0, 0]]);
    assert_eq!(ucl(1, 36), [0, 0]);
}
