//! A scripted peer: it sends the segments that a test gives, and returns the responses of the endpoint.

#![allow(clippy::unwrap_used, reason = "a harness")]

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcp::{Config, ConnectionId, Endpoint, EventKind, InterfaceId, Version};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::{DataSequence, Dss, Flags, Mapping, MpCapable, MpJoin, MptcpOption, Segment, Seq};

pub const KEY: u64 = 2;

/// A subflow from the view of the peer, whose sequence numbers start at 0.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    pub peer: SocketAddr,
    pub host: SocketAddr,
    /// The host's initial sequence number.
    pub iss: Seq,
}

/// The scripted peer and the endpoint under test.
pub struct TestPeer {
    pub now: Instant,
    pub host: Endpoint,
    pub interface: InterfaceId,
    pub flow: Flow,
    pub host_key: u64,
    pub connection: ConnectionId,
    pub events: Vec<EventKind>,
}

pub fn host_address() -> IpAddr {
    [10, 0, 0, 1].into()
}

/// A segment without payload.
pub fn segment(from: SocketAddr, to: SocketAddr, flags: Flags, options: Vec<MptcpOption>) -> Segment {
    let mut segment = Segment::new(from, to);
    segment.flags = flags;
    segment.window = 60_000;
    segment.options.mptcp = options;
    segment
}

pub fn capable(flags: u8, keys: Option<(u64, u64)>) -> MptcpOption {
    let (sender_key, receiver_key) = (keys.map(|keys| keys.0), keys.map(|keys| keys.1));
    MptcpOption::Capable(MpCapable { version: 1, flags, sender_key, receiver_key, data: None })
}

impl TestPeer {
    /// A listening host after the SYN and the SYN/ACK.
    pub fn begun(config: Config) -> Self {
        let mut host = Endpoint::new(Rng::new(7, "host"));
        let interface = host.add_interface(host_address(), false);
        host.listen(80, config).unwrap();
        let flow = Flow {
            peer: "10.0.0.9:1000".parse().unwrap(),
            host: (host_address(), 80).into(),
            iss: Seq::default(),
        };
        let now = Instant::ZERO + Duration::from_secs(1);
        let syn = segment(flow.peer, flow.host, Flags::SYN, vec![capable(MpCapable::HMAC, None)]);
        host.handle_segment(now, interface, syn);
        let connection = host.connections().next().unwrap();
        let mut remote = Self { now, host, interface, flow, host_key: 0, connection, events: Vec::new() };
        let answers = remote.collect();
        remote.flow.iss = answers[0].sequence;
        if let Some(MptcpOption::Capable(MpCapable { sender_key: Some(key), .. })) =
            answers[0].options.mptcp.first()
        {
            remote.host_key = *key;
        }
        remote
    }

    /// An established connection, and the segments that the host sent after the third ACK.
    pub fn open(config: Config) -> (Self, Vec<Segment>) {
        let mut remote = Self::begun(config);
        let keys = (KEY, remote.host_key);
        let answers = remote
            .send(remote.flow, 1, 1, |ack| ack.options.mptcp.push(capable(MpCapable::HMAC, Some(keys))));
        (remote, answers)
    }

    /// Delivers a segment to the host; returns the segments that it sends.
    pub fn inject(&mut self, segment: Segment) -> Vec<Segment> {
        self.host.handle_segment(self.now, self.interface, segment);
        self.collect()
    }

    pub fn collect(&mut self) -> Vec<Segment> {
        let mut sent = Vec::new();
        while let Some(transmit) = self.host.poll_transmit(self.now) {
            let mut bytes = Vec::new();
            mptcp_wire::Packet::new(transmit.segment.clone()).emit(&mut bytes).unwrap();
            sent.push(transmit.segment);
        }
        while let Some(event) = self.host.poll_event() {
            self.connection = event.connection;
            self.events.push(event.kind);
        }
        sent
    }

    /// Sends an acknowledgement on a subflow, changed by `edit`. Sequence numbers are relative on both sides.
    pub fn send(
        &mut self,
        flow: Flow,
        sequence: u32,
        ack: u32,
        edit: impl FnOnce(&mut Segment),
    ) -> Vec<Segment> {
        let mut segment = segment(flow.peer, flow.host, Flags::ACK, Vec::new());
        segment.sequence = Seq::new(sequence);
        segment.acknowledgment = flow.iss + ack;
        edit(&mut segment);
        self.inject(segment)
    }

    /// Advances the time; returns the segments of the host with the time since the start.
    pub fn sleep(&mut self, span: Duration) -> Vec<(Duration, Segment)> {
        let (start, end) = (self.now, self.now + span);
        let mut sent = Vec::new();
        while let Some(at) = self.host.poll_timeout().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.host.handle_timeout(self.now);
            let passed = self.now.since(start);
            sent.extend(self.collect().into_iter().map(|segment| (passed, segment)));
        }
        self.now = end;
        sent
    }

    /// Joins from another port of the peer; returns the subflow, and the segments sent after its third ACK.
    pub fn join(&mut self, port: u16) -> (Flow, Vec<Segment>) {
        let mut flow = Flow { peer: SocketAddr::new(self.flow.peer.ip(), port), ..self.flow };
        let token = Version::V1.digest(self.host_key).token;
        let join = MptcpOption::Join(MpJoin::Syn { backup: false, address_id: 3, token, nonce: 5 });
        let answers = self.inject(segment(flow.peer, flow.host, Flags::SYN, vec![join]));
        flow.iss = answers[0].sequence;
        let Some(MptcpOption::Join(MpJoin::SynAck { nonce, .. })) = answers[0].options.mptcp.first() else {
            panic!("no MP_JOIN in {answers:?}");
        };
        let hmac = Version::V1.join_hmac(KEY, self.host_key, 5, *nonce);
        let join = MptcpOption::Join(MpJoin::Ack { hmac });
        let answers = self.send(flow, 1, 1, |ack| ack.options.mptcp.push(join));
        (flow, answers)
    }

    /// A data sequence number of the peer; `offset` 1 is the first byte.
    pub fn number(offset: u64) -> u64 {
        Version::V1.digest(KEY).initial_sequence.wrapping_add(offset)
    }

    /// A data sequence number of the host.
    pub fn host_number(&self, offset: u64) -> u64 {
        Version::V1.digest(self.host_key).initial_sequence.wrapping_add(offset)
    }

    /// A DSS option that acknowledges data of the host up to `ack`, with a mapping of (data offset, subflow sequence number, length).
    pub fn dss(&self, ack: u64, mapping: Option<(u64, u32, u16)>) -> Dss {
        Dss {
            ack: Some(DataSequence::Wide(self.host_number(ack))),
            mapping: mapping.map(|(data, subflow_sequence, length)| Mapping {
                sequence: DataSequence::Wide(Self::number(data)),
                subflow_sequence,
                length,
                checksum: None,
            }),
            data_fin: false,
        }
    }

    /// Sends `length` bytes at offset `data` of the stream on a subflow.
    pub fn send_data(&mut self, flow: Flow, sequence: u32, data: u64, length: u16) -> Vec<Segment> {
        let dss = self.dss(1, Some((data, sequence, length)));
        self.send(flow, sequence, 1, |segment| {
            segment.options.dss = Some(dss);
            segment.payload = Bytes::from(vec![1; length.into()]);
        })
    }

    pub fn mode(&self) -> mptcp::Mode {
        self.host.info(self.now, self.connection).unwrap().mode
    }
}
