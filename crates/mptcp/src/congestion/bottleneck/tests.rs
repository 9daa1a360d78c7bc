//! What speaks for two paths having bottlenecks of their own, and for how long it does.

use super::*;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn at(n: u64) -> Instant {
    Instant::ZERO + ms(n)
}

/// Paths of 20 ms whose queues last had these delays, in ms.
fn paths(delays: &[u64]) -> Vec<Path> {
    let path = |&delay: &u64| Path {
        mss: 1000,
        min_rtt: Some(ms(20)),
        latest_rtt: Some(ms(20 + delay)),
        srtt: Some(ms(20 + delay)),
        active: true,
        ..Path::default()
    };
    delays.iter().map(path).collect()
}

/// Lets rounds of 200 ms pass in which the queues have these delays.
fn rounds(bottlenecks: &mut Bottlenecks, from: u64, number: u64, delays: &[u64]) {
    let paths = paths(delays);
    for round in 0..number {
        for path in 0..paths.len() {
            bottlenecks.on_sample(&paths, path, at(200 * (from + round)), 1000);
        }
    }
}

fn separate(bottlenecks: &Bottlenecks) -> bool {
    assert_eq!(bottlenecks.separate_from(0) >> 1 & 1, bottlenecks.separate_from(1) & 1, "of both or of none");
    bottlenecks.separate_from(0) != 0
}

/// After how many rounds two paths count as apart.
fn until_apart(delays: [u64; 2]) -> Option<u64> {
    let mut bottlenecks = Bottlenecks::default();
    (1..40).find(|&round| {
        rounds(&mut bottlenecks, round, 1, &delays);
        separate(&bottlenecks)
    })
}

#[test]
fn delays_that_differ_for_long_are_of_two_queues() {
    // Six rounds on both sides; in the first one nothing is known of the second path when the first is looked at.
    assert_eq!(until_apart([10, 40]), Some(7));
    assert_eq!(until_apart([40, 10]), Some(7));
    assert_eq!(until_apart([0, 1]), Some(7), "more than half a millisecond");
    assert_eq!(until_apart([20, 40]), None, "as much as half is alike");
    assert_eq!(until_apart([30, 30]), None);
}

/// Behind one queue that is full for a round trip and empty for the next, two paths whose rounds begin at other times would
/// see it full and empty by turns.
#[test]
fn a_queue_that_swings_is_one_to_both_whenever_their_rounds_begin() {
    let queue = |now: u64| if (now / 200).is_multiple_of(2) { 10 } else { 60 };
    for late in [0, 50, 100, 150] {
        let mut bottlenecks = Bottlenecks::default();
        for now in (1_000..20_000).step_by(10) {
            let mut both = paths(&[queue(now), queue(now)]);
            both.iter_mut().for_each(|path| path.srtt = Some(ms(200)));
            for path in [0, 1] {
                if now >= 1_000 + late * path as u64 {
                    bottlenecks.on_sample(&both, path, at(now), 1000);
                }
            }
            assert!(!separate(&bottlenecks), "rounds {late} ms apart, at {now} ms");
        }
    }
}

#[test]
fn half_a_millisecond_is_noise() {
    let mut bottlenecks = Bottlenecks::default();
    let mut paths = paths(&[0, 0]);
    for round in 1..40 {
        paths[1].latest_rtt = Some(ms(20) + Duration::from_micros(500));
        for path in [0, 1] {
            bottlenecks.on_sample(&paths, path, at(200 * round), 1000);
        }
    }
    assert!(!separate(&bottlenecks));
}

#[test]
fn evidence_goes_as_it_came_and_no_more_than_twice_as_much_is_kept() {
    let mut bottlenecks = Bottlenecks::default();
    rounds(&mut bottlenecks, 1, 100, &[10, 40]);
    assert!(separate(&bottlenecks));
    let together = (101..200).find(|&round| {
        rounds(&mut bottlenecks, round, 1, &[30, 30]);
        !separate(&bottlenecks)
    });
    // Twelve on both sides; the first round meets the other path's old delay, 40 beside 30, which is alike.
    assert_eq!(together, Some(107));
}

#[test]
fn paths_that_rest_and_rounds_that_are_short_say_nothing() {
    let mut bottlenecks = Bottlenecks::default();
    let mut two = paths(&[10, 40]);
    two[1].active = false;
    for round in 1..40 {
        for path in [0, 1] {
            bottlenecks.on_sample(&two, path, at(200 * round), 1000);
        }
    }
    assert_eq!(bottlenecks.queues[0].separate[1], 0);
    // A round is as long as a round trip, and 50 ms at least.
    let mut bottlenecks = Bottlenecks::default();
    let one = paths(&[0]);
    for (now, delays) in [(100, 1), (149, 1), (150, 2), (199, 2), (200, 3)] {
        bottlenecks.on_sample(&one, 0, at(now), 1000);
        assert_eq!(bottlenecks.queues[0].round, at(50 + 50 * delays));
    }
}

