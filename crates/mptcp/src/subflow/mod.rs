//! A subflow: one TCP connection (RFC 9293) within a Multipath TCP connection.
//!
//! Owns the four-tuple, the TCP state and both halves of the stream. Offsets count from the initial
//! sequence numbers; only this room turns them into sequence numbers. Data sequence numbers, windows
//! over all subflows and the choice of what to send belong to the connection.

pub(crate) mod check;
mod ending;
pub(crate) mod mapping;
mod opening;
mod rack;
mod rations;
pub(crate) mod receiver;
pub mod rtt;
pub(crate) mod scoreboard;
pub mod sender;
pub(crate) mod sent;
mod state;
mod timestamps;

use std::net::SocketAddr;

use bytes::Bytes;
use mptcp_clock::Instant;
use mptcp_wire::{Cookie, Segment, Seq};

use crate::config::{Config, Keepalive};
use crate::icmp_error::IcmpError;
use crate::ids::InterfaceId;
use crate::memory::most_segments;
use crate::path_manager::{LocalAddress, Pair, RemoteAddress};
pub(crate) use ending::LINGER;
use mapping::Mapper;
use receiver::Receiver;
use sender::Sender;
pub use state::{Closure, State, Tally};
pub(crate) use state::{Control, Origin, Probation};
pub(crate) use timestamps::timestamp_clock;

/// The MSS of a peer that sent none (RFC 9293 section 3.7.1).
const DEFAULT_MSS: u16 = 536;
/// Timestamps option with its two NOPs, bytes.
const TIMESTAMPS_SPACE: u64 = 12;
/// DSS option of a data segment, padded: 4-byte ack and 8-byte sequence; the checksum fits the padding.
const DSS_SPACE: u64 = 24;
/// The same with an 8-byte ack.
const WIDE_DSS_SPACE: u64 = 28;

#[derive(Debug)]
pub(crate) struct Subflow {
    pub interface: InterfaceId,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub local_id: u8,
    pub remote_id: u8,
    /// We asked the peer not to use it while others work.
    pub backup: bool,
    /// The peer asked the same of us.
    pub peer_backup: bool,
    pub state: State,
    pub origin: Origin,
    /// We sent the first SYN.
    pub opened_here: bool,
    /// Its handshake was completed.
    pub was_open: bool,
    /// The endpoint finds it by its four-tuple.
    pub registered: bool,
    /// Joined from here, and the peer has not confirmed our HMAC: no data yet (RFC 8684 section 3.2).
    pub unconfirmed: bool,
    pub iss: Seq,
    pub irs: Seq,
    /// Data of TCP Fast Open, in our SYN or in the peer's, that the stream has not taken yet (RFC 7413).
    pub syn_data: Bytes,
    /// The Fast Open option of our SYN or SYN/ACK.
    pub cookie: Option<Cookie>,
    /// Offsets of the first bytes after the SYNs and what they carried, ours and the peer's.
    pub first_sent: u64,
    pub first_received: u64,
    pub sender: Sender,
    pub receiver: Receiver,
    pub mapper: Mapper,
    pub send_scale: u8,
    pub receive_scale: u8,
    pub timestamps: bool,
    pub recent_timestamp: u32,
    /// Where our timestamps begin.
    pub timestamp_offset: u32,
    recent_at: Instant,
    pub sack: bool,
    peer_mss: u16,
    /// Most payload of one segment that the device cuts into frames, bytes; 0 where it cuts none.
    pub gso_max: u64,
    pub control: Option<Control>,
    pub handshake_deadline: Instant,
    pub handshake_attempts: u32,
    pub handshake_sent: Instant,
    /// The application or the connection wants a FIN after what was sent.
    pub fin_wanted: bool,
    /// The highest acknowledgement sent.
    last_ack_sent: u64,
    /// The window field last received.
    pub last_window: u16,
    /// A segment without MPTCP options was accepted, and none with them has acknowledged news since.
    pub optionless: bool,
    rations: rations::Rations,
    pub tally: Tally,
    pub closed_by: Option<Closure>,
    /// What an ICMP error said last of its segments.
    pub icmp: Option<IcmpError>,
    /// When its first SYN left or came.
    pub opened_at: Instant,
    pub closed_at: Option<Instant>,
    /// Which subflow of its connection it is, from 0; places are used again, numbers are not.
    pub number: u64,
    /// Set once its outstanding data was given to the others.
    pub reinjected: bool,
    /// When to ask whether the peer is alive, and how often it was asked since it was heard.
    pub keep_at: Instant,
    pub kept: u32,
    /// Sequence number and acknowledgement of the segment that the window was taken from: SND.WL1 and SND.WL2.
    window_from: (u64, u64),
    /// When to ask whether a silent path is back.
    pub probe_deadline: Instant,
    /// Joined from here lately, so that the peer may not be ready for data: see [`crate::JOIN_PROBATION`].
    pub probation: Option<Probation>,
    /// Up to this offset of the stream it has carried all: where the redundant scheduler goes on.
    pub duplicated: u64,
    /// The earliest time for new data, where the path is paced.
    pub next_send: Instant,
    /// The earliest time for M4 to look again.
    pub next_cap: Instant,
    /// When M2 last penalised this subflow, or another one on its behalf: see `PenaltyRule`.
    pub last_penalty: Option<Instant>,
}

