//! Drives packetdrill's table through a server's connection from SYN to close, and a client's.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::ffi::c_int;

use crate::harness::{KEY, Table, capable, dss, errno, key_in, peer_segment};
use bytes::Bytes;
use mptcp_wire::crypto::Version;
use mptcp_wire::{DataSequence, Flags, Segment, Seq};

#[test]
fn a_server_accepts_reads_writes_and_closes() {
    let table = Table::new();
    let listener = table.socket();
    assert!(listener >= 0);
    assert_eq!(table.with_address(table.0.bind.unwrap(), listener, "0.0.0.0:8080".parse().unwrap()), 0);
    // SAFETY: passes only the table's own pointer.
    assert_eq!(unsafe { (table.0.listen.unwrap())(table.0.userdata, listener, 1) }, 0);

    let mut syn = peer_segment(Flags::SYN, 0, Seq::default());
    syn.options.mptcp.push(capable(None, None));
    table.inject(syn);
    let answer = table.sniff().unwrap();
    assert!(answer.flags.syn() && answer.flags.ack());
    let (host_key, iss) = (key_in(&answer), answer.sequence);
    let mut third = peer_segment(Flags::ACK, 1, iss + 1);
    third.options.mptcp.push(capable(Some(KEY), Some(host_key)));
    table.inject(third);
    let accepted = table.accept(listener);
    assert!(accepted >= 0);

    let mut data = peer_segment(Flags::ACK, 1, iss + 1);
    data.options.dss = Some(dss(host_key, 1, Some((1, 1, 5))));
    data.payload = Bytes::from_static(b"hello");
    table.inject(data);
    let ack = table.sniff().unwrap();
    assert_eq!(ack.acknowledgment, Seq::new(6));
    let all = Version::V1.digest(KEY).initial_sequence.wrapping_add(6);
    assert_eq!(ack.options.dss.unwrap().ack, Some(DataSequence::Wide(all)));
    assert_eq!(table.read(accepted, 100), b"hello");

    assert_eq!(table.write(accepted, b"good day"), 8);
    let sent = table.sniff().unwrap();
    assert_eq!(sent.payload, "good day");
    let mut ack = peer_segment(Flags::ACK, 6, iss + 9);
    ack.options.dss = Some(dss(host_key, 9, None));
    table.inject(ack);

    assert_eq!(table.close(accepted), 0);
    let end = table.sniff().unwrap();
    assert!(end.options.dss.unwrap().data_fin && !end.flags.fin());
    assert_eq!(table.close(listener), 0);
}

#[test]
fn a_client_connects_and_is_refused() {
    let table = Table::new();
    let fd = table.socket();
    // SAFETY: passes only the table's own pointer.
    let flags = unsafe {
        (table.0.fcntl.unwrap())(table.0.userdata, fd, libc::F_SETFL, libc::O_NONBLOCK.into());
        (table.0.fcntl.unwrap())(table.0.userdata, fd, libc::F_GETFL, 0)
    };
    assert_eq!(flags, libc::O_RDWR | libc::O_NONBLOCK);
    let connect = table.0.connect.unwrap();
    assert_eq!(table.with_address(connect, fd, "192.0.2.1:8080".parse().unwrap()), -1);
    assert_eq!(errno(), Some(libc::EINPROGRESS));
    let syn = table.sniff().unwrap();
    assert!(syn.flags.syn() && syn.options.has_mptcp());
    let mut reset = Segment::new(syn.destination, syn.source);
    (reset.flags, reset.acknowledgment) = (Flags::RST | Flags::ACK, syn.sequence + 1);
    table.inject(reset);
    let (mut error, mut length): (c_int, libc::socklen_t) = (0, 4);
    // SAFETY: both pointers are to values that live here, and `length` is the first one's.
    let got = unsafe {
        (table.0.getsockopt.unwrap())(
            table.0.userdata,
            fd,
            libc::SOL_SOCKET,
            libc::SO_ERROR,
            (&raw mut error).cast(),
            &raw mut length,
        )
    };
    assert_eq!((got, error, length), (0, libc::ECONNREFUSED, 4));
    assert_eq!(table.write(fd, b"too late"), -1);
    assert_eq!(errno(), Some(libc::EPIPE));
    assert_eq!(table.close(fd), 0);
}

#[test]
fn what_is_no_socket_is_told_so() {
    let table = Table::new();
    assert_eq!(table.write(9999, b"x"), -1);
    assert_eq!(errno(), Some(libc::EBADF));
    let fd = table.socket();
    // SAFETY: a null pointer is the subject of the test.
    let sent = unsafe { (table.0.write.unwrap())(table.0.userdata, fd, std::ptr::null(), 1) };
    assert_eq!((sent, errno()), (-1, Some(libc::EFAULT)));
    // SAFETY: passes only the table's own pointer.
    let pipe = unsafe { (table.0.pipe.unwrap())(table.0.userdata, [0; 2].as_mut_ptr()) };
    assert_eq!((pipe, errno()), (-1, Some(libc::ENOSYS)));
}

/// packetdrill retries forever after a failure; only an empty packet stops it.
#[test]
fn silence_is_a_packet_of_no_bytes() {
    assert_eq!(Table::new().sniff(), None);
}
