//! Decisions of the default scheduler for given views.

use mptcp_clock::{Duration, Instant};

use super::*;

const MSS: u64 = 1_000;

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// A path with this RTT that carries `segments` per RTT and has as many in flight.
fn path(slot: usize, rtt: u64, segments: u64, is_available: bool) -> Candidate {
    let mut path = Candidate::new(slot, ms(rtt), segments * MSS, MSS);
    (path.in_flight, path.is_available) = (segments * MSS, is_available);
    path
}

/// Decision for bulk data with this window, of which `in_flight` segments are used.
fn bulk(candidates: &[Candidate], in_flight: u64, window: u64) -> Option<usize> {
    let mut view = SendView::new(Instant::ZERO, candidates);
    (view.unsent, view.in_flight, view.window_space) = (1 << 20, in_flight * MSS, (window - in_flight) * MSS);
    OnTime::default().choose(&view)
}

/// Decision if the application has written only `unsent` bytes.
fn paced(candidates: &[Candidate], unsent: u64) -> Option<usize> {
    let mut view = SendView::new(Instant::ZERO, candidates);
    (view.unsent, view.writer_blocked) = (unsent, false);
    OnTime::default().choose(&view)
}

#[test]
fn bulk_data_uses_the_path_with_the_earliest_acknowledgement() {
    let paths = [path(0, 50, 10, true), path(1, 10, 10, true)];
    assert_eq!(bulk(&paths, 20, 10_000), Some(1));
}

#[test]
fn slow_path_is_used_if_the_window_also_holds_the_data_of_the_fast_path() {
    // The slow path is acknowledged after 50 ms and a segment of 2.5 ms. The fast path carries 10 segments
    // per ms: 525, plus 21 of the slow path.
    let paths = [path(0, 10, 100, false), path(1, 50, 20, true)];
    assert_eq!(bulk(&paths, 121, 547), Some(1));
    assert_eq!(bulk(&paths, 121, 545), None);
}

#[test]
fn data_ack_on_another_path_needs_less_window() {
    let mut paths = [path(0, 10, 100, false), path(1, 50, 20, true)];
    paths[1].path.lead = ms(20);
    assert_eq!(bulk(&paths, 121, 347), Some(1));
    assert_eq!(bulk(&paths, 121, 345), None);
}

#[test]
fn send_buffer_limits_like_the_window() {
    let paths = [path(0, 10, 100, false), path(1, 50, 20, true)];
    let mut view = SendView::new(Instant::ZERO, &paths);
    (view.unsent, view.send_buffer) = (1 << 20, 545 * MSS);
    assert_eq!(OnTime::default().choose(&view), None);
    view.send_buffer = 547 * MSS;
    assert_eq!(OnTime::default().choose(&view), Some(1));
}

#[test]
fn path_close_to_its_next_loss_needs_window_for_the_repair() {
    // Two more RTTs of 50 ms.
    let mut paths = [path(0, 10, 100, false), path(1, 50, 20, true)];
    paths[1].path.is_probing = true;
    assert_eq!(bulk(&paths, 121, 1_545), None);
    assert_eq!(bulk(&paths, 121, 1_547), Some(1));
}

#[test]
fn overdue_path_is_not_waited_for() {
    let mut paths = [path(0, 10, 100, false), path(1, 50, 20, true)];
    assert_eq!(bulk(&paths, 121, 500), None);
    paths[0].path.overdue = ms(100);
    assert_eq!(bulk(&paths, 121, 500), Some(1), "its acknowledgement comes after the slow path's");
}

#[test]
fn small_block_uses_the_path_that_delivers_all_of_it_first() {
    // 6 segments take 30 ms at 200 kB/s after 5 ms, or 0.6 ms after 20 ms.
    let mut near = path(0, 10, 2, true);
    let mut far = path(1, 40, 400, true);
    (near.in_flight, near.cwnd, far.in_flight) = (0, 10 * MSS, 0);
    assert_eq!(paced(&[near, far], 6 * MSS), Some(1));
    assert_eq!(paced(&[near, far], MSS), Some(0), "one segment arrives after 10 ms");
    far.is_available = false;
    assert_eq!(paced(&[near, far], 6 * MSS), None, "the scheduler waits for that path");
}

#[test]
fn block_larger_than_the_windows_is_split_between_paths() {
    // 200 segments at 1 MB/s each: half of the time on both paths.
    let (one, other) = (path(0, 10, 10, false), path(1, 12, 12, true));
    assert_eq!(paced(&[one, other], 200 * MSS), Some(1));
    // Ten segments arrive on the first path before one arrives on a path of 100 ms.
    assert_eq!(paced(&[one, path(1, 100, 100, true)], 10 * MSS), None);
    assert_eq!(paced(&[one, path(1, 100, 100, true)], 200 * MSS), Some(1));
}

#[test]
fn application_limited_data_avoids_a_path_with_one_percent_loss() {
    let mut near = path(0, 20, 100, true);
    let mut far = path(1, 60, 100, true);
    (near.in_flight, far.in_flight) = (0, 0);
    assert_eq!(paced(&[near, far], 6 * MSS), Some(0));
    near.path.loss = 0.01;
    assert_eq!(paced(&[near, far], 6 * MSS), Some(1), "repairs take 92 ms");
    assert_eq!(bulk(&[near, far], 0, 10_000), Some(0), "bulk data uses the mean");
}

#[test]
fn path_of_unknown_rate_gets_two_segments() {
    let mut paths = [path(0, 1, 100, false), path(1, 1, 10, true)];
    (paths[1].path.rate, paths[1].path.max_rate, paths[1].in_flight) = (125e3, f64::INFINITY, MSS);
    assert_eq!(bulk(&paths, 101, 200), Some(1));
    paths[1].in_flight = 2 * MSS;
    assert_eq!(bulk(&paths, 102, 200), None, "the other path delivers 800 segments before the next ACK");
}

#[test]
fn full_path_is_not_chosen() {
    let paths = [path(0, 10, 10, false), path(1, 10, 10, false)];
    assert_eq!((bulk(&paths, 20, 10_000), paced(&paths, 100)), (None, None));
}
