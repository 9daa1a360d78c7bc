//! Tests drivers over links inside the process, without root or kernel: transfers, and a third party that changes and
//! forges packets.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod forge;

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::laboratory::{
    self, End, LIMIT, PORT, at, established, exchange, ferry, greet, linux, ours, pattern, wait_until, within,
};
use bytes::Bytes;
use forge::{blind, changed};
use mptcp_clock::Rng;
use mptcp_live::{
    Config, Driver, Edge, Impairment, Interface, MptcpListener, MptcpStream, Pipe, SubflowState,
};

/// Two endpoints connected by pipes; the second one has the addresses that Linux has in other tests.
fn two_drivers() -> (Driver, Driver) {
    let (mut ends, mut others) = (Vec::new(), Vec::new());
    for path in [1, 2] {
        let (a, b) = Pipe::pair(&format!("path{path}"), 1_500).unwrap();
        ends.push(Interface::new(a, [ours(path)]));
        others.push(Interface::new(b, [linux(path)]));
    }
    (Driver::start(ends).unwrap(), Driver::start(others).unwrap())
}

fn connect(driver: &Driver, listener: &MptcpListener, config: Config) -> Option<(MptcpStream, MptcpStream)> {
    connect_within(Duration::from_secs(20), driver, listener, config)
}

fn connect_within(
    patience: Duration,
    driver: &Driver,
    listener: &MptcpListener,
    config: Config,
) -> Option<(MptcpStream, MptcpStream)> {
    // Connections of an earlier failed attempt.
    while listener.accept_timeout(Duration::ZERO).is_ok_and(|(old, _)| old.abort().is_ok()) {}
    let to = SocketAddr::new(linux(1), listener.local_addr().port());
    let us = MptcpStream::connect_timeout(driver, to, config, patience).ok()?;
    let accepted = listener.accept_timeout(patience).map(|(them, _)| them);
    if accepted.is_err() {
        let _ = us.abort();
    }
    Some((us, accepted.ok()?))
}

/// Checks that neither end holds any state after all connections are aborted, not even in TIME-WAIT.
fn nothing_left(drivers: [&Driver; 2]) {
    for driver in drivers {
        assert!(
            driver.drain(Duration::from_secs(20)),
            "sockets that are gone linger: {:#?}",
            driver.connections()
        );
        wait_until("nothing is left", || {
            let usage = driver.usage();
            let over = |s: &mptcp_live::SubflowInfo| {
                matches!(s.state, SubflowState::TimeWait | SubflowState::Closed)
            };
            let left = driver.connections();
            usage.half_open == 0
                && left.iter().all(|c| c.subflows.iter().all(over) && c.usage.receive_bytes == 0)
        });
    }
}

#[test]
fn ten_megabytes_both_ways_over_two_links() {
    within(LIMIT, || {
        let (mine, theirs) = two_drivers();
        let listener = MptcpListener::bind(&theirs, PORT, Config::default()).unwrap();
        let (us, them) = connect(&mine, &listener, Config::default()).unwrap();
        greet(&us, &them);
        wait_until("the other link is used too", || established(&us) == 2);
        ferry(&us, &them, 10_000_000, 10_000_000, "two drivers");
        drop((us, them));
        nothing_left([&mine, &theirs]);
    });
}

/// An accepted connection can read data that arrived before a reset. A connection that was reset before leaves nothing.
#[test]
fn data_before_a_reset_is_read_from_accepted_connections() {
    within(LIMIT, || {
        let (mine, theirs) = two_drivers();
        let listener = MptcpListener::bind(&theirs, PORT, Config::default()).unwrap();
        let (to, patience) = (SocketAddr::new(linux(1), PORT), Duration::from_secs(20));
        for config in [Config::tcp(), Config::default()] {
            for accepts_first in [true, false] {
                let us = MptcpStream::connect_timeout(&mine, to, config.clone(), patience).unwrap();
                let accepted = accepts_first.then(|| listener.accept_timeout(patience).unwrap().0);
                us.send_all(b"hello").unwrap();
                let came = || theirs.connections().iter().any(|c| c.bytes_received == 5);
                wait_until("the data is there", came);
                us.abort().unwrap();
                let over = |s: &mptcp_live::SubflowInfo| s.state == SubflowState::Closed;
                let ended = || theirs.connections().iter().all(|c| c.subflows.iter().all(over));
                wait_until("the reset is there", ended);
                if let Some(them) = &accepted {
                    let mut buffer = [0; 10];
                    assert_eq!((them.read_some(&mut buffer).unwrap(), &buffer[..5]), (5, &b"hello"[..]));
                    assert_eq!(them.read_some(&mut buffer).unwrap_err().kind(), ErrorKind::ConnectionReset);
                } else {
                    let none = listener.accept_timeout(Duration::ZERO).unwrap_err();
                    assert_eq!(none.kind(), ErrorKind::WouldBlock);
                }
                drop((us, accepted));
                nothing_left([&mine, &theirs]);
            }
        }
    });
}

