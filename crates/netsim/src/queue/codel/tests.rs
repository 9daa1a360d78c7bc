//! Reaction of the queue to the control law: drops, marks, and the separate marking threshold.

use super::*;
use crate::frame::{Cause, Codepoint};
use crate::queue::tests::{Desk, ms, us};

/// Packets of 1000 bytes arrive every millisecond and wait for 20 ms. Returns drops and marks until the 400th.
fn long(settings: CoDel, ecn: Codepoint) -> (usize, u64) {
    let mut desk = Desk::new(CoDelQueue::new(settings));
    for at in 1..=400 {
        desk.put(ms(at), 0, 1000, ecn);
        if at > 20 {
            desk.take(ms(at));
        }
    }
    assert!(desk.dropped.iter().all(|&(_, cause)| cause == Cause::Discipline));
    (desk.dropped.len(), desk.marked())
}

#[test]
fn signals_are_drops_unless_they_may_be_marks() {
    let ecn = CoDel { ecn: true, ..CoDel::default() };
    // The first at 121 ms, then after 100, 71, 58 and 50 ms.
    assert_eq!(long(CoDel::default(), Codepoint::Ect0), (5, 0));
    assert_eq!(long(ecn, Codepoint::Ect0), (0, 5));
    assert_eq!(long(ecn, Codepoint::NotEct), (5, 0));
}

/// tc-codel(8): ce_threshold marks independent of the control law, and drops nothing.
#[test]
fn a_threshold_marks_all_that_waited_longer() {
    let settings = CoDel { ce_threshold: Some(Duration::from_millis(2)), ..CoDel::default() };
    let one = |waited: u64, ecn: Codepoint| {
        let mut desk = Desk::new(CoDelQueue::new(settings));
        desk.put(ms(1), 0, 1000, ecn);
        desk.take(us(1000 + waited)).expect("it leaves").ecn
    };
    assert_eq!(one(2000, Codepoint::Ect0), Codepoint::Ect0);
    assert_eq!(one(2001, Codepoint::Ect0), Codepoint::Ce);
    assert_eq!(one(9000, Codepoint::NotEct), Codepoint::NotEct);
}

#[test]
fn a_queue_that_ran_empty_begins_anew() {
    let mut desk = Desk::new(CoDelQueue::new(CoDel::default()));
    for round in 0..5 {
        let from = 1000 * round + 1;
        // 90 ms above the target are less than an interval.
        for _ in 0..40 {
            desk.put(ms(from), 0, 1000, Codepoint::NotEct);
        }
        for at in 0..40 {
            desk.take(ms(from + 50 + at));
        }
        assert!(desk.take(ms(from + 95)).is_none());
    }
    assert_eq!(desk.dropped, []);
    for _ in 0..3 {
        desk.put(ms(9_000), 0, 1000, Codepoint::NotEct);
    }
    desk.queue.clear();
    assert!(desk.take(ms(9_001)).is_none());
}

#[test]
fn what_does_not_fit_is_dropped_for_that() {
    let mut desk = Desk::new(CoDelQueue::new(CoDel { limit: QueueLimit::Bytes(2_500), ..CoDel::default() }));
    let dropped = [1000, 1000, 501, 500].map(|bytes| desk.put(ms(1), 0, bytes, Codepoint::NotEct));
    assert_eq!(dropped, [false, false, true, false]);
    assert_eq!(desk.dropped, [(2, Cause::QueueFull)]);
}
