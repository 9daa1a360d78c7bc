//! A subflow: one TCP connection (RFC 9293) within an MPTCP connection.
//!
//! Owns the four-tuple, the TCP state, both halves of the stream, and the conversion between offsets and
//! sequence numbers. Offsets count from the initial sequence numbers. Never handles data sequence numbers,
//! and never chooses which data to send: the connection does both.

pub(crate) mod acceptance;
pub(crate) mod backlog;
pub(crate) mod delivery_rate;
mod early_data;
pub(crate) mod ecn;
mod ecn_state;
mod lifecycle;
pub(crate) mod loss_state;
pub(crate) mod mapping;
pub(crate) mod mtu_probe;
pub(crate) mod path_mtu;
pub(crate) mod receiver;
mod scheduling;
pub(crate) mod scoreboard;
pub mod sender;
mod state;

use std::net::SocketAddr;
use std::ops::BitOr;

use mptcp_clock::{Duration, Instant};
use mptcp_wire::{Flags, Segment, Seq, Timestamps};

use crate::config::{Config, Keepalive};
pub use crate::event::SubflowCloseReason;
use crate::ids::InterfaceId;
use crate::memory::most_segments;
use crate::path_manager::Pair;
use crate::subflow::backlog::Backlog;
use crate::subflow::ecn_state::Echo;
pub(crate) use crate::subflow::lifecycle::LINGER;
use crate::subflow::mapping::Mapper;
use crate::subflow::path_mtu::PathMtu;
use crate::subflow::receiver::Receiver;
use crate::subflow::scheduling::SchedulingState;
pub(crate) use crate::subflow::scheduling::{ScanPosition, StaleState};
use crate::subflow::sender::Sender;
pub(crate) use crate::subflow::state::{Control, Origin, Probation, timestamp_clock};
use crate::subflow::state::{
    HandshakeState, Liveness, Negotiated, PathAddresses, PeerWindow, PendingControl, Record, TimestampClock,
    TimestampEcho,
};
pub use crate::subflow::state::{State, SubflowStats};

/// The timestamps option with two NOPs, bytes.
const TIMESTAMPS_SPACE: u64 = 12;
/// The DSS option of a data segment, padded, bytes: a 4-byte DATA_ACK and an 8-byte sequence number. The checksum fits
/// into the padding.
pub(crate) const DSS_SPACE: u64 = 24;
/// The DSS option with an 8-byte DATA_ACK, bytes.
const WIDE_DSS_SPACE: u64 = 28;

