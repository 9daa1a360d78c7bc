//! The attacking peer's state of a subflow and of its connection.
//!
//! Owns the sequence numbers, keys and windows that the peer learns from the segments of the host, the
//! attacked endpoint. The peer's valid segments contain them.

use std::net::SocketAddr;

use mptcp::Version;
use mptcp_wire::{MpCapable, MptcpOption, Segment, Seq};

/// Stage of a subflow's handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The peer has sent a SYN.
    Asked,
    /// The host's SYN arrived; the handshake is incomplete.
    Called,
    /// The handshake is complete.
    Open,
    /// A reset arrived.
    Dead,
}

/// A subflow in the peer's view.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The peer's address and port.
    pub peer: SocketAddr,
    /// The host's address and port.
    pub host: SocketAddr,
    /// Index of the subflow's connection in [`Peer::links`](super::Peer::links).
    pub link: usize,
    /// The subflow was opened by an MP_JOIN.
    pub joins: bool,
    /// The peer sent the first SYN.
    pub calls: bool,
    /// Stage of the handshake.
    pub stage: Stage,
    /// The peer's initial sequence number.
    pub iss: Seq,
    /// The peer's next sequence number.
    pub next: Seq,
    /// The host's initial sequence number.
    pub host_iss: Seq,
    /// The host's next sequence number in order.
    pub host_next: Seq,
    /// The highest acknowledgement of the host.
    pub acknowledged: Seq,
    /// The host's latest window, in bytes.
    pub window: u32,
    /// The host's window scale.
    pub host_scale: u8,
    /// Both ends sent timestamps.
    pub timestamps: bool,
    /// The host's latest timestamp.
    pub host_clock: u32,
    /// The peer's nonce for MP_JOIN.
    pub nonce: u32,
    /// The host's nonce for MP_JOIN.
    pub host_nonce: u32,
    /// A segment arrived that an honest peer acknowledges.
    pub owes_ack: bool,
    /// The peer has sent a FIN.
    pub finished: bool,
}

/// A connection in the peer's view.
#[derive(Clone, Debug)]
pub struct Link {
    /// The MPTCP version.
    pub version: Version,
    /// Both ends sent MP_CAPABLE.
    pub multipath: bool,
    /// DSS checksums are in use.
    pub checksum: bool,
    /// The peer's key.
    pub key: u64,
    /// The host's key, once it is known.
    pub host_key: Option<u64>,
    /// Offset of the peer's next byte in its stream.
    pub data_next: u64,
    /// Offset up to which the host has acknowledged the peer's stream.
    pub data_acknowledged: u64,
    /// Offset of the host's next byte in order.
    pub host_data: u64,
    /// The host's DATA_FIN arrived.
    pub host_ended: bool,
    /// The peer has sent a DATA_FIN.
    pub ended: bool,
}

impl Flow {
    /// A subflow before its handshake.
    #[must_use]
    pub fn new(peer: SocketAddr, host: SocketAddr, link: usize, iss: u32) -> Self {
        Self {
            peer,
            host,
            link,
            joins: false,
            calls: true,
            stage: Stage::Asked,
            iss: Seq::new(iss),
            next: Seq::new(iss) + 1,
            host_iss: Seq::default(),
            host_next: Seq::default(),
            acknowledged: Seq::new(iss),
            window: 65_535,
            host_scale: 0,
            timestamps: false,
            host_clock: 0,
            nonce: iss ^ 0x5bd1_e995,
            host_nonce: 0,
            owes_ack: false,
            finished: false,
        }
    }

    /// Records sequence numbers, window and timestamp of a host's segment.
    pub(super) fn learn(&mut self, segment: &Segment) {
        if let Some(timestamps) = segment.options.timestamps {
            self.host_clock = timestamps.value;
        }
        if segment.flags.ack() {
            let ack = segment.acknowledgment;
            if ack.offset_from(self.acknowledged) > 0 && ack.offset_from(self.next) <= 0 {
                self.acknowledged = ack;
            }
            let scale = if segment.flags.syn() { 0 } else { self.host_scale };
            self.window = u32::from(segment.window) << scale;
        }
        if segment.flags.syn() {
            return;
        }
        let end = segment.sequence + segment.sequence_length();
        if segment.sequence.offset_from(self.host_next) <= 0 && end.offset_from(self.host_next) > 0 {
            self.host_next = end;
        }
        self.owes_ack |= segment.sequence_length() > 0;
    }
}

impl Link {
    /// A connection before its handshake.
    #[must_use]
    pub fn new(version: Version, key: u64) -> Self {
        Self {
            version,
            multipath: false,
            checksum: false,
            key,
            host_key: None,
            data_next: 0,
            data_acknowledged: 0,
            host_data: 0,
            host_ended: false,
            ended: false,
        }
    }

    /// Data sequence number of the byte at `offset` of the peer's stream.
    #[must_use]
    pub fn number(&self, offset: u64) -> u64 {
        self.version.digest(self.key).initial_sequence.wrapping_add(1).wrapping_add(offset)
    }

    /// Data sequence number of the byte at `offset` of the host's stream; None without the host's key.
    #[must_use]
    pub fn host_number(&self, offset: u64) -> Option<u64> {
        let first = self.version.digest(self.host_key?).initial_sequence;
        Some(first.wrapping_add(1).wrapping_add(offset))
    }

    /// The peer's data acknowledgement; None without the host's key.
    #[must_use]
    pub fn data_ack(&self) -> Option<u64> {
        self.host_number(self.host_data + u64::from(self.host_ended))
    }

    /// Records MPTCP options of a host's segment. `relative` is its subflow sequence number.
    pub(super) fn learn(&mut self, segment: &Segment, relative: u32) {
        for option in &segment.options.mptcp {
            if let MptcpOption::Capable(MpCapable { flags, sender_key, data, .. }) = option {
                self.checksum |= flags & MpCapable::CHECKSUM_REQUIRED != 0;
                self.host_key = self.host_key.or(*sender_key);
                if let Some((length, _)) = data.filter(|_| self.host_data == 0 && relative == 1) {
                    self.host_data = u64::from(length).min(segment.payload.len() as u64);
                }
            }
        }
        let Some(dss) = segment.options.dss else { return };
        if let Some(ack) = dss.ack {
            let first = self.number(0);
            let offset = ack.expand(first.wrapping_add(self.data_next)).wrapping_sub(first);
            if (self.data_acknowledged..=self.data_next).contains(&offset) {
                self.data_acknowledged = offset;
            }
        }
        let (Some(mapping), Some(first)) = (dss.mapping, self.host_number(0)) else { return };
        let start = mapping.sequence.expand(first.wrapping_add(self.host_data)).wrapping_sub(first);
        if dss.data_fin {
            self.host_ended |= start + u64::from(mapping.length) == self.host_data + 1;
        }
        if mapping.length == 0 {
            return;
        }
        // Offset of the payload in the mapping.
        let skipped = u64::from(relative.wrapping_sub(mapping.subflow_sequence));
        let begin = start.wrapping_add(skipped);
        let end = begin.wrapping_add(segment.payload.len() as u64);
        if begin <= self.host_data && end > self.host_data && !segment.payload.is_empty() {
            self.host_data = end;
        }
    }
}
