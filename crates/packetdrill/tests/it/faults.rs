//! Tests calls with invalid memory, and calls that must not block.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::ffi::{c_int, c_void};

use crate::harness::{KEY, Table, capable, dss, errno, key_in, peer_segment};
use bytes::Bytes;
use mptcp_wire::{Cookie, Flags, Segment, Seq};

/// Opens a listener on port 8080.
fn listener(table: &Table) -> c_int {
    let fd = table.socket();
    assert_eq!(table.with_address(table.0.bind.unwrap(), fd, "0.0.0.0:8080".parse().unwrap()), 0);
    // SAFETY: passes only the table's own pointer.
    assert_eq!(unsafe { (table.0.listen.unwrap())(table.0.userdata, fd, 5) }, 0);
    fd
}

/// Opens a connection with "hello" ready to be read.
fn with_hello(table: &Table) -> c_int {
    let fd = listener(table);
    let mut syn = peer_segment(Flags::SYN, 0, Seq::default());
    syn.options.mptcp.push(capable(None, None));
    table.inject(syn);
    let answer = table.sniff().unwrap();
    let (host_key, iss) = (key_in(&answer), answer.sequence);
    let mut third = peer_segment(Flags::ACK, 1, iss + 1);
    third.options.mptcp.push(capable(Some(KEY), Some(host_key)));
    table.inject(third);
    let accepted = table.accept(fd);
    let mut data = peer_segment(Flags::ACK, 1, iss + 1);
    data.options.dss = Some(dss(host_key, 1, Some((1, 1, 5))));
    data.payload = Bytes::from_static(b"hello");
    table.inject(data);
    assert_eq!(table.sniff().unwrap().acknowledgment, Seq::new(6));
    accepted
}

fn part(base: *mut c_void, length: usize) -> libc::iovec {
    libc::iovec { iov_base: base, iov_len: length }
}

/// recv(2) and readv(2) without memory take no data from the stream.
#[test]
fn a_fault_leaves_the_data_where_it_is() {
    let table = Table::new();
    let fd = with_hello(&table);
    for flags in [0, libc::MSG_PEEK] {
        // SAFETY: a null pointer is the subject of the test.
        let got = unsafe { (table.0.recv.unwrap())(table.0.userdata, fd, std::ptr::null_mut(), 5, flags) };
        assert_eq!((got, errno()), (-1, Some(libc::EFAULT)));
    }
    let parts = [part(std::ptr::null_mut(), 3), part(std::ptr::null_mut(), 2)];
    // SAFETY: null pointers are the subject of the test.
    let got = unsafe { (table.0.readv.unwrap())(table.0.userdata, fd, parts.as_ptr(), 2) };
    assert_eq!((got, errno()), (-1, Some(libc::EFAULT)));
    // The first part gets two bytes; the part behind it has no memory.
    let mut two = [0_u8; 2];
    let parts = [part(two.as_mut_ptr().cast(), 2), part(std::ptr::null_mut(), 3)];
    // SAFETY: the first part lives here, and the second one's null pointer is the subject of the test.
    let got = unsafe { (table.0.readv.unwrap())(table.0.userdata, fd, parts.as_ptr(), 2) };
    assert_eq!((got, &two), (2, b"he"));
    assert_eq!(table.read(fd, 100), b"llo");
}

/// Calls sendto(2) with MSG_FASTOPEN and flags, and returns its result.
fn send_open(table: &Table, fd: c_int, data: &[u8], flags: c_int) -> isize {
    let remote = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: 8080_u16.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_be_bytes([192, 0, 2, 1]).to_be() },
        sin_zero: [0; 8],
    };
    // SAFETY: both pointers are to values that live here, with their lengths.
    unsafe {
        (table.0.sendto.unwrap())(
            table.0.userdata,
            fd,
            data.as_ptr().cast(),
            data.len(),
            libc::MSG_FASTOPEN | flags,
            (&raw const remote).cast(),
            size_of_val(&remote) as libc::socklen_t,
        )
    }
}

/// A non-blocking call on a blocking socket without a cookie starts the connection and returns.
#[test]
fn fast_open_that_must_not_wait_does_not() {
    let table = Table::new();
    let fd = table.socket();
    assert_eq!(send_open(&table, fd, b"early", libc::MSG_DONTWAIT), -1);
    assert_eq!(errno(), Some(libc::EINPROGRESS));
    let syn = table.sniff().unwrap();
    assert!(syn.flags.syn() && syn.payload.is_empty() && syn.options.fast_open.is_some());
}

/// A blocking call returns after the handshake and sends the remaining data behind it.
#[test]
fn fast_open_that_waits_sends_after_the_handshake() {
    let table = Table::new();
    let fd = table.socket();
    std::thread::scope(|scope| {
        let table = Shared(&table);
        let sender = scope.spawn(move || {
            let table = table;
            send_open(table.0, fd, b"early", 0)
        });
        let syn = table.0.sniff().unwrap();
        let mut answer = Segment::new(syn.destination, syn.source);
        (answer.flags, answer.acknowledgment) = (Flags::SYN | Flags::ACK, syn.sequence + 1);
        (answer.sequence, answer.window) = (Seq::new(0), 60_000);
        table.0.inject(answer);
        assert_eq!(sender.join().unwrap(), 5);
        let sent = std::iter::repeat_with(|| table.0.sniff()).take(3).flatten();
        assert!(sent.into_iter().any(|segment| segment.payload == "early"));
    });
}

/// Shares the table between threads: packetdrill does so too, and the library locks.
#[derive(Clone, Copy)]
struct Shared<'a>(&'a Table);

// SAFETY: a lock guards the state behind the table, because packetdrill's threads share it.
unsafe impl Send for Shared<'_> {}

/// TCP_FASTOPEN after listen(2) enables cookies, as before listen(2).
#[test]
fn fast_open_after_listen_counts() {
    let settings = concat!(env!("CARGO_TARGET_TMPDIR"), "/fast-open-after-listen");
    std::fs::write(settings, "sysctl\t-q\tnet.ipv4.tcp_fastopen=0x2\n").unwrap();
    let table = Table::with(&format!(",settings={settings}"));
    let fd = listener(&table);
    let ask = || {
        let mut syn = peer_segment(Flags::SYN, 0, Seq::default());
        syn.options.fast_open = Some(Cookie::default());
        table.inject(syn);
        let answer = table.sniff().unwrap();
        assert!(answer.flags.syn() && answer.flags.ack());
        let mut reset = peer_segment(Flags::RST, 1, Seq::default());
        reset.sequence = Seq::new(1);
        table.inject(reset);
        answer.options.fast_open.is_some()
    };
    assert!(!ask());
    let queue: c_int = 5;
    // SAFETY: the value lives here, with its length.
    let set = unsafe {
        (table.0.setsockopt.unwrap())(
            table.0.userdata,
            fd,
            libc::IPPROTO_TCP,
            libc::TCP_FASTOPEN,
            (&raw const queue).cast(),
            size_of_val(&queue) as libc::socklen_t,
        )
    };
    assert_eq!(set, 0);
    assert!(ask());
    // The listener still accepts connections.
    table.inject(peer_segment(Flags::SYN, 9, Seq::default()));
    let answer = table.sniff().unwrap();
    table.inject(peer_segment(Flags::ACK, 10, answer.sequence + 1));
    assert!(table.accept(fd) >= 0);
}