#[derive(Debug)]
pub(crate) struct Subflow {
    addresses: PathAddresses,
    state: State,
    handshake: HandshakeState,
    negotiated: Negotiated,
    sender: Sender,
    backlog: Backlog,
    receiver: Receiver,
    mapper: Mapper,
    echo: Echo,
    mtu: PathMtu,
    pending_control: PendingControl,
    window: PeerWindow,
    liveness: Liveness,
    record: Record,
    scheduling: SchedulingState,
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
        let mut subflow = Self {
            addresses: PathAddresses::new(interface, local, remote),
            state: State::Closed,
            handshake: HandshakeState::new(origin, Seq::new(iss)),
            negotiated: Negotiated::default(),
            sender: Sender::new(
                config.min_rto,
                2 * most_segments(config.send_buffer),
                config.spurious_loss.unwrap_or_default(),
            ),
            backlog: Backlog::default(),
            receiver: Receiver::new(
                config.delayed_ack,
                config.linux_stack.buffer_memory,
                config.mss,
                config.receive_buffer,
                config.receive_block,
            ),
            mapper: Mapper::new(config.receive_buffer, config.receive_block),
            echo: Echo::default(),
            mtu: PathMtu::default(),
            pending_control: PendingControl::default(),
            window: PeerWindow::default(),
            liveness: Liveness { user_timeout: config.user_timeout, ..Liveness::default() },
            record: Record::default(),
            scheduling: SchedulingState::default(),
        };
        if config.linux_compat.cwnd_limited_per_round {
            subflow.sender.count_by_round();
        }
        if config.linux_compat.pingpong {
            subflow.receiver.expect_answers();
        }
        subflow
    }

    /// The payload of a full segment with the options of each data segment (RFC 6691), bytes.
    pub(crate) fn payload_size(&self, config: &Config, multipath: bool) -> u64 {
        let dss = match multipath {
            false => 0,
            true if config.wide_data_acks => WIDE_DSS_SPACE,
            true => DSS_SPACE,
        };
        let options = dss + if self.negotiated.timestamps.on { TIMESTAMPS_SPACE } else { 0 };
        u64::from(self.negotiated.peer_mss.min(config.mss).min(self.mtu.limit()))
            .saturating_sub(options)
            .max(16)
    }

    /// The offset of a sequence number of the peer: of all possible offsets, the nearest to the next expected
    /// one. `None` if that offset is negative.
    #[inline]
    pub(crate) fn receive_offset(&self, sequence: Seq) -> Option<u64> {
        let near = self.receiver.next();
        let distance = sequence.offset_from(self.handshake.irs + near as u32);
        if distance == 0 {
            // The common case.
            return Some(near);
        }
        near.checked_add_signed(i64::from(distance))
    }

    /// The offset of an acknowledgement number. `None` if the offset is negative.
    pub(crate) fn send_offset(&self, acknowledgment: Seq) -> Option<u64> {
        let near = self.sender.board.una;
        let distance = acknowledgment.offset_from(self.handshake.iss + near as u32);
        near.checked_add_signed(i64::from(distance))
    }

    /// Without MPTCP: the stream offset of a subflow offset of sent data.
    pub(crate) fn stream_offset(&self, offset: u64) -> u64 {
        offset.saturating_sub(self.handshake.first_sent)
    }

    pub(crate) fn sequence_at(&self, offset: u64) -> Seq {
        self.handshake.iss + offset as u32
    }

    /// Notes that a segment carried the acknowledgement number, without space for SACK blocks.
    pub(crate) fn on_ack_number_sent(&mut self) {
        self.window.last_ack_sent = self.receiver.next();
    }

    pub(crate) fn on_ack_sent(&mut self) {
        self.on_ack_number_sent();
        self.receiver.acknowledged();
        self.echo.acknowledged();
    }

    /// The address pair, as path managers see it.
    pub(crate) fn pair(&self) -> Pair {
        self.addresses.pair()
    }

    /// Whether the state permits sending data.
    pub(crate) fn can_send(&self) -> bool {
        matches!(self.state, State::Established | State::CloseWait)
            && !self.handshake.awaits_join_confirmation
            && !self.pending_control.fin
    }

    /// Whether the handshake is complete and the subflow is open.
    pub(crate) fn is_synchronised(&self) -> bool {
        !matches!(self.state, State::SynSent | State::SynReceived | State::Closed)
    }

    /// Whether the subflow is a join whose sender has not yet proved that it knows the keys.
    pub(crate) fn is_half_open_join(&self) -> bool {
        self.state == State::SynReceived && self.handshake.origin != Origin::Initial
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Restarts the keepalive timer after a segment from the peer.
    pub(crate) fn keep_alive(&mut self, now: Instant, keepalive: Option<Keepalive>) {
        self.liveness.kept = 0;
        self.liveness
            .slow_timers
            .set_keepalive(keepalive.map_or(Instant::FAR_FUTURE, |keepalive| now + keepalive.idle));
    }

    /// The offsets of a segment's first byte and of its acknowledgement.
    pub(crate) fn place_of(&self, segment: &Segment) -> (Option<u64>, Option<u64>) {
        (self.receive_offset(segment.sequence), self.send_offset(segment.acknowledgment))
    }

    /// Whether a window update is newer than the last one (RFC 9293 section 3.10.7.4, SND.WL1 and SND.WL2).
    /// `start` and `ack` are offsets of the segment with the update.
    pub(crate) fn is_window_update(&mut self, start: u64, ack: u64) -> bool {
        let (last_start, last_ack) = self.window.from;
        // As in Linux, a higher acknowledgement is enough, even with an old sequence number: a peer that only repeats
        // old data can still open its window.
        let is_newer = start > last_start || ack > last_ack || (start, ack) == (last_start, last_ack);
        if is_newer {
            self.window.from = (last_start.max(start), last_ack.max(ack));
        }
        is_newer
    }

    /// Notes an accepted data segment.
    #[inline(always)]
    pub(crate) fn note_data(&mut self, segment: &Segment) {
        self.note_mark(segment);
        self.receiver.note_push(segment.flags.contains(Flags::PSH), segment.payload.len() as u64);
    }

    /// The window that Linux would store for a segment with a window of `window` bytes (net/ipv4/tcp_input.c,
    /// `tcp_may_update_window`). A repeated acknowledgement only widens the window, or closes it.
    pub(crate) fn update_snd_wnd(&mut self, start: u64, ack: u64, window: u64) -> u64 {
        let (last_start, last_ack) = self.window.from;
        let wider = start == last_start && (window > self.window.kept || window == 0);
        if ack > last_ack || start > last_start || wider {
            self.window.from = (start, last_ack.max(ack));
            self.window.kept = window;
        }
        self.window.kept
    }

    /// The largest payload without options that the peer accepts, bytes.
    pub(crate) fn peer_mss(&self) -> u16 {
        self.negotiated.peer_mss
    }

    /// The time at which data has been unacknowledged for the user timeout.
    pub(crate) fn user_deadline(&self) -> Instant {
        let oldest = || self.sender.board.queue.front().map(|sent| sent.first_sent_at);
        let since = self.liveness.user_timeout.and_then(|most| Some(oldest()? + most));
        since.unwrap_or(Instant::FAR_FUTURE)
    }

    pub(crate) fn deadline(&self) -> Instant {
        if self.state == State::Closed {
            return Instant::FAR_FUTURE;
        }
        let deadline =
            self.sender.deadline().min(self.receiver.deadline()).min(self.liveness.slow_timers.first());
        if self.liveness.user_timeout.is_none() { deadline } else { deadline.min(self.user_deadline()) }
    }

    /// The timestamps option for a segment; the clock counts milliseconds (RFC 7323 section 5.4). `None` if not
    /// negotiated.
    pub(crate) fn timestamps_at(&self, now: Instant) -> Option<Timestamps> {
        self.negotiated
            .timestamps
            .on
            .then(|| Timestamps { value: self.clock_at(now), echo: self.negotiated.timestamps.recent })
    }

    pub(crate) fn clock_at(&self, now: Instant) -> u32 {
        timestamp_clock(now, self.negotiated.timestamps.offset)
    }

    /// The send time of the segment whose timestamp is echoed; `None` without timestamps.
    pub(crate) fn echo_time(&self, segment: &Segment, now: Instant) -> Option<Instant> {
        self.echo_on(segment)?.sent_at(now)
    }

    /// The timestamp that a segment echoes.
    #[inline]
    pub(crate) fn echo_on(&self, segment: &Segment) -> Option<TimestampEcho> {
        let timestamps = segment.options.timestamps.filter(|_| self.negotiated.timestamps.on)?;
        Some(TimestampEcho { value: timestamps.echo, offset: self.negotiated.timestamps.offset })
    }

    /// Stores the timestamp of a segment that covers the last acknowledgement sent (RFC 7323 section 4.3).
    pub(crate) fn note_timestamp(&mut self, now: Instant, segment: &Segment, start: u64) {
        if let Some(timestamps) = segment.options.timestamps.filter(|_| self.negotiated.timestamps.on)
            && start <= self.window.last_ack_sent
            && timestamps.value.wrapping_sub(self.negotiated.timestamps.recent) < 1 << 31
        {
            self.negotiated.timestamps.recent = timestamps.value;
            self.negotiated.timestamps.ts_recent_at = now;
        }
    }

    /// Whether the stored timestamp is too old to be used (RFC 7323 section 5.5).
    pub(crate) fn timestamp_expired(&self, now: Instant) -> bool {
        now.since(self.negotiated.timestamps.ts_recent_at) > Duration::from_secs(24 * 24 * 3600)
    }

    pub(crate) fn echo(&self) -> &Echo {
        &self.echo
    }

    pub(crate) fn echo_mut(&mut self) -> &mut Echo {
        &mut self.echo
    }
}

