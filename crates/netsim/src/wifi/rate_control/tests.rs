//! Rate control by the rules of Minstrel, as the module documents them.

use super::super::parameters::{CellParameters, Standard};
use super::*;

/// Rates 6, 9, 12, 18, 24, 36, 48, 54 Mb/s.
fn control() -> RateControl {
    RateControl::new(StationRate::Auto, &Phy::new(&CellParameters::ideal(Standard::G)))
}

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

/// One interval with these attempts and successes per rate.
fn interval(control: &mut RateControl, number: u64, rates: &[(usize, u32, u32)]) {
    for &(rate, attempts, successes) in rates {
        control.learn(ms(50 * number - 1), rate, attempts, successes);
    }
    control.learn(ms(50 * number), 0, 0, 0);
}

fn share(control: &RateControl, rate: usize) -> f64 {
    control.records[rate].share
}

fn close(is: f64, should: f64) {
    assert!((is - should).abs() < 1e-9, "{is}, {should} expected");
}

#[test]
fn untried_the_fastest_is_first_and_the_slowest_is_the_last_resort() {
    let mut control = control();
    let mut trials = Rng::new(1, "trials");
    assert_eq!(control.current(), 7);
    assert_eq!(
        [0, 1, 2, 3, 4, 5, 20].map(|failed| control.choose(failed, &mut trials)),
        [7, 7, 6, 6, 0, 0, 0]
    );
}

#[test]
fn a_fixed_rate_is_never_left() {
    let phy = Phy::new(&CellParameters::ideal(Standard::G));
    let mut control = RateControl::new(StationRate::Fixed(24_000_000), &phy);
    for number in 1..10 {
        interval(&mut control, number, &[(4, 100, 0)]);
        assert_eq!([0, 3, 9].map(|failed| control.choose(failed, &mut Rng::new(1, "trials"))), [4; 3]);
    }
    assert_eq!(control.current(), 4);
}

/// The first attempts are weighted against two assumed ones, later ones against twelve.
#[test]
fn shares_follow_the_attempts_by_their_number() {
    let mut control = control();
    interval(&mut control, 1, &[(7, 6, 3)]);
    // 6 / (6 + 2) of the way from 1 to 0.5.
    close(share(&control, 7), 0.625);
    // Untried slower rates get the same share.
    close(share(&control, 6), 0.625);
    close(share(&control, 0), 0.625);
    interval(&mut control, 2, &[(7, 4, 4)]);
    // 4 / (4 + 12) of the way from there to 1.
    close(share(&control, 7), 0.718_75);
    interval(&mut control, 3, &[]);
    close(share(&control, 7), 0.718_75);
    // Nothing changes before the end of the interval.
    control.learn(ms(199), 7, 100, 0);
    close(share(&control, 7), 0.718_75);
    control.learn(ms(200), 7, 0, 0);
    close(share(&control, 7), 0.718_75 * (12.0 / 112.0));
}

#[test]
fn a_rate_that_carries_nothing_is_left_for_the_next_and_comes_back() {
    let mut control = control();
    interval(&mut control, 1, &[(7, 100, 0), (6, 100, 90)]);
    assert_eq!(control.current(), 6);
    // Rate 7 works again. It is chosen because it is faster, although its throughput is less than 10% higher.
    for number in 2..12 {
        interval(&mut control, number, &[(7, 100, 90), (6, 100, 90)]);
    }
    assert_eq!(control.current(), 7);
}

/// A slower rate must have a clearly higher throughput.
#[test]
fn a_slower_rate_has_to_be_better_by_a_tenth() {
    let best = |slower: u32| {
        let mut control = control();
        for number in 1..40 {
            interval(&mut control, number, &[(7, 100, 80), (6, 100, slower)]);
        }
        control.current()
    };
    // A frame takes 326 us at 54 Mb/s and 358 us at 48 Mb/s. A share of 0.8 at 54 Mb/s equals 0.88 at 48
    // Mb/s; 10% more is 0.97.
    let cost = |rate: usize| control().records[rate].cost;
    let enough = 80.0 * cost(6) / cost(7) * 1.1;
    assert!((90.0..99.0).contains(&enough), "{enough}");
    assert_eq!([enough.floor() as u32, enough.ceil() as u32].map(best), [7, 6]);
}

