//! The table that packetdrill calls, called from here: a server's connection from SYN to close, and a client's.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::ffi::{CString, c_int};
use std::net::SocketAddr;

use bytes::Bytes;
use mptcp_packetdrill::{Interface, packetdrill_interface_init};
use mptcp_wire::crypto::Version;
use mptcp_wire::{DataSequence, Dss, Flags, Mapping, MpCapable, MptcpOption, Packet, Segment, Seq};

const MPTCP: c_int = 262;
const KEY: u64 = 2;

/// The table, as C uses it.
struct Table(Interface);

impl Table {
    fn new() -> Self {
        let flags = CString::new("local=192.168.0.1,patience=1").unwrap();
        let mut table = Interface::empty();
        // SAFETY: both pointers are to values that live here.
        unsafe { packetdrill_interface_init(flags.as_ptr(), &raw mut table) };
        Self(table)
    }

    fn socket(&self) -> c_int {
        // SAFETY: no pointers but the table's own.
        unsafe { (self.0.socket.unwrap())(self.0.userdata, libc::AF_INET, libc::SOCK_STREAM, MPTCP) }
    }

    /// Calls that take an address.
    fn with_address(
        &self,
        call: unsafe extern "C" fn(
            *mut std::ffi::c_void,
            c_int,
            *const libc::sockaddr,
            libc::socklen_t,
        ) -> c_int,
        fd: c_int,
        address: SocketAddr,
    ) -> c_int {
        let SocketAddr::V4(address) = address else { panic!("the test speaks IPv4") };
        let raw = libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: address.port().to_be(),
            sin_addr: libc::in_addr { s_addr: u32::from(*address.ip()).to_be() },
            sin_zero: [0; 8],
        };
        // SAFETY: the pointer is to a value that lives here, with its length.
        unsafe { call(self.0.userdata, fd, (&raw const raw).cast(), size_of_val(&raw) as libc::socklen_t) }
    }

    fn inject(&self, segment: Segment) {
        let mut bytes = Vec::new();
        Packet::new(segment).emit(&mut bytes).unwrap();
        // SAFETY: the pointer is to a value that lives here, with its length.
        let sent =
            unsafe { (self.0.netdev_send.unwrap())(self.0.userdata, bytes.as_ptr().cast(), bytes.len()) };
        assert_eq!(sent, 0);
    }

    /// The next packet; None after the patience.
    fn sniff(&self) -> Option<Segment> {
        let mut buffer = vec![0_u8; 2000];
        let (mut count, mut micros) = (buffer.len(), 0);
        // SAFETY: all pointers are to values that live here, and `count` is the buffer's length.
        let outcome = unsafe {
            (self.0.netdev_receive.unwrap())(
                self.0.userdata,
                buffer.as_mut_ptr().cast(),
                &raw mut count,
                &raw mut micros,
            )
        };
        assert_eq!(outcome, 0);
        buffer.truncate(count);
        (count > 0).then(|| Packet::parse(&Bytes::from(buffer)).unwrap().segment)
    }

    fn accept(&self, fd: c_int) -> c_int {
        // SAFETY: null asks for no address.
        unsafe { (self.0.accept.unwrap())(self.0.userdata, fd, std::ptr::null_mut(), std::ptr::null_mut()) }
    }

    fn read(&self, fd: c_int, count: usize) -> Vec<u8> {
        let mut buffer = vec![0_u8; count];
        // SAFETY: the pointer is to a value that lives here, with its length.
        let got = unsafe { (self.0.read.unwrap())(self.0.userdata, fd, buffer.as_mut_ptr().cast(), count) };
        buffer.truncate(usize::try_from(got).unwrap());
        buffer
    }

    fn write(&self, fd: c_int, data: &[u8]) -> isize {
        // SAFETY: the pointer is to a value that lives here, with its length.
        unsafe { (self.0.write.unwrap())(self.0.userdata, fd, data.as_ptr().cast(), data.len()) }
    }

    fn close(&self, fd: c_int) -> c_int {
        // SAFETY: no pointers but the table's own.
        unsafe { (self.0.close.unwrap())(self.0.userdata, fd) }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // SAFETY: the instance is the table's, and nobody uses it after this.
        unsafe { (self.0.free.unwrap())(self.0.userdata) };
    }
}

fn errno() -> Option<i32> {
    std::io::Error::last_os_error().raw_os_error()
}

fn capable(sender_key: Option<u64>, receiver_key: Option<u64>) -> MptcpOption {
    let flags = MpCapable::HMAC;
    MptcpOption::Capable(MpCapable { version: 1, flags, sender_key, receiver_key, data: None })
}

fn key_in(segment: &Segment) -> u64 {
    match segment.options.mptcp.first() {
        Some(MptcpOption::Capable(MpCapable { sender_key: Some(key), .. })) => *key,
        other => panic!("no key in {other:?}"),
    }
}

fn peer_segment(flags: Flags, sequence: u32, acknowledgment: Seq) -> Segment {
    let (peer, host) = ("192.0.2.1:4000".parse().unwrap(), "192.168.0.1:8080".parse().unwrap());
    let mut segment = Segment::new(peer, host);
    (segment.flags, segment.sequence, segment.acknowledgment) = (flags, Seq::new(sequence), acknowledgment);
    segment.window = 60_000;
    segment
}

/// The peer's DSS: an acknowledgement of the host's data, and a mapping of its own.
fn dss(host_key: u64, ack: u64, mapping: Option<(u64, u32, u16)>) -> Dss {
    let number = |key: u64, offset: u64| Version::V1.digest(key).initial_sequence.wrapping_add(offset);
    Dss {
        ack: Some(DataSequence::Wide(number(host_key, ack))),
        mapping: mapping.map(|(data, subflow_sequence, length)| Mapping {
            sequence: DataSequence::Wide(number(KEY, data)),
            subflow_sequence,
            length,
            checksum: None,
        }),
        data_fin: false,
    }
}

#[test]
fn a_server_accepts_reads_writes_and_closes() {
    let table = Table::new();
    let listener = table.socket();
    assert!(listener >= 0);
    assert_eq!(table.with_address(table.0.bind.unwrap(), listener, "0.0.0.0:8080".parse().unwrap()), 0);
    // SAFETY: no pointers but the table's own.
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
    // SAFETY: no pointers but the table's own.
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
    // SAFETY: a null pointer is what is tested.
    let sent = unsafe { (table.0.write.unwrap())(table.0.userdata, fd, std::ptr::null(), 1) };
    assert_eq!((sent, errno()), (-1, Some(libc::EFAULT)));
    // SAFETY: no pointers but the table's own.
    let epoll = unsafe { (table.0.epoll_create.unwrap())(table.0.userdata, 1) };
    assert_eq!((epoll, errno()), (-1, Some(libc::ENOSYS)));
}

/// packetdrill asks again after a failure, for ever: a packet of no bytes is what makes it stop.
#[test]
fn silence_is_a_packet_of_no_bytes() {
    assert_eq!(Table::new().sniff(), None);
}
