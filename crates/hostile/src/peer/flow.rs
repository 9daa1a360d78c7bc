//! What a peer knows of a subflow and of the connection that it belongs to.
//!
//! Owns sequence numbers, keys and windows as the peer has learnt them. Makes no segments.

use std::net::SocketAddr;

use mptcp::Version;
use mptcp_wire::{MpCapable, MptcpOption, Segment, Seq};

/// How far a subflow has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The peer's SYN is out.
    Asked,
    /// The host's SYN came, and was not answered or not confirmed.
    Called,
    /// Both are acknowledged.
    Open,
    /// A reset came.
    Dead,
}

/// A subflow as the peer sees it.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The peer's address and port.
    pub peer: SocketAddr,
    /// The host's.
    pub host: SocketAddr,
    /// Which of the peer's connections it belongs to.
    pub link: usize,
    /// It was opened by an MP_JOIN.
    pub joins: bool,
    /// The peer sent the first SYN.
    pub calls: bool,
    /// How far it has come.
    pub stage: Stage,
    /// The peer's initial sequence number.
    pub iss: Seq,
    /// The peer's next one.
    pub next: Seq,
    /// The host's initial sequence number.
    pub host_iss: Seq,
    /// The host's next one, as far as all before it is here.
    pub host_next: Seq,
    /// The largest acknowledgement of the host's.
    pub acknowledged: Seq,
    /// The window that the host offered last, bytes.
    pub window: u32,
    /// The shift of the host's window.
    pub host_scale: u8,
    /// Both sides sent timestamps.
    pub timestamps: bool,
    /// The host's last timestamp.
    pub host_clock: u32,
    /// The peer's nonce of a join.
    pub nonce: u32,
    /// The host's.
    pub host_nonce: u32,
    /// Something came that an honest peer acknowledges.
    pub owes_ack: bool,
    /// The peer has sent a FIN.
    pub finished: bool,
}

/// A connection as the peer sees it.
#[derive(Clone, Debug)]
pub struct Link {
    /// What is spoken.
    pub version: Version,
    /// MP_CAPABLE was exchanged.
    pub multipath: bool,
    /// DSS checksums are used.
    pub checksum: bool,
    /// The peer's key.
    pub key: u64,
    /// The host's, once it has shown it.
    pub host_key: Option<u64>,
    /// Offset of the peer's next byte in its stream.
    pub data_next: u64,
    /// What the host has acknowledged of it.
    pub data_acknowledged: u64,
    /// Offset of the host's next byte, as far as all before it is here.
    pub host_data: u64,
    /// The host's DATA_FIN came.
    pub host_ended: bool,
    /// The peer has sent a DATA_FIN.
    pub ended: bool,
}

impl Flow {
    /// A subflow of which nothing is known yet.
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

    /// Takes sequence numbers, window and clock of what the host sent.
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
    /// A connection that is about to begin.
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

    /// The data sequence number of the byte at `offset` of the peer's stream.
    #[must_use]
    pub fn number(&self, offset: u64) -> u64 {
        self.version.digest(self.key).initial_sequence.wrapping_add(1).wrapping_add(offset)
    }

    /// The same of the host's.
    #[must_use]
    pub fn host_number(&self, offset: u64) -> Option<u64> {
        let first = self.version.digest(self.host_key?).initial_sequence;
        Some(first.wrapping_add(1).wrapping_add(offset))
    }

    /// What the peer acknowledges of the host's stream.
    #[must_use]
    pub fn data_ack(&self) -> Option<u64> {
        self.host_number(self.host_data + u64::from(self.host_ended))
    }

    /// Takes what the host's segment says of its stream.
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
        // Where this payload lies in the mapping.
        let skipped = u64::from(relative.wrapping_sub(mapping.subflow_sequence));
        let begin = start.wrapping_add(skipped);
        let end = begin.wrapping_add(segment.payload.len() as u64);
        if begin <= self.host_data && end > self.host_data && !segment.payload.is_empty() {
            self.host_data = end;
        }
    }
}
