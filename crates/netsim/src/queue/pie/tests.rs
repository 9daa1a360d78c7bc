//! Tests of PIE by the rules of RFC 8033, with its numbers.

use super::*;
use crate::frame::{Cause, Codepoint};
use crate::queue::tests::{Desk, ms, us};

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A queue with these current and previous delays, and this probability.
fn at(chance: f64, delay: Duration, before: Duration) -> PieQueue {
    PieQueue { chance, delay, delay_before: before, ..PieQueue::new(Pie::default()) }
}

/// The probability after an update.
fn updated(chance: f64, delay_ms: u64, before_ms: u64) -> f64 {
    let mut queue = at(chance, millis(delay_ms), millis(before_ms));
    queue.update();
    queue.chance
}

fn close(is: f64, should: f64) {
    assert!((is - should).abs() < 1e-12, "{is}, {should} expected");
}

/// A queue after its burst allowance with a fixed probability.
fn held(chance: f64, settings: Pie) -> Desk<PieQueue> {
    let mut desk = Desk::new(PieQueue::new(settings));
    desk.queue.chance = chance;
    desk.queue.delay_before = settings.target;
    desk.queue.burst_left = Duration::ZERO;
    desk.queue.update_at = ms(1_000_000_000);
    desk
}

/// Section 4.2: steps grow with the probability.
#[test]
fn a_small_chance_moves_in_small_steps() {
    for (chance, part) in [
        (0.0, 2048.0),
        (0.9e-6, 2048.0),
        (1e-6, 512.0),
        (0.9e-5, 512.0),
        (1e-5, 128.0),
        (0.9e-4, 128.0),
        (1e-4, 32.0),
        (0.9e-3, 32.0),
        (1e-3, 8.0),
        (0.9e-2, 8.0),
        (1e-2, 2.0),
        (0.09, 2.0),
        (0.1, 1.0),
        (0.5, 1.0),
    ] {
        // 10 ms above the target, and 5 ms more than before: 1/8 and 5/4 of that.
        close(updated(chance, 25, 20), chance + 0.0075 / part);
        // 5 ms more than before, but 1 ms below the target.
        close(updated(chance, 14, 9), chance + 0.006_125 / part);
    }
    close(updated(0.5, 10, 10), 0.5 - 0.000_625);
    close(updated(0.5, 20, 30), 0.5 + 0.000_625 - 0.0125);
}

#[test]
fn a_large_chance_rises_by_two_hundredths_at_most_unless_the_delay_is_far_too_long() {
    close(updated(0.1, 200, 100), 0.12);
    close(updated(0.4, 250, 0), 0.42);
    // Section 5.5: twice the step above 250 ms.
    close(updated(0.4, 251, 0), 0.44);
    // Small probabilities may jump: (0.023125 + 0.25) / 2.
    close(updated(0.09, 200, 0), 0.09 + 0.273_125 / 2.0);
    // The limit applies only to increases.
    close(updated(0.5, 15, 115), 0.5 - 0.125);
}

#[test]
fn a_chance_stays_between_none_and_one() {
    close(updated(0.995, 200, 0), 1.0);
    close(updated(0.005, 1, 200), 0.0);
    close(updated(1e-13, 15, 15), 0.0);
    close(updated(1e-11, 15, 15), 1e-11);
}

/// Section 4.2: without congestion, the probability decays by a fiftieth per update.
#[test]
fn a_chance_decays_while_nobody_waits_at_all() {
    close(updated(0.5, 0, 0), (0.5 - 0.001_875) * 0.98);
    close(updated(0.5, 0, 15), 0.5 - 0.001_875 - 0.018_75);
    close(updated(0.5, 15, 0), 0.5 + 0.018_75);
}

/// Section 4.4: 150 ms pass without drops at any probability.
#[test]
fn the_first_burst_passes() {
    let mut desk = Desk::new(PieQueue::new(Pie::default()));
    let first = (1..400).find(|&at| {
        // An extreme probability.
        desk.queue.chance = 1.0;
        desk.put(ms(at), 0, 1514, Codepoint::NotEct)
    });
    // The burst starts with the first packet, at 1 ms.
    assert_eq!(first, Some(151));
}

#[test]
fn another_burst_passes_when_there_was_no_congestion_for_two_updates() {
    let again = |chance: f64, delay_us: u64, before_us: u64| {
        let mut queue = at(chance, Duration::from_micros(delay_us), Duration::from_micros(before_us));
        queue.burst_left = Duration::ZERO;
        queue.update();
        assert!(queue.burst_left.is_zero() || queue.burst_left == MAX_BURST);
        !queue.burst_left.is_zero()
    };
    assert!(again(0.0, 7_000, 7_000));
    assert!(again(0.0, 0, 7_400));
    // Half of the target, as the current or the previous delay.
    assert!(!again(0.0, 7_500, 7_400));
    assert!(!again(0.0, 7_000, 7_500));
    assert!(!again(0.5, 7_000, 7_000), "the drop probability is not zero");
}

/// Section 4.1: with two full packets queued, nothing is dropped; with more, everything at a probability of
/// one.
#[test]
fn two_packets_may_wait() {
    let mut desk = held(1.0, Pie::default());
    let dropped = (0..5).map(|_| desk.put(ms(1), 0, 1514, Codepoint::NotEct)).collect::<Vec<_>>();
    assert_eq!(dropped, [false, false, false, true, true]);
    assert_eq!(desk.dropped, [(3, Cause::Discipline), (4, Cause::Discipline)]);
}

