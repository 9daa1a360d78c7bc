//! Tests of RED by the rules of Floyd and Jacobson (IEEE/ACM ToN 1(4), 1993).

use super::*;
use crate::frame::{Cause, Codepoint};
use crate::queue::tests::{Desk, ms};

/// The example of tc-red(8) with packets of 1000 bytes, and a probability that is a power of two at the
/// midpoint.
fn red() -> Red {
    Red {
        limit: QueueLimit::Bytes(60_000),
        min: 5_000,
        max: 15_000,
        probability: 0.125,
        avpkt: 1000,
        burst: 7,
        ecn: false,
        harddrop: false,
        gentle: false,
    }
}

/// The weight that `tc qdisc add .. red` computes from bursts (tc_red_eval_ewma of iproute2), as a logarithm;
/// `None` if tc refuses the burst.
#[test]
fn the_weight_is_tcs() {
    let log = |burst, min| Red { burst, min, ..red() }.weight().map(|weight| -weight.log2());
    for (burst, min, expected) in [
        (5, 5_000, Some(1.0)),
        (7, 5_000, Some(2.0)),
        (10, 5_000, Some(4.0)),
        (20, 5_000, Some(6.0)),
        (55, 30_000, Some(5.0)),
        (1, 1_000, Some(1.0)),
        (4, 5_000, None),
    ] {
        assert_eq!(log(burst, min), expected, "{burst} {min}");
    }
    assert_eq!(Red { avpkt: 0, min: 5, burst: 5, ..red() }.weight(), Some(0.5), "avpkt is at least 1");
}

/// Section 4: avg := (1 - w) avg + w q, at each arrival.
#[test]
fn the_average_follows_the_queue_by_the_weight() {
    let mut desk = Desk::new(RedQueue::new(red()));
    let averages = [(); 4].map(|()| {
        desk.put(ms(1), 0, 1000, Codepoint::NotEct);
        desk.queue.average
    });
    assert_eq!(averages, [0.0, 250.0, 687.5, 1265.625]);
}

/// Section 4: while the queue is empty, the average decays as if small packets had passed.
#[test]
fn the_average_falls_with_idle_time() {
    let mut desk = Desk::new(RedQueue::new(red()));
    desk.put(ms(1), 0, 1000, Codepoint::NotEct);
    assert!(desk.take(ms(1)).is_some());
    // The link sends it until 2 ms, then finds no packet.
    assert!(desk.take(ms(2)).is_none());
    assert!(desk.take(ms(3)).is_none());
    desk.queue.average = 64_000.0;
    // Two packets of 1000 bytes could have departed; the arrival is dropped, and the queue stays empty.
    assert!(desk.put(ms(4), 0, 1000, Codepoint::NotEct));
    assert_eq!(desk.queue.average, 36_000.0);
    assert!(desk.put(ms(5), 0, 1000, Codepoint::NotEct));
    assert_eq!(desk.queue.average, 27_000.0);
    // At an unlimited rate, any time is long enough.
    desk.rate = None;
    assert!(!desk.put(ms(6), 0, 1000, Codepoint::NotEct));
    assert!(desk.queue.average < 1e-9);
}

#[test]
fn the_chance_rises_from_one_threshold_to_the_other() {
    let chance = |gentle, average| {
        let queue = RedQueue { average, ..RedQueue::new(Red { gentle, ..red() }) };
        queue.chance()
    };
    for gentle in [false, true] {
        assert_eq!(chance(gentle, 4_999.0), 0.0);
        assert_eq!(chance(gentle, 5_000.0), 0.0);
        assert_eq!(chance(gentle, 7_500.0), 0.03125);
        assert_eq!(chance(gentle, 10_000.0), 0.0625);
    }
    assert_eq!(chance(false, 15_000.0), 1.0);
    // Gentle: from `probability` at `max` to one at twice `max`.
    assert_eq!(chance(true, 15_000.0), 0.125);
    assert_eq!(chance(true, 22_500.0), 0.5625);
    assert_eq!(chance(true, 30_000.0), 1.0);
    assert_eq!(chance(true, 90_000.0), 1.0);
}