/// A removed link is a removed interface. Held packets that nothing overtakes are released when the endpoint is quiet.
#[test]
fn what_nothing_overtakes_comes_late() {
    within(LIMIT, || {
        let (a, b) = Pipe::pair("path1", 1_500).unwrap();
        let all = Impairment { reorder: 1.0, depth: 1_000, ..Impairment::default() };
        let edge = Some(Edge { incoming: all, outgoing: all, ..Edge::default() });
        let mine = Driver::start(vec![Interface { edge, ..Interface::new(a, [ours(1)]) }]).unwrap();
        let theirs = Driver::start(vec![Interface::new(b, [linux(1)])]).unwrap();
        let listener = MptcpListener::bind(&theirs, PORT, Config::default()).unwrap();
        let (us, them) = connect(&mine, &listener, Config::default()).unwrap();
        greet(&us, &them);
    });
}

#[test]
fn a_link_that_ends_takes_its_subflows_along() {
    within(LIMIT, || {
        let (a, b) = Pipe::pair("path1", 1_500).unwrap();
        let mine = Driver::start(vec![Interface::new(a, [ours(1)])]).unwrap();
        let us = MptcpStream::open(&mine, at(linux(1)), Config::default()).unwrap();
        drop(b);
        wait_until("it is noticed", || us.info().unwrap().subflows[0].closed_by.is_some());
        let open = MptcpStream::open(&mine, at(linux(1)), Config::default());
        assert_eq!(open.unwrap_err().kind(), ErrorKind::NetworkDown);
    });
}

/// A third party between two endpoints, on both links.
struct Middle {
    links: Vec<(Pipe, Pipe)>,
    random: Rng,
    /// Forges a packet from a real one.
    forge: fn(&mut Rng, &Bytes) -> Option<Bytes>,
    /// Number of forged packets for each real one.
    each: u32,
    forging: AtomicBool,
    forged: AtomicU64,
    done: AtomicBool,
}

impl Middle {
    fn new(seed: u64, each: u32, forge: fn(&mut Rng, &Bytes) -> Option<Bytes>) -> (Self, Driver, Driver) {
        let (mut ends, mut others, mut links) = (Vec::new(), Vec::new(), Vec::new());
        for path in [1, 2] {
            let (a, here) = Pipe::pair(&format!("path{path}"), 1_500).unwrap();
            let (there, b) = Pipe::pair(&format!("path{path}"), 1_500).unwrap();
            ends.push(Interface::new(a, [ours(path)]));
            others.push(Interface::new(b, [linux(path)]));
            links.push((here, there));
        }
        let [forging, done] = [true, false].map(AtomicBool::new);
        let forged = AtomicU64::new(0);
        let middle = Self { links, random: Rng::new(seed, "middle"), forge, each, forging, forged, done };
        (middle, Driver::start(ends).unwrap(), Driver::start(others).unwrap())
    }

    /// Forwards all packets and adds forged ones, until it is stopped.
    fn run(&self) {
        let mut random = self.random.child("packets");
        while !self.done.load(Ordering::Relaxed) {
            let mut idle = true;
            for (here, there) in &self.links {
                for (from, to) in [(here, there), (there, here)] {
                    // Small batches, so that forged packets alone do not overflow the queues.
                    for _ in 0..16 {
                        let Ok(packet) = from.take() else { break };
                        idle = false;
                        let most = u64::from(self.each) * 2 * u64::from(self.forging.load(Ordering::Relaxed));
                        for _ in 0..random.below(most + 1) {
                            let Some(other) = (self.forge)(&mut random, &packet) else { continue };
                            self.forged.fetch_add(1, Ordering::Relaxed);
                            // To the destination of the real packet, or to its source.
                            let _ = if random.chance(0.9) { to.put(other) } else { from.put(other) };
                        }
                        let _ = to.put(packet);
                    }
                }
            }
            if idle {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
    }
}

/// An attacker who knows only addresses and ports changes nothing: 100,000 forged packets, and every byte arrives.
#[test]
fn forged_packets_of_somebody_who_cannot_see_change_nothing() {
    within(2 * LIMIT, || {
        let (middle, mine, theirs) = Middle::new(1, 3, blind);
        // Handshakes come first; the next test covers attacks on them.
        middle.forging.store(false, Ordering::Relaxed);
        let listener = MptcpListener::bind(&theirs, PORT, Config::default()).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| middle.run());
            let _done = Done(&middle.done);
            let (us, them) = connect(&mine, &listener, Config::default()).unwrap();
            greet(&us, &them);
            wait_until("the other link is used too", || established(&us) == 2);
            middle.forging.store(true, Ordering::Relaxed);
            let data = pattern(1_000_000);
            let mut rounds = 0;
            while middle.forged.load(Ordering::Relaxed) < 100_000 {
                us.send_all(&data).unwrap();
                them.send_all(&data).unwrap();
                for (end, case) in [(&us, "back"), (&them, "forth")] {
                    let mut received = vec![0; data.len()];
                    std::io::Read::read_exact(&mut &*end, &mut received).unwrap();
                    laboratory::same(&received, &data, case);
                }
                rounds += 1;
            }
            println!("{rounds} rounds, {} forged", middle.forged.load(Ordering::Relaxed));
            ferry(&us, &them, 100_000, 100_000, "after all of it");
            drop((us, them));
            nothing_left([&mine, &theirs]);
        });
    });
}

