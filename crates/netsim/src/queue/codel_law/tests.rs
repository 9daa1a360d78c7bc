//! Tests of the CoDel control law by the rules of RFC 8289.

use super::*;
use crate::queue::tests::ms;

fn law() -> CoDelLaw {
    CoDelLaw::new(Duration::from_millis(5), Duration::from_millis(100), 1514)
}

/// Times of drops in ms, if a packet departs every millisecond from `from` to `to` after a delay of `waited`
/// ms.
fn drops(law: &mut CoDelLaw, from: u64, to: u64, waited: u64) -> Vec<u64> {
    let waited = Duration::from_millis(waited);
    (from..to).filter(|&at| law.drops(ms(at), waited, 10_000)).collect()
}

/// Sections 5.3 and 5.4: after an interval above the target, then at distances of 100 ms / sqrt(count).
#[test]
fn drops_come_closer_by_the_root_of_their_number() {
    // 110, 210, 280.7, 338.4, 388.4, 433.2, 474.0, 511.8.
    assert_eq!(drops(&mut law(), 10, 520, 6), [110, 210, 281, 339, 389, 434, 474, 512]);
}

#[test]
fn the_target_itself_is_above_it_and_one_packet_below_begins_anew() {
    assert_eq!(drops(&mut law(), 10, 120, 5), [110]);
    let mut law = law();
    assert_eq!(drops(&mut law, 10, 105, 6), []);
    assert_eq!(drops(&mut law, 105, 106, 4), []);
    // One interval after the delay exceeded the target again.
    assert_eq!(drops(&mut law, 106, 300, 6), [206]);
    // Below the target nothing is dropped, and the next excess needs an interval again.
    assert_eq!(drops(&mut law, 300, 305, 4), []);
    assert_eq!(drops(&mut law, 305, 410, 6), [405]);
}

/// Section 4.4: a backlog of a full frame is always acceptable.
#[test]
fn a_full_frame_may_wait_for_ever() {
    let count = |backlog| {
        let mut law = law();
        (0..1000).filter(|&at| law.drops(ms(at), Duration::from_millis(50), backlog)).count()
    };
    assert_eq!(count(1514), 0);
    assert!(count(1515) > 5);
}

/// Section 5.4: if the excess returns soon, the drop rate resumes near its earlier value; later it restarts.
#[test]
fn an_excess_that_comes_back_soon_is_met_as_before() {
    let again = |pause: u64| {
        let mut law = law();
        // Five drops: count is 5, from 1.
        assert_eq!(drops(&mut law, 0, 400, 6), [100, 200, 271, 329, 379]);
        assert_eq!(drops(&mut law, 400, 401, 1), []);
        let from = 401 + pause;
        drops(&mut law, from, from + 230, 6).iter().map(|at| at - from).collect::<Vec<_>>()
    };
    // The count resumes at 4: 100 / sqrt(4), then 100 / sqrt(5).
    assert_eq!(again(0), [100, 150, 195]);
    // The next drop would have been at 423 ms. 16 intervals later is 2023 ms, and the excess starts 100 ms
    // before.
    assert_eq!(again(1500), [100, 150, 195]);
    assert_eq!(again(1600), [100, 200]);
    assert_eq!(again(100_000), [100, 200]);
}

/// "Soon" is less than sixteen intervals (section 5.4), not sixteen.
#[test]
fn sixteen_intervals_later_it_begins_again() {
    let count = |early: u64| {
        let mut law = law();
        drops(&mut law, 0, 400, 6);
        drops(&mut law, 400, 401, 1);
        let at = law.next_drop + law.interval * 16 - Duration::from_nanos(early);
        let waited = Duration::from_millis(6);
        assert!(!law.drops(at - law.interval, waited, 10_000));
        assert!(law.drops(at, waited, 10_000));
        law.count
    };
    assert_eq!([0, 1].map(count), [1, 4]);
}

#[test]
fn one_drop_more_than_before_is_no_reason() {
    let mut law = law();
    assert_eq!(drops(&mut law, 0, 250, 6), [100, 200]);
    assert_eq!(drops(&mut law, 250, 251, 1), []);
    // The count went from 1 to 2, so it restarts.
    assert_eq!(drops(&mut law, 251, 460, 6), [351, 451]);
}

/// Section 5.6: an empty queue ends the dropping state.
#[test]
fn an_empty_queue_ends_the_excess() {
    let mut law = law();
    assert_eq!(drops(&mut law, 0, 150, 6), [100]);
    law.emptied();
    assert_eq!(drops(&mut law, 150, 260, 6), [250]);
}