impl Subflow {
    pub(crate) fn addresses(&self) -> &PathAddresses {
        &self.addresses
    }

    pub(crate) fn addresses_mut(&mut self) -> &mut PathAddresses {
        &mut self.addresses
    }

    pub(crate) fn handshake(&self) -> &HandshakeState {
        &self.handshake
    }

    pub(crate) fn handshake_mut(&mut self) -> &mut HandshakeState {
        &mut self.handshake
    }

    pub(crate) fn negotiated(&self) -> &Negotiated {
        &self.negotiated
    }

    pub(crate) fn negotiated_mut(&mut self) -> &mut Negotiated {
        &mut self.negotiated
    }

    pub(crate) fn clock(&self) -> &TimestampClock {
        &self.negotiated.timestamps
    }

    pub(crate) fn clock_mut(&mut self) -> &mut TimestampClock {
        &mut self.negotiated.timestamps
    }

    pub(crate) fn sender(&self) -> &Sender {
        &self.sender
    }

    pub(crate) fn sender_mut(&mut self) -> &mut Sender {
        &mut self.sender
    }

    pub(crate) fn backlog(&self) -> &Backlog {
        &self.backlog
    }

    pub(crate) fn backlog_mut(&mut self) -> &mut Backlog {
        &mut self.backlog
    }