/// Section 4.1: below half of the target, a probability below a fifth drops nothing.
#[test]
fn a_short_delay_forgives_a_small_chance() {
    let drops = |chance, before_us| {
        let mut desk = held(chance, Pie { limit: QueueLimit::Unlimited, ..Pie::default() });
        desk.queue.delay_before = Duration::from_micros(before_us);
        (0..1000).filter(|_| desk.put(ms(1), 0, 1514, Codepoint::NotEct)).count()
    };
    assert_eq!(drops(0.19, 7_499), 0);
    assert!(drops(0.2, 7_499) > 50);
    assert!(drops(0.19, 7_500) > 50);
    assert_eq!(drops(0.0, 15_000), 0);
}

/// Section 5.4: the accumulated probability between two drops is at least 0.85 and at most 8.5.
#[test]
fn drops_are_neither_close_together_nor_far_apart() {
    let mut desk = held(1.0 / 128.0, Pie::default());
    for _ in 0..3 {
        desk.put(ms(1), 0, 1514, Codepoint::NotEct);
    }
    for _ in 0..4_000_000 {
        if !desk.put(ms(1), 0, 1514, Codepoint::NotEct) {
            desk.take(ms(1));
        }
    }
    let drops: Vec<u32> = desk.dropped.iter().map(|&(place, _)| place).collect();
    let apart: Vec<u32> = drops.windows(2).map(|two| two[1] - two[0]).collect();
    // 0.85 * 128 is 108.8, and 8.5 * 128 is 1088.
    assert_eq!((apart.iter().min(), apart.iter().max()), (Some(&109), Some(&1088)));
    let mean = f64::from(apart.iter().sum::<u32>()) / apart.len() as f64;
    assert!((mean - 236.0).abs() < 5.0, "{mean}: 108 packets, then 128 on average at random");
}

#[test]
fn without_a_chance_nothing_adds_up() {
    let mut desk = held(0.0, Pie::default());
    desk.queue.sum = 8.0;
    for _ in 0..5 {
        desk.put(ms(1), 0, 1514, Codepoint::NotEct);
    }
    assert_eq!((desk.queue.sum, desk.dropped.len()), (0.0, 0));
}

/// Section 5.1: marks while the probability is low, drops above.
#[test]
fn what_may_be_marked_is_marked_while_the_chance_is_small() {
    let one = |settings: Pie, chance: f64, ecn: Codepoint| {
        let mut desk = held(chance, settings);
        for _ in 0..3 {
            desk.put(ms(1), 0, 1514, Codepoint::NotEct);
        }
        desk.queue.sum = SPREAD.1;
        (desk.put(ms(1), 0, 1514, ecn), desk.marked())
    };
    let ecn = Pie { ecn: true, ..Pie::default() };
    assert_eq!(one(ecn, 0.1, Codepoint::Ect0), (false, 1));
    assert_eq!(one(ecn, 0.11, Codepoint::Ect0), (true, 0));
    assert_eq!(one(ecn, 0.05, Codepoint::NotEct), (true, 0));
    assert_eq!(one(ecn, 0.05, Codepoint::Ce), (false, 0), "it is marked already");
    assert_eq!(one(Pie::default(), 0.05, Codepoint::Ect0), (true, 0));
}

/// Section 5.2: the delay is that of the departing packet, and zero if the queue is empty after it.
#[test]
fn the_delay_is_what_the_packet_that_leaves_has_waited() {
    let mut desk = held(0.0, Pie::default());
    for at in [1, 5, 9] {
        desk.put(ms(at), 0, 1514, Codepoint::NotEct);
    }
    desk.take(ms(21));
    assert_eq!(desk.queue.delay, millis(20));
    desk.take(ms(30));
    assert_eq!(desk.queue.delay, millis(25));
    desk.take(ms(40));
    assert_eq!(desk.queue.delay, Duration::ZERO);
    desk.queue.delay = millis(7);
    assert!(desk.take(ms(41)).is_none());
    assert_eq!(desk.queue.delay, Duration::ZERO);
}

/// One late call has the same effect as many calls.
#[test]
fn looking_more_often_changes_nothing() {
    for (chance, delay, most) in [(0.3, 40, 30), (0.3, 0, 3_000), (0.0, 7, 3_000), (0.9, 15, 3_000)] {
        let [mut once, mut often] = [(); 2].map(|()| at(chance, millis(delay), millis(20)));
        once.catch_up(ms(1));
        for at in 1..=most * 10 {
            often.catch_up(us(at * 1000));
        }
        once.catch_up(ms(most * 10));
        let state = |queue: &PieQueue| (queue.chance, queue.delay_before, queue.burst_left, queue.update_at);
        assert_eq!(state(&once), state(&often), "{chance}, {delay} ms");
        // Every 15 ms from the first call on.
        assert_eq!((once.update_at.as_millis() - 1) % 15, 0);
        assert!(once.update_at > ms(most * 10) && once.update_at <= ms(most * 10 + 15));
    }
}

#[test]
fn what_finds_the_queue_full_is_dropped_and_the_count_begins_anew() {
    let mut desk = held(0.5, Pie { limit: QueueLimit::Packets(2), ..Pie::default() });
    desk.queue.sum = 0.8;
    let dropped = (0..3).map(|_| desk.put(ms(1), 0, 1514, Codepoint::NotEct)).collect::<Vec<_>>();
    assert_eq!((dropped.as_slice(), desk.queue.sum), (&[false, false, true][..], 0.0));
    assert_eq!(desk.dropped, [(2, Cause::QueueFull)]);
    desk.queue.clear();
    assert!(desk.take(ms(2)).is_none());
}
