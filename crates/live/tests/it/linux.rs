//! Tests the endpoint on TUN devices with Linux's MPTCP as the peer.
//!
//! Requires root, `/dev/net/tun`, network namespaces and IPPROTO_MPTCP. Without them the tests are skipped, except in
//! CI.

#![cfg(target_os = "linux")]

use std::io::{ErrorKind, Read};
use std::time::Duration;

use crate::laboratory::{
    End, Fixture, LIMIT, PORT, Protocol, at, both_carried, established, exchange, greet, joined, linux,
    linux_subflows, linux6, ours, ours6, pattern, receive, same, send, wait_until, within,
};
use mptcp_live::{Config, Mode, MptcpListener, MptcpStream};

/// From one byte over the edges of a segment to many windows.
const SIZES: [usize; 6] = [1, 1_000, 1_448, 1_449, 300_000, 10_000_000];

/// Linux accepts mptcplab's MP_CAPABLE, keys, mappings, DATA_FINs and half closes.
#[test]
fn our_client_and_linux_as_server() {
    Fixture::paths(1).run(|namespace, driver| {
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        for size in SIZES {
            let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
            let (them, from) = listener.accept().unwrap();
            assert_eq!(from, us.local_addr().unwrap());
            exchange(&us, &them, &pattern(size), &pattern(size / 2));
            assert_eq!(linux_subflows(&them), Some(0), "Linux speaks MPTCP");
            assert_eq!(us.info().unwrap().mode, Mode::Multipath);
        }
    });
}

/// mptcplab's server accepts Linux as the client and receives its data.
#[test]
fn linux_as_client_and_our_server() {
    Fixture::paths(1).run(|namespace, driver| {
        let listener = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        for size in SIZES {
            let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
            let (us, from) = listener.accept().unwrap();
            assert_eq!(from, them.local_addr().unwrap());
            exchange(&them, &us, &pattern(size), &pattern(size / 2));
            assert_eq!(linux_subflows(&them), Some(0), "Linux speaks MPTCP");
            assert_eq!(us.info().unwrap().mode, Mode::Multipath);
        }
    });
}

/// A TCP-only Linux peer ignores MP_CAPABLE: the connection is TCP, and all data arrives.
#[test]
fn plain_tcp_peers() {
    Fixture::paths(1).run(|namespace, driver| {
        let theirs = namespace.listen(at(linux(1)), Protocol::Tcp);
        let mine = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        for size in SIZES {
            let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
            let (them, _) = theirs.accept().unwrap();
            exchange(&us, &them, &pattern(size), &pattern(size / 2));
            assert_eq!(us.info().unwrap().mode, Mode::Plain);

            let them = namespace.connect(at(ours(1)), Protocol::Tcp).unwrap();
            let (us, _) = mine.accept().unwrap();
            exchange(&them, &us, &pattern(size), &pattern(size / 2));
            assert_eq!(us.info().unwrap().mode, Mode::Plain);
        }
    });
}

/// Linux's MPTCP sockets fall back when mptcplab uses TCP only.
#[test]
fn linux_falls_back() {
    Fixture::paths(1).run(|namespace, driver| {
        let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let us = MptcpStream::connect(&driver, at(linux(1)), Config::tcp()).unwrap();
        let (them, _) = theirs.accept().unwrap();
        exchange(&us, &them, &pattern(300_000), &pattern(200_000));
        assert_eq!(linux_subflows(&them), None);

        let mine = MptcpListener::bind(&driver, PORT, Config::tcp()).unwrap();
        let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
        let (us, _) = mine.accept().unwrap();
        exchange(&them, &us, &pattern(300_000), &pattern(200_000));
        assert_eq!(linux_subflows(&them), None);
    });
}

/// Linux accepts an MP_JOIN from a second address at once, and reassembles the data of both subflows.
#[test]
fn we_join_from_a_second_device() {
    Fixture::paths(2).run(|namespace, driver| {
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
        let (them, _) = listener.accept().unwrap();
        greet(&us, &them);
        joined(&us, &them, 2);
        exchange(&us, &them, &pattern(10_000_000), &pattern(10_000_000));
        assert_eq!(linux_subflows(&them), Some(1));
        both_carried(&us);
    });
}

/// Linux accepts an ADD_ADDR (it checks the HMAC), and joins the announced address.
#[test]
fn linux_joins_what_we_announce() {
    Fixture::paths(2).run(|namespace, driver| {
        let listener = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
        let (us, _) = listener.accept().unwrap();
        greet(&them, &us);
        wait_until("Linux has joined", || established(&us) == 2 && linux_subflows(&them) == Some(1));
        exchange(&them, &us, &pattern(10_000_000), &pattern(10_000_000));
        both_carried(&us);
    });
}

/// Two slow paths share the load. Linux loses data in short queues, learns so from SACK blocks, and mptcplab
/// reassembles the stream.
#[test]
fn two_slow_paths_add_up() {
    Fixture::paths(2).run(|namespace, driver| {
        for path in [1, 2] {
            let Some(()) = namespace.limit(path, "40mbit", "40k") else { return };
        }
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
        let (them, _) = listener.accept().unwrap();
        greet(&us, &them);
        joined(&us, &them, 2);
        exchange(&us, &them, &[], &pattern(10_000_000));
        for subflow in us.info().unwrap().subflows {
            let bytes = subflow.stats.bytes_received;
            assert!(bytes > 3_000_000, "subflow {} brought {bytes} bytes of 10 MB", subflow.id);
        }
        assert!(namespace.dropped(1) + namespace.dropped(2) > 0, "the queues were not short");
    });
}

