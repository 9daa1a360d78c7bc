//! Tests Linux sockets over loopback: effective options and information about subflows.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::thread;

use mptcp_live::kernel::{Options, connect, ends, given, info, listen};

fn options(multipath: bool) -> Options {
    Options {
        multipath,
        congestion: "reno".to_owned(),
        receive_buffer: None,
        send_buffer: Some(100_000),
        nodelay: true,
        segment: None,
    }
}

/// Sends a megabyte to a socket with the same options. Returns the sender's final information.
fn send(options: &Options) -> Option<mptcp_live::kernel::SocketInfo> {
    let listener = match listen(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0), options) {
        Ok(listener) => listener,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "in CI this must run, but {error}");
            eprintln!("skipped: {error}");
            return None;
        }
    };
    let SocketAddr::V4(at) = listener.local_addr().unwrap() else { panic!("not IPv4") };
    let receiver = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        stream.write_all(b"!").unwrap();
        all.len()
    });
    let mut stream = connect(Ipv4Addr::LOCALHOST, at, options, || true).unwrap();
    let both = ends(&stream).unwrap();
    stream.write_all(&vec![7; 1_000_000]).unwrap();
    let said = info(&stream, both).unwrap();
    let (congestion, _, send) = given(&stream).unwrap();
    assert_eq!((congestion.as_str(), send), ("reno", 200_000), "the kernel doubles a buffer");
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    stream.read_exact(&mut [0]).unwrap();
    assert_eq!(receiver.join().unwrap(), 1_000_000);
    let last = info(&stream, both).unwrap();
    assert!(last.paths.iter().all(|path| path.bytes_acked >= 1_000_000), "{last:?}");
    Some(said)
}

#[test]
fn tcp_says_what_its_path_is() {
    let Some(said) = send(&options(false)) else { return };
    assert!(!said.multipath);
    let [path] = &said.paths[..] else { panic!("{said:?}") };
    assert_eq!((path.local.ip(), path.remote.ip()), (&Ipv4Addr::LOCALHOST, &Ipv4Addr::LOCALHOST));
    assert!(path.bytes_sent > 0 && path.mss > 500 && path.cwnd > 0, "{path:?}");
}

#[test]
fn multipath_tcp_says_what_its_subflows_are() {
    let Some(said) = send(&options(true)) else { return };
    assert!(said.multipath);
    let [path] = &said.paths[..] else { panic!("{said:?}") };
    assert_eq!((path.local.ip(), path.remote.ip()), (&Ipv4Addr::LOCALHOST, &Ipv4Addr::LOCALHOST));
    assert!(path.bytes_sent > 0 && path.mss > 500 && path.cwnd > 0 && path.srtt_us > 0, "{path:?}");
}

#[test]
fn a_controller_that_is_not_there_is_named() {
    let nothing = Options { congestion: "no-such".to_owned(), ..options(false) };
    let said = listen(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0), &nothing).unwrap_err().to_string();
    assert!(said.contains("congestion control no-such"), "{said}");
}

#[test]
fn who_gives_up_gets_an_answer_at_once() {
    // A listener with a full queue does not answer: its backlog is 0, and one connection waits.
    let full = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let SocketAddr::V4(at) = full.local_addr().unwrap() else { panic!("not IPv4") };
    let mut others = Vec::new();
    let asked = std::cell::Cell::new(0);
    let waits = || {
        asked.set(asked.get() + 1);
        asked.get() < 3
    };
    for _ in 0..10_000 {
        match connect(Ipv4Addr::LOCALHOST, at, &options(false), waits) {
            Ok(stream) => others.push(stream),
            Err(error) => {
                assert_eq!((error.kind(), asked.get()), (std::io::ErrorKind::TimedOut, 3), "{error}");
                return;
            }
        }
    }
    panic!("a queue without an end");
}
