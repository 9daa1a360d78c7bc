//! Tests of FQ-CoDel by the rules of RFC 8290.

use super::*;
use crate::frame::{Cause, Codepoint};
use crate::queue::tests::{Desk, ms};
use mptcp_clock::Duration;

/// Sub-queues with a control law that never drops.
fn fair(limit: QueueLimit) -> FqCoDel {
    let codel = CoDel { limit, target: Duration::from_secs(100), ..CoDel::default() };
    FqCoDel { codel, ..FqCoDel::default() }
}

fn desk(settings: FqCoDel) -> Desk<FqCoDelQueue> {
    Desk::new(FqCoDelQueue::new(settings))
}

/// Queues `packets` packets of a flow.
fn put(desk: &mut Desk<FqCoDelQueue>, label: u32, bytes: u32, packets: usize) {
    for _ in 0..packets {
        desk.put(ms(1), label, bytes, Codepoint::NotEct);
    }
}

/// The flows of the next departures.
fn order(desk: &mut Desk<FqCoDelQueue>, packets: usize) -> Vec<u32> {
    (0..packets).filter_map(|_| desk.take(ms(1))).map(|packet| packet.label).collect()
}

/// Section 4.1.1: labels spread evenly over the sub-queues.
#[test]
fn flows_spread_evenly_over_the_rows() {
    let mut queue = FqCoDelQueue::new(FqCoDel { flows: 64, ..FqCoDel::default() });
    queue.flows.resize_with(64, || Flow {
        packets: PacketFifo::default(),
        law: CoDelLaw::new(Duration::ZERO, Duration::ZERO, 0),
        credit: 0,
        turn: Turn::Idle,
    });
    let mut loads = [0_u32; 64];
    // Labels of subflows differ in their upper 24 bits.
    (0..6400).for_each(|class| loads[queue.flow_of(class << 8)] += 1);
    assert!(loads.iter().all(|load| (50..150).contains(load)), "{loads:?}");
}

