//! Plays TCP and MPTCP connections: a list of segments with the times at which the capture sees them.

use std::net::SocketAddr;

use bytes::Bytes;
use mptcp_wire::crypto::Version;
use mptcp_wire::{
    DataSequence, Dss, Flags, Mapping, MpCapable, MpJoin, MptcpOption, Segment, Seq, Timestamps,
};

/// Payload of a full segment, bytes.
pub(crate) const MSS: u32 = 1400;
pub(crate) const CLIENT_KEY: u64 = 0x0102_0304_0506_0708;
pub(crate) const SERVER_KEY: u64 = 0x1112_1314_1516_1718;
const ZEROS: &[u8] = &[0; 65_536];

/// The addresses and numbers of one subflow. Side 0 is the host that opens it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub(crate) ends: [SocketAddr; 2],
    /// Numbers of the SYNs.
    pub(crate) initial: [u32; 2],
    pub(crate) window: u16,
}

impl Flow {
    pub(crate) fn new(opener: &str, listener: &str) -> Self {
        let ends = [opener.parse().unwrap(), listener.parse().unwrap()];
        Self { ends, initial: [1000, 2000], window: 0xffff }
    }

    /// The first subflow of most tests.
    pub(crate) fn first() -> Self {
        Self::new("10.0.0.1:40000", "10.0.1.1:443")
    }

    /// The second subflow of most tests.
    pub(crate) fn second() -> Self {
        Self { initial: [7000, 8000], ..Self::new("10.0.2.1:50000", "10.0.1.1:443") }
    }

    /// A segment from a side; numbers are relative to the SYNs.
    pub(crate) fn segment(&self, side: usize, sequence: u32, ack: u32, flags: Flags) -> Segment {
        let mut segment = Segment::new(self.ends[side], self.ends[1 - side]);
        segment.sequence = Seq::new(self.initial[side]) + sequence;
        segment.flags = flags;
        if flags.ack() {
            segment.acknowledgment = Seq::new(self.initial[1 - side]) + ack;
        }
        segment.window = self.window;
        segment
    }

    pub(crate) fn syn(&self) -> Segment {
        let mut syn = self.segment(0, 0, 0, Flags::SYN);
        (syn.options.mss, syn.options.window_scale, syn.options.sack_permitted) = (Some(1412), Some(7), true);
        syn
    }

    pub(crate) fn syn_ack(&self) -> Segment {
        let mut syn = self.segment(1, 0, 1, Flags::SYN | Flags::ACK);
        (syn.options.mss, syn.options.window_scale, syn.options.sack_permitted) = (Some(1412), Some(7), true);
        syn
    }

    pub(crate) fn third(&self) -> Segment {
        self.segment(0, 1, 1, Flags::ACK)
    }

    /// Payload from a side.
    pub(crate) fn data(&self, side: usize, sequence: u32, length: u32) -> Segment {
        let mut segment = self.segment(side, sequence, 1, Flags::ACK);
        segment.payload = Bytes::from_static(&ZEROS[..length as usize]);
        segment
    }

    /// Payload with a mapping; `data` is the number of its first byte, from 1.
    pub(crate) fn mapped(&self, side: usize, sequence: u32, length: u32, data: u64) -> Segment {
        let mut segment = self.data(side, sequence, length);
        let number = DataSequence::Wide(initial_data(side).wrapping_add(data));
        segment.options.dss = Some(dss(None, Some((number, sequence, length as u16))));
        segment
    }

    /// An acknowledgement from a side, with SACK blocks.
    pub(crate) fn ack(&self, side: usize, ack: u32, blocks: &[(u32, u32)]) -> Segment {
        let mut segment = self.segment(side, 1, ack, Flags::ACK);
        let base = Seq::new(self.initial[1 - side]);
        segment.options.sack = blocks.iter().map(|(left, right)| (base + *left, base + *right)).collect();
        segment
    }

    /// An acknowledgement with a DATA_ACK for data of the other side.
    pub(crate) fn data_ack(&self, side: usize, ack: u32, blocks: &[(u32, u32)], data: u64) -> Segment {
        let mut segment = self.ack(side, ack, blocks);
        let number = DataSequence::Wide(initial_data(1 - side).wrapping_add(data));
        segment.options.dss = Some(dss(Some(number), None));
        segment
    }
}

/// The data sequence number before the first byte of a side.
pub(crate) fn initial_data(side: usize) -> u64 {
    Version::V1.digest([CLIENT_KEY, SERVER_KEY][side]).initial_sequence
}

/// A DSS option.
pub(crate) fn dss(ack: Option<DataSequence>, mapping: Option<(DataSequence, u32, u16)>) -> Dss {
    let mapping = mapping.map(|(sequence, subflow_sequence, length)| Mapping {
        sequence,
        subflow_sequence,
        length,
        checksum: None,
    });
    Dss { ack, mapping, data_fin: false }
}

