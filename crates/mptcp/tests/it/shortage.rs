//! What is kept of what comes beyond the window, and what all connections of an endpoint keep together.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::net::SocketAddr;

use bytes::Bytes;

use crate::hand::{Hand, host_address, segment};
use mptcp::{Config, ConnectionId, Endpoint, EndpointBounds, EventKind, InterfaceId};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::{Flags, Segment, Seq};

const BUFFER: u64 = 100_000;
const SIZE: u16 = 1_000;

fn small() -> Config {
    Config { receive_buffer: BUFFER, receive_block: 0, ..Config::default() }
}

/// The next number that the host expects on a subflow, as its last acknowledgement says it.
fn expected(answers: &[Segment], before: u32) -> u32 {
    answers.last().map_or(before, |answer| answer.acknowledgment.value())
}

/// The same once acknowledgements that may wait were sent.
fn settled(hand: &mut Hand, before: u32) -> u32 {
    let answers: Vec<Segment> =
        hand.sleep(Duration::from_millis(100)).into_iter().map(|(_, sent)| sent).collect();
    expected(&answers, before)
}

/// What continues the stream beyond the window is not acknowledged on the subflow, and comes again once there is space.
#[test]
fn what_continues_the_stream_beyond_the_window_is_not_acknowledged() {
    let (mut hand, _) = Hand::open(small());
    let mut next = 1;
    for number in 0..400 {
        let at = number * u32::from(SIZE) + 1;
        next = expected(&hand.send_data(hand.flow, at, u64::from(at), SIZE), next);
    }
    next = settled(&mut hand, next);
    // Nothing was read.
    assert_eq!((hand.host.readable(hand.connection), next), (BUFFER, 100_001));
    let mut read = 0;
    hand.host.read_all(hand.now, hand.connection, |data| read += data.len());
    for number in 100..400 {
        let at = number * u32::from(SIZE) + 1;
        next = expected(&hand.send_data(hand.flow, at, u64::from(at), SIZE), next);
    }
    next = settled(&mut hand, next);
    assert_eq!((hand.host.readable(hand.connection), next), (BUFFER, 200_001));
}

/// A sender whose subflows have different news of the window sends beyond it by up to what it shrank, as Linux does. Out of order
/// at the data level, in order on the subflow: what the subflow acknowledges is there once the gap is filled.
#[test]
fn what_a_subflow_acknowledges_the_stream_keeps() {
    for pieces in [u32::from(SIZE), 20] {
        let (mut hand, _) = Hand::open(small());
        let (other, _) = hand.join(2000);
        let mut next = 1;
        // Every second piece of the stream, so that none can be joined with another.
        for number in 0..8_000 {
            let (at, data) = (number * pieces + 1, 2 * u64::from(number * pieces) + 101);
            next = expected(&hand.send_data(hand.flow, at, data, pieces as u16), next);
            if next < at {
                break;
            }
        }
        next = settled(&mut hand, next);
        let kept = hand.host.info(hand.now, hand.connection).unwrap().usage.receive_bytes;
        let owed = u64::from(next - 1);
        assert!(kept >= owed && kept <= 3 * BUFFER + 65_536, "{kept} bytes of {owed} with {pieces}");
        // The gaps.
        let mut at = 1;
        for start in std::iter::once(1)
            .chain((0..owed).step_by(pieces as usize).map(|it| 2 * it + 101 + u64::from(pieces)))
        {
            let length = if start == 1 { 100 } else { pieces as u16 };
            hand.host.read_all(hand.now, hand.connection, |_| ());
            hand.send_data(other, at, start, length);
            at += u32::from(length);
        }
        let got = hand.host.info(hand.now, hand.connection).unwrap();
        assert_eq!(got.bytes_received, 100 + 2 * owed, "with {pieces}");
    }
}

/// A host at whose port unknown hosts call, with plain TCP.
struct Port {
    host: Endpoint,
    interface: InterfaceId,
    now: Instant,
    accepted: Vec<ConnectionId>,
}

impl Port {
    fn new(receive_memory: u64) -> Self {
        let mut host = Endpoint::new(Rng::new(3, "host"));
        let interface = host.add_interface(host_address(), false);
        host.set_bounds(EndpointBounds { receive_memory, ..EndpointBounds::default() });
        host.listen_on(80, Config { receive_block: 0, ..Config::default() }, None, Some(4096)).unwrap();
        Self { host, interface, now: Instant::ZERO + Duration::from_secs(1), accepted: Vec::new() }
    }

    fn send(&mut self, from: u16, edit: impl FnOnce(&mut Segment)) -> Vec<Segment> {
        let peer = SocketAddr::from(([10, 0, 0, 9], from));
        let mut sent = segment(peer, (host_address(), 80).into(), Flags::ACK, Vec::new());
        edit(&mut sent);
        self.host.handle_segment(self.now, self.interface, sent);
        let answers = std::iter::from_fn(|| self.host.poll_transmit(self.now)).map(|sent| sent.segment);
        let answers = answers.collect();
        while let Some(event) = self.host.poll_event() {
            if event.kind == EventKind::Accepted {
                self.accepted.push(event.connection);
            }
        }
        answers
    }

