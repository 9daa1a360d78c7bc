//! A scripted peer that sends segments of a test and reads Linux's answers, for segments that no regular stack sends.
//!
//! Owns the device and the state of its flows.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use bytes::Bytes;
use mptcp_live::{Offload, Tun};
use mptcp_wire::crypto::Version;
use mptcp_wire::{
    Checksum, DataSequence, Dss, Flags, Mapping, MpCapable, MpJoin, MptcpOption, Packet, Segment, Seq,
};

use super::{
    End, LIMIT, Namespace, PORT, Protocol, at, linux, linux_subflows, or_skip, ours, wait_until, within,
};

/// Maximum time of an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The peer's key.
pub const KEY: u64 = 0x0123_4567_89ab_cdef;
/// Flags of MP_CAPABLE: HMAC-SHA256, checksum required.
pub const H: u8 = MpCapable::HMAC;
pub const C: u8 = MpCapable::CHECKSUM_REQUIRED;
/// The peer's initial sequence number.
const ISS: u32 = 1_000;

/// The device and its unprocessed segments.
pub struct Wire {
    file: File,
    _tun: Tun,
    waiting: RefCell<VecDeque<Segment>>,
}

impl Wire {
    /// Runs a test with a namespace and its wire.
    pub fn run(test: impl FnOnce(Namespace, Self) + Send + 'static) {
        within(LIMIT, || {
            if let Some((namespace, wire)) = Self::new() {
                test(namespace, wire);
            }
        });
    }

    /// A namespace with one device, and its wire.
    pub fn new() -> Option<(Namespace, Self)> {
        let namespace = Namespace::bare()?;
        let tun = or_skip(namespace.device(1, Offload::None))?;
        let file = File::from(tun.as_fd().try_clone_to_owned().unwrap());
        Some((namespace, Self { file, _tun: tun, waiting: RefCell::default() }))
    }

    fn send(&self, segment: Segment) {
        let mut bytes = Vec::new();
        Packet::new(segment).emit(&mut bytes).unwrap();
        (&self.file).write_all(&bytes).unwrap();
    }

    /// The next segment that is `wanted`. Other segments stay for later calls.
    pub fn receive(&self, what: &str, wanted: impl Fn(&Segment) -> bool) -> Segment {
        let deadline = Instant::now() + PATIENCE;
        let mut waiting = self.waiting.borrow_mut();
        loop {
            if let Some(at) = waiting.iter().position(&wanted) {
                return waiting.remove(at).unwrap();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{what}: not received; received: {waiting:?}");
            let mut poll = libc::pollfd { fd: self.file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: there is one entry, and the descriptor is open.
            unsafe { libc::poll(&raw mut poll, 1, left.as_millis().min(1_000) as libc::c_int) };
            let mut bytes = vec![0; 65_535];
            if let Ok(count) = (&self.file).read(&mut bytes) {
                bytes.truncate(count);
                waiting.extend(Packet::parse(&Bytes::from(bytes)).ok().map(|packet| packet.segment));
            }
        }
    }
}

/// A subflow in the peer's view.
pub struct Flow<'a> {
    pub wire: &'a Wire,
    pub us: SocketAddr,
    pub them: SocketAddr,
    /// Sent sequence space including the SYN, in bytes.
    pub sent: u32,
    pub their_iss: Seq,
    /// Next expected sequence number.
    pub expected: Seq,
    pub their_key: u64,
    /// Acknowledged data-level bytes from Linux.
    pub data_acked: u64,
    /// The window field, without scaling.
    pub window: u16,
    /// Kept open to accept joins.
    pub listener: Option<TcpListener>,
    /// All received segments.
    pub log: Vec<Segment>,
}

/// An MP_CAPABLE of version 1.
pub fn capable(flags: u8, keys: Option<(u64, u64)>, data: Option<(u16, Option<u16>)>) -> MptcpOption {
    let (sender_key, receiver_key) = (keys.map(|keys| keys.0), keys.map(|keys| keys.1));
    MptcpOption::Capable(MpCapable { version: 1, flags, sender_key, receiver_key, data })
}

/// Data sequence number of the peer with this key; offset 1 is the first byte.
pub fn number(key: u64, offset: u64) -> u64 {
    Version::V1.digest(key).initial_sequence.wrapping_add(offset)
}

/// The MP_CAPABLE option of a segment.
pub fn capable_of(segment: &Segment) -> Option<MpCapable> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Capable(capable) => Some(*capable),
        _ => None,
    })
}

