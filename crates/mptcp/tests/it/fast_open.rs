//! TCP Fast Open (RFC 7413): data in SYNs, with MPTCP and TCP.

#![allow(clippy::unwrap_used, reason = "a test")]

use bytes::Bytes;
use mptcp::{Config, ConnectionId, Endpoint, EventKind, InterfaceId, Mode, ServerFastOpen};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::{Packet, Segment};

/// Two hosts on a link without delay, on which `lose` drops segments.
struct Wire {
    now: Instant,
    client: Endpoint,
    server: Endpoint,
    near: InterfaceId,
    far: InterfaceId,
    accepted: Vec<ConnectionId>,
    log: Vec<(bool, Segment)>,
    lose: Box<dyn FnMut(&Segment) -> bool>,
}

const KEY: [u64; 2] = [11, 12];

impl Wire {
    fn new(server: Config) -> Self {
        let mut wire = Self {
            now: Instant::ZERO + Duration::from_secs(1),
            client: Endpoint::new(Rng::new(1, "client")),
            server: Endpoint::new(Rng::new(1, "server")),
            near: InterfaceId(0),
            far: InterfaceId(0),
            accepted: Vec::new(),
            log: Vec::new(),
            lose: Box::new(|_| false),
        };
        wire.near = wire.client.add_interface([10, 0, 0, 1].into(), false);
        wire.far = wire.server.add_interface([10, 0, 0, 2].into(), false);
        wire.server.listen(80, server).unwrap();
        wire
    }

    fn connect(&mut self, config: &Config, data: &'static str, cookies: bool) -> ConnectionId {
        self.log.clear();
        let remote = ([10, 0, 0, 2], 80).into();
        let data = Bytes::from_static(data.as_bytes());
        self.client.connect_fast_open(self.now, self.near, remote, config.clone(), data, cookies).unwrap()
    }

    /// Delivers segments until there are none, for some seconds.
    fn run(&mut self) {
        let end = self.now + Duration::from_secs(5);
        loop {
            let forth = self.client.poll_transmit(self.now).map(|sent| (true, sent.segment));
            let sent =
                forth.or_else(|| self.server.poll_transmit(self.now).map(|sent| (false, sent.segment)));
            if let Some((forth, segment)) = sent {
                let mut bytes = Vec::new();
                Packet::new(segment.clone()).emit(&mut bytes).unwrap();
                self.log.push((forth, segment.clone()));
                if (self.lose)(&segment) {
                    continue;
                }
                match forth {
                    true => self.server.handle_segment(self.now, self.far, segment),
                    false => self.client.handle_segment(self.now, self.near, segment),
                }
                continue;
            }
            while let Some(event) = self.server.poll_event() {
                if event.kind == EventKind::Accepted {
                    self.accepted.push(event.connection);
                }
            }
            while self.client.poll_event().is_some() {}
            let next = [self.client.poll_timeout(), self.server.poll_timeout()].into_iter().flatten().min();
            let Some(next) = next.filter(|&at| at <= end) else { break };
            self.now = self.now.max(next);
            self.client.handle_timeout(self.now);
            self.server.handle_timeout(self.now);
        }
        self.now = end;
    }

    /// Data received by the connection that was accepted last.
    fn received(&mut self) -> String {
        let id = *self.accepted.last().unwrap();
        let mut text = Vec::new();
        while let Some(part) = self.server.read(self.now, id) {
            text.extend_from_slice(&part);
        }
        String::from_utf8(text).unwrap()
    }

    fn syn_payload(&self) -> &[u8] {
        &self.log.iter().find(|(forth, segment)| *forth && segment.flags.syn()).unwrap().1.payload
    }
}

fn server(cookies: bool, multipath: bool) -> Config {
    Config {
        fast_open: Some(ServerFastOpen { key: KEY, old_key: None, cookies }),
        multipath,
        ..Config::default()
    }
}

#[test]
fn second_connection_sends_data_in_its_syn() {
    for multipath in [true, false] {
        let mut wire = Wire::new(server(true, multipath));
        let client = Config { multipath, ..Config::default() };
        let peer = [10, 0, 0, 2].into();
        assert!(!wire.client.has_cookie(peer));
        wire.connect(&client, "first", true);
        wire.run();
        assert!(wire.syn_payload().is_empty() && wire.client.has_cookie(peer));
        assert_eq!(wire.received(), "first");
        let id = wire.connect(&client, "second ", true);
        wire.run();
        assert_eq!(wire.syn_payload(), b"second ");
        wire.client.write(wire.now, id, Bytes::from_static(b"and more"));
        wire.run();
        assert_eq!(wire.received(), "second and more");
        let expected = if multipath { Mode::Multipath } else { Mode::Plain };
        let accepted = *wire.accepted.last().unwrap();
        assert_eq!(wire.client.info(wire.now, id).unwrap().mode, expected);
        assert_eq!(wire.server.info(wire.now, accepted).unwrap().mode, expected);
        wire.server.write(wire.now, accepted, Bytes::from_static(b"answer"));
        wire.run();
        assert_eq!(wire.client.read(wire.now, id).unwrap(), "answer");
    }
}

