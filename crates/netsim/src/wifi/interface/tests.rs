//! The interface queue of a sender: order, space and aggregates.

use super::*;

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

fn entry(radio: u32, bytes: u32) -> Entry {
    Entry { radio, bytes, queued_at: Instant::ZERO, attempts: 0, acknowledged: None }
}

/// A ring of `ring` frames, filled with frames of 1514 bytes for these radios.
fn filled(ring: u32, radios: &[u32]) -> Interface {
    let mut interface = Interface::new(QueueLimit::Unlimited, Discipline::DropTail, ring);
    radios.iter().for_each(|&radio| interface.push(entry(radio, 1514)));
    interface.refill(ms(0), |_, _| panic!("nothing is dropped"));
    interface
}

/// Section 9.7: a delimiter of four bytes before each frame, and padding to four bytes.
#[test]
fn an_aggregate_takes_what_its_rules_allow() {
    let interface = filled(100, &[1; 100]);
    let take =
        |max_frames, max_bytes, most| interface.aggregate(1, Aggregation { max_frames, max_bytes }, most, 38);
    // 1500 bytes and 38 of the MAC are 1538, 1542 with the delimiter, 1544 padded.
    assert_eq!(take(1, 65_535, 65_535), (1, 1544));
    assert_eq!(take(32, 65_535, 65_535), (32, 32 * 1544));
    assert_eq!(take(64, 65_535, 99_999), (42, 42 * 1544));
    assert_eq!(take(64, 65_535, 3 * 1544), (3, 3 * 1544));
    assert_eq!(take(64, 3 * 1544 - 1, 65_535), (2, 2 * 1544));
    assert_eq!(take(64, 10, 10), (1, 1544), "one frame is sent in any case");
    assert_eq!(interface.aggregate(2, Aggregation::default(), 65_535, 38), (0, 0));
}

/// Section 10.24.7: a block acknowledgement covers 64 frames from the first unfinished one on.
#[test]
fn an_aggregate_stays_in_the_window_of_its_acknowledgement() {
    let rules = Aggregation { max_frames: 200, max_bytes: u32::MAX };
    let mut interface = filled(200, &[1; 150]);
    assert_eq!(interface.aggregate(1, rules, u32::MAX, 38).0, 64);
    interface.open(1).skip(1).take(10).for_each(|entry| entry.acknowledged = Some(Duration::ZERO));
    assert_eq!(interface.aggregate(1, rules, u32::MAX, 38).0, 54, "the window still has 10 finished ones");
    interface.open(1).take(1).for_each(|entry| entry.acknowledged = Some(Duration::ZERO));
    let done = std::iter::from_fn(|| interface.pop_done(1, None)).count();
    assert_eq!((done, interface.aggregate(1, rules, u32::MAX, 38).0), (11, 64));
}

/// Only frames in the ring are sent, to any receiver.
#[test]
fn the_ring_is_what_the_card_sees() {
    let mut interface = filled(4, &[1, 2, 1, 2, 1, 1]);
    let rules = Aggregation::default();
    assert_eq!([1, 2, 3].map(|radio| interface.aggregate(radio, rules, 65_535, 38).0), [2, 2, 0]);
    assert_eq!([1, 2, 3].map(|radio| interface.waiting(radio)), [4, 2, 0]);
    assert_eq!((interface.open(1).count(), interface.first_open(2).is_some()), (2, true));
    assert!(interface.first_open(3).is_none());
    assert_eq!((interface.len(), interface.bytes()), (6, 6 * 1514));
    // One departs, and the next one enters the ring.
    interface.open(2).take(1).for_each(|entry| entry.acknowledged = Some(Duration::ZERO));
    assert!(interface.pop_done(2, None).is_some());
    assert_eq!((interface.len(), interface.bytes()), (5, 5 * 1514));
    assert_eq!(interface.open(1).count(), 2);
    interface.refill(ms(1), |_, _| panic!("nothing is dropped"));
    assert_eq!(interface.open(1).count(), 3);
    // Drops the frames of one radio.
    interface.flush(1);
    assert_eq!((interface.len(), interface.bytes(), interface.open(2).count()), (1, 1514, 1));
    interface.push(entry(3, 100));
    interface.refill(ms(1), |_, _| panic!("nothing is dropped"));
    assert_eq!((interface.open(3).count(), interface.bytes()), (1, 1614));
    assert_eq!(filled(0, &[1, 1]).open(1).count(), 1, "a ring holds at least one frame");
}

#[test]
fn a_frame_is_done_when_it_is_acknowledged_or_was_tried_too_often_and_in_order() {
    let mut interface = filled(8, &[1, 1]);
    interface.open(1).skip(1).for_each(|entry| entry.acknowledged = Some(Duration::ZERO));
    assert!(interface.pop_done(1, Some(7)).is_none(), "the first is not");
    interface.open(1).for_each(|entry| entry.attempts = 7);
    assert!(interface.pop_done(1, Some(7)).is_none(), "seven repetitions are allowed");
    interface.open(1).for_each(|entry| entry.attempts = 8);
    assert!(interface.pop_done(1, None).is_none(), "without a limit it is tried for ever");
    assert_eq!(interface.pop_done(1, Some(7)).map(|entry| entry.attempts), Some(8));
    assert!(interface.pop_done(1, Some(7)).is_some_and(|entry| entry.acknowledged.is_some()));
    assert!(interface.pop_done(1, Some(7)).is_none());
}

/// RFC 8289 for frames that enter the ring: which frames of which radio are dropped.
#[test]
fn codel_drops_what_waited_too_long_before_the_ring() {
    let codel = Discipline::CoDel { target: Duration::from_millis(5), interval: Duration::from_millis(100) };
    let mut interface = Interface::new(QueueLimit::Unlimited, codel, 2);
    for radio in [1, 2, 1, 2, 1, 2] {
        interface.push(entry(radio, 1514));
    }
    let mut dropped = Vec::new();
    interface.refill(ms(10), |radio, place| dropped.push((radio, place)));
    assert_eq!(dropped, [], "the delay has not exceeded the target for an interval");
    // The first of radio 1 departs, and after an interval its second is dropped, with none in the ring.
    interface.open(1).take(1).for_each(|entry| entry.acknowledged = Some(Duration::ZERO));
    assert!(interface.pop_done(1, None).is_some());
    interface.refill(ms(200), |radio, place| dropped.push((radio, place)));
    assert_eq!(dropped, [(1, 0)]);
    assert_eq!((interface.len(), interface.bytes()), (4, 4 * 1514));
    // Radio 2 has one in the ring, and its next one follows.
    assert_eq!([1, 2].map(|radio| interface.open(radio).count()), [0, 2]);
}

#[test]
fn a_frame_on_the_air_has_its_ethernet_header_replaced() {
    assert_eq!(mac_bytes(1514, 36), 1536);
    assert_eq!(mac_bytes(10, 36), 36);
    assert_eq!(mac_bytes(u32::MAX, 36), u32::MAX);
}
