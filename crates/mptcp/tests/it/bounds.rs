//! Limits on memory: closed subflows, and connections that wait to be accepted.

use std::collections::BTreeSet;

use crate::pair::{Pair, pattern};
use mptcp::{
    Config, Endpoint, EventKind, InterfaceChange, InterfaceId, ListenError, SubflowCloseReason, SubflowState,
};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::{Flags, Segment};

/// After 200 handovers, the last 119 closed subflows are remembered next to 9 slots, each with its own
/// number, and the stream is complete.
#[test]
fn memory_is_bounded_while_paths_come_and_go() {
    let mut pair = Pair::builder().seed(70).links(&[5, 7]).connect();
    let piece = pattern(20_000);
    pair.transfer(&piece, Duration::from_secs(5));
    for _ in 0..200 {
        pair.interface(1, InterfaceChange::Down);
        pair.transfer(&piece, Duration::from_secs(5));
        pair.interface(1, InterfaceChange::Up);
        pair.transfer(&piece, Duration::from_secs(5));
    }
    pair.run(Duration::from_secs(5));
    assert_eq!(pair.received[0].len(), 401 * piece.len());
    assert!(pair.received[0].chunks(piece.len()).all(|chunk| chunk == piece));
    let accepted = pair.accepted.expect("the server has accepted");
    for (host, endpoint, id) in
        [("client", &pair.client, pair.connection), ("server", &pair.server, accepted)]
    {
        let Some(info) = endpoint.info(pair.now, id) else { panic!("the {host} has no connection") };
        assert_eq!((info.subflows.len(), info.past.len()), (9, 119), "{host}");
        assert_eq!(info.subflows_total, 202, "{host}");
        let live = |s: &&mptcp::SubflowInfo| s.state == SubflowState::Established;
        assert_eq!(info.subflows.iter().filter(live).count(), 2, "{host}");
        let both = || info.subflows.iter().chain(&info.past);
        let numbers: BTreeSet<u64> = both().map(|subflow| subflow.id.number()).collect();
        assert_eq!(numbers.len(), 128, "{host}: each number once");
        assert!(numbers.contains(&0) && numbers.contains(&201), "{host}: the first and the last one");
        for subflow in &info.past {
            assert_eq!(subflow.state, SubflowState::Closed, "{host}");
            assert!(subflow.closed_at.is_some_and(|at| at > subflow.opened_at), "{host}: {subflow:?}");
        }
        if host == "client" {
            assert!(info.past.iter().all(|s| s.closed_by == Some(SubflowCloseReason::InterfaceGone)));
        }
    }
    // The id of a closed subflow never refers to a later one in the same slot.
    let (now, id) = (pair.now, pair.connection);
    let past = pair.client.info(now, id).map(|info| info.past).unwrap_or_default();
    for over in &past {
        assert!(!pair.client.close_subflow(now, id, over.id));
        assert_eq!(pair.client.gso_size(id, over.id), None);
    }
    let open = |s: &&mptcp::SubflowInfo| s.state == SubflowState::Established;
    assert_eq!(pair.client.info(now, id).map(|info| info.subflows.iter().filter(open).count()), Some(2));
}

