//! Tests the thread, the devices and the sockets with a regular Linux peer. Has the requirements of `linux.rs`.

#![cfg(target_os = "linux")]

use std::io::ErrorKind;
use std::time::Duration;

use crate::laboratory::{
    Fixture, PORT, Protocol, at, established, exchange, greet, linux, ours, pattern, wait_until,
};
use mptcp_live::{Config, MptcpListener, MptcpStream, Tun};

/// A regularly closed connection leaves no state, and a closed listener frees its port.
#[test]
fn tidy_endings() {
    Fixture::paths(1).run(|namespace, driver| {
        let listener = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        let taken = MptcpListener::bind(&driver, PORT, Config::default()).unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::AddrInUse);
        for _ in 0..20 {
            let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
            let (us, _) = listener.accept().unwrap();
            exchange(&them, &us, b"ping", b"pong");
        }
        assert!(driver.drain(Duration::from_secs(5)), "connections without sockets still exist");
        drop(listener);
        MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        let counters = driver.counters();
        assert_eq!(counters.dropped, 0);
        assert!(counters.sent > 60 && counters.received > 60, "{counters:?}");
    });
}

/// Errors of devices include the fix.
#[test]
fn devices_that_cannot_be() {
    Fixture::paths(1).run(|namespace, _driver| {
        let wrong = |name: &str| namespace.run(|| Tun::open(name)).unwrap_err().to_string();
        assert!(wrong("path1").contains("another process has it open"), "{}", wrong("path1"));
        assert!(wrong("lo").contains("is no TUN device"), "{}", wrong("lo"));
        assert!(wrong("a-name-of-18-bytes").contains("1 to 15 bytes"), "{}", wrong("a-name-of-18-bytes"));
        let free = namespace.run(|| Tun::open("free%d")).unwrap();
        assert_eq!((free.name(), free.mtu()), ("free0", 1500));
    });
}

/// A misspelt name is an error and creates no device.
#[test]
fn a_device_that_is_not_there_is_not_made() {
    Fixture::paths(1).run(|namespace, _driver| {
        let open = |name: &'static str| namespace.run(move || Tun::open_existing(name));
        for _ in 0..2 {
            let error = open("pathh1").unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
            assert!(error.to_string().contains("ip tuntap add pathh1 mode tun"), "{error}");
        }
        assert!(open("path1").unwrap_err().to_string().contains("another process has it open"));
    });
}

/// Many connections share the thread and its lock, and each receives its own bytes.
#[test]
fn many_at_once() {
    Fixture::paths(2).run(|namespace, driver| {
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        std::thread::scope(|scope| {
            for number in 0..32 {
                let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
                let (them, _) = listener.accept().unwrap();
                let forth = pattern(200_000 + number)[number..].to_vec();
                scope.spawn(move || exchange(&us, &them, &forth, &forth[1..]));
            }
        });
        assert!(driver.drain(Duration::from_secs(5)), "connections without sockets still exist");
    });
}

/// An idle connection costs nothing: the thread sleeps, and a write wakes it.
#[test]
fn idle_means_asleep() {
    Fixture::paths(2).run(|namespace, driver| {
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
        let (them, _) = listener.accept().unwrap();
        greet(&us, &them);
        wait_until("the second subflow is there", || established(&us) == 2);
        std::thread::sleep(Duration::from_millis(500));
        let before = driver.counters();
        std::thread::sleep(Duration::from_secs(1));
        let turns = driver.counters().turns - before.turns;
        assert!(turns < 20, "{turns} turns while nothing happened");
        // Only the write can wake the thread before this reader's timeout.
        greet(&us, &them);
    });
}
