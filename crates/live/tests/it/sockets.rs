//! Tests blocking sockets: opening, waiting, closing, options, and information. Has the requirements of `linux.rs`.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use crate::laboratory::{
    End, Fixture, LIMIT, PORT, Protocol, at, established, exchange, greet, linux, linux_info, ours, pattern,
    receive, reset_on_close, same, wait_until,
};
use mptcp_live::{Config, Driver, MptcpListener, MptcpStream, SubflowCloseReason, SubflowState};

const SHORT: Duration = Duration::from_millis(50);

/// mptcplab's client and Linux's end of its connection, over all paths.
fn connected(listener: &TcpListener, driver: &Driver) -> (MptcpStream, TcpStream) {
    let us = MptcpStream::connect(driver, at(linux(1)), Config::default()).unwrap();
    let (them, _) = listener.accept().unwrap();
    greet(&us, &them);
    wait_until("all paths are joined", || established(&us) == driver.addresses().len() / 2);
    (us, them)
}

/// Without an answer, connecting ends at its timeout and leaves no state.
#[test]
fn connecting_to_nobody() {
    Fixture::paths(1).run(|_namespace, driver| {
        let nobody = SocketAddr::new(IpAddr::from([10, 88, 1, 77]), PORT);
        let error = MptcpStream::connect_timeout(&driver, nobody, Config::default(), SHORT).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(error.to_string().contains("10.88.1.77:5001"), "{error}");
        let stream = MptcpStream::open(&driver, nobody, Config::default()).unwrap();
        assert!(!stream.wait_connected(Some(SHORT)).unwrap());
        assert_eq!(stream.info().unwrap().subflows[0].state, SubflowState::SynSent);
        drop(stream);
        let six = SocketAddr::new("fd00::1".parse().unwrap(), PORT);
        let only_four =
            Config { interfaces: Some(vec![driver.addresses()[0].interface]), ..Config::default() };
        let error = MptcpStream::connect(&driver, six, only_four).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrNotAvailable);
    });
}

/// Connecting skips interfaces that are down, and fails if none is up.
#[test]
fn connecting_from_what_is_up() {
    Fixture::paths(2).run(|namespace, driver| {
        let _listener = namespace.listen(at(linux(2)), Protocol::Mptcp);
        let of = |device: &str| {
            let mut all = driver.addresses().iter();
            all.find(|known| known.device == device && known.address.is_ipv4()).unwrap().interface
        };
        driver.set_interface(of("path1"), false).unwrap();
        let us = MptcpStream::connect(&driver, at(linux(2)), Config::default()).unwrap();
        assert_eq!(us.local_addr().unwrap().ip(), ours(2));
        driver.set_interface(of("path2"), false).unwrap();
        let error = MptcpStream::connect(&driver, at(linux(2)), Config::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NetworkDown);
        let unknown = mptcp_live::InterfaceId(99);
        assert_eq!(driver.set_backup(unknown, true).unwrap_err().kind(), ErrorKind::NotFound);
    });
}

/// Ways to wait for a connection, and addresses of a listener.
#[test]
fn a_listener_waits_as_it_is_told_and_hears_where_it_is_bound() {
    Fixture::paths(2).run(|namespace, driver| {
        let any = MptcpListener::bind(&driver, 0, Config::default()).unwrap();
        assert!(any.local_addr().port() > 0 && any.local_addr().ip().is_unspecified());
        assert_eq!(any.accept_timeout(SHORT).unwrap_err().kind(), ErrorKind::WouldBlock);
        any.set_nonblocking(true);
        assert_eq!(any.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        any.set_nonblocking(false);
        let calls: Vec<_> = (1..=2)
            .map(|path| {
                let to = SocketAddr::new(ours(path), any.local_addr().port());
                namespace.connect(to, Protocol::Mptcp).unwrap()
            })
            .collect();
        for (call, stream) in calls.iter().zip(any.incoming()) {
            assert_eq!(stream.unwrap().peer_addr().unwrap(), call.local_addr().unwrap());
        }

        let one = MptcpListener::bind_to(&driver, at(ours(2)), Config::default(), 8).unwrap();
        assert_eq!(one.local_addr(), at(ours(2)));
        namespace.connect(at(ours(2)), Protocol::Mptcp).unwrap();
        one.accept_timeout(LIMIT).unwrap();
        let refused = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        let error = MptcpListener::bind_to(&driver, at(linux(1)), Config::default(), 8).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrNotAvailable);
        assert!(error.to_string().contains("10.88.1.2"), "says what it has: {error}");
    });
}