    /// The number of small segments among the last two in flight.
    pub(crate) fn small_in_flight(&self) -> usize {
        self.sender.board.small_in_flight()
    }

    pub(crate) fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    pub(crate) fn receiver_mut(&mut self) -> &mut Receiver {
        &mut self.receiver
    }

    pub(crate) fn mapper(&self) -> &Mapper {
        &self.mapper
    }

    pub(crate) fn mapper_mut(&mut self) -> &mut Mapper {
        &mut self.mapper
    }

    /// The unused rest of the window that was advertised last on this subflow, bytes.
    pub(crate) fn advertised_window(&self) -> u64 {
        let since = self.receiver.next().saturating_sub(self.window.last_ack_sent);
        self.window.advertised.saturating_sub(since)
    }

    /// The window in the peer's last acknowledgement, bytes.
    pub(crate) fn offered_window(&self) -> u64 {
        self.window.heard
    }

    pub(crate) fn window_mut(&mut self) -> &mut PeerWindow {
        &mut self.window
    }

    pub(crate) fn mtu(&self) -> &PathMtu {
        &self.mtu
    }

    pub(crate) fn mtu_mut(&mut self) -> &mut PathMtu {
        &mut self.mtu
    }

    pub(crate) fn liveness(&self) -> &Liveness {
        &self.liveness
    }

    pub(crate) fn liveness_mut(&mut self) -> &mut Liveness {
        &mut self.liveness
    }

    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    pub(crate) fn record_mut(&mut self) -> &mut Record {
        &mut self.record
    }

    pub(crate) fn scheduling(&self) -> &SchedulingState {
        &self.scheduling
    }

    pub(crate) fn scheduling_mut(&mut self) -> &mut SchedulingState {
        &mut self.scheduling
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }

    pub(crate) fn set_state(&mut self, state: State) {
        self.state = state;
    }

    /// The control segment that waits.
    pub(crate) fn control(&self) -> Option<Control> {
        self.pending_control.control
    }

    pub(crate) fn set_control(&mut self, control: Option<Control>) {
        self.pending_control.control = control;
    }

    pub(crate) fn take_control(&mut self) -> Option<Control> {
        self.pending_control.control.take()
    }

    /// Whether a FIN has to follow the data sent so far.
    pub(crate) fn wants_fin(&self) -> bool {
        self.pending_control.fin
    }

    pub(crate) fn want_fin(&mut self) {
        self.pending_control.fin = true;
    }

    /// The receiver and the mapper: received data passes through both.
    pub(crate) fn receiving(&mut self) -> (&mut Receiver, &mut Mapper) {
        (&mut self.receiver, &mut self.mapper)
    }
}

/// Types of waiting segments, one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PendingSends(u8);

impl PendingSends {
    pub(crate) const CONTROL: Self = Self(1);
    /// Retransmissions and tail loss probes.
    pub(crate) const RETRANSMISSION: Self = Self(2);
    pub(crate) const FIN: Self = Self(4);
    pub(crate) const ACKNOWLEDGEMENT: Self = Self(8);

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(crate) fn has(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }
}

impl BitOr for PendingSends {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Subflow {
    #[inline]
    pub(crate) fn has_nothing_pending(&self) -> bool {
        !self.receiver.wants_ack()
            && self.pending_control.control.is_none()
            && self.sender.board.lost == 0
            && !self.sender.wants_probe()
            && !self.pending_control.fin
    }

    #[inline]
    pub(crate) fn due(&self) -> PendingSends {
        let retransmits = (self.sender.board.lost > 0) | self.sender.wants_probe();
        PendingSends(
            u8::from(self.pending_control.control.is_some())
                | u8::from(retransmits) << 1
                | u8::from(self.pending_control.fin) << 2
                | u8::from(self.receiver.wants_ack()) << 3,
        )
    }
}
