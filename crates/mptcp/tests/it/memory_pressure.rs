//! Data beyond the receive window, and the memory limit over all connections of an endpoint.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::net::SocketAddr;

use bytes::Bytes;

use crate::pair::{Fate, Pair, pattern};
use crate::test_peer::{TestPeer, host_address, segment};
use mptcp::{Config, ConnectionId, Endpoint, EndpointBounds, EventKind, InterfaceId};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::{Flags, Segment, Seq};

const BUFFER: u64 = 100_000;
const SIZE: u16 = 1_000;
/// Window scale for a buffer of 6 MB.
const SCALE: u32 = 7;

fn small() -> Config {
    Config { receive_buffer: BUFFER, receive_block: 0, ..Config::default() }
}

/// Next sequence number that the host expects on a subflow, from its last acknowledgement.
fn expected(answers: &[Segment], before: u32) -> u32 {
    answers.last().map_or(before, |answer| answer.acknowledgment.value())
}

/// The same, after delayed acknowledgements were sent.
fn settled(remote: &mut TestPeer, before: u32) -> u32 {
    let answers: Vec<Segment> =
        remote.sleep(Duration::from_millis(100)).into_iter().map(|(_, sent)| sent).collect();
    expected(&answers, before)
}

/// Data beyond the window is not acknowledged on the subflow, and is retransmitted once there is space.
#[test]
fn data_beyond_the_window_is_not_acknowledged() {
    let (mut remote, _) = TestPeer::open(small());
    let mut next = 1;
    for number in 0..400 {
        let at = number * u32::from(SIZE) + 1;
        next = expected(&remote.send_data(remote.flow, at, u64::from(at), SIZE), next);
    }
    next = settled(&mut remote, next);
    // Nothing was read.
    assert_eq!((remote.host.readable(remote.connection), next), (BUFFER, 100_001));
    let mut read = 0;
    remote.host.read_all(remote.now, remote.connection, |data| read += data.len());
    for number in 100..400 {
        let at = number * u32::from(SIZE) + 1;
        next = expected(&remote.send_data(remote.flow, at, u64::from(at), SIZE), next);
    }
    next = settled(&mut remote, next);
    assert_eq!((remote.host.readable(remote.connection), next), (BUFFER, 200_001));
}

/// Window updates on different subflows arrive at different times, so a sender may exceed a shrunk window, as
/// Linux does. Data that is in order on the subflow and out of order at the data level stays available once
/// it is acknowledged on the subflow.
#[test]
fn data_acknowledged_on_a_subflow_is_kept() {
    for pieces in [u32::from(SIZE), 20] {
        let (mut remote, _) = TestPeer::open(small());
        let (other, _) = remote.join(2000);
        let mut next = 1;
        // Every second piece of the stream, so that no pieces can be joined.
        for number in 0..8_000 {
            let (at, data) = (number * pieces + 1, 2 * u64::from(number * pieces) + 101);
            next = expected(&remote.send_data(remote.flow, at, data, pieces as u16), next);
            if next < at {
                break;
            }
        }
        next = settled(&mut remote, next);
        let kept = remote.host.info(remote.now, remote.connection).unwrap().usage.receive_bytes;
        let owed = u64::from(next - 1);
        assert!(kept >= owed && kept <= 3 * BUFFER + 65_536, "{kept} bytes of {owed} with {pieces}");
        // The gaps.
        let mut at = 1;
        for start in std::iter::once(1)
            .chain((0..owed).step_by(pieces as usize).map(|it| 2 * it + 101 + u64::from(pieces)))
        {
            let length = if start == 1 { 100 } else { pieces as u16 };
            remote.host.read_all(remote.now, remote.connection, |_| ());
            remote.send_data(other, at, start, length);
            at += u32::from(length);
        }
        let got = remote.host.info(remote.now, remote.connection).unwrap();
        assert_eq!(got.bytes_received, 100 + 2 * owed, "with {pieces}");
    }
}