/// The reason of a segment's MP_TCPRST.
pub fn reason_of(segment: &Segment) -> Option<u8> {
    segment.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::TcpRst(reset) => Some(reset.reason.0),
        _ => None,
    })
}

impl<'a> Flow<'a> {
    /// A flow from a local port to Linux's server, before its SYN.
    pub fn new(wire: &'a Wire, port: u16) -> Self {
        Self {
            wire,
            us: SocketAddr::new(ours(1), port),
            them: at(linux(1)),
            sent: 0,
            their_iss: Seq::default(),
            expected: Seq::default(),
            their_key: 0,
            data_acked: 0,
            window: 60_000,
            listener: None,
            log: Vec::new(),
        }
    }

    /// Accepts the SYN of a connection that Linux opens.
    pub fn called(wire: &'a Wire) -> (Self, Segment) {
        let syn = wire.receive("a SYN", |segment| segment.flags == Flags::SYN);
        let mut flow = Self { us: syn.destination, them: syn.source, ..Self::new(wire, PORT) };
        (flow.their_iss, flow.expected) = (syn.sequence, syn.sequence + 1);
        (flow, syn)
    }

    /// Sends an acknowledgement that `edit` changes.
    pub fn say(&mut self, edit: impl FnOnce(&mut Segment)) {
        let mut segment = Segment::new(self.us, self.them);
        (segment.flags, segment.window) = (Flags::ACK, self.window);
        (segment.sequence, segment.acknowledgment) = (Seq::new(ISS) + self.sent, self.expected);
        edit(&mut segment);
        self.sent += segment.sequence_length();
        self.wire.send(segment);
    }

    /// Waits for a segment of this flow that is `wanted`. Acknowledges data in order.
    pub fn hear(&mut self, what: &str, wanted: impl Fn(&Segment) -> bool) -> Segment {
        loop {
            let (us, them) = (self.us, self.them);
            let segment =
                self.wire.receive(what, |segment| segment.destination == us && segment.source == them);
            if segment.sequence == self.expected {
                self.expected = self.expected + segment.sequence_length();
            }
            self.log.push(segment.clone());
            if wanted(&segment) {
                return segment;
            }
            assert!(!segment.flags.rst(), "{what}: a RST came: {segment:?}");
        }
    }

    /// Sends a SYN with this option. Returns Linux's answer.
    pub fn open(&mut self, option: Option<MptcpOption>) -> Segment {
        self.say(|syn| {
            (syn.flags, syn.acknowledgment) = (Flags::SYN, Seq::default());
            syn.options.mss = Some(1_460);
            syn.options.mptcp.extend(option);
        });
        let answer = self.hear("an answer to the SYN", |segment| segment.flags.syn() || segment.flags.rst());
        (self.their_iss, self.expected) = (answer.sequence, answer.sequence + 1);
        if let Some(MpCapable { sender_key: Some(key), .. }) = capable_of(&answer) {
            self.their_key = key;
        }
        answer
    }

    /// Performs a handshake with these flags in SYN and third ACK.
    pub fn connect(wire: &'a Wire, port: u16, flags: u8) -> Self {
        let mut flow = Self::new(wire, port);
        flow.handshake(flags);
        flow
    }

    /// [`Self::connect`] for an existing flow.
    pub fn handshake(&mut self, flags: u8) {
        self.open(Some(capable(flags, None, None)));
        assert_ne!(self.their_key, 0, "Linux speaks MPTCP");
        let keys = (KEY, self.their_key);
        self.say(|ack| ack.options.mptcp.push(capable(flags, Some(keys), None)));
    }

    /// A DSS with a 64-bit DATA_ACK, and a mapping of (data, length) to the next bytes.
    pub fn dss(&self, mapping: Option<(u64, u16)>) -> Dss {
        Dss {
            ack: Some(DataSequence::Wide(number(self.their_key, 1 + self.data_acked))),
            mapping: mapping.map(|(data, length)| Mapping {
                sequence: DataSequence::Wide(number(KEY, data)),
                subflow_sequence: self.sent,
                length,
                checksum: None,
            }),
            data_fin: false,
        }
    }

