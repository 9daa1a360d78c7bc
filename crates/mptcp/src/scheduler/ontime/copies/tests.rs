//! A near path of 20 ms and a far one of 100, lines of 10 MB/s: blocks of 8 kB each 16 ms, 0.5 MB/s.

use super::*;
use crate::scheduler::{OnTime, Scheduler};

const MSS: u64 = 1000;

fn paths() -> [Candidate; 2] {
    [20, 100].map(|ms| {
        let mut path = Candidate::new(usize::from(ms == 100), Duration::from_millis(ms), 100_000, MSS);
        path.calm_rtt = path.min_rtt;
        path.burst_rate = Some(10e6);
        path
    })
}

/// A scheduler that has seen so much of the stream, and the moment.
fn seen(paths: &[Candidate], ms: u64) -> (OnTime, SendView<'_>) {
    let mut scheduler = OnTime::default();
    let view = |ms: u64| {
        let mut view = SendView::new(Instant::ZERO + Duration::from_millis(ms), paths);
        (view.streams, view.more_to_come) = (true, false);
        (view.acknowledged, view.in_flight) = (ms / 16 * 8_000, 8_000);
        view
    };
    for at in (0..=ms).step_by(16) {
        scheduler.choose(&view(at));
    }
    (scheduler, view(ms))
}

/// Who carries a copy of what has just left on the near path.
fn copy_of(paths: &[Candidate], ms: u64) -> Option<usize> {
    let (mut scheduler, view) = seen(paths, ms);
    scheduler.second(&view, 0, view.now)
}

#[test]
fn what_is_on_a_path_that_may_lose_has_a_copy_where_that_comes_before_a_repair() {
    let mut both = paths();
    both[1].min_rtt = Duration::from_millis(90);
    both[1].calm_rtt = both[1].min_rtt;
    assert_eq!(copy_of(&both, 1_600), Some(1), "it has carried nothing yet");
    // A repair is there after two round trips and a half, 50 ms.
    assert_eq!(copy_of(&paths(), 1_600), None, "a copy would be there as late");
    assert_eq!(copy_of(&both, 800), None, "nobody knows how much is written");
    // In two round trips 20 kB are written, and a block.
    both[0].delivered = 2_700_000;
    assert_eq!(copy_of(&both, 1_600), Some(1));
    both[0].delivered = 2_900_000;
    assert_eq!(copy_of(&both, 1_600), None, "one block in a hundred at most waits for repairs");
    both[0].between_losses = Some(1_000_000);
    assert_eq!(copy_of(&both, 1_600), Some(1), "more than that");
    both[1].burst_rate = Some(0.5e6);
    assert_eq!(copy_of(&both, 1_600), None, "no room for all of it");
}

#[test]
fn a_queue_on_either_path_ends_it_for_a_while_and_for_longer_each_time() {
    for queued in [0, 1] {
        let mut both = paths();
        both[1].min_rtt = Duration::from_millis(60);
        both[1].calm_rtt = both[1].min_rtt;
        let (mut scheduler, view) = seen(&both, 1_600);
        let at = |ms: u64| view.now + Duration::from_millis(ms);
        let mut full = both;
        full[queued].in_flight = 3 * MSS;
        full[queued].calm_rtt += Duration::from_millis(10);
        let mut ask = |paths: &[Candidate], ms: u64| {
            let view = SendView { candidates: paths, now: at(ms), ..view };
            scheduler.second(&view, 0, view.now)
        };
        assert_eq!((ask(&both, 0), ask(&full, 1), ask(&both, 2)), (Some(1), None, None));
        assert_eq!((ask(&both, 3_999), ask(&both, 4_001)), (None, Some(1)));
        assert_eq!(ask(&full, 5_000), None);
        assert_eq!((ask(&both, 12_999), ask(&both, 13_000)), (None, Some(1)), "twice as long");
        assert_eq!((ask(&full, 113_000), ask(&both, 117_000)), (None, Some(1)), "long ago");
    }
}

#[test]
fn who_wants_none_has_none() {
    let mut both = paths();
    both[1].min_rtt = Duration::from_millis(60);
    let (scheduler, view) = seen(&both, 1_600);
    assert_eq!(scheduler.with_copies(false).second(&view, 0, view.now), None);
}
