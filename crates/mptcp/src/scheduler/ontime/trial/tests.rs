//! How long is measured, and what is found.

use super::*;

const MSS: u64 = 1000;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A fast path of 50 ms, and one of 200 ms that is tried and has this under way.
fn paths(in_flight: u64, rate: f64) -> [Candidate; 2] {
    let mut slow = Candidate::new(1, ms(200), 20 * MSS, MSS);
    (slow.in_flight, slow.delivery_rate) = (in_flight, Some(rate));
    [Candidate::new(0, ms(50), 100 * MSS, MSS), slow]
}

fn view(candidates: &[Candidate], now: u64, acknowledged: u64) -> SendView<'_> {
    let mut view = SendView::new(Instant::ZERO + ms(now), candidates);
    view.acknowledged = acknowledged;
    view
}

/// A meter that was looked at each 100 ms from one second to three, while 100 bytes came each millisecond.
fn meter(candidates: &[Candidate]) -> Meter {
    let mut meter = Meter::default();
    for at in 10..=30 {
        meter.note(&view(candidates, at * 100, at * 10_000));
    }
    meter
}

#[test]
fn a_rate_is_a_mean_over_one_to_two_spans() {
    // Four round trips of 200 ms are a span: the meter was read at 1000, 1800 and 2600 ms.
    let candidates = paths(0, 1e6);
    let meter = meter(&candidates);
    assert_eq!(meter.before.0, Instant::ZERO + ms(1800));
    assert_eq!(meter.last.0, Instant::ZERO + ms(2600));
    assert!(meter.is_due(Instant::ZERO + ms(3400)) && !meter.is_due(Instant::ZERO + ms(3399)));
    assert_eq!(since(&view(&candidates, 3000, 300_000), meter.before), 100_000.0);
    // At first there is nothing before.
    let mut first = Meter::default();
    first.note(&view(&candidates, 1000, 5_000));
    assert_eq!((first.last, first.before), (first.before, (Instant::ZERO + ms(1000), 5_000)));
}

#[test]
fn a_span_is_four_round_trips_between_half_a_second_and_four() {
    assert_eq!(
        [10, 125, 126, 500, 1000, 1001, 9000].map(|rtt| span(ms(rtt))),
        [500, 500, 504, 2000, 4000, 4000, 4000].map(ms)
    );
    let candidates = paths(0, 1e6);
    let view = view(&candidates, 0, 0);
    assert_eq!(
        (longest(&view, None), longest(&view, Some(1)), longest(&view, Some(0))),
        (ms(200), ms(50), ms(200))
    );
}

#[test]
fn only_a_path_that_brings_a_quarter_is_put_to_the_test() {
    let tried = |rate| {
        let candidates = paths(0, rate);
        let view = view(&candidates, 3000, 300_000);
        Trial::begin(&view, &candidates[1], &meter(&candidates)).is_some()
    };
    // 100 kB/s come in all.
    assert!(tried(25_001.0) && !tried(25_000.0));
    let mut candidates = paths(0, 0.0);
    candidates[1].delivery_rate = None;
    let view = view(&candidates, 3000, 300_000);
    assert!(Trial::begin(&view, &candidates[1], &meter(&candidates)).is_none(), "nothing is known of it");
}

/// When the finding comes, in ms after the rest began, and what it is, if this many bytes come each millisecond; the path has
/// something under way for so long.
fn found(under_way: u64, rate: u64) -> (u64, Finding) {
    let before = paths(MSS, 1e6);
    let mut trial =
        Trial::begin(&view(&before, 3000, 300_000), &before[1], &meter(&before)).expect("it is tried");
    for at in 0..5000 {
        let candidates = paths(if at < under_way { MSS } else { 0 }, 1e6);
        if let Some(finding) = trial.look(&view(&candidates, 3000 + at, 300_000 + at * rate)) {
            return (at, finding);
        }
    }
    panic!("nothing is found")
}

#[test]
fn a_trial_waits_for_what_is_under_way_and_then_measures() {
    // Two of the longest round trips, and four of the others, which are half a second at least.
    assert_eq!(found(9_999, 100), (400 + 500, Finding::Right));
    // Nothing is under way: two round trips of the others.
    assert_eq!(found(0, 100), (100 + 500, Finding::Right));
    assert_eq!(found(50, 100), (150 + 500, Finding::Right));
}

#[test]
fn what_comes_decides() {
    // 95 in a hundred have to come without it.
    assert_eq!(
        [120, 95, 94, 0].map(|rate| found(0, rate).1),
        [Finding::Right, Finding::Right, Finding::Wrong, Finding::Wrong]
    );
}
