//! Round robin with one packet or one quantum per turn.

use super::*;
use crate::frame::{Cause, Codepoint, DirectionId};
use crate::queue::tests::{Desk, ms};

fn desk(quantum: Option<u32>, limit: QueueLimit) -> Desk<RoundRobinQueue> {
    Desk::new(RoundRobinQueue::new(RoundRobin { by: By::Flow, limit, quantum }))
}

/// Order of departure of these packets (label, bytes), all queued at once.
fn order(quantum: Option<u32>, packets: &[(u32, u32)]) -> Vec<u32> {
    let mut desk = desk(quantum, QueueLimit::Unlimited);
    for &(label, bytes) in packets {
        desk.put(ms(1), label, bytes, Codepoint::NotEct);
    }
    std::iter::from_fn(|| desk.take(ms(1))).map(|packet| packet.label).collect()
}

#[test]
fn rows_take_turns_in_the_order_in_which_they_began() {
    let packets = [(5, 100), (5, 100), (5, 100), (2, 900), (9, 100), (9, 100)];
    assert_eq!(order(None, &packets), [5, 2, 9, 5, 9, 5]);
}

/// Shreedhar and Varghese: unused credit of a turn carries over.
#[test]
fn a_quantum_is_bytes_and_what_is_left_is_kept() {
    // 1000 bytes per turn: the first passes one packet and leaves a credit of 400, the next passes two.
    let packets = [(1, 600), (1, 600), (1, 600), (1, 600), (2, 1000), (2, 1000), (2, 1000)];
    assert_eq!(order(Some(1000), &packets), [1, 2, 1, 1, 2, 1, 2]);
    // A packet larger than a quantum waits for several turns.
    assert_eq!(order(Some(500), &[(1, 1500), (2, 500), (2, 500), (2, 500), (2, 500)]), [2, 2, 1, 2, 2]);
    assert_eq!(order(Some(0), &[(1, 3), (2, 2)]), [2, 1], "a quantum of zero counts as one byte");
}

#[test]
fn each_row_has_a_limit_of_its_own() {
    let mut desk = desk(None, QueueLimit::Bytes(1_000));
    let put = [(1, 600), (1, 400), (1, 1), (2, 900), (2, 101), (3, 5_000)]
        .map(|(label, bytes)| desk.put(ms(1), label, bytes, Codepoint::NotEct));
    assert_eq!(put, [false, false, true, false, true, false], "an empty sub-queue accepts any packet");
    assert_eq!(desk.dropped, [(2, Cause::QueueFull), (4, Cause::QueueFull)]);
    desk.queue.clear();
    assert!(desk.take(ms(2)).is_none());
}

#[test]
fn ports_are_the_links_and_the_node_itself() {
    let mut queue =
        RoundRobinQueue::new(RoundRobin { by: By::Port, limit: QueueLimit::Unlimited, quantum: None });
    let mut random = mptcp_clock::Rng::new(1, "queue");
    let mut outcomes = super::super::PacketOutcomes::default();
    let mut wire = Wire { now: ms(1), rate: None, random: &mut random, outcomes: &mut outcomes };
    for (place, port) in [Some(0), Some(0), Some(1), Some(1), None, None].into_iter().enumerate() {
        let packet = Packet {
            bytes: 100,
            ecn: Codepoint::NotEct,
            label: 7,
            port: port.map(DirectionId),
            arrived: ms(1),
            place: place as u32,
        };
        queue.enqueue(packet, &mut wire);
    }
    let order: Vec<u32> = std::iter::from_fn(|| match queue.dequeue(&mut wire) {
        Next::Packet(packet) => Some(packet.place),
        _ => None,
    })
    .collect();
    assert_eq!(order, [0, 2, 4, 1, 3, 5]);
}