/// The loss of a device during a transfer loses no data, whether it goes silent or is deleted. Both ends reinject data
/// on the other subflow.
#[test]
fn a_device_is_lost() {
    within(LIMIT, || {
        for loss in ["link set path2 down", "link del path2"] {
            let Some((namespace, driver)) = Fixture::paths(2).build() else { return };
            let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
            let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
            let (them, _) = listener.accept().unwrap();
            greet(&us, &them);
            joined(&us, &them, 2);
            let all = pattern(10_000_000);
            std::thread::scope(|scope| {
                scope.spawn(|| send(&us, &all));
                let mut some = vec![0; 1_000_000];
                (&them).read_exact(&mut some).unwrap();
                namespace.ip(loss).unwrap();
                some.extend(receive(&them));
                same(&some, &all, "forth");
            });
            std::thread::scope(|scope| {
                scope.spawn(|| send(&them, &all));
                same(&receive(&us), &all, "back");
            });
            let lost = &us.info().unwrap().subflows[1];
            assert!(lost.stats.bytes_sent > 0, "{loss}: it carried nothing before");
        }
    });
}

/// With `net.mptcp.checksum_enabled`, Linux requires DSS checksums; both ends send valid ones.
#[test]
fn linux_asks_for_checksums_and_ours_are_right() {
    Fixture::paths(1).run(|namespace, driver| {
        namespace.sysctl("net.mptcp.checksum_enabled", "1");
        let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let mine = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();

        let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
        let (them, _) = theirs.accept().unwrap();
        exchange(&us, &them, &pattern(300_000), &pattern(300_001));
        assert_eq!((us.info().unwrap().mode, linux_subflows(&them)), (Mode::Multipath, Some(0)));

        let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
        let (us, _) = mine.accept().unwrap();
        exchange(&them, &us, &pattern(300_000), &pattern(300_001));
        assert_eq!((us.info().unwrap().mode, linux_subflows(&them)), (Mode::Multipath, Some(0)));
    });
}

/// Repeats the transfers over IPv6, where Linux's MSS is 20 bytes smaller.
#[test]
fn over_ipv6() {
    Fixture::paths(2).run(|namespace, driver| {
        let theirs = namespace.listen(at(linux6(1)), Protocol::Mptcp);
        let us = MptcpStream::connect(&driver, at(linux6(1)), Config::default()).unwrap();
        let (them, _) = theirs.accept().unwrap();
        greet(&us, &them);
        joined(&us, &them, 2);
        exchange(&us, &them, &pattern(1_000_000), &pattern(1_000_000));
        both_carried(&us);

        let mine = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        let them = namespace.connect(at(ours6(1)), Protocol::Mptcp).unwrap();
        let (us, _) = mine.accept().unwrap();
        exchange(&them, &us, &pattern(1_000_000), &pattern(1_000_000));
        assert_eq!(us.info().unwrap().mode, Mode::Multipath);
    });
}

/// Linux can still send after mptcplab's DATA_FIN: a half-closed connection stays open.
#[test]
fn half_close() {
    Fixture::paths(1).run(|namespace, driver| {
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
        let (them, _) = listener.accept().unwrap();
        us.be_patient();
        them.be_patient();
        send(&us, b"question");
        same(&receive(&them), b"question", "forth");
        assert_eq!(us.send_all(b"more").unwrap_err().kind(), ErrorKind::BrokenPipe);
        std::thread::sleep(Duration::from_millis(300));
        let answer = pattern(1_000_000);
        std::thread::scope(|scope| {
            scope.spawn(|| send(&them, &answer));
            same(&receive(&us), &answer, "back");
        });
    });
}

/// Linux refuses with RST, and sends MP_FASTCLOSE if its application closes with unread data.
#[test]
fn refusals_and_resets() {
    Fixture::paths(1).run(|namespace, driver| {
        let refused = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        let refused = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);

        let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
        let (them, _) = theirs.accept().unwrap();
        us.be_patient();
        us.send_all(&pattern(10_000)).unwrap();
        wait_until("Linux has it", || us.info().unwrap().bytes_acked == 10_000);
        drop(them);
        assert_eq!(us.read_some(&mut [0; 10]).unwrap_err().kind(), ErrorKind::ConnectionReset);

        // Linux accepts mptcplab's MP_FASTCLOSE too.
        let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
        let (them, _) = theirs.accept().unwrap();
        them.be_patient();
        them.send_all(&pattern(10_000)).unwrap();
        wait_until("it is here", || us.info().unwrap().bytes_received == 10_000);
        drop(us);
        assert_eq!(them.read_some(&mut [0; 10]).unwrap_err().kind(), ErrorKind::ConnectionReset);

        // An endpoint that ends notifies all its peers and its own sockets.
        let us = MptcpStream::connect(&driver, at(linux(1)), Config::default()).unwrap();
        let (them, _) = theirs.accept().unwrap();
        greet(&us, &them);
        drop(driver);
        assert_eq!(them.read_some(&mut [0; 10]).unwrap_err().kind(), ErrorKind::ConnectionReset);
        assert_eq!(us.read_some(&mut [0; 10]).unwrap_err().kind(), ErrorKind::ConnectionAborted);
    });
}
