//! Closed sockets leave no state, and unknown hosts cannot fill the memory.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::laboratory::{
    End, Fixture, Namespace, PORT, Protocol, at, greet, linux, ours, pattern, raw_socket, reset_on_close,
    wait_until,
};
use mptcp_live::{Config, Driver, MptcpListener, MptcpStream, SubflowInfo, SubflowState};
use mptcp_wire::{Flags, Packet, Segment, Seq};

/// Connections of each type.
const MANY: usize = 300;

/// Resident memory of this process, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// Checks that the driver and its endpoint hold nothing, except for connections in TIME-WAIT.
fn nothing_left(driver: &Driver, what: &str) {
    let drained = driver.drain(Duration::from_secs(20));
    assert!(drained, "{what}: connections without sockets still exist: {:#?}", driver.connections());
    let over = |subflow: &SubflowInfo| matches!(subflow.state, SubflowState::Closed | SubflowState::TimeWait);
    wait_until(what, || {
        let usage = driver.usage();
        let left = driver.connections();
        (usage.half_open, usage.to_accept, usage.stray_answers) == (0, 0, 0)
            && left.iter().all(|c| c.subflows.iter().all(over) && c.usage.receive_bytes == 0)
    });
}

/// With MPTCP_TEST_PATIENT, waits until TIME-WAIT is over too.
fn not_even_in_time_wait(driver: &Driver) {
    let begin = Instant::now();
    while std::env::var_os("MPTCP_TEST_PATIENT").is_some() && driver.usage().connections > 0 {
        assert!(begin.elapsed() < Duration::from_secs(90), "{:?}", driver.connections());
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("{} connections left after {:?}", driver.usage().connections, begin.elapsed());
}

/// A Linux client and mptcplab's end of its connection.
fn pair(namespace: &Namespace, listener: &MptcpListener) -> (TcpStream, MptcpStream) {
    let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
    let us = listener.accept().unwrap().0;
    them.be_patient();
    us.be_patient();
    (them, us)
}

/// Clients send, and the socket is dropped with unread data in several pieces.
#[test]
fn sockets_dropped_with_data_unread_leave_nothing() {
    Fixture::paths(1).run(|namespace, driver| {
        let listener = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        let data = pattern(20_000);
        for number in 0..MANY {
            let (them, us) = pair(&namespace, &listener);
            them.send_all(&data).unwrap();
            if number % 2 == 0 {
                them.half_close().unwrap();
            }
            wait_until("it has arrived", || us.info().unwrap().bytes_received == 20_000);
            if number % 3 == 0 {
                // A part of the data is read.
                us.read_some(&mut [0; 100]).unwrap();
            }
        }
        nothing_left(&driver, "data unread");
        not_even_in_time_wait(&driver);
    });
}

/// The socket is closed regularly, and the client sends afterwards.
#[test]
fn clients_that_send_after_our_close_leave_nothing() {
    Fixture::paths(1).run(|namespace, driver| {
        let listener = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        let data = pattern(20_000);
        for number in 0..MANY {
            let (them, us) = pair(&namespace, &listener);
            greet(&us, &them);
            drop(us);
            // The connection is reset at some point, perhaps before all data is written.
            for piece in data.chunks(5_000) {
                if them.send_all(piece).is_err() {
                    break;
                }
                if number % 2 == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
        nothing_left(&driver, "data after our close");
        not_even_in_time_wait(&driver);
    });
}

/// A connection from mptcplab to Linux.
fn opened(driver: &Driver, theirs: &TcpListener) -> (MptcpStream, TcpStream) {
    let us = MptcpStream::connect(driver, at(linux(1)), Config::default()).unwrap();
    let (them, _) = theirs.accept().unwrap();
    greet(&us, &them);
    (us, them)
}

/// Drops a socket in each state.
#[test]
fn sockets_dropped_in_any_state_leave_nothing() {
    Fixture::paths(2).run(|namespace, driver| {
        // Linux's final message of a connection whose first subflow ended.
        namespace.sysctl("net.mptcp.close_timeout", "1");
        let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let nobody = std::net::SocketAddr::new(linux(1), 9);
        let away = std::net::SocketAddr::new("10.88.1.77".parse().unwrap(), 9);
        let open = |to| MptcpStream::open(&driver, to, Config::default()).unwrap();
        drop(open(away));
        nothing_left(&driver, "opening, and nobody answers");
        drop(open(nobody));
        nothing_left(&driver, "opening, and refused");
        assert!(open(nobody).wait_connected(None).is_err());
        drop(open(at(linux(1))));
        // Linux may have to accept and close it.
        theirs.set_nonblocking(true).unwrap();
        wait_until("opening", || {
            while theirs.accept().is_ok() {}
            driver.drain(Duration::from_millis(50))
        });
        theirs.set_nonblocking(false).unwrap();
        nothing_left(&driver, "opening");
        type Act = fn(&MptcpStream, &TcpStream);
        let acts: [(&str, Act); 9] = [
            ("open", |_, _| {}),
            ("half closed by us", |us, _| us.half_close().unwrap()),
            ("half closed by Linux", |_, them| them.half_close().unwrap()),
            ("closed by both", |us, them| {
                us.half_close().unwrap();
                them.half_close().unwrap();
                wait_until("it is over", || us.info().unwrap().closed.is_some());
            }),
            ("aborted", |us, _| us.abort().unwrap()),
            ("reset by Linux", |_, them| reset_on_close(them)),
            // If Linux closed before any data arrived, it would accept the rest with a closed window, for a minute.
            ("with data on the way", |us, _| {
                us.send_all(&pattern(300_000)).unwrap();
                wait_until("some has arrived", || us.info().unwrap().bytes_acked > 1);
            }),
            ("with more than Linux takes", |us, _| {
                us.set_nonblocking(true).unwrap();
                while us.send_all(&pattern(100_000)).is_ok() {}
                wait_until("some has arrived", || us.info().unwrap().bytes_acked > 1);
            }),
            ("with data from both", |us, them| {
                us.send_all(&pattern(30_000)).unwrap();
                them.send_all(&pattern(30_000)).unwrap();
                wait_until("some has arrived", || us.info().unwrap().bytes_acked > 1);
            }),
        ];
        for (what, act) in acts {
            for ours_first in [false, true] {
                let (us, them) = opened(&driver, &theirs);
                act(&us, &them);
                if ours_first {
                    drop(us);
                    std::thread::sleep(Duration::from_millis(5));
                    drop(them);
                } else {
                    drop(them);
                    std::thread::sleep(Duration::from_millis(5));
                    drop(us);
                }
            }
            nothing_left(&driver, what);
        }
        not_even_in_time_wait(&driver);
    });
}

/// Connections that were not accepted end with their listener, with or without data.
#[test]
fn what_waits_at_a_listener_goes_with_it() {
    Fixture::paths(1).run(|namespace, driver| {
        let listener = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        let clients: Vec<TcpStream> = (0..20)
            .map(|number| {
                let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
                if number % 2 == 0 {
                    them.send_all(&pattern(30_000)).unwrap();
                }
                them
            })
            .collect();
        wait_until("they wait", || driver.usage().to_accept == 20);
        // Some clients have reset before.
        clients.iter().step_by(3).for_each(reset_on_close);
        drop(clients.into_iter().step_by(3).collect::<Vec<_>>());
        drop(listener);
        nothing_left(&driver, "a listener with connections");
        not_even_in_time_wait(&driver);
    });
}

/// Number of forged ACKs.
const FORGED: u32 = 300_000;

/// An ACK from an unused address to a closed port.
fn forged(number: u32) -> Vec<u8> {
    let source = SocketAddrV4::new(Ipv4Addr::from(0xc612_0000 + number % 100_000), 4_000);
    let mut ack = Segment::new(source.into(), at(ours(1)));
    (ack.flags, ack.sequence, ack.window) = (Flags::ACK, Seq::new(number), 64_000);
    let mut bytes = Vec::new();
    Packet::new(ack).emit(&mut bytes).unwrap();
    bytes
}

/// A flood at full speed gets at most 1,000 resets per second, and takes no memory.
#[test]
fn a_flood_of_forged_acks_is_answered_a_thousand_times_a_second() {
    Fixture::paths(1).alone().run(|namespace, driver| {
        let raw = namespace.run(raw_socket).unwrap();
        let packets: Vec<Vec<u8>> = (0..10_000).map(forged).collect();
        let (before, begin) = (resident(), Instant::now());
        let mut most = before;
        for number in 0..FORGED as usize {
            // As on any flooded host, a full queue drops packets.
            let _ = raw.send(&packets[number % packets.len()], Ipv4Addr::new(10, 88, 1, 2));
            if number % 10_000 == 0 {
                most = most.max(resident());
                assert!(driver.usage().stray_answers <= 256);
            }
        }
        let (counters, lasted) = (driver.counters(), begin.elapsed());
        println!("{counters:?} in {lasted:?}, {} MB more resident", (most - before) >> 20);
        assert!(counters.received > u64::from(FORGED) / 20, "{counters:?}");
        // The limit allows a burst of one second.
        let allowed = 1_000.0 * (lasted.as_secs_f64() + 1.5);
        assert!((counters.sent as f64) < allowed, "{} answers in {lasted:?}", counters.sent);
        // The test runs alone, so memory growth belongs to it.
        assert!(most - before < 64 << 20, "{} bytes more", most - before);
        wait_until("all is answered or dropped", || driver.usage().stray_answers == 0);
    });
}
