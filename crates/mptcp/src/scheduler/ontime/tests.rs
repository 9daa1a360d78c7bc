//! The default scheduler, by the moments that it sees.

use mptcp_clock::{Duration, Instant};

use super::*;

const MSS: u64 = 1_000;

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// A path of this RTT that carries so many segments in it and has as many in flight, with room or without.
fn path(slot: usize, rtt: u64, segments: u64, is_available: bool) -> Candidate {
    let mut path = Candidate::new(slot, ms(rtt), segments * MSS, MSS);
    (path.in_flight, path.is_available) = (segments * MSS, is_available);
    path
}

/// Bulk data with this window, of which `in_flight` segments are used.
fn bulk(candidates: &[Candidate], in_flight: u64, window: u64) -> Option<usize> {
    let mut view = SendView::new(Instant::ZERO, candidates);
    (view.unsent, view.in_flight, view.window_space) = (1 << 20, in_flight * MSS, (window - in_flight) * MSS);
    OnTime::default().choose(&view)
}

/// Nothing is written for now but `unsent` bytes.
fn paced(candidates: &[Candidate], unsent: u64) -> Option<usize> {
    let mut view = SendView::new(Instant::ZERO, candidates);
    (view.unsent, view.writer_blocked) = (unsent, false);
    OnTime::default().choose(&view)
}

#[test]
fn bulk_data_goes_on_the_path_that_answers_first() {
    let paths = [path(0, 50, 10, true), path(1, 10, 10, true)];
    assert_eq!(bulk(&paths, 20, 10_000), Some(1));
}

#[test]
fn a_slow_path_carries_what_the_window_has_room_for_beside_what_the_fast_one_sends_until_it_answers() {
    // The slow path answers after 50 ms and a segment of 2.5 ms; the fast one carries 10 segments in a millisecond: 525, and 21 of the slow path.
    let paths = [path(0, 10, 100, false), path(1, 50, 20, true)];
    assert_eq!(bulk(&paths, 121, 547), Some(1));
    assert_eq!(bulk(&paths, 121, 545), None);
}

#[test]
fn a_data_ack_on_another_path_takes_less_of_the_window() {
    let mut paths = [path(0, 10, 100, false), path(1, 50, 20, true)];
    paths[1].path.lead = ms(20);
    assert_eq!(bulk(&paths, 121, 347), Some(1));
    assert_eq!(bulk(&paths, 121, 345), None);
}

#[test]
fn the_send_buffer_counts_as_the_window_does() {
    let paths = [path(0, 10, 100, false), path(1, 50, 20, true)];
    let mut view = SendView::new(Instant::ZERO, &paths);
    (view.unsent, view.send_buffer) = (1 << 20, 545 * MSS);
    assert_eq!(OnTime::default().choose(&view), None);
    view.send_buffer = 547 * MSS;
    assert_eq!(OnTime::default().choose(&view), Some(1));
}

#[test]
fn a_path_that_probes_for_its_next_loss_needs_room_for_the_repair() {
    // Two round trips of 50 ms more.
    let mut paths = [path(0, 10, 100, false), path(1, 50, 20, true)];
    paths[1].path.is_probing = true;
    assert_eq!(bulk(&paths, 121, 1_545), None);
    assert_eq!(bulk(&paths, 121, 1_547), Some(1));
}

#[test]
fn nobody_waits_for_a_path_that_is_overdue() {
    let mut paths = [path(0, 10, 100, false), path(1, 50, 20, true)];
    assert_eq!(bulk(&paths, 121, 500), None);
    paths[0].path.overdue = ms(100);
    assert_eq!(bulk(&paths, 121, 500), Some(1), "its answer is later than the slow path's");
}

#[test]
fn a_block_goes_on_the_one_path_that_has_all_of_it_first() {
    // 6 segments take 30 ms of 200 kB/s behind 5 ms, or 0.6 ms behind 20 ms.
    let mut near = path(0, 10, 2, true);
    let mut far = path(1, 40, 400, true);
    (near.in_flight, near.cwnd, far.in_flight) = (0, 10 * MSS, 0);
    assert_eq!(paced(&[near, far], 6 * MSS), Some(1));
    assert_eq!(paced(&[near, far], MSS), Some(0), "one segment is there after 10 ms");
    far.is_available = false;
    assert_eq!(paced(&[near, far], 6 * MSS), None, "it waits for that path");
}

#[test]
fn what_no_window_takes_at_once_is_split_among_the_paths_that_have_it_sooner_together() {
    // 200 segments at 1 MB/s each: on both paths after half of the time.
    let (one, other) = (path(0, 10, 10, false), path(1, 12, 12, true));
    assert_eq!(paced(&[one, other], 200 * MSS), Some(1));
    // Ten segments are there on the first path before one is on a path of 100 ms.
    assert_eq!(paced(&[one, path(1, 100, 100, true)], 10 * MSS), None);
    assert_eq!(paced(&[one, path(1, 100, 100, true)], 200 * MSS), Some(1));
}

#[test]
fn losses_that_one_block_in_a_hundred_meets_are_a_reason_to_go_elsewhere() {
    let mut near = path(0, 20, 100, true);
    let mut far = path(1, 60, 100, true);
    (near.in_flight, far.in_flight) = (0, 0);
    assert_eq!(paced(&[near, far], 6 * MSS), Some(0));
    near.path.loss = 0.01;
    assert_eq!(paced(&[near, far], 6 * MSS), Some(1), "repairs take 92 ms");
    assert_eq!(bulk(&[near, far], 0, 10_000), Some(0), "bulk data uses the mean");
}

#[test]
fn a_path_of_unknown_rate_is_tried_with_two_segments() {
    let mut paths = [path(0, 1, 100, false), path(1, 1, 10, true)];
    (paths[1].path.rate, paths[1].path.most, paths[1].in_flight) = (125e3, f64::INFINITY, MSS);
    assert_eq!(bulk(&paths, 101, 200), Some(1));
    paths[1].in_flight = 2 * MSS;
    assert_eq!(bulk(&paths, 102, 200), None, "800 segments come on the other path before its next answer");
}

#[test]
fn who_has_no_room_is_not_chosen() {
    let paths = [path(0, 10, 10, false), path(1, 10, 10, false)];
    assert_eq!((bulk(&paths, 20, 10_000), paced(&paths, 100)), (None, None));
}