/// A client that opens `count` connections to a server that accepts none; returns the open ones after `span`.
fn call(count: usize, backlog: usize, taken: usize, span: Duration) -> usize {
    let mut client = Endpoint::new(Rng::new(1, "client"));
    let mut server = Endpoint::new(Rng::new(1, "server"));
    let (near, far) = ([10, 0, 0, 2].into(), [10, 0, 0, 1].into());
    let near = client.add_interface(near, false);
    let far_id = server.add_interface(far, false);
    let config = Config { syn_cookies: false, ..Config::default() };
    assert_eq!(server.listen_on(80, config, None, Some(backlog)), Ok(()));
    let mut now = Instant::ZERO;
    for _ in 0..count {
        assert!(client.connect(now, near, (far, 80).into(), Config::default()).is_ok());
    }
    let (mut connected, mut accepted) = (0, 0);
    while now <= Instant::ZERO + span {
        loop {
            let forth =
                client.poll_transmit(now).map(|sent| server.handle_segment(now, far_id, sent.segment));
            let back = server.poll_transmit(now).map(|sent| client.handle_segment(now, near, sent.segment));
            if forth.is_none() && back.is_none() {
                break;
            }
        }
        while let Some(event) = client.poll_event() {
            connected += usize::from(event.kind == EventKind::Connected);
        }
        while let Some(event) = server.poll_event() {
            if event.kind == EventKind::Accepted && accepted < taken {
                accepted += 1;
                server.accept(event.connection);
            }
        }
        let next = [client.poll_timeout(), server.poll_timeout()].into_iter().flatten().min();
        let Some(next) = next.filter(|&at| at < Instant::FAR_FUTURE) else { break };
        now = now.max(next);
        client.handle_timeout(now);
        server.handle_timeout(now);
    }
    connected
}

/// With a full backlog and no cookies, SYNs are dropped; a retransmitted SYN succeeds once there is space.
#[test]
fn a_full_backlog_drops_syns() {
    let long = Duration::from_secs(20);
    assert_eq!(call(10, 3, 0, long), 3, "three wait, nobody takes them");
    assert_eq!(call(10, 3, 2, long), 5, "two were taken and made room");
    assert_eq!(call(10, 10, 0, Duration::ZERO), 10, "all at once");
}

/// Closing a listener does not change the accept queue of another one.
#[test]
fn closed_listener_does_not_affect_others() {
    let mut client = Endpoint::new(Rng::new(1, "client"));
    let mut server = Endpoint::new(Rng::new(1, "server"));
    let near = client.add_interface([10, 0, 0, 2].into(), false);
    let far = server.add_interface([10, 0, 0, 1].into(), false);
    for port in [80, 81] {
        let config = Config { syn_cookies: false, ..Config::default() };
        assert_eq!(server.listen_on(port, config, None, Some(1)), Ok(()));
    }
    // Whether a connection to a port is established at once; it is not accepted.
    let mut call = |server: &mut Endpoint, port: u16| {
        let now = Instant::ZERO;
        assert!(client.connect(now, near, ([10, 0, 0, 1], port).into(), Config::default()).is_ok());
        while let Some(sent) = client.poll_transmit(now) {
            server.handle_segment(now, far, sent.segment);
            while let Some(sent) = server.poll_transmit(now) {
                client.handle_segment(now, near, sent.segment);
            }
        }
        let events = std::iter::from_fn(|| server.poll_event());
        events.filter(|event| event.kind == EventKind::Accepted).map(|event| event.connection).last()
    };
    let (first, second) = (call(&mut server, 80), call(&mut server, 81));
    assert!(first.is_some() && second.is_some());
    assert_eq!(call(&mut server, 81), None, "one waits");
    assert!(server.unlisten(80) && !server.unlisten(80));
    assert_eq!(call(&mut server, 81), None, "still");
    server.accept(second.expect("it waits"));
    assert!(call(&mut server, 81).is_some(), "there is room");
    // The port can be used by a new listener with empty queues.
    assert_eq!(server.listen_on(80, Config::default(), None, Some(1)), Ok(()));
    server.accept(first.expect("it goes on"));
    assert!(call(&mut server, 80).is_some());
}