    /// Opens a connection; returns the host's first number.
    fn call(&mut self, from: u16) -> Seq {
        let answers = self.send(from, |syn| {
            syn.flags = Flags::SYN;
            syn.options.window_scale = Some(7);
        });
        let first = answers[0].sequence;
        self.send(from, |ack| (ack.sequence, ack.acknowledgment) = (Seq::new(1), first + 1));
        first
    }

    /// Sends `length` bytes at an offset of the stream, the first being 0; returns the next offset that the host expects.
    fn data(&mut self, from: u16, iss: Seq, offset: u32, length: u32) -> u32 {
        let answers = self.send(from, |segment| {
            (segment.sequence, segment.acknowledgment) = (Seq::new(offset + 1), iss + 1);
            segment.payload = Bytes::from(vec![1; length as usize]);
        });
        answers.last().map_or(0, |answer| answer.acknowledgment.value() - 1)
    }

    /// Sends all but the first byte of a stream, as far as the window of an honest peer would reach.
    fn leave_one_byte_missing(&mut self, from: u16, iss: Seq) {
        for offset in (1..6 << 20).step_by(60_000) {
            self.data(from, iss, offset, 60_000);
        }
    }
}

/// S1: who is not accepted holds what a first buffer allows, whatever the settings say.
#[test]
fn a_connection_that_nobody_accepted_holds_no_more_than_a_first_buffer() {
    let mut port = Port::new(u64::MAX);
    for from in 1000..1010 {
        let iss = port.call(from);
        port.leave_one_byte_missing(from, iss);
    }
    let held = port.host.usage().receive_bytes;
    assert!(held <= 10 * (2 * 131_072 + 65_536), "{held} bytes of 10 connections");
    // Once it is accepted, there is as much as the settings say.
    let (iss, first) = (port.call(2000), port.accepted.len() - 1);
    port.host.accept(port.accepted[first]);
    port.leave_one_byte_missing(2000, iss);
    assert!(port.host.usage().receive_bytes - held > 5 << 20);
}

/// S1: all connections share a bound, accepted or not; beyond it each accepted one goes on in order, slowly.
#[test]
fn all_connections_share_a_bound() {
    const BOUND: u64 = 20 << 20;
    let mut port = Port::new(BOUND);
    let mut callers = Vec::new();
    for from in 1000..1200 {
        let iss = port.call(from);
        if from % 2 == 0 {
            port.host.accept(*port.accepted.last().unwrap());
        }
        callers.push((from, iss));
    }
    for &(from, iss) in &callers {
        port.leave_one_byte_missing(from, iss);
        let held = port.host.usage().receive_bytes;
        assert!(held <= BOUND + 100 * 65_536 + 60_000, "{held} bytes");
    }
    assert!(port.host.usage().receive_bytes > BOUND / 2);
    assert_eq!(port.host.counters().memory_shortages, 1);
    // One that comes late, is accepted and reads.
    let iss = port.call(3000);
    let id = *port.accepted.last().unwrap();
    port.host.accept(id);
    for piece in 0..10 {
        assert_eq!(port.data(3000, iss, piece * 1_000, 1_000), (piece + 1) * 1_000);
        let mut read = 0;
        port.host.read_all(port.now, id, |data| read += data.len());
        assert_eq!(read, 1_000);
    }
    // One that is not accepted gets nothing for now.
    let iss = port.call(3001);
    assert_eq!(port.data(3001, iss, 0, 1_000), 0);
    // The others end, and there is space again.
    let all: Vec<ConnectionId> = port.host.connections().filter(|&other| other != id).collect();
    for id in all {
        port.host.abort(port.now, id);
    }
    // Their resets.
    while port.host.poll_transmit(port.now).is_some() {}
    assert!(port.host.usage().receive_bytes < BOUND / 100, "{}", port.host.usage().receive_bytes);
    let iss = port.call(3002);
    assert_eq!(port.data(3002, iss, 0, 1_000), 1_000);
}

/// What is missing waits on the only subflow behind what finds no space: the stream goes on all the same.
#[test]
fn a_shortage_leaves_no_connection_stuck_for_ever() {
    let (mut hand, _) = Hand::open(Config { receive_block: 0, ..Config::default() });
    hand.send_data(hand.flow, 1, 1, 100);
    // Data that is early, in the order of the subflow, and then what is missing.
    let mut next = 101;
    for number in 0..100_u64 {
        hand.send_data(hand.flow, next, 1_101 + number * 1_000, SIZE);
        next += 1_000;
    }
    let bounds = EndpointBounds { receive_memory: 50_000, ..hand.host.bounds() };
    hand.host.set_bounds(bounds);
    let refused = next;
    for _ in 0..2 {
        let answers = hand.send_data(hand.flow, refused, 101_101, SIZE);
        assert_eq!(expected(&answers, 0), refused, "there is no space");
    }
    hand.send_data(hand.flow, refused, 101_101, SIZE);
    hand.send_data(hand.flow, refused + 1_000, 101, SIZE);
    assert_eq!(hand.host.readable(hand.connection), 1_100, "what was missing is there");
}