/// The cost of a rate is the total airtime of a frame: DIFS, data, SIFS and ACK.
#[test]
fn rates_are_compared_by_the_air_they_take() {
    close(control().records[7].cost * 1e6, 28.0 + 254.0 + 44.0);
    close(control().records[0].cost * 1e6, 28.0 + 2078.0 + 60.0);
    let protected = CellParameters { protection: true, ..CellParameters::ideal(Standard::G) };
    let control = RateControl::new(StationRate::Auto, &Phy::new(&protected));
    close(control.records[7].cost * 1e6, 28.0 + 254.0 + 44.0 + 213.0);
}

#[test]
fn repetitions_go_at_the_second_best_and_then_at_the_fastest_that_is_nearly_sure() {
    let mut control = control();
    let mut trials = Rng::new(1, "trials");
    // 36 and 24 Mb/s have the highest throughput; 12 Mb/s is the most reliable.
    let tried = [(7, 100, 0), (6, 100, 0), (5, 100, 60), (4, 100, 70), (3, 100, 74), (2, 100, 100)];
    (1..20).for_each(|number| interval(&mut control, number, &tried));
    // Throughput of 36 Mb/s with a share of 0.60, 24 with 0.70, 18 with 0.74, 12 with 1.0.
    let worth = |rate: usize| share(&control, rate) / control.records[rate].cost;
    let mut order = [5, 4, 3, 2];
    order.sort_by(|&a, &b| worth(b).total_cmp(&worth(a)));
    let chosen = [0, 1, 2, 3, 4].map(|failed| control.choose(failed, &mut trials));
    assert_eq!(chosen[..4], [order[0], order[0], order[1], order[1]]);
    // Shares from 75% of the highest on count as equal to it. 0.74 is below, 0.76 is above.
    assert_eq!(chosen[4], 2);
    let tried = [(7, 100, 0), (6, 100, 0), (5, 100, 60), (4, 100, 70), (3, 100, 76), (2, 100, 100)];
    (20..60).for_each(|number| interval(&mut control, number, &tried));
    assert_eq!(control.choose(4, &mut trials), 3);
}

/// One of sixteen first attempts tries a random faster rate.
#[test]
fn now_and_then_a_faster_rate_is_tried() {
    let mut control = control();
    let useless: Vec<_> = (3..8).map(|rate| (rate, 100, 0)).collect();
    interval(&mut control, 1, &useless);
    interval(&mut control, 2, &[(2, 100, 100)]);
    assert_eq!(control.current(), 2);
    let mut trials = Rng::new(1, "trials");
    let chosen: Vec<usize> = (0..1600).map(|_| control.choose(0, &mut trials)).collect();
    let places: Vec<usize> = (0..1600).filter(|&at| chosen[at] != 2).collect();
    assert_eq!(places, (1..=100).map(|turn| turn * 16 - 1).collect::<Vec<_>>());
    for rate in 3..8 {
        let times = places.iter().filter(|&&at| chosen[at] == rate).count();
        assert!((8..35).contains(&times), "{rate}: {times} of 20");
    }
    // A retry is never a trial; the trial waits for a first attempt.
    assert!((0..15).all(|_| control.choose(0, &mut trials) == 2));
    assert_eq!([1, 1].map(|failed| control.choose(failed, &mut trials)), [2, 2]);
    assert_ne!(control.choose(0, &mut trials), 2);
    // No rate is faster than the fastest.
    let mut fast = self::control();
    assert!((0..64).all(|_| fast.choose(0, &mut trials) == 7));
}
