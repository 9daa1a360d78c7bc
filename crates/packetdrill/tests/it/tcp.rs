//! Tests TCP sockets: options, epoll, and the structures of getsockopt(2).

#![allow(clippy::unwrap_used, reason = "a test")]

use std::ffi::c_int;

use crate::harness::{Table, errno, peer_segment};
use mptcp_wire::{Flags, Seq};

fn socket(table: &Table) -> c_int {
    // SAFETY: passes only the table's own pointer.
    unsafe {
        (table.0.socket.unwrap())(table.0.userdata, libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_TCP)
    }
}

fn set(table: &Table, fd: c_int, level: c_int, name: c_int, value: &[u8]) -> Option<i32> {
    // SAFETY: the pointer is to a value that lives here, with its length.
    let outcome = unsafe {
        (table.0.setsockopt.unwrap())(
            table.0.userdata,
            fd,
            level,
            name,
            value.as_ptr().cast(),
            value.len() as libc::socklen_t,
        )
    };
    if outcome == 0 { None } else { errno() }
}

fn get(table: &Table, fd: c_int, level: c_int, name: c_int, room: usize) -> Vec<u8> {
    let mut value = vec![0_u8; room];
    let mut length = room as libc::socklen_t;
    // SAFETY: both pointers are to values that live here, and `length` is the first one's.
    let outcome = unsafe {
        (table.0.getsockopt.unwrap())(
            table.0.userdata,
            fd,
            level,
            name,
            value.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    assert_eq!(outcome, 0, "{:?}", errno());
    value.truncate(length as usize);
    value
}

fn number(table: &Table, fd: c_int, level: c_int, name: c_int) -> i32 {
    i32::from_ne_bytes(get(table, fd, level, name, 4).try_into().unwrap())
}

/// Opens a connection. The peer's window is 60,000 bytes and its MSS is the default. Returns the descriptor and the
/// server's initial sequence number.
fn open(table: &Table) -> (c_int, Seq) {
    let listener = socket(table);
    assert_eq!(table.with_address(table.0.bind.unwrap(), listener, "0.0.0.0:8080".parse().unwrap()), 0);
    // SAFETY: passes only the table's own pointer.
    assert_eq!(unsafe { (table.0.listen.unwrap())(table.0.userdata, listener, 1) }, 0);
    table.inject(peer_segment(Flags::SYN, 0, Seq::default()));
    let iss = table.sniff().unwrap().sequence;
    table.inject(peer_segment(Flags::ACK, 1, iss + 1));
    (table.accept(listener), iss)
}

fn send(table: &Table, fd: c_int, data: &[u8], flags: c_int) -> isize {
    // SAFETY: the pointer is to a value that lives here, with its length.
    unsafe { (table.0.send.unwrap())(table.0.userdata, fd, data.as_ptr().cast(), data.len(), flags) }
}

#[test]
fn buffers_are_doubled_and_have_bounds() {
    let table = Table::new();
    let fd = socket(&table);
    for (wanted, got) in [(10_000, 20_000), (1, 4_608), (1 << 30, 8 << 20)] {
        assert_eq!(set(&table, fd, libc::SOL_SOCKET, libc::SO_SNDBUF, &i32::to_ne_bytes(wanted)), None);
        assert_eq!(number(&table, fd, libc::SOL_SOCKET, libc::SO_SNDBUF), got);
    }
    assert_eq!(set(&table, fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &1_i32.to_ne_bytes()), None);
    assert_eq!(number(&table, fd, libc::SOL_SOCKET, libc::SO_RCVBUF), 2_304);
}

#[test]
fn what_an_option_cannot_be_is_refused_as_by_linux() {
    let table = Table::new();
    let fd = socket(&table);
    let tcp = libc::IPPROTO_TCP;
    for (name, value, error) in [
        (libc::TCP_MAXSEG, 87, libc::EINVAL),
        (libc::TCP_KEEPIDLE, 0, libc::EINVAL),
        (libc::TCP_KEEPCNT, 128, libc::EINVAL),
        (libc::TCP_SYNCNT, 0, libc::EINVAL),
        (libc::TCP_USER_TIMEOUT, -1, libc::EINVAL),
        (libc::TCP_REPAIR, 1, libc::ENOPROTOOPT),
    ] {
        assert_eq!(set(&table, fd, tcp, name, &i32::to_ne_bytes(value)), Some(error), "{name}");
    }
    assert_eq!(set(&table, fd, tcp, libc::TCP_NODELAY, &[1]), Some(libc::EINVAL));
    assert_eq!(set(&table, fd, tcp, libc::TCP_CONGESTION, b"fastest"), Some(libc::ENOENT));
    assert_eq!(set(&table, fd, tcp, libc::TCP_CONGESTION, b"reno\0"), None);
    assert_eq!(&get(&table, fd, tcp, libc::TCP_CONGESTION, 16)[..5], b"reno\0");
    assert_eq!(set(&table, fd, tcp, libc::TCP_MAXSEG, &1_000_i32.to_ne_bytes()), None);
    assert_eq!(number(&table, fd, tcp, libc::TCP_MAXSEG), 1_000);
}

#[test]
fn tcp_info_tells_of_states_and_segments() {
    let table = Table::new();
    let idle = socket(&table);
    assert_eq!(get(&table, idle, libc::IPPROTO_TCP, libc::TCP_INFO, 8)[0], 7);
    let (fd, _) = open(&table);
    assert_eq!(table.write(fd, &[0; 1_200]), 1_200);
    let info = get(&table, fd, libc::IPPROTO_TCP, libc::TCP_INFO, 1_000);
    assert_eq!((info.len(), info[0]), (280, 1));
    let word = |at: usize| u32::from_ne_bytes(info[at..at + 4].try_into().unwrap());
    // snd_mss, unacked, snd_cwnd and advmss; min_rtt is known.
    assert_eq!((word(16), word(24), word(80), word(84)), (536, 3, 10, 1_460));
    assert!(word(148) < 1_000_000);
}

#[test]
fn epoll_tells_level_and_edge() {
    let table = Table::new();
    let (fd, iss) = open(&table);
    let wait = |epoll: c_int| {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: the pointer is to a value that lives here, and there is room for one.
        let count = unsafe { (table.0.epoll_wait.unwrap())(table.0.userdata, epoll, &raw mut event, 1, 0) };
        (count, { event.events } as i32, { event.u64 })
    };
    let control = |epoll: c_int, operation: c_int, events: i32| {
        let mut event = libc::epoll_event { events: events as u32, u64: 5 };
        // SAFETY: the pointer is to a value that lives here.
        let outcome =
            unsafe { (table.0.epoll_ctl.unwrap())(table.0.userdata, epoll, operation, fd, &raw mut event) };
        if outcome == 0 { None } else { errno() }
    };
    // SAFETY: passes only the table's own pointer.
    let [level, edge] = [(); 2].map(|()| unsafe { (table.0.epoll_create.unwrap())(table.0.userdata, 1) });
    assert_eq!(control(level, libc::EPOLL_CTL_MOD, libc::EPOLLIN), Some(libc::ENOENT));
    assert_eq!(control(level, libc::EPOLL_CTL_ADD, libc::EPOLLIN), None);
    assert_eq!(control(level, libc::EPOLL_CTL_ADD, libc::EPOLLIN), Some(libc::EEXIST));
    assert_eq!(control(fd, libc::EPOLL_CTL_ADD, libc::EPOLLIN), Some(libc::EINVAL));
    assert_eq!(control(edge, libc::EPOLL_CTL_ADD, libc::EPOLLIN | libc::EPOLLET), None);
    assert_eq!((wait(level).0, wait(edge).0), (0, 0));
    let mut data = peer_segment(Flags::ACK, 1, iss + 1);
    data.payload = vec![1; 10].into();
    table.inject(data);
    assert_eq!((wait(level), wait(edge)), ((1, libc::EPOLLIN, 5), (1, libc::EPOLLIN, 5)));
    assert_eq!((wait(level).0, wait(edge).0), (1, 0));
    let mut more = peer_segment(Flags::ACK, 11, iss + 1);
    more.payload = vec![1; 10].into();
    table.inject(more);
    assert_eq!(wait(edge).0, 1);
    // EPOLLONESHOT reports one event until it is set again.
    assert_eq!(control(level, libc::EPOLL_CTL_MOD, libc::EPOLLIN | libc::EPOLLONESHOT), None);
    assert_eq!((wait(level).0, wait(level).0), (1, 0));
    assert_eq!(control(level, libc::EPOLL_CTL_DEL, 0), None);
    assert_eq!(table.close(level), 0);
    // SAFETY: passes only the table's own pointer.
    let gone = unsafe { (table.0.epoll_create.unwrap())(table.0.userdata, 0) };
    assert_eq!((gone, errno()), (-1, Some(libc::EINVAL)));
}

#[test]
fn urgent_data_is_refused_and_read_in_line() {
    let table = Table::new();
    let (fd, iss) = open(&table);
    assert_eq!((send(&table, fd, b"!", libc::MSG_OOB), errno()), (-1, Some(libc::EOPNOTSUPP)));
    let mut urgent = peer_segment(Flags::ACK | Flags::URG, 1, iss + 1);
    (urgent.payload, urgent.urgent) = (b"ab".as_slice().into(), 2);
    table.inject(urgent);
    // SAFETY: the pointer is to a value that lives here, with its length.
    let got = unsafe {
        (table.0.recv.unwrap())(table.0.userdata, fd, [0_u8; 4].as_mut_ptr().cast(), 4, libc::MSG_OOB)
    };
    assert_eq!((got, errno()), (-1, Some(libc::EINVAL)));
    assert_eq!(table.read(fd, 4), b"ab");
}

#[test]
fn more_waits_and_records_keep_apart() {
    let table = Table::new();
    let (fd, iss) = open(&table);
    assert_eq!(send(&table, fd, &[1; 10], libc::MSG_MORE), 10);
    assert_eq!(send(&table, fd, &[2; 10], 0), 10);
    let sent = table.sniff().unwrap();
    assert_eq!((sent.payload.len(), sent.flags.contains(Flags::PSH)), (20, true));
    table.inject(peer_segment(Flags::ACK, 1, iss + 21));
    assert_eq!(set(&table, fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, &1_i32.to_ne_bytes()), None);
    assert_eq!(set(&table, fd, libc::IPPROTO_TCP, libc::TCP_CORK, &1_i32.to_ne_bytes()), None);
    assert_eq!(send(&table, fd, &[3; 10], libc::MSG_EOR), 10);
    assert_eq!(send(&table, fd, &[4; 10], libc::MSG_EOR), 10);
    assert_eq!(set(&table, fd, libc::IPPROTO_TCP, libc::TCP_CORK, &0_i32.to_ne_bytes()), None);
    assert_eq!([(); 2].map(|()| table.sniff().unwrap().payload.len()), [10, 10]);
}

/// SO_LINGER with a time of zero.
#[test]
fn a_close_at_once_is_a_reset() {
    let table = Table::new();
    let (fd, _) = open(&table);
    let linger = [1_i32, 0].map(i32::to_ne_bytes).concat();
    assert_eq!(set(&table, fd, libc::SOL_SOCKET, libc::SO_LINGER, &linger), None);
    assert_eq!(get(&table, fd, libc::SOL_SOCKET, libc::SO_LINGER, 8), linger);
    assert_eq!(table.close(fd), 0);
    assert!(table.sniff().unwrap().flags.rst());
}