/// The attack begins with the first SYN. A forged SYN costs retransmissions, and may cost MPTCP, whose options the
/// fourth SYN omits, but not the connection.
#[test]
fn forged_packets_from_the_first_one_on_end_no_opening() {
    within(2 * LIMIT, || {
        for seed in 1..=4 {
            let (middle, mine, theirs) = Middle::new(seed, 3, blind);
            let listener = MptcpListener::bind(&theirs, PORT, Config::default()).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| middle.run());
                let _done = Done(&middle.done);
                let (us, them) = connect(&mine, &listener, Config::default()).unwrap();
                ferry(&us, &them, 100_000, 100_000, "beside forged packets");
                drop((us, them));
            });
        }
    });
}

/// Stops the third party even if a test fails.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Number of simultaneous disturbed connections.
const SIDE_BY_SIDE: u16 = 16;
/// Default of FORGED_ROUNDS.
const ROUNDS: u64 = 20;
/// Maximum time of a transfer: a longer one is a failure.
const SHORT: Duration = Duration::from_millis(400);

/// Exchanges data until an error or the end of both streams; errors are expected.
fn try_exchange(us: &MptcpStream, them: &MptcpStream) -> bool {
    let data = pattern(1_000_000);
    let patience = Some(SHORT);
    for stream in [us, them] {
        let _ = stream.set_read_timeout(patience).and(stream.set_write_timeout(patience));
    }
    std::thread::scope(|scope| {
        for stream in [us, them] {
            scope.spawn(|| stream.send_all(&data).and_then(|()| stream.half_close()));
        }
        let read = |stream: &MptcpStream| {
            let (mut count, mut buffer) = (0, vec![0; 1 << 16]);
            while let Ok(some @ 1..) = stream.read_some(&mut buffer) {
                count += some;
            }
            count == data.len()
        };
        let other = scope.spawn(move || read(them));
        let mine = read(us);
        other.join().unwrap() && mine
    })
}

/// An attacker on the path who changes anything may end a connection. But nothing panics, no state is left, and other
/// connections work.
#[test]
fn changed_packets_end_a_connection_at_worst() {
    let rounds = std::env::var("FORGED_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    within(2 * LIMIT + Duration::from_secs(2 * rounds), move || {
        for checksum in [false, true] {
            let (middle, mine, theirs) = Middle::new(2 + u64::from(checksum), 1, changed);
            let config = || Config { checksum, ..Config::default() };
            let bind = |number| MptcpListener::bind(&theirs, PORT + number, config()).unwrap();
            let listeners: Vec<_> = (0..SIDE_BY_SIDE).map(bind).collect();
            std::thread::scope(|scope| {
                scope.spawn(|| middle.run());
                let _done = Done(&middle.done);
                let [whole, broken, unopened] = [0; 3].map(AtomicU64::new);
                std::thread::scope(|scope| {
                    for listener in &listeners {
                        scope.spawn(|| {
                            for _ in 0..rounds {
                                let which = match connect_within(SHORT, &mine, listener, config()) {
                                    None => &unopened,
                                    Some((us, them)) => {
                                        let all = try_exchange(&us, &them);
                                        let _ = us.abort().and(them.abort());
                                        if all { &whole } else { &broken }
                                    }
                                };
                                which.fetch_add(1, Ordering::Relaxed);
                            }
                        });
                    }
                });
                let [whole, broken, unopened] = [whole, broken, unopened].map(AtomicU64::into_inner);
                let forged = middle.forged.load(Ordering::Relaxed);
                println!(
                    "checksum {checksum}: {forged} forged, {whole} whole, {broken} broken, {unopened} not opened"
                );
            });
            // Both drivers lose their links: all connections end, and all memory is freed.
            drop(middle);
            drop(listeners);
            nothing_left([&mine, &theirs]);
            assert!(mine.stop().is_ok() && theirs.stop().is_ok(), "a thread panicked");
        }
        // Two other endpoints are not affected.
        let (mine, theirs) = two_drivers();
        let listener = MptcpListener::bind(&theirs, PORT, Config::default()).unwrap();
        let (us, them) = connect(&mine, &listener, Config::default()).unwrap();
        exchange(&us, &them, &pattern(100_000), &pattern(100_000));
    });
}
