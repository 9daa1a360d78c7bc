//! Calls packetdrill's table from Rust, and builds segments of a peer.

#![allow(clippy::unwrap_used, reason = "a harness")]

use std::ffi::{CString, c_int};
use std::net::SocketAddr;

use bytes::Bytes;
use mptcp_packetdrill::{Interface, packetdrill_interface_init};
use mptcp_wire::crypto::Version;
use mptcp_wire::{DataSequence, Dss, Flags, Mapping, MpCapable, MptcpOption, Packet, Segment, Seq};

const MPTCP: c_int = 262;
pub const KEY: u64 = 2;

/// The table of C functions.
pub struct Table(pub Interface);

impl Table {
    pub fn new() -> Self {
        Self::with("")
    }

    /// Creates the table with flags after the address and the patience.
    pub fn with(flags: &str) -> Self {
        let flags = CString::new(format!("local=192.168.0.1,patience=1{flags}")).unwrap();
        let mut table = Interface::empty();
        // SAFETY: both pointers are to values that live here.
        unsafe { packetdrill_interface_init(flags.as_ptr(), &raw mut table) };
        Self(table)
    }

    pub fn socket(&self) -> c_int {
        // SAFETY: passes only the table's own pointer.
        unsafe { (self.0.socket.unwrap())(self.0.userdata, libc::AF_INET, libc::SOCK_STREAM, MPTCP) }
    }

    /// Calls a function that takes an address.
    pub fn with_address(
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

    pub fn inject(&self, segment: Segment) {
        let mut bytes = Vec::new();
        Packet::new(segment).emit(&mut bytes).unwrap();
        // SAFETY: the pointer is to a value that lives here, with its length.
        let sent =
            unsafe { (self.0.netdev_send.unwrap())(self.0.userdata, bytes.as_ptr().cast(), bytes.len()) };
        assert_eq!(sent, 0);
    }

    /// The next outgoing packet; None after `patience`.
    pub fn sniff(&self) -> Option<Segment> {
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

    pub fn accept(&self, fd: c_int) -> c_int {
        // SAFETY: null asks for no address.
        unsafe { (self.0.accept.unwrap())(self.0.userdata, fd, std::ptr::null_mut(), std::ptr::null_mut()) }
    }

    pub fn read(&self, fd: c_int, count: usize) -> Vec<u8> {
        let mut buffer = vec![0_u8; count];
        // SAFETY: the pointer is to a value that lives here, with its length.
        let got = unsafe { (self.0.read.unwrap())(self.0.userdata, fd, buffer.as_mut_ptr().cast(), count) };
        buffer.truncate(usize::try_from(got).unwrap());
        buffer
    }

    pub fn write(&self, fd: c_int, data: &[u8]) -> isize {
        // SAFETY: the pointer is to a value that lives here, with its length.
        unsafe { (self.0.write.unwrap())(self.0.userdata, fd, data.as_ptr().cast(), data.len()) }
    }

    pub fn close(&self, fd: c_int) -> c_int {
        // SAFETY: passes only the table's own pointer.
        unsafe { (self.0.close.unwrap())(self.0.userdata, fd) }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // SAFETY: the instance is the table's, and nobody uses it after this.
        unsafe { (self.0.free.unwrap())(self.0.userdata) };
    }
}

pub fn errno() -> Option<i32> {
    std::io::Error::last_os_error().raw_os_error()
}

pub fn capable(sender_key: Option<u64>, receiver_key: Option<u64>) -> MptcpOption {
    let flags = MpCapable::HMAC;
    MptcpOption::Capable(MpCapable { version: 1, flags, sender_key, receiver_key, data: None })
}

pub fn key_in(segment: &Segment) -> u64 {
    match segment.options.mptcp.first() {
        Some(MptcpOption::Capable(MpCapable { sender_key: Some(key), .. })) => *key,
        other => panic!("no key in {other:?}"),
    }
}

pub fn peer_segment(flags: Flags, sequence: u32, acknowledgment: Seq) -> Segment {
    let (peer, host) = ("192.0.2.1:4000".parse().unwrap(), "192.168.0.1:8080".parse().unwrap());
    let mut segment = Segment::new(peer, host);
    (segment.flags, segment.sequence, segment.acknowledgment) = (flags, Seq::new(sequence), acknowledgment);
    segment.window = 60_000;
    segment
}

/// A peer's DSS option: an acknowledgement of the host's data, and a mapping of the peer's data.
pub fn dss(host_key: u64, ack: u64, mapping: Option<(u64, u32, u16)>) -> Dss {
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