/// Connections beyond the backlog succeed as others are accepted: Linux retransmits its SYN.
#[test]
fn a_backlog_that_is_full() {
    Fixture::paths(1).run(|namespace, driver| {
        let listener = MptcpListener::bind_to(&driver, at(ours(1)), Config::default(), 0).unwrap();
        std::thread::scope(|scope| {
            let first = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
            let before = driver.counters().received;
            let second = scope.spawn(|| namespace.connect(at(ours(1)), Protocol::Mptcp));
            wait_until("the second SYN was dropped", || driver.counters().received > before);
            assert_eq!(listener.accept().unwrap().1, first.local_addr().unwrap());
            let (_, from) = listener.accept_timeout(LIMIT).unwrap();
            assert_eq!(from, second.join().unwrap().unwrap().local_addr().unwrap());
        });
    });
}

/// A connection that resets before it is accepted never appears, frees its place, and drops its data.
#[test]
fn callers_that_give_up() {
    Fixture::paths(1).run(|namespace, driver| {
        let listener = MptcpListener::bind_to(&driver, at(ours(1)), Config::default(), 1).unwrap();
        for _ in 0..20 {
            let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
            them.send_all(b"never read").unwrap();
            reset_on_close(&them);
        }
        // A child process of another test may hold copies of the sockets until it runs exec; Linux resets only
        // afterwards.
        wait_until("the last of them has reset", || driver.usage().to_accept == 0);
        let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
        let (us, from) = listener.accept_timeout(LIMIT).unwrap();
        assert_eq!(from, them.local_addr().unwrap());
        exchange(&us, &them, b"ping", b"pong");
        assert_eq!(listener.accept_timeout(SHORT).unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

/// Timeouts and non-blocking mode, for reads and writes.
#[test]
fn waiting_has_an_end() {
    Fixture::paths(1).run(|namespace, driver| {
        let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let (us, them) = connected(&theirs, &driver);
        let mut buffer = vec![0; 1 << 20];
        us.set_read_timeout(Some(SHORT)).unwrap();
        assert_eq!((&us).read(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
        us.set_write_timeout(Some(SHORT)).unwrap();
        let mut written = 0;
        let error = loop {
            match (&us).write(&buffer) {
                Ok(count) => written += count,
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        us.set_nonblocking(true).unwrap();
        assert_eq!((&us).read(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!((&us).write(&buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
        us.set_nonblocking(false).unwrap();
        us.set_read_timeout(Some(LIMIT)).unwrap();
        us.shutdown(Shutdown::Write).unwrap();
        assert_eq!(receive(&them).len(), written, "what was taken arrives");
        assert_eq!((&us).write(b"more").unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

/// Changes by another thread, and the end of the driver, wake a waiting thread.
#[test]
fn sleepers_are_woken() {
    Fixture::paths(1).run(|namespace, driver| {
        let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let (quiet, _them) = connected(&theirs, &driver);
        let (cut, gone) = connected(&theirs, &driver);
        let (left, _there) = connected(&theirs, &driver);
        let listener = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        let read = |mut stream: &MptcpStream| stream.read(&mut [0; 9]);
        std::thread::scope(|scope| {
            let first = scope.spawn(|| read(&quiet));
            let second = scope.spawn(|| read(&cut));
            let third = scope.spawn(|| read(&left));
            let fourth = scope.spawn(|| listener.accept().map(drop));
            quiet.shutdown(Shutdown::Read).unwrap();
            assert_eq!(first.join().unwrap().unwrap(), 0);
            cut.abort().unwrap();
            assert_eq!(second.join().unwrap().unwrap_err().kind(), ErrorKind::ConnectionAborted);
            gone.be_patient();
            assert_eq!(gone.read_some(&mut [0; 9]).unwrap_err().kind(), ErrorKind::ConnectionReset);
            driver.stop().unwrap();
            let ends = [third.join().unwrap().unwrap_err(), fourth.join().unwrap().unwrap_err()];
            let kinds = ends.map(|error| error.kind());
            assert!(matches!(kinds[0], ErrorKind::ConnectionAborted | ErrorKind::NotConnected));
            assert_eq!(kinds[1], ErrorKind::NotConnected);
        });
    });
}

/// Policies change during a transfer without data loss, and `info` reports the current ones.
#[test]
fn policies_change_while_it_runs() {
    Fixture::paths(2).run(|namespace, driver| {
        let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let (us, them) = connected(&theirs, &driver);
        assert!(!us.nodelay().unwrap());
        us.set_nodelay(true).unwrap();
        assert!(us.nodelay().unwrap());
        let data = pattern(300_000);
        let policies = mptcp_live::policy::Policies::default();
        for name in policies.congestion.names() {
            for scheduler in policies.schedulers.names() {
                us.set_congestion(&policies.congestion.find(name).unwrap()).unwrap();
                us.set_scheduler(&policies.schedulers.find(scheduler).unwrap()).unwrap();
                let info = us.info().unwrap();
                assert_eq!((info.congestion, info.scheduler), (name, scheduler));
                std::thread::scope(|scope| {
                    scope.spawn(|| us.send_all(&data).unwrap());
                    let mut received = vec![0; data.len()];
                    (&them).read_exact(&mut received).unwrap();
                    same(&received, &data, name);
                });
            }
        }
        exchange(&us, &them, &data, &data[1..]);
    });
}

/// An interface goes down, returns and becomes a backup. Closed subflows remain known, with reason and time.
#[test]
fn interfaces_change_while_it_runs() {
    Fixture::paths(2).run(|namespace, driver| {
        let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let (us, them) = connected(&theirs, &driver);
        let second = us.info().unwrap().subflows[1].interface;
        driver.set_interface(second, false).unwrap();
        greet(&us, &them);
        let info = us.info().unwrap();
        assert_eq!(info.subflows[1].closed_by, Some(SubflowCloseReason::InterfaceGone));
        let (opened, closed) = (info.subflows[1].opened_at, info.subflows[1].closed_at.unwrap());
        assert!(opened < closed && closed <= info.at);
        driver.set_interface(second, true).unwrap();
        wait_until("it has joined again", || established(&us) == 2);
        assert_eq!(us.info().unwrap().subflows_total, 3);
        driver.set_backup(second, true).unwrap();
        wait_until("it is a backup", || us.info().unwrap().subflows[2].backup);
        exchange(&us, &them, &pattern(1_000_000), &pattern(100_000));
        let sent = us.info().unwrap().subflows[2].stats.bytes_sent;
        assert_eq!(sent, 0, "a backup carries nothing while another path works");
    });
}

/// Opens and closes an additional subflow between the same addresses.
#[test]
fn single_subflows() {
    Fixture::paths(1).run(|namespace, driver| {
        let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let (us, them) = connected(&theirs, &driver);
        let first = us.info().unwrap().subflows[0].clone();
        us.open_subflow(first.interface, first.remote).unwrap();
        wait_until("two between the same addresses", || established(&us) == 2);
        let only = us.info().unwrap().subflows[0].id;
        us.close_subflow(only).unwrap();
        assert_eq!(us.close_subflow(only).unwrap_err().kind(), ErrorKind::NotFound);
        exchange(&us, &them, &pattern(300_000), &pattern(200_000));
        let subflows = us.info().unwrap().subflows;
        assert!(matches!(subflows[0].closed_by, Some(SubflowCloseReason::ResetByUs(_))), "{:?}", subflows[0]);
        assert!(subflows[1].stats.bytes_sent >= 300_000);
        let impossible = SocketAddr::new("fd00::1".parse().unwrap(), PORT);
        let error = us.open_subflow(first.interface, impossible).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotConnected));
    });
}

/// Both ends report the same state of a connection.
#[test]
fn both_ends_tell_the_same() {
    Fixture::paths(1).run(|namespace, driver| {
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        for checksum in [false, true] {
            let config = Config { checksum, ..Config::default() };
            let us = MptcpStream::connect(&driver, at(linux(1)), config).unwrap();
            let (them, _) = listener.accept().unwrap();
            us.send_all(&pattern(50_000)).unwrap();
            (&them).read_exact(&mut vec![0; 50_000]).unwrap();
            them.send_all(&pattern(20_000)).unwrap();
            (&us).read_exact(&mut vec![0; 20_000]).unwrap();
            let agreed = || {
                let (we, they) = (us.info().unwrap(), linux_info(&them).unwrap());
                we.write_seq == they.rcv_nxt && we.snd_una == they.rcv_nxt && they.snd_una == we.rcv_nxt
            };
            wait_until("all is acknowledged", agreed);
            let (we, they) = (us.info().unwrap(), linux_info(&them).unwrap());
            assert_eq!(we.rcv_nxt, they.write_seq);
            assert_eq!(we.remote_token, Some(they.token));
            assert_eq!((we.checksum, they.checksum), (checksum, checksum));
            assert_eq!((we.bytes_sent, we.bytes_acked, we.bytes_received), (50_000, 50_000, 20_000));
            let path = &we.subflows[0];
            assert!(path.timestamps && path.sack && path.send_scale > 0 && path.receive_scale > 0);
            assert!(path.stats.longest_received > 1_000 && path.advmss == 1_460, "{path:?}");
            assert!(path.rto.as_nanos() >= 200_000_000 && path.backoff == 0);
        }
    });
}
