//! Tests of bottleneck detection: the delays and losses that separate two paths, and when this evidence ends.

use super::*;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn at(n: u64) -> Instant {
    Instant::ZERO + ms(n)
}

/// Paths of 20 ms with these latest queueing delays, in ms.
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

/// Simulates rounds of 200 ms with these queueing delays.
fn rounds(bottlenecks: &mut Bottlenecks, from: u64, number: u64, delays: &[u64]) {
    let paths = paths(delays);
    for round in 0..number {
        for path in 0..paths.len() {
            bottlenecks.on_sample(&paths, path, at(200 * (from + round)), 1000);
        }
    }
}

fn separate(bottlenecks: &Bottlenecks) -> bool {
    assert_eq!(bottlenecks.separate_from(0) >> 1 & 1, bottlenecks.separate_from(1) & 1, "symmetric");
    bottlenecks.separate_from(0) != 0
}

/// Number of rounds until two paths are separate.
fn until_apart(delays: [u64; 2]) -> Option<u64> {
    let mut bottlenecks = Bottlenecks::default();
    (1..40).find(|&round| {
        rounds(&mut bottlenecks, round, 1, &delays);
        separate(&bottlenecks)
    })
}

#[test]
fn different_delays_for_six_rounds_separate_two_paths() {
    // Six rounds for both paths; in the first round, the first path has no delay of the second.
    assert_eq!(until_apart([10, 40]), Some(7));
    assert_eq!(until_apart([40, 10]), Some(7));
    assert_eq!(until_apart([0, 1]), Some(7), "more than half a millisecond");
    assert_eq!(until_apart([20, 40]), None, "a ratio of 0.5 counts as one queue");
    assert_eq!(until_apart([30, 30]), None);
}

/// A shared queue alternates between full and empty every RTT. Paths with shifted rounds must not see different delays.
#[test]
fn alternating_shared_queue_does_not_separate_paths() {
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
fn differences_below_half_a_millisecond_are_ignored() {
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
fn evidence_decreases_as_it_grew_up_to_its_maximum() {
    let mut bottlenecks = Bottlenecks::default();
    rounds(&mut bottlenecks, 1, 100, &[10, 40]);
    assert!(separate(&bottlenecks));
    let together = (101..200).find(|&round| {
        rounds(&mut bottlenecks, round, 1, &[30, 30]);
        !separate(&bottlenecks)
    });
    // Twelve for both paths; the first round compares with the other path's old delay, 40 and 30, which is similar.
    assert_eq!(together, Some(107));
}

#[test]
fn inactive_paths_and_short_rounds_give_no_evidence() {
    let mut bottlenecks = Bottlenecks::default();
    let mut two = paths(&[10, 40]);
    two[1].active = false;
    for round in 1..40 {
        for path in [0, 1] {
            bottlenecks.on_sample(&two, path, at(200 * round), 1000);
        }
    }
    assert_eq!(bottlenecks.queues[0].separate[1], 0);
    // A round lasts one RTT, but at least 50 ms.
    let mut bottlenecks = Bottlenecks::default();
    let one = paths(&[0]);
    for (now, delays) in [(100, 1), (149, 1), (150, 2), (199, 2), (200, 3)] {
        bottlenecks.on_sample(&one, 0, at(now), 1000);
        assert_eq!(bottlenecks.queues[0].round, at(50 + 50 * delays));
    }
}

/// Losses in a shared queue affect all paths.
#[test]
fn losses_on_one_path_only_separate_the_paths() {
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
    // Four losses in half of the segments predict eight.
    assert!(dissimilar([4, 0], [1000, 2000]));
    assert!(dissimilar([0, 4], [2000, 1000]));
    assert!(!dissimilar([3, 0], [1000, 9000]), "three losses give no rate");
    assert!(!dissimilar([4, 0], [1000, 1900]), "7.6 losses expected, below 8");
    assert!(dissimilar([8, 1], [1000, 1000]));
    assert!(!dissimilar([8, 2], [1000, 1000]));
    assert!(!dissimilar([8, 8], [1000, 1000]));
}

#[test]
fn segment_and_event_counts_are_halved_together() {
    let mut bottlenecks = Bottlenecks::default();
    let one = paths(&[10]);
    bottlenecks.on_sample(&one, 0, at(1000), 1000 * 50_000);
    (0..8).for_each(|_| bottlenecks.on_loss(0));
    assert_eq!((bottlenecks.queues[0].segments, bottlenecks.queues[0].events), (50_000.0, 8.0));
    bottlenecks.on_sample(&one, 0, at(2000), 2000);
    assert_eq!((bottlenecks.queues[0].segments, bottlenecks.queues[0].events), (25_001.0, 4.0));
}

/// RFC 7661: a window that was not full for four RTTs, but at least one second, counts as unused.
#[test]
fn window_not_full_for_four_rtts_is_unused() {
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
            "a path is not separate from itself"
        );
        // The path counts as used when its window is full again.
        full(&mut bottlenecks, 1, 10_002 + until);
        assert_eq!(bottlenecks.separate_from(0), 0);
        // An ended path is ignored.
        full(&mut bottlenecks, 0, 20_000);
        assert_eq!(bottlenecks.separate_from(0), 2);
        bottlenecks.forget(1);
        assert_eq!(bottlenecks.separate_from(0), 0);
    }
}

#[test]
fn reused_slot_starts_without_evidence() {
    let mut bottlenecks = Bottlenecks::default();
    rounds(&mut bottlenecks, 1, 20, &[10, 40]);
    assert!(separate(&bottlenecks));
    bottlenecks.forget(1);
    assert!(!separate(&bottlenecks));
    rounds(&mut bottlenecks, 21, 6, &[10, 40]);
    assert!(!separate(&bottlenecks));
    rounds(&mut bottlenecks, 27, 1, &[10, 40]);
    assert!(separate(&bottlenecks));
    // Paths beyond the sixteenth are ignored.
    let many = paths(&[10; 20]);
    bottlenecks.on_full(&many, 17, at(90_000));
    bottlenecks.on_sample(&many, 17, at(90_000), 1000);
    bottlenecks.on_loss(17);
    bottlenecks.forget(17);
    bottlenecks.forget(70);
    assert_eq!(bottlenecks.separate_from(17), 0);
    assert!(separate(&bottlenecks));
}