impl Subflow {
    pub(crate) fn new(
        interface: InterfaceId,
        local: SocketAddr,
        remote: SocketAddr,
        origin: Origin,
        iss: u32,
        config: &Config,
    ) -> Self {
        Self {
            interface,
            local,
            remote,
            local_id: 0,
            remote_id: 0,
            backup: false,
            peer_backup: false,
            state: State::Closed,
            origin,
            opened_here: false,
            was_open: false,
            registered: false,
            unconfirmed: false,
            iss: Seq::new(iss),
            irs: Seq::default(),
            syn_data: Bytes::new(),
            cookie: None,
            first_sent: 1,
            first_received: 1,
            sender: Sender::new(config.min_rto, 2 * most_segments(config.send_buffer)),
            receiver: Receiver::new(
                config.delayed_ack,
                config.mss,
                config.receive_buffer,
                config.receive_block,
            ),
            mapper: Mapper::new(config.receive_buffer, config.receive_block),
            send_scale: 0,
            receive_scale: 0,
            timestamps: false,
            recent_timestamp: 0,
            timestamp_offset: 0,
            recent_at: Instant::ZERO,
            sack: false,
            peer_mss: DEFAULT_MSS,
            gso_max: 0,
            control: None,
            handshake_deadline: Instant::FAR_FUTURE,
            handshake_attempts: 0,
            handshake_sent: Instant::ZERO,
            fin_wanted: false,
            last_ack_sent: 0,
            last_window: 0,
            optionless: false,
            rations: rations::Rations::default(),
            tally: Tally::default(),
            closed_by: None,
            icmp: None,
            opened_at: Instant::ZERO,
            closed_at: None,
            number: 0,
            reinjected: false,
            keep_at: Instant::FAR_FUTURE,
            kept: 0,
            window_from: (0, 0),
            probe_deadline: Instant::FAR_FUTURE,
            probation: None,
            duplicated: 0,
            next_send: Instant::ZERO,
            next_cap: Instant::ZERO,
            last_penalty: None,
        }
    }

    /// Payload bytes of a full segment, with the options every data segment carries (RFC 6691).
    pub(crate) fn payload_size(&self, config: &Config, multipath: bool) -> u64 {
        let dss = match multipath {
            false => 0,
            true if config.habits.wide_data_acks => WIDE_DSS_SPACE,
            true => DSS_SPACE,
        };
        let options = dss + if self.timestamps { TIMESTAMPS_SPACE } else { 0 };
        u64::from(self.peer_mss.min(config.mss)).saturating_sub(options).max(16)
    }

    /// The offset that a sequence number of the peer's stands for, near what is expected now.
    pub(crate) fn receive_offset(&self, sequence: Seq) -> Option<u64> {
        let near = self.receiver.next();
        let distance = sequence.offset_from(self.irs + near as u32);
        near.checked_add_signed(i64::from(distance))
    }

    /// The offset that an acknowledgement stands for.
    pub(crate) fn send_offset(&self, acknowledgment: Seq) -> Option<u64> {
        let near = self.sender.board.una;
        let distance = acknowledgment.offset_from(self.iss + near as u32);
        near.checked_add_signed(i64::from(distance))
    }

    /// Where in the stream of a TCP an offset of ours stands.
    pub(crate) fn stream_offset(&self, offset: u64) -> u64 {
        offset.saturating_sub(self.first_sent)
    }

    pub(crate) fn sequence_at(&self, offset: u64) -> Seq {
        self.iss + offset as u32
    }

    /// The acknowledgement number left on a segment that had no room for blocks.
    pub(crate) fn number_acknowledged(&mut self) {
        self.last_ack_sent = self.receiver.next();
    }

    pub(crate) fn acknowledgement_sent(&mut self) {
        self.number_acknowledged();
        self.receiver.acknowledged();
    }

    /// Its two addresses.
    pub(crate) fn pair(&self) -> Pair {
        let (id, interface, backup) = (self.local_id, self.interface, self.backup);
        Pair {
            local: LocalAddress { id, interface, address: self.local.ip(), backup },
            remote: RemoteAddress { id: self.remote_id, address: self.remote },
        }
    }

    /// Data may be sent, as far as the state goes.
    pub(crate) fn can_send(&self) -> bool {
        matches!(self.state, State::Established | State::CloseWait) && !self.unconfirmed && !self.fin_wanted
    }

    /// Past the handshake and not over.
    pub(crate) fn is_synchronised(&self) -> bool {
        !matches!(self.state, State::SynSent | State::SynReceived | State::Closed)
    }

    /// A join of the peer's that has not shown its HMAC yet.
    pub(crate) fn is_half_open_join(&self) -> bool {
        self.state == State::SynReceived && self.origin != Origin::Initial
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// The peer was heard.
    pub(crate) fn keep_alive(&mut self, now: Instant, keepalive: Option<Keepalive>) {
        self.kept = 0;
        self.keep_at = keepalive.map_or(Instant::FAR_FUTURE, |keepalive| now + keepalive.idle);
    }

    /// Whether the window of a segment is news (RFC 9293 section 3.10.7.4, on SND.WL1 and SND.WL2), and not of one that was
    /// overtaken.
    pub(crate) fn window_is_news(&mut self, segment: &Segment) -> bool {
        let (Some(start), Some(ack)) =
            (self.receive_offset(segment.sequence), self.send_offset(segment.acknowledgment))
        else {
            return false;
        };
        let (last_start, last_ack) = self.window_from;
        // As in Linux, more that is acknowledged is news too: a peer that repeats old data may have no other way to tell.
        let news = (start, ack) >= self.window_from || ack > last_ack;
        if news {
            self.window_from = (last_start.max(start), last_ack.max(ack));
        }
        news
    }

    /// The largest payload that the peer takes without options, bytes.
    pub(crate) fn peer_mss(&self) -> u16 {
        self.peer_mss
    }

    pub(crate) fn deadline(&self) -> Instant {
        if self.state == State::Closed {
            return Instant::FAR_FUTURE;
        }
        let halves = self.sender.deadline().min(self.receiver.deadline());
        halves.min(self.handshake_deadline).min(self.probe_deadline).min(self.keep_at)
    }
}