/// Losses in a queue fall on all that pass it.
#[test]
fn losses_of_one_path_alone_are_of_its_own_queue() {
    let dissimilar = |events: [u32; 2], segments: [u64; 2]| {
        let mut bottlenecks = Bottlenecks::default();
        let both = paths(&[10, 10]);
        for path in [0, 1] {
            bottlenecks.on_sample(&both, path, at(1000), 1000 * segments[path]);
        }
        for path in [1, 0] {
            (0..events[path]).for_each(|_| bottlenecks.on_loss(path));
        }
        separate(&bottlenecks)
    };
    // Eight would be expected where four are of half as many segments.
    assert!(dissimilar([4, 0], [1000, 2000]));
    assert!(dissimilar([0, 4], [2000, 1000]));
    assert!(!dissimilar([3, 0], [1000, 9000]), "three are no rate");
    assert!(!dissimilar([4, 0], [1000, 1900]), "7.6 would be expected, which may be chance");
    assert!(dissimilar([8, 1], [1000, 1000]));
    assert!(!dissimilar([8, 2], [1000, 1000]));
    assert!(!dissimilar([8, 8], [1000, 1000]));
}

#[test]
fn both_counts_fade_together() {
    let mut bottlenecks = Bottlenecks::default();
    let one = paths(&[10]);
    bottlenecks.on_sample(&one, 0, at(1000), 1000 * 50_000);
    (0..8).for_each(|_| bottlenecks.on_loss(0));
    assert_eq!((bottlenecks.queues[0].segments, bottlenecks.queues[0].events), (50_000.0, 8.0));
    bottlenecks.on_sample(&one, 0, at(2000), 2000);
    assert_eq!((bottlenecks.queues[0].segments, bottlenecks.queues[0].events), (25_001.0, 4.0));
}

/// RFC 7661: a window that is not used says nothing. For four round trips, and a second at least.
#[test]
fn a_window_that_is_not_full_for_long_is_unused() {
    for (delay, until) in [(10, 1000), (380, 1600)] {
        let mut bottlenecks = Bottlenecks::default();
        let both = paths(&[delay, delay]);
        let full = |bottlenecks: &mut Bottlenecks, path, now| bottlenecks.on_full(&both, path, at(now));
        full(&mut bottlenecks, 0, 10_000);
        full(&mut bottlenecks, 1, 10_000);
        full(&mut bottlenecks, 0, 10_000 + until);
        assert_eq!(bottlenecks.separate_from(0), 0);
        full(&mut bottlenecks, 0, 10_001 + until);
        assert_eq!(
            (bottlenecks.separate_from(0), bottlenecks.separate_from(1)),
            (2, 0),
            "it is not apart from itself"
        );
        // Until it is full again.
        full(&mut bottlenecks, 1, 10_002 + until);
        assert_eq!(bottlenecks.separate_from(0), 0);
        // Who has ended is not waited for.
        full(&mut bottlenecks, 0, 20_000);
        assert_eq!(bottlenecks.separate_from(0), 2);
        bottlenecks.forget(1);
        assert_eq!(bottlenecks.separate_from(0), 0);
    }
}

#[test]
fn a_new_path_at_an_old_place_has_no_past() {
    let mut bottlenecks = Bottlenecks::default();
    rounds(&mut bottlenecks, 1, 20, &[10, 40]);
    assert!(separate(&bottlenecks));
    bottlenecks.forget(1);
    assert!(!separate(&bottlenecks));
    rounds(&mut bottlenecks, 21, 6, &[10, 40]);
    assert!(!separate(&bottlenecks));
    rounds(&mut bottlenecks, 27, 1, &[10, 40]);
    assert!(separate(&bottlenecks));
    // Of more than sixteen nothing is kept, and nothing goes wrong.
    let many = paths(&[10; 20]);
    bottlenecks.on_full(&many, 17, at(90_000));
    bottlenecks.on_sample(&many, 17, at(90_000), 1000);
    bottlenecks.on_loss(17);
    bottlenecks.forget(17);
    bottlenecks.forget(70);
    assert_eq!(bottlenecks.separate_from(17), 0);
    assert!(separate(&bottlenecks));
}