#[test]
fn both_ends_finish_after_data_in_a_syn() {
    for multipath in [true, false] {
        let mut wire = Wire::new(server(false, multipath));
        let id = wire.connect(&Config { multipath, ..Config::default() }, "all of it", false);
        wire.client.close(wire.now, id);
        wire.run();
        assert_eq!(wire.received(), "all of it");
        let accepted = *wire.accepted.last().unwrap();
        wire.server.close(wire.now, accepted);
        wire.run();
        assert!(wire.server.info(wire.now, accepted).is_none(), "{:#?}", wire.log);
    }
}

#[test]
fn server_that_ignores_syn_data_receives_it_later() {
    for multipath in [true, false] {
        let mut wire = Wire::new(Config { multipath, ..Config::default() });
        wire.connect(&Config { multipath, ..Config::default() }, "once", false);
        wire.run();
        assert_eq!(wire.syn_payload(), b"once");
        assert_eq!(wire.received(), "once");
    }
}

/// RFC 7413 section 4.2.1: an unanswered SYN is retransmitted without data.
#[test]
fn lost_syn_with_data_is_retransmitted_without_data() {
    let mut wire = Wire::new(server(false, true));
    wire.connect(&Config::default(), "late", false);
    let mut lost = false;
    wire.lose = Box::new(move |_| !std::mem::replace(&mut lost, true));
    wire.run();
    let syns: Vec<usize> = wire
        .log
        .iter()
        .filter(|(_, s)| s.flags.syn() && !s.flags.ack())
        .map(|(_, s)| s.payload.len())
        .collect();
    assert_eq!(syns, [4, 0]);
    assert_eq!(wire.received(), "late");
}

/// If the SYN/ACK is lost, the SYN data arrives twice; the application reads it once.
#[test]
fn lost_syn_ack_does_not_duplicate_the_data() {
    let mut wire = Wire::new(server(false, true));
    wire.connect(&Config::default(), "once", false);
    let mut lost = false;
    wire.lose = Box::new(move |segment| {
        segment.flags.syn() && segment.flags.ack() && !std::mem::replace(&mut lost, true)
    });
    wire.run();
    assert_eq!(wire.received(), "once");
}

#[test]
fn cookies_of_the_previous_key_are_accepted_and_others_replaced() {
    let mut wire = Wire::new(server(true, true));
    wire.connect(&Config::default(), "cookie", true);
    wire.run();
    for (key, old_key, taken) in [([1, 2], Some(KEY), true), ([3, 4], Some([1, 2]), false)] {
        wire.server.unlisten(80);
        let fast_open = Some(ServerFastOpen { key, old_key, cookies: true });
        wire.server.listen(80, Config { fast_open, ..Config::default() }).unwrap();
        wire.connect(&Config::default(), "again", true);
        wire.run();
        let answer = wire.log.iter().find(|(forth, segment)| !forth && segment.flags.syn()).unwrap();
        assert_eq!(answer.1.options.fast_open.is_none(), taken);
        assert_eq!(wire.received(), "again");
    }
}

/// RFC 7413 section 4.2.2: the data is readable before the third ACK, which is lost for a while here.
#[test]
fn syn_data_is_readable_before_the_handshake_ends() {
    for multipath in [true, false] {
        let mut wire = Wire::new(server(false, multipath));
        wire.connect(&Config { multipath, ..Config::default() }, "early", false);
        wire.lose = Box::new(|segment| segment.flags.ack() && !segment.flags.syn());
        wire.run();
        assert_eq!(wire.accepted.len(), 1, "accepted once");
        assert_eq!(wire.received(), "early");
        wire.lose = Box::new(|_| false);
        wire.run();
        assert_eq!((wire.accepted.len(), wire.received().as_str()), (1, ""));
        let mode = wire.server.info(wire.now, wire.accepted[0]).unwrap().mode;
        assert_eq!(mode == Mode::Multipath, multipath);
    }
}

/// RFC 7413 section 4.1.3: the MSS of a SYN/ACK without a cookie is cached, and a known cookie stays.
#[test]
fn mss_of_a_syn_ack_without_a_cookie_is_cached() {
    let peer = [10, 0, 0, 2].into();
    let mut wire = Wire::new(Config { mss: 700, ..Config::default() });
    wire.connect(&Config::default(), "first", true);
    wire.run();
    assert_eq!((wire.client.has_cookie(peer), wire.client.room_in_syn(peer, 1460)), (false, 660));
    // The server now gives cookies, with a larger MSS, and then none.
    for (fast_open, mss) in [(true, 1460), (false, 500)] {
        wire.server.unlisten(80);
        let settings = if fast_open { server(true, true) } else { Config::default() };
        wire.server.listen(80, Config { mss, ..settings }).unwrap();
        wire.connect(&Config::default(), "again", true);
        wire.run();
        let room = usize::from(mss) - 40;
        assert_eq!((wire.client.has_cookie(peer), wire.client.room_in_syn(peer, 1460)), (true, room));
    }
}

/// RFC 7413 section 4.1.3: a SYN carries at most one segment of the server's MSS; the remaining data follows.
#[test]
fn mss_is_cached_with_the_cookie() {
    let mut wire = Wire::new(Config { mss: 300, ..server(true, true) });
    wire.connect(&Config::default(), "first", true);
    wire.run();
    let long: &'static str = Box::leak("0123456789".repeat(100).into_boxed_str());
    wire.connect(&Config::default(), long, true);
    wire.run();
    assert_eq!(wire.syn_payload().len(), 300 - 40);
    assert_eq!(wire.received(), long);
}