/// The first values of SplitMix64 from seed 0 (reference implementation of Steele, Lea and Flood).
#[test]
fn the_hash_is_splitmix64s() {
    let step = 0x9e37_79b9_7f4a_7c15_u64;
    let numbers = [1, 2, 3].map(|n| spread(step.wrapping_mul(n)));
    assert_eq!(numbers, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
}

/// Section 4.1: fairness in bytes, not packets.
#[test]
fn flows_share_the_bytes() {
    let mut desk = desk(fair(QueueLimit::Unlimited));
    put(&mut desk, 1, 1500, 1000);
    put(&mut desk, 2, 300, 5000);
    let mut sent = [0_u32; 3];
    for _ in 0..2000 {
        let packet = desk.take(ms(1)).expect("both have more");
        sent[packet.label as usize] += packet.bytes;
    }
    assert!(sent[1].abs_diff(sent[2]) <= 2 * 1514, "{sent:?}");
}

/// Section 4.2: a new flow precedes the others for one quantum, then alternates with them.
#[test]
fn a_new_flow_sends_a_quantum_first_and_then_waits_for_its_turn() {
    let mut desk = desk(fair(QueueLimit::Unlimited));
    put(&mut desk, 1, 1000, 20);
    // A credit of 1514 bytes passes two packets.
    assert_eq!(order(&mut desk, 3), [1, 1, 1]);
    put(&mut desk, 2, 1000, 4);
    assert_eq!(order(&mut desk, 2), [2, 2]);
    let rest = order(&mut desk, 9);
    // Then round robin with equal bytes.
    assert_eq!(rest.iter().filter(|&&label| label == 2).count(), 2, "{rest:?}");
    assert_eq!(rest[0], 1, "{rest:?}");
}

/// Section 4.2: an empty new flow becomes old, so that it cannot be new again at once.
#[test]
fn a_flow_that_comes_again_at_once_is_not_new() {
    let mut desk = desk(fair(QueueLimit::Unlimited));
    put(&mut desk, 1, 100, 100);
    // Flow 1 has used its quantum.
    assert_eq!(order(&mut desk, 16), [1; 16]);
    put(&mut desk, 2, 100, 1);
    // Flow 2 is served first, and is empty at its next turn.
    assert_eq!(order(&mut desk, 2), [2, 1]);
    put(&mut desk, 2, 100, 1);
    let then = order(&mut desk, 20);
    let place = then.iter().position(|&label| label == 2).expect("its turn comes");
    assert!((10..=15).contains(&place), "after the packets that flow 1 may send in its quantum: {then:?}");
    // Without competition it becomes idle, and is new again.
    assert_eq!(order(&mut desk, 100).len(), 64);
    put(&mut desk, 1, 1000, 5);
    put(&mut desk, 2, 1000, 5);
    assert_eq!(order(&mut desk, 4), [1, 1, 2, 2]);
}

/// Section 4.1.3: drops from the head of the flow with most bytes: half of its packets, or 64.
#[test]
fn what_is_too_much_goes_from_the_head_of_the_longest_row() {
    // Limit in packets: 80 of one flow fill most of it.
    let mut one = desk(fair(QueueLimit::Packets(100)));
    put(&mut one, 1, 1000, 80);
    put(&mut one, 2, 100, 20);
    assert_eq!(one.dropped, []);
    put(&mut one, 2, 100, 1);
    let first = |packets: u32| (0..packets).map(|place| (place, Cause::QueueFull)).collect::<Vec<_>>();
    assert_eq!(one.dropped, first(40), "half of the bytes of flow 1");
    // The queue has space for 39 packets.
    put(&mut one, 3, 100, 39);
    assert_eq!(one.dropped.len(), 40);
    put(&mut one, 3, 100, 1);
    assert_eq!(one.dropped.len(), 60, "half of the packets left in flow 1");
    // Of many small packets, 64 are dropped.
    let mut small = desk(fair(QueueLimit::Packets(300)));
    put(&mut small, 1, 100, 301);
    assert_eq!(small.dropped, first(64));
    // Limit in bytes.
    let mut bytes = desk(fair(QueueLimit::Bytes(10_000)));
    put(&mut bytes, 1, 1000, 10);
    assert_eq!(bytes.dropped, []);
    put(&mut bytes, 2, 1000, 1);
    assert_eq!(bytes.dropped, first(5));
    put(&mut bytes, 2, 1000, 4);
    assert_eq!(bytes.dropped.len(), 5);
    put(&mut bytes, 2, 1, 1);
    assert!(bytes.dropped.len() > 5);
}

/// Departed packets free their space.
#[test]
fn as_much_fits_after_any_traffic_as_before() {
    for limit in [QueueLimit::Packets(10), QueueLimit::Bytes(10_000)] {
        let mut desk = desk(fair(limit));
        for _ in 0..50 {
            put(&mut desk, 1, 1000, 5);
            put(&mut desk, 2, 1000, 5);
            assert_eq!((order(&mut desk, 11).len(), desk.dropped.len()), (10, 0));
        }
        put(&mut desk, 1, 1000, 10);
        assert_eq!(desk.dropped, []);
        put(&mut desk, 1, 1000, 1);
        assert_eq!(desk.dropped.len(), 6, "half of eleven");
        desk.queue.clear();
        assert!(desk.take(ms(2)).is_none());
        put(&mut desk, 1, 1000, 10);
        assert_eq!(order(&mut desk, 20).len(), 10);
    }
}

/// RFC 8289 section 4.4, for all sub-queues together: with at most a full frame behind it, nothing is dropped.
#[test]
fn a_backlog_of_a_frame_is_never_too_long_and_that_of_others_counts() {
    let dropped = |other: usize| {
        let mut desk = desk(FqCoDel::default());
        // Flows that always have one full packet queued.
        for label in 0..other as u32 {
            desk.put(ms(1), 10 + label, 1514, Codepoint::NotEct);
        }
        desk.put(ms(1), 1, 700, Codepoint::NotEct);
        for at in 1..400 {
            desk.put(ms(at * 20), 1, 700, Codepoint::NotEct);
            let packet = desk.take(ms(at * 20)).expect("one waits");
            if packet.label != 1 {
                desk.put(ms(at * 20), packet.label, 1514, Codepoint::NotEct);
            }
        }
        desk.dropped.len()
    };
    assert_eq!(dropped(0), 0);
    assert!(dropped(2) > 0);
}