/// A listener is bound to its interfaces, and a port has at most one listener.
#[test]
fn listener_on_one_interface_refuses_others() {
    let mut client = Endpoint::new(Rng::new(1, "client"));
    let mut server = Endpoint::new(Rng::new(1, "server"));
    let near = client.add_interface([10, 0, 0, 2].into(), false);
    let here = server.add_interface([10, 0, 0, 1].into(), false);
    let there = server.add_interface([10, 1, 0, 1].into(), false);
    assert_eq!(server.listen_on(80, Config::default(), Some(vec![here]), None), Ok(()));
    assert_eq!(server.listen(80, Config::default()), Err(ListenError::InUse(80)));
    let mut ask = |address: [u8; 4], interface: InterfaceId| {
        let opened = client.connect(Instant::ZERO, near, (address, 80).into(), Config::default());
        assert!(opened.is_ok());
        let syn = client.poll_transmit(Instant::ZERO).map(|sent| sent.segment);
        syn.into_iter().for_each(|syn| server.handle_segment(Instant::ZERO, interface, syn));
        server.poll_transmit(Instant::ZERO).is_some_and(|sent| sent.segment.flags.rst())
    };
    assert!(!ask([10, 0, 0, 1], here));
    assert!(ask([10, 1, 0, 1], there), "a reset");
}

/// Slots of removed connections are reused, but ids never are.
#[test]
fn memory_is_bounded_while_connections_come_and_go() {
    let mut client = Endpoint::new(Rng::new(1, "client"));
    let near = client.add_interface([10, 0, 0, 2].into(), false);
    let mut seen = BTreeSet::new();
    for at in 0..1_000 {
        let now = Instant::ZERO + Duration::from_millis(at);
        let id = client.connect(now, near, ([10, 0, 0, 1], 80).into(), Config::default()).expect("a port");
        assert!(id.slot() == 0 && seen.insert(id), "{id:?}");
        client.abort(now, id);
        while client.poll_transmit(now).is_some() {}
        while client.poll_event().is_some() {}
        assert_eq!(client.connections().count(), 0);
        assert!(client.info(now, id).is_none() && client.read(now, id).is_none());
    }
}

/// Half-open handshakes are evicted after one second if others need their place. The backlog is never
/// exceeded, and forged addresses get only SYN/ACKs.
#[test]
fn syn_flood_blocks_a_port_only_briefly() {
    let mut server = Endpoint::new(Rng::new(1, "server"));
    let far = server.add_interface([10, 0, 0, 1].into(), false);
    let config = Config { syn_cookies: false, ..Config::default() };
    assert_eq!(server.listen_on(80, config, None, Some(3)), Ok(()));
    let mut now = Instant::ZERO + Duration::from_secs(1);
    let ask = |server: &mut Endpoint, now: Instant, port: u16| {
        let mut syn = Segment::new(([10, 0, 0, 2], port).into(), ([10, 0, 0, 1], 80).into());
        syn.flags = Flags::SYN;
        server.handle_segment(now, far, syn);
        let answers: Vec<Segment> =
            std::iter::from_fn(|| server.poll_transmit(now)).map(|sent| sent.segment).collect();
        while server.poll_event().is_some() {}
        assert!(server.connections().count() <= 3);
        answers
    };
    let answered = (0..1_000).map(|port| ask(&mut server, now, port).len()).sum::<usize>();
    assert_eq!(answered, 3, "the others are dropped");
    now += Duration::from_millis(999);
    assert!(ask(&mut server, now, 2_000).is_empty(), "a handshake has a second");
    now += Duration::from_millis(101);
    let answers = ask(&mut server, now, 2_000);
    assert_eq!(answers.len(), 1, "the stale ones make room");
    assert!(answers[0].flags.contains(Flags::SYN | Flags::ACK) && answers[0].destination.port() == 2_000);
    let mut ack = Segment::new(answers[0].destination, answers[0].source);
    (ack.flags, ack.sequence, ack.acknowledgment) =
        (Flags::ACK, answers[0].acknowledgment, answers[0].sequence + 1);
    server.handle_segment(now, far, ack);
    let accepted = std::iter::from_fn(|| server.poll_event()).any(|event| event.kind == EventKind::Accepted);
    assert!(accepted && server.connections().count() == 3, "one gave way");
}
