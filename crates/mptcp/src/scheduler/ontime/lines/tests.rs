//! A line of 1 MB/s, 10 ms there and back: a segment of 1000 bytes takes 1 ms and half of the round trip.

use super::*;

const MS: f64 = 1e6;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(1000 + ms)
}

fn path() -> Candidate {
    let mut path = Candidate::new(0, Duration::from_millis(10), 100_000, 1000);
    path.burst_rate = Some(1e6);
    path
}

/// So many segments leave.
fn send(path: &mut Candidate, segments: u64) {
    path.in_flight += 1000 * segments;
    path.held += 1000 * segments;
}

/// So many are acknowledged.
fn acknowledge(path: &mut Candidate, segments: u64) {
    path.in_flight -= 1000 * segments;
    path.held -= 1000 * segments;
    path.delivered += 1000 * segments;
}

/// In milliseconds.
fn arrives(lines: &mut Lines, ms: u64, path: &Candidate) -> Option<f64> {
    lines.arrives(at(ms), path).map(|(time, _)| (time / MS * 1000.0).round() / 1000.0)
}

#[test]
fn a_segment_waits_for_those_before_it_until_the_line_has_sent_them() {
    let (mut lines, mut path) = (Lines::default(), path());
    assert_eq!(arrives(&mut lines, 0, &path), Some(6.0));
    for before in 1..=4 {
        send(&mut path, 1);
        assert_eq!(arrives(&mut lines, 0, &path), Some(6.0 + f64::from(before)));
    }
    // They are in flight still, and not in the queue any more.
    assert_eq!(arrives(&mut lines, 3, &path), Some(7.0));
    assert_eq!(arrives(&mut lines, 4, &path), Some(6.0));
    // What is new comes behind what is there, not at the beginning.
    send(&mut path, 3);
    assert_eq!(arrives(&mut lines, 4, &path), Some(9.0));
    acknowledge(&mut path, 6);
    assert_eq!(arrives(&mut lines, 4, &path), Some(7.0), "one is in flight");
}

#[test]
fn small_segments_have_headers_too() {
    let (mut lines, mut path) = (Lines::default(), path());
    // Some are on their way, and were before.
    path.in_flight = 9_000;
    arrives(&mut lines, 0, &path);
    // 1000 bytes and their headers take 1 ms, and so ten pieces of ten bytes hardly less.
    for _ in 0..10 {
        (path.in_flight, path.held) = (path.in_flight + 10, path.held + 10);
        arrives(&mut lines, 0, &path);
    }
    send(&mut path, 3);
    let took = arrives(&mut lines, 0, &path).expect("a rate is known");
    assert!((took - 9.917).abs() < 0.001, "{took}");
}

#[test]
fn a_better_rate_counts_and_without_one_of_bursts_nothing_is_said() {
    let (mut lines, mut path) = (Lines::default(), path());
    path.delivery_rate = Some(2e6);
    assert_eq!(arrives(&mut lines, 0, &path), Some(5.5));
    path.burst_rate = None;
    assert_eq!(arrives(&mut lines, 0, &path), None);
}

#[test]
fn what_a_round_trip_shows_beyond_its_own_queue_is_that_of_others() {
    let (mut lines, mut path) = (Lines::default(), path());
    arrives(&mut lines, 0, &path);
    send(&mut path, 3);
    assert_eq!(arrives(&mut lines, 0, &path), Some(9.0));
    // Its own three milliseconds, as the last of them says.
    path.calm_rtt = Duration::from_millis(13);
    assert_eq!(arrives(&mut lines, 3, &path), Some(6.0));
    path.calm_rtt = Duration::from_millis(20);
    assert_eq!(arrives(&mut lines, 3, &path), Some(13.0), "seven are not");
    assert_eq!(lines.arrives(at(3), &path).map(|(_, others)| others), Some(7.0 * MS));
    // Remembered for one round trip more, and no longer.
    assert_eq!(arrives(&mut lines, 11, &path), Some(13.0));
    assert_eq!(arrives(&mut lines, 22, &path), Some(16.0));
    // The answer to one segment may be a delayed one.
    acknowledge(&mut path, 2);
    assert_eq!(arrives(&mut lines, 23, &path), Some(6.0));
}

#[test]
fn a_later_subflow_in_the_same_place_has_a_line_of_its_own() {
    let (mut lines, mut path) = (Lines::default(), path());
    arrives(&mut lines, 0, &path);
    send(&mut path, 5);
    assert_eq!(arrives(&mut lines, 0, &path), Some(11.0));
    path.id = SubflowId::new(8, 0);
    assert_eq!(arrives(&mut lines, 0, &path), Some(6.0));
}

#[test]
fn a_queue_of_others_is_not_the_path_s_own() {
    let (mut lines, mut path) = (Lines::default(), path());
    send(&mut path, 2);
    path.calm_rtt = Duration::from_millis(30);
    let own = lines.behind_own(at(0), &path).map(|time| time / MS);
    assert_eq!(
        (own, arrives(&mut lines, 0, &path)),
        (Some(6.0), Some(26.0)),
        "it was not seen to put anything there"
    );
}