/// Numbers of packets between drops, at an average midway between the thresholds.
fn distances(packets: u32) -> Vec<u32> {
    let mut desk = Desk::new(RedQueue::new(red()));
    for _ in 0..10 {
        desk.put(ms(1), 0, 1000, Codepoint::NotEct);
    }
    for _ in 0..packets {
        // The steady state: at ten thousand bytes, the average is constant.
        desk.queue.average = 10_000.0;
        if !desk.put(ms(1), 0, 1000, Codepoint::NotEct) {
            desk.take(ms(1));
        }
    }
    assert!(desk.dropped.iter().all(|&(_, cause)| cause == Cause::Discipline));
    desk.dropped.windows(2).map(|two| two[1].0 - two[0].0).collect()
}

/// Section 7: the number of packets between two drops is uniform; at 1/16, between 1 and 15.
#[test]
fn drops_are_evenly_spread() {
    let distances = distances(120_000);
    let mut seen = [0_u32; 16];
    distances.iter().for_each(|&apart| seen[apart as usize] += 1);
    let fair = distances.len() as f64 / 15.0;
    assert_eq!(seen[0], 0);
    for (apart, &times) in seen.iter().enumerate().skip(1) {
        assert!((f64::from(times) - fair).abs() < 5.0 * fair.sqrt(), "{apart}: {times} of {fair}");
    }
}

/// A queue with this average whose next drop is due.
fn due(average: f64, settings: Red) -> Desk<RedQueue> {
    let mut desk = Desk::new(RedQueue::new(settings));
    for _ in 0..10 {
        desk.put(ms(1), 0, 1000, Codepoint::NotEct);
    }
    (desk.queue.average, desk.queue.since_last) = (average, 1000);
    desk
}

#[test]
fn marks_replace_drops_unless_they_are_to_be_hard_above_the_threshold() {
    let one = |average: f64, settings: Red, ecn: Codepoint| {
        let mut desk = due(average, settings);
        (desk.put(ms(1), 0, 1000, ecn), desk.marked())
    };
    let ecn = Red { ecn: true, ..red() };
    let hard = Red { harddrop: true, ..ecn };
    assert_eq!(one(10_000.0, red(), Codepoint::Ect0), (true, 0));
    for settings in [ecn, hard] {
        assert_eq!(one(10_000.0, settings, Codepoint::Ect0), (false, 1));
        assert_eq!(one(10_000.0, settings, Codepoint::NotEct), (true, 0));
    }
    // Above 15000, with a weight of a quarter and ten thousand bytes in the queue.
    assert_eq!(one(30_000.0, ecn, Codepoint::Ect0), (false, 1));
    assert_eq!(one(30_000.0, hard, Codepoint::Ect0), (true, 0));
    // Exactly at the threshold: this arrival lowers the average from 50000 / 3 to 15000.
    let mut desk = due(50_000.0 / 3.0, hard);
    desk.queue.average = (15_000.0 - 2_500.0) / 0.75;
    assert_eq!((desk.put(ms(1), 0, 1000, Codepoint::Ect0), desk.queue.average), (true, 15_000.0));
}

#[test]
fn below_the_threshold_all_pass_and_the_count_begins_anew() {
    let mut desk = due(4_000.0, red());
    desk.queue.average = 3_000.0;
    assert!(!desk.put(ms(1), 0, 1000, Codepoint::NotEct));
    assert_eq!(desk.queue.since_last, -1);
    let mut desk = due(10_000.0, red());
    assert!(desk.put(ms(1), 0, 1000, Codepoint::NotEct));
    assert_eq!(desk.queue.since_last, 0);
}

#[test]
fn what_finds_the_queue_full_is_dropped_for_that() {
    let mut desk = Desk::new(RedQueue::new(Red { limit: QueueLimit::Packets(2), ..red() }));
    desk.queue.since_last = 9;
    let dropped = [(); 3].map(|()| desk.put(ms(1), 0, 1000, Codepoint::NotEct));
    assert_eq!((dropped, desk.queue.since_last), ([false, false, true], 0));
    assert_eq!(desk.dropped, [(2, Cause::QueueFull)]);
    desk.queue.clear();
    assert!(desk.take(ms(2)).is_none());
}