/// A TCP host with unknown clients.
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

    /// Opens a connection; returns the initial sequence number of the host.
    fn call(&mut self, from: u16) -> Seq {
        let answers = self.send(from, |syn| {
            syn.flags = Flags::SYN;
            syn.options.window_scale = Some(7);
        });
        let first = answers[0].sequence;
        self.send(from, |ack| (ack.sequence, ack.acknowledgment) = (Seq::new(1), first + 1));
        first
    }

    /// Sends `length` bytes at an offset of the stream, from 0; returns the responses.
    fn send_data(&mut self, from: u16, iss: Seq, offset: u32, length: u32) -> Vec<Segment> {
        self.send(from, |segment| {
            (segment.sequence, segment.acknowledgment) = (Seq::new(offset + 1), iss + 1);
            segment.payload = Bytes::from(vec![1; length as usize]);
        })
    }

    /// The same; returns the next offset that the host expects.
    fn data(&mut self, from: u16, iss: Seq, offset: u32, length: u32) -> u32 {
        let answers = self.send_data(from, iss, offset, length);
        answers.last().map_or(0, |answer| answer.acknowledgment.value() - 1)
    }

    /// Sends a delayed acknowledgement.
    fn wait(&mut self) -> Vec<Segment> {
        self.now += Duration::from_millis(100);
        self.host.handle_timeout(self.now);
        pending(self)
    }

    /// Sends all but the first byte of a stream, up to the window.
    fn leave_one_byte_missing(&mut self, from: u16, iss: Seq) {
        for offset in (1..6 << 20).step_by(60_000) {
            self.data(from, iss, offset, 60_000);
        }
    }
}

/// S1: an unaccepted connection holds at most the initial buffer, whatever the settings.
#[test]
fn unaccepted_connection_holds_at_most_the_initial_buffer() {
    let mut port = Port::new(u64::MAX);
    for from in 1000..1010 {
        let iss = port.call(from);
        port.leave_one_byte_missing(from, iss);
    }
    let held = port.host.usage().receive_bytes;
    assert!(held <= 10 * (2 * 131_072 + 65_536), "{held} bytes of 10 connections");
    // After the accept, the settings apply.
    let (iss, first) = (port.call(2000), port.accepted.len() - 1);
    port.host.accept(port.accepted[first]);
    port.leave_one_byte_missing(2000, iss);
    assert!(port.host.usage().receive_bytes - held > 5 << 20);
}