    /// Sends bytes of the stream from `data` on.
    pub fn send(&mut self, data: u64, bytes: &[u8]) {
        let dss = self.dss(Some((data, bytes.len() as u16)));
        self.say(|segment| {
            segment.options.dss = Some(dss);
            segment.payload = Bytes::copy_from_slice(bytes);
        });
    }

    /// [`Self::send`] with a checksum that is off by `wrong`.
    pub fn send_summed(&mut self, data: u64, bytes: &[u8], wrong: u16) {
        let mut dss = self.dss(Some((data, bytes.len() as u16)));
        if let Some(mapping) = &mut dss.mapping {
            let mut sum = Checksum::dss(number(KEY, data), mapping.subflow_sequence, mapping.length);
            sum.add(bytes);
            mapping.checksum = Some(sum.value().wrapping_add(wrong));
        }
        self.say(|segment| {
            segment.options.dss = Some(dss);
            segment.payload = Bytes::copy_from_slice(bytes);
        });
    }

    /// Waits until Linux has acknowledged all sent data of this subflow.
    pub fn acked(&mut self) -> Segment {
        let all = Seq::new(ISS) + self.sent;
        self.hear("an acknowledgement of all", |segment| segment.acknowledgment == all || segment.flags.rst())
    }

    /// Sends the SYN of a join with Linux's token. Returns the answer.
    pub fn join_syn(&mut self, first: &Flow<'_>, token: Option<u32>, backup: bool) -> Segment {
        self.their_key = first.their_key;
        let token = token.unwrap_or_else(|| Version::V1.digest(first.their_key).token);
        self.open(Some(MptcpOption::Join(MpJoin::Syn { backup, address_id: 3, token, nonce: 5 })))
    }

    /// Performs a join. `right` is whether the HMAC of the third ACK is valid.
    pub fn join(wire: &'a Wire, first: &Flow<'_>, port: u16, right: bool) -> Self {
        let mut flow = Self::new(wire, port);
        let answer = flow.join_syn(first, None, false);
        let Some(MptcpOption::Join(MpJoin::SynAck { nonce, .. })) = answer.options.mptcp.first() else {
            panic!("no MP_JOIN in {answer:?}");
        };
        let mut hmac = Version::V1.join_hmac(KEY, first.their_key, 5, *nonce);
        hmac[7] ^= u8::from(!right);
        flow.say(|ack| ack.options.mptcp.push(MptcpOption::Join(MpJoin::Ack { hmac })));
        flow
    }
}

/// A connection after the transfer of five bytes.
pub fn open<'a>(namespace: &Namespace, wire: &'a Wire, flags: u8) -> (Flow<'a>, TcpStream) {
    let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
    let mut flow = Flow::connect(wire, 2_000, flags);
    let (them, _) = listener.accept().unwrap();
    them.be_patient();
    if flags & C == 0 {
        flow.send(1, b"first")
    } else {
        flow.send_summed(1, b"first", 0)
    }
    flow.acked();
    read(&them, b"first");
    flow.listener = Some(listener);
    (flow, them)
}

/// [`open`] with a second working subflow.
pub fn open_two<'a>(namespace: &Namespace, wire: &'a Wire, flags: u8) -> (Flow<'a>, Flow<'a>, TcpStream) {
    let (first, them) = open(namespace, wire, flags);
    let mut second = Flow::join(wire, &first, 2_001, true);
    second.hear("the fourth ACK", |segment| segment.flags == Flags::ACK);
    wait_until("it has joined", || linux_subflows(&them) == Some(1));
    (first, second, them)
}

/// Checks the next bytes that Linux's application reads.
pub fn read(them: &TcpStream, expected: &[u8]) {
    let mut received = vec![0; expected.len()];
    let mut count = 0;
    while count < expected.len() {
        let some = them.read_some(&mut received[count..]).unwrap();
        assert!(some > 0, "the stream has ended");
        count += some;
    }
    assert_eq!(received, expected);
}

/// Whether a segment has a matching option.
pub fn has(segment: &Segment, wanted: impl Fn(&MptcpOption) -> bool) -> bool {
    segment.options.mptcp.iter().any(wanted)
}