/// An MP_CAPABLE option with these keys.
pub(crate) fn capable(sender_key: Option<u64>, receiver_key: Option<u64>) -> MptcpOption {
    let flags = MpCapable::HMAC;
    MptcpOption::Capable(MpCapable { version: 1, flags, sender_key, receiver_key, data: None })
}

/// Segments with the times at which the capture sees them, ns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    pub(crate) segments: Vec<(u64, Segment)>,
    /// RTT between the capture and each side, ns.
    pub(crate) distance: [u64; 2],
    /// Adds timestamps of this resolution, ns.
    pub(crate) clock: Option<u64>,
}

impl Scene {
    /// A scene whose capture is this far (RTT, ns) from the opener and from the listener of the first subflow.
    pub(crate) fn at(opener: u64, listener: u64) -> Self {
        Self { distance: [opener, listener], ..Self::default() }
    }

    pub(crate) fn rtt(&self) -> u64 {
        self.distance[0] + self.distance[1]
    }

    pub(crate) fn add(&mut self, time: u64, segment: Segment) {
        self.segments.push((time, segment));
    }

    /// The segments in the order of their times.
    pub(crate) fn sorted(&self) -> Vec<(u64, Segment)> {
        let mut segments = self.segments.clone();
        segments.sort_by_key(|(time, _)| *time);
        if let Some(clock) = self.clock {
            add_timestamps(&mut segments, self.distance, clock);
        }
        segments
    }

    /// Times of SYN, SYN/ACK and ACK at the capture.
    fn times(&self, start: u64) -> [u64; 3] {
        [start, start + self.distance[1], start + self.rtt()]
    }

    /// The handshake of TCP. Returns the time of its end.
    pub(crate) fn open_plain(&mut self, flow: &Flow, start: u64) -> u64 {
        let times = self.times(start);
        for (time, segment) in times.into_iter().zip([flow.syn(), flow.syn_ack(), flow.third()]) {
            self.add(time, segment);
        }
        times[2]
    }

    /// The handshake of MPTCP. Returns the time of its end.
    pub(crate) fn open(&mut self, flow: &Flow, start: u64) -> u64 {
        let options = [
            capable(None, None),
            capable(Some(SERVER_KEY), None),
            capable(Some(CLIENT_KEY), Some(SERVER_KEY)),
        ];
        let times = self.times(start);
        let segments = [flow.syn(), flow.syn_ack(), flow.third()];
        for ((time, mut segment), option) in times.into_iter().zip(segments).zip(options) {
            segment.options.mptcp.push(option);
            self.add(time, segment);
        }
        times[2]
    }

    /// The segments of the handshake of a further subflow, which a host with the key of `opener` opens.
    pub(crate) fn join_segments(flow: &Flow, opener: usize, backup: bool) -> [Segment; 3] {
        let keys = [CLIENT_KEY, SERVER_KEY];
        let token = Version::V1.digest(keys[1 - opener]).token;
        let mut segments = [flow.syn(), flow.syn_ack(), flow.third()];
        segments[0].options.mptcp.push(MptcpOption::Join(MpJoin::Syn {
            backup,
            address_id: 2,
            token,
            nonce: 1,
        }));
        let answer = MpJoin::SynAck { backup: false, address_id: 0, hmac: 1, nonce: 2 };
        segments[1].options.mptcp.push(MptcpOption::Join(answer));
        segments[2].options.mptcp.push(MptcpOption::Join(MpJoin::Ack { hmac: [3; 20] }));
        segments
    }

    /// The handshake of a further subflow. Returns the time of its end.
    pub(crate) fn join(&mut self, flow: &Flow, start: u64, opener: usize, backup: bool) -> u64 {
        let times = self.times(start);
        for (time, segment) in times.into_iter().zip(Self::join_segments(flow, opener, backup)) {
            self.add(time, segment);
        }
        times[2]
    }
}

/// Gives each segment the time of its sender, and the last timestamp that had arrived there.
fn add_timestamps(segments: &mut [(u64, Segment)], distance: [u64; 2], clock: u64) {
    let Some(opener) = segments.first().map(|(_, first)| first.source) else { return };
    let seen: Vec<(u64, usize)> =
        segments.iter().map(|(time, one)| (*time, usize::from(one.source != opener))).collect();
    // Clocks of hosts start anywhere.
    let value = |time: u64| (time / clock) as u32 + 5000;
    for (time, segment) in segments.iter_mut() {
        let side = usize::from(segment.source != opener);
        let sent = (*time + S_BEFORE).saturating_sub(distance[side] / 2);
        let arrived = seen
            .iter()
            .rev()
            .find(|(other, from)| *from != side && *other + S_BEFORE + distance[side] / 2 <= sent);
        let echo =
            arrived.map_or(0, |(other, from)| value((*other + S_BEFORE).saturating_sub(distance[*from] / 2)));
        segment.options.timestamps = Some(Timestamps { value: value(sent), echo });
    }
}

/// Added to times, so that a sender's time before the first packet is positive.
const S_BEFORE: u64 = 1_000_000_000;
