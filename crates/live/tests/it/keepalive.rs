//! Tests keepalive, the user timeout and resource usage on sockets.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Write;
use std::time::Duration;

use crate::laboratory::{End, LIMIT, PORT, at, greet, linux, ours, pattern, wait_until, within};
use mptcp_clock::Duration as Span;
use mptcp_live::{
    Config, Driver, Interface, Keepalive, MptcpListener, MptcpStream, Pipe, SubflowCloseReason,
};

fn two() -> (Driver, Driver, MptcpListener) {
    let (a, b) = Pipe::pair("path1", 1_500).unwrap();
    let mine = Driver::start(vec![Interface::new(a, [ours(1)])]).unwrap();
    let theirs = Driver::start(vec![Interface::new(b, [linux(1)])]).unwrap();
    let listener = MptcpListener::bind(&theirs, PORT, Config::default()).unwrap();
    (mine, theirs, listener)
}

/// Keepalive closes a connection only if the peer is silent. It must wake the thread, because no other timer runs.
#[test]
fn keepalive_gives_up_who_is_silent_and_nobody_else() {
    within(LIMIT, || {
        let (mine, _theirs, listener) = two();
        let us = MptcpStream::connect(&mine, at(linux(1)), Config::default()).unwrap();
        let (them, _) = listener.accept().unwrap();
        greet(&us, &them);
        assert_eq!(us.keepalive().unwrap(), None);
        std::thread::sleep(Duration::from_millis(300));
        let keepalive =
            Keepalive { idle: Span::from_millis(100), interval: Span::from_millis(50), probes: 3 };
        us.set_keepalive(Some(keepalive)).unwrap();
        assert_eq!(us.keepalive().unwrap(), Some(keepalive));
        let before = mine.counters().sent;
        wait_until("it has asked", || mine.counters().sent > before + 3);
        greet(&us, &them);
        mine.set_silent(us.info().unwrap().subflows[0].interface, true).unwrap();
        let given_up = || us.info().unwrap().subflows[0].closed_by;
        wait_until("it is given up", || given_up().is_some());
        assert_eq!(given_up(), Some(SubflowCloseReason::TimedOut));
    });
}

/// Unread data is counted until it is read.
#[test]
fn what_a_connection_holds_can_be_seen() {
    within(LIMIT, || {
        let (mine, theirs, listener) = two();
        let us = MptcpStream::connect(&mine, at(linux(1)), Config::default()).unwrap();
        let (them, _) = listener.accept().unwrap();
        us.send_all(&pattern(100_000)).unwrap();
        wait_until("it has arrived", || them.info().unwrap().bytes_received == 100_000);
        assert!(them.info().unwrap().usage.receive_bytes >= 100_000);
        std::io::Read::read_exact(&mut &them, &mut [0; 100_000]).unwrap();
        assert_eq!(them.info().unwrap().usage.receive_bytes, 0);
        assert_eq!((mine.usage().connections, theirs.usage().connections), (1, 1));
        assert_eq!(theirs.connections().len(), 1);
    });
}

/// The peer falls silent with data in flight: the user timeout ends the connection long before retransmissions do.
#[test]
fn a_user_timeout_gives_up_who_acknowledges_nothing() {
    within(LIMIT, || {
        let (mine, _theirs, listener) = two();
        let us = MptcpStream::connect(&mine, at(linux(1)), Config::default()).unwrap();
        let (them, _) = listener.accept().unwrap();
        greet(&us, &them);
        us.set_user_timeout(Some(Span::from_millis(300))).unwrap();
        mine.set_silent(us.info().unwrap().subflows[0].interface, true).unwrap();
        (&us).write_all(&[1; 100]).unwrap();
        let given_up = || us.info().unwrap().subflows[0].closed_by;
        wait_until("it gives up", || given_up() == Some(SubflowCloseReason::TimedOut));
    });
}

/// The application cannot write more unsent data than allowed.
#[test]
fn a_limit_for_what_waits_unsent_stops_the_writer() {
    within(LIMIT, || {
        let (mine, _theirs, listener) = two();
        let us = MptcpStream::connect(&mine, at(linux(1)), Config::default()).unwrap();
        let (them, _) = listener.accept().unwrap();
        greet(&us, &them);
        us.set_notsent_lowat(Some(10_000)).unwrap();
        us.set_nonblocking(true).unwrap();
        let block = [1; 5_000];
        wait_until("the writer is stopped", || (&us).write(&block).is_err());
        let info = us.info().unwrap();
        assert!(info.bytes_written - info.bytes_sent <= 10_000, "{info:?}");
    });
}
