//! A subflow: one TCP connection (RFC 9293) within a Multipath TCP connection.
//!
//! Owns the four-tuple, the TCP state and both halves of the stream. Offsets count from the initial
//! sequence numbers; only this room turns them into sequence numbers. Data sequence numbers, windows
//! over all subflows and the choice of what to send belong to the connection.
//!
//! The parts of a subflow, for the connection that it belongs to.
//!
//! What a subflow has waiting to be sent, beside new data.
//!
//! One look at each subflow, and the sums of them, say which questions need to be asked at all. Says nothing of when.

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

/// Timestamps option with its two NOPs, bytes.
const TIMESTAMPS_SPACE: u64 = 12;
/// DSS option of a data segment, padded: 4-byte ack and 8-byte sequence; the checksum fits the padding.
pub(crate) const DSS_SPACE: u64 = 24;
/// The same with an 8-byte ack.
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

    /// Payload bytes of a full segment, with the options every data segment carries (RFC 6691).
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

    /// The offset that a sequence number of the peer's stands for, near what is expected now.
    #[inline]
    pub(crate) fn receive_offset(&self, sequence: Seq) -> Option<u64> {
        let near = self.receiver.next();
        let distance = sequence.offset_from(self.handshake.irs + near as u32);
        if distance == 0 {
            // What is next, as nearly all is.
            return Some(near);
        }
        near.checked_add_signed(i64::from(distance))
    }

    /// The offset that an acknowledgement stands for.
    pub(crate) fn send_offset(&self, acknowledgment: Seq) -> Option<u64> {
        let near = self.sender.board.una;
        let distance = acknowledgment.offset_from(self.handshake.iss + near as u32);
        near.checked_add_signed(i64::from(distance))
    }

    /// Where in the stream of a TCP an offset of ours stands.
    pub(crate) fn stream_offset(&self, offset: u64) -> u64 {
        offset.saturating_sub(self.handshake.first_sent)
    }

    pub(crate) fn sequence_at(&self, offset: u64) -> Seq {
        self.handshake.iss + offset as u32
    }

    /// The acknowledgement number left on a segment that had no room for blocks.
    pub(crate) fn number_acknowledged(&mut self) {
        self.window.last_ack_sent = self.receiver.next();
    }

    pub(crate) fn acknowledgement_sent(&mut self) {
        self.number_acknowledged();
        self.receiver.acknowledged();
        self.echo.acknowledged();
    }

    /// Both sides as path managers see them.
    pub(crate) fn pair(&self) -> Pair {
        self.addresses.pair()
    }

    /// Data may be sent, as far as the state goes.
    pub(crate) fn can_send(&self) -> bool {
        matches!(self.state, State::Established | State::CloseWait)
            && !self.handshake.unconfirmed
            && !self.pending_control.fin
    }

    /// Past the handshake and not over.
    pub(crate) fn is_synchronised(&self) -> bool {
        !matches!(self.state, State::SynSent | State::SynReceived | State::Closed)
    }

    /// A join of the peer's that has not shown its HMAC yet.
    pub(crate) fn is_half_open_join(&self) -> bool {
        self.state == State::SynReceived && self.handshake.origin != Origin::Initial
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// The peer was heard.
    pub(crate) fn keep_alive(&mut self, now: Instant, keepalive: Option<Keepalive>) {
        self.liveness.kept = 0;
        self.liveness
            .slow_timers
            .set_keepalive(keepalive.map_or(Instant::FAR_FUTURE, |keepalive| now + keepalive.idle));
    }

    /// Where a segment stands: the offsets of its first byte and of what it acknowledges.
    pub(crate) fn place_of(&self, segment: &Segment) -> (Option<u64>, Option<u64>) {
        (self.receive_offset(segment.sequence), self.send_offset(segment.acknowledgment))
    }

    /// Whether the window of a segment that begins at `start` and acknowledges `ack` is news (RFC 9293 section 3.10.7.4, on
    /// SND.WL1 and SND.WL2), and not of one that was
    /// overtaken.
    pub(crate) fn window_is_news(&mut self, start: u64, ack: u64) -> bool {
        let (last_start, last_ack) = self.window.from;
        // As in Linux, more that is acknowledged is news too: a peer that repeats old data may have no other way to tell.
        let news = start > last_start || ack > last_ack || (start, ack) == (last_start, last_ack);
        if news {
            self.window.from = (last_start.max(start), last_ack.max(ack));
        }
        news
    }

    /// A data segment came that is taken.
    #[inline(always)]
    pub(crate) fn note_data(&mut self, segment: &Segment) {
        self.note_mark(segment);
        self.receiver.note_push(segment.flags.contains(Flags::PSH), segment.payload.len() as u64);
    }

    /// The window that Linux has of this subflow after a segment with `window` (net/ipv4/tcp_input.c, `tcp_may_update_window`):
    /// one that repeats the last acknowledgement widens it, or closes it.
    pub(crate) fn kept_window(&mut self, start: u64, ack: u64, window: u64) -> u64 {
        let (last_start, last_ack) = self.window.from;
        let wider = start == last_start && (window > self.window.kept || window == 0);
        if ack > last_ack || start > last_start || wider {
            self.window.from = (start, last_ack.max(ack));
            self.window.kept = window;
        }
        self.window.kept
    }

    /// The largest payload that the peer takes without options, bytes.
    pub(crate) fn peer_mss(&self) -> u16 {
        self.negotiated.peer_mss
    }

    /// When data has stayed unacknowledged for too long.
    pub(crate) fn user_deadline(&self) -> Instant {
        let oldest = || self.sender.board.queue.front().map(|sent| sent.first_sent_at);
        let since = self.liveness.user_timeout.and_then(|most| Some(oldest()? + most));
        since.unwrap_or(Instant::FAR_FUTURE)
    }

    pub(crate) fn deadline(&self) -> Instant {
        if self.state == State::Closed {
            return Instant::FAR_FUTURE;
        }
        let usual =
            self.sender.deadline().min(self.receiver.deadline()).min(self.liveness.slow_timers.first());
        if self.liveness.user_timeout.is_none() { usual } else { usual.min(self.user_deadline()) }
    }

    /// The timestamp clock: milliseconds, RFC 7323 section 5.4.
    pub(crate) fn timestamps_at(&self, now: Instant) -> Option<Timestamps> {
        self.negotiated
            .timestamps
            .on
            .then(|| Timestamps { value: self.clock_at(now), echo: self.negotiated.timestamps.recent })
    }

    /// Our clock.
    pub(crate) fn clock_at(&self, now: Instant) -> u32 {
        timestamp_clock(now, self.negotiated.timestamps.offset)
    }

    /// When the segment was sent that this echo answers.
    pub(crate) fn echo_time(&self, segment: &Segment, now: Instant) -> Option<Instant> {
        self.echo_on(segment)?.sent_at(now)
    }

    /// What a segment echoes.
    #[inline]
    pub(crate) fn echo_on(&self, segment: &Segment) -> Option<TimestampEcho> {
        let timestamps = segment.options.timestamps.filter(|_| self.negotiated.timestamps.on)?;
        Some(TimestampEcho { value: timestamps.echo, offset: self.negotiated.timestamps.offset })
    }

    /// RFC 7323 section 4.3: remembers the timestamp of a segment that covers the last
    /// acknowledgement sent.
    pub(crate) fn note_timestamp(&mut self, now: Instant, segment: &Segment, start: u64) {
        if let Some(timestamps) = segment.options.timestamps.filter(|_| self.negotiated.timestamps.on)
            && start <= self.window.last_ack_sent
            && timestamps.value.wrapping_sub(self.negotiated.timestamps.recent) < 1 << 31
        {
            self.negotiated.timestamps.recent = timestamps.value;
            self.negotiated.timestamps.recent_at = now;
        }
    }

    /// Whether RFC 7323 section 5.5 says that the remembered timestamp is too old to count.
    pub(crate) fn timestamp_expired(&self, now: Instant) -> bool {
        now.since(self.negotiated.timestamps.recent_at) > Duration::from_secs(24 * 24 * 3600)
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

    /// How many of its last two segments that were not full are under way.
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

    /// What is left of the window that was said last on it.
    pub(crate) fn advertised_window(&self) -> u64 {
        let since = self.receiver.next().saturating_sub(self.window.last_ack_sent);
        self.window.advertised.saturating_sub(since)
    }

    /// The window that the peer said with the last acknowledgement.
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

    /// What is to be said beside data.
    pub(crate) fn control(&self) -> Option<Control> {
        self.pending_control.control
    }

    pub(crate) fn set_control(&mut self, control: Option<Control>) {
        self.pending_control.control = control;
    }

    pub(crate) fn take_control(&mut self) -> Option<Control> {
        self.pending_control.control.take()
    }

    /// Whether a FIN is wanted after what was sent.
    pub(crate) fn wants_fin(&self) -> bool {
        self.pending_control.fin
    }

    pub(crate) fn want_fin(&mut self) {
        self.pending_control.fin = true;
    }

    /// Both parts that received data passes.
    pub(crate) fn receiving(&mut self) -> (&mut Receiver, &mut Mapper) {
        (&mut self.receiver, &mut self.mapper)
    }
}

/// Kinds of segments that wait, one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PendingSends(u8);

impl PendingSends {
    pub(crate) const CONTROL: Self = Self(1);
    /// What is lost, or a probe for it.
    pub(crate) const AGAIN: Self = Self(2);
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
    pub(crate) fn owes_nothing(&self) -> bool {
        !self.receiver.wants_ack()
            && self.pending_control.control.is_none()
            && self.sender.board.lost == 0
            && !self.sender.wants_probe()
            && !self.pending_control.fin
    }

    #[inline]
    pub(crate) fn due(&self) -> PendingSends {
        let again = (self.sender.board.lost > 0) | self.sender.wants_probe();
        PendingSends(
            u8::from(self.pending_control.control.is_some())
                | u8::from(again) << 1
                | u8::from(self.pending_control.fin) << 2
                | u8::from(self.receiver.wants_ack()) << 3,
        )
    }
}