/// S1: all connections share a limit. Above it, each accepted connection continues in order, slowly.
#[test]
fn all_connections_share_the_memory_limit() {
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
    // A later connection, accepted and read.
    let iss = port.call(3000);
    let id = *port.accepted.last().unwrap();
    port.host.accept(id);
    for piece in 0..10 {
        assert_eq!(port.data(3000, iss, piece * 1_000, 1_000), (piece + 1) * 1_000);
        let mut read = 0;
        port.host.read_all(port.now, id, |data| read += data.len());
        assert_eq!(read, 1_000);
    }
    // An unaccepted connection gets no space for now.
    let iss = port.call(3001);
    assert_eq!(port.data(3001, iss, 0, 1_000), 0);
    // The other connections end, and there is space again.
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

/// Window of a segment of the host, bytes.
fn window(answers: &[Segment]) -> u64 {
    u64::from(answers.last().unwrap().window) << SCALE
}

/// Segments that the host sends by itself.
fn pending(port: &mut Port) -> Vec<Segment> {
    std::iter::from_fn(|| port.host.poll_transmit(port.now)).map(|sent| sent.segment).collect()
}

/// The advertised window is honoured: it shrinks under memory pressure, and a window update follows later.
#[test]
fn window_follows_the_memory_pressure() {
    let mut port = Port::new(2 << 20);
    let iss = port.call(1000);
    let id = *port.accepted.last().unwrap();
    port.host.accept(id);
    let answers = port.send_data(1000, iss, 0, 1_000);
    assert!(window(&answers) > 1 << 20, "{}", window(&answers));
    let hog = port.call(1001);
    let hog_id = *port.accepted.last().unwrap();
    port.host.accept(hog_id);
    port.leave_one_byte_missing(1001, hog);
    assert_eq!(port.host.counters().memory_shortages, 1);
    // Unread data is part of the total, and data within the advertised window is kept.
    let mut offset = 1_000;
    let edge = loop {
        let mut answers = port.send_data(1000, iss, offset, 500);
        answers.extend(port.wait());
        let edge = u64::from(expected(&answers, 0) - 1) + window(&answers);
        assert!(edge <= 65_536 && edge > 65_536 - 200, "a window up to {edge}");
        if u64::from(offset) + 500 > edge {
            assert_eq!(expected(&answers, 0), offset + 1, "there is no space");
            break edge;
        }
        offset += 500;
        assert_eq!(expected(&answers, 0), offset + 1, "up to {edge} was offered");
    };
    assert_eq!(port.host.readable(id), u64::from(offset));
    // Reading makes space, and a window update is sent.
    port.host.read_all(port.now, id, |_| ());
    let update = pending(&mut port);
    assert!(window(&update) > 65_000 && window(&update) <= 65_536, "{update:?} after {edge}");
    // The end of the other connection does so, too.
    port.host.abort(port.now, hog_id);
    let update = pending(&mut port);
    let update: Vec<Segment> =
        update.into_iter().filter(|segment| segment.destination.port() == 1000).collect();
    assert!(window(&update) > 1 << 20, "{update:?}");
}

/// A connection with window 0 until its accept sends a window update afterwards.
#[test]
fn accept_under_memory_pressure_opens_the_window() {
    for accepts in [true, false] {
        let mut port = Port::new(1 << 20);
        let hog = port.call(1001);
        port.host.accept(*port.accepted.last().unwrap());
        port.leave_one_byte_missing(1001, hog);
        let iss = port.call(1000);
        let answers = port.send_data(1000, iss, 0, 1_000);
        assert_eq!((expected(&answers, 0), window(&answers)), (1, 0), "nobody reads");
        if accepts {
            port.host.accept(*port.accepted.last().unwrap());
        } else {
            port.host.unlisten(80);
        }
        let update = pending(&mut port);
        assert_eq!(window(&update), 65_536, "{update:?}");
        assert_eq!(port.data(1000, iss, 0, 1_000), 1_000);
    }
}

/// 40 accepted but unread connections cause memory pressure. Every other connection still has at least 64 KB
/// for data in any order.
#[test]
fn unread_connections_do_not_block_others() {
    const BOUND: u64 = 20 << 20;
    let mut port = Port::new(BOUND);
    for from in 1000..1040 {
        let iss = port.call(from);
        port.host.accept(*port.accepted.last().unwrap());
        for offset in (0..6 << 20).step_by(60_000) {
            port.data(from, iss, offset, 60_000);
        }
    }
    let held = port.host.usage().receive_bytes;
    assert!(held > BOUND && held <= BOUND + 40 * 65_536, "{held} bytes");
    let iss = port.call(2000);
    let id = *port.accepted.last().unwrap();
    port.host.accept(id);
    let mut read = 0;
    // Rounds of 60 segments, the last one first.
    for round in 0..20 {
        for piece in (0..60).rev() {
            port.data(2000, iss, round * 60_000 + piece * 1_000, 1_000);
        }
        port.host.read_all(port.now, id, |data| read += data.len());
    }
    assert_eq!(read, 20 * 60_000);
    assert!(port.host.usage().receive_bytes <= held);
}

/// Under permanent memory pressure and with losses, the stream still arrives.
#[test]
fn permanent_memory_pressure_stops_no_transfer() {
    for (seed, links) in [(1, &[10][..]), (2, &[10, 40]), (3, &[10, 12, 14, 50])] {
        let mut pair = Pair::builder().seed(seed).links(links).connect();
        let bounds = EndpointBounds { receive_memory: 1, ..pair.server.bounds() };
        pair.server.set_bounds(bounds);
        let mut chance = Rng::new(seed, "loss");
        pair.rule = Box::new(move |_, _, _| if chance.chance(0.02) { Fate::Drop } else { Fate::Deliver });
        let data = pattern(2_000_000);
        let took = pair.transfer(&data, Duration::from_secs(120));
        assert!(pair.received[0] == data, "{} bytes in {took:?}", pair.received[0].len());
    }
}

/// Data without a known mapping is limited like other data.
#[test]
fn payload_without_a_mapping_does_not_continue_the_stream() {
    let (mut remote, _) = TestPeer::open(Config { receive_block: 0, ..Config::default() });
    remote.send_data(remote.flow, 1, 1, 1_000);
    remote.host.set_bounds(EndpointBounds { receive_memory: 500, ..remote.host.bounds() });
    for number in 1..300 {
        let (flow, at) = (remote.flow, 2_001 + number * u32::from(SIZE));
        remote.send(flow, at, 1, |segment| segment.payload = Bytes::from(vec![1; SIZE.into()]));
    }
    let held = remote.host.usage().receive_bytes;
    assert!((60_000..=65_536).contains(&held), "{held} bytes");
}

/// The stream keeps acknowledged data although several subflows are refused a segment at the same time.
#[test]
fn refused_data_on_several_subflows_is_not_lost() {
    let (mut remote, _) = TestPeer::open(Config { receive_block: 0, ..Config::default() });
    let (others, first) = ([2000, 2001, 2002].map(|port| remote.join(port).0), remote.flow);
    remote.send_data(first, 1, 1, 100);
    for number in 0..100 {
        remote.send_data(first, 101 + number * 1_000, 1_101 + u64::from(number) * 1_000, SIZE);
    }
    remote.host.set_bounds(EndpointBounds { receive_memory: 50_000, ..remote.host.bounds() });
    for _ in 0..5 {
        for (number, flow) in (0..).zip(others) {
            let answers = remote.send_data(flow, 1, 101_101 + number * 1_000, SIZE);
            assert_eq!(expected(&answers, 0), 1, "there is no space");
        }
    }
    remote.send_data(first, 100_101, 101, SIZE);
    assert_eq!(remote.host.readable(remote.connection), 101_100, "all that was acknowledged is there");
}

/// The missing data is behind a segment without space on the only subflow, in its queue or not yet sent. The
/// stream makes progress, and only that segment is retransmitted at the data level.
#[test]
fn no_connection_is_stuck_after_memory_pressure() {
    for queued in [true, false] {
        let (mut remote, _) = TestPeer::open(Config { receive_block: 0, ..Config::default() });
        remote.send_data(remote.flow, 1, 1, 100);
        // Data behind a gap of the subflow, or early in its order. The data without space is in the gap, or
        // after it.
        let (hole, mut next) = if queued { (101, 1_101) } else { (100_101, 101) };
        for number in 0..100_u64 {
            let data = if queued { 101 } else { 1_101 };
            remote.send_data(remote.flow, next, data + number * 1_000, SIZE);
            next += 1_000;
        }
        remote.host.set_bounds(EndpointBounds { receive_memory: 50_000, ..remote.host.bounds() });
        let mut refusals = 0;
        while expected(&remote.send_data(remote.flow, hole, 101_101, SIZE), 0) == hole {
            remote.sleep(Duration::from_millis(200 << refusals));
            refusals += 1;
            assert!(refusals < 10, "stuck");
        }
        assert_eq!(refusals, 3, "two timeouts may be a loss on another subflow");
        if !queued {
            remote.send_data(remote.flow, next + 1_000, 101, SIZE);
        }
        let kept = if queued { 100_100 } else { 101_100 };
        assert_eq!(remote.host.readable(remote.connection), kept, "what was missing is there");
        // Refused data is retransmitted at the data level.
        remote.host.read_all(remote.now, remote.connection, |_| ());
        remote.send_data(remote.flow, next + if queued { 0 } else { 2_000 }, kept + 1, 2_000);
        assert_eq!(remote.host.readable(remote.connection), 2_000);
    }
}
