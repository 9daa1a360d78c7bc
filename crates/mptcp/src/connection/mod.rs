//! A Multipath TCP connection (RFC 8684): one byte stream in each direction over one or more subflows.
//!
//! Owns the parts of a connection and decides whether received payload is kept. Plain TCP is the same code with one
//! subflow, no options and an infinite mapping. Never finds the connection of a segment, and never allocates ports or
//! tokens: the endpoint does both.
//!
//! Three sequences drive a connection:
//!
//! - `handle_segment` (`receive/`) processes a segment: options, acknowledgements, data, end of the stream.
//! - `poll_transmit` (`transmit/`) builds the next segment: control, retransmissions, data, FIN, acknowledgements.
//! - `handle_timeout` (`timers/`) runs every timer that has expired.
//!
//! The other folders:
//!
//! - `stream/`: the send buffer, the writer and the reassembly of received data.
//! - `reinject/`: data that is sent on a second subflow.
//! - `handshake/`: MP_CAPABLE, MP_JOIN, keys and TCP Fast Open.
//! - `addresses/`: local and remote addresses, the path manager, pending options.
//! - `close/`: DATA_FIN, resets, the end of subflows, fallback to TCP.
//! - `linux/`: subflow queues, reinjection and receive window as Linux implements them.
//! - `observe/`: events for an observer, and the reasons why nothing is sent.

mod addresses;
mod close;
mod handshake;
mod info;
mod lifecycle;
mod linux;
pub(crate) mod observe;
mod receive;
mod reinject;
mod report;
mod stream;
mod subflows;
mod timers;
mod transmit;

use bytes::Bytes;
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::crypto::Version;

use crate::config::{Config, Ecn};
use crate::congestion::{Congestion, CongestionControl};
use crate::connection::addresses::manager::AddressManager;
use crate::connection::addresses::pending_options::PendingOptions;
pub(crate) use crate::connection::handshake::JoinRefusal;
pub use crate::connection::handshake::negotiation::Mode;
use crate::connection::handshake::negotiation::Negotiation;
pub(crate) use crate::connection::handshake::options::{capable as capable_option, join as join_option};
pub(crate) use crate::connection::lifecycle::{EndpointEvent, SubflowTuple};
use crate::connection::lifecycle::{Lifecycle, PendingEvents};
use crate::connection::observe::limits::LimitClock;
use crate::connection::observe::observer::ObserverState;
use crate::connection::reinject::state::ReinjectionState;
pub use crate::connection::report::{ConnectionInfo, SubflowInfo};
use crate::connection::stream::recv::RecvStream;
use crate::connection::stream::send_buffer::SendBuffer;
pub use crate::connection::stream::write::WriteFlags;
use crate::connection::stream::writer::{DataFin, Writer};
use crate::connection::subflows::SubflowSet;
use crate::connection::timers::deadlines::Timers;
use crate::connection::transmit::data_ack_lead::DataAckLeads;
use crate::connection::transmit::scheduler_state::SchedulerState;
use crate::event::CloseReason;
use crate::ids::{InterfaceId, SubflowId};
use crate::memory::most_segments;
use crate::path_manager::LocalAddress;
use crate::scheduler::Scheduler;
use crate::subflow::Origin;

/// A Multipath TCP or TCP connection.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    negotiation: Negotiation,
    subflows: SubflowSet,
    addresses: AddressManager,
    congestion: Congestion,
    scheduler: SchedulerState,
    data_ack_leads: DataAckLeads,
    /// The reason why nothing is sent, and the time spent for each reason.
    limits: LimitClock,
    send: SendBuffer,
    writer: Writer,
    data_fin: DataFin,
    reinjection: ReinjectionState,
    recv: RecvStream,
    pending_options: PendingOptions,
    timers: Timers,
    lifecycle: Lifecycle,
    /// `None` unless an observer asked for events.
    observer: Option<Box<ObserverState>>,
}

impl Connection {
    /// Creates a connection. Its key is drawn from `random` unless `key` is given.
    pub(crate) fn new(
        now: Instant,
        mut config: Config,
        client: bool,
        mut random: Rng,
        local: Vec<LocalAddress>,
        key: Option<u64>,
    ) -> Self {
        let drawn = random.next_u64();
        let congestion = Congestion::new(
            config.congestion.build(),
            config.send_queue_rule,
            config.byte_counting,
            config.coupling,
            config.slow_start,
        );
        let congestion = congestion.with_abe(config.abe);
        if congestion.needs_marks() {
            config.ecn = Some(Ecn::On);
        }
        let recv = RecvStream::new(
            config.receive_buffer,
            config.mechanisms.autotuning,
            config.mss,
            config.receive_block,
        );
        let recv = if config.linux_stack.buffer_memory { recv.with_linux_window() } else { recv };
        Self {
            negotiation: Negotiation::new(
                client,
                config.multipath,
                config.version,
                key.unwrap_or(drawn),
                random,
            ),
            subflows: SubflowSet::default(),
            addresses: AddressManager::new(local, config.path_manager.build()),
            congestion,
            scheduler: SchedulerState::new(config.scheduler.build(), most_segments(config.send_buffer)),
            data_ack_leads: DataAckLeads::default(),
            limits: LimitClock::new(now),
            send: SendBuffer::default(),
            writer: Writer::default(),
            data_fin: DataFin::default(),
            reinjection: ReinjectionState::default(),
            recv,
            pending_options: PendingOptions::default(),
            timers: Timers::default(),
            lifecycle: Lifecycle::default(),
            observer: None,
            config,
        }
    }

    /// Returns the next bytes of the stream in order, or `None` if there are none now.
    pub(crate) fn read(&mut self, now: Instant) -> Option<Bytes> {
        let data = self.recv.read()?;
        if self.config.mechanisms.autotuning {
            self.tune_window(now);
        }
        if self.config.linux_stack.buffer_memory {
            self.advertise_opened_window();
        } else if self.recv.needs_window_update() {
            self.acknowledge_on_all_subflows();
        }
        Some(data)
    }

    #[inline(never)]
    fn tune_window(&mut self, now: Instant) {
        let rtt = self.max_rtt();
        // A pure receiver measures no RTT, except that of the handshake.
        self.recv.tune(now, rtt.unwrap_or(Duration::from_millis(100)));
    }

    /// The longest smoothed RTT of all subflows that are or were established. `None` if no RTT was measured.
    fn max_rtt(&self) -> Option<Duration> {
        let all = self.subflows.iter().zip(&self.congestion.paths);
        all.filter(|(subflow, _)| subflow.handshake().was_established).filter_map(|(_, path)| path.srtt).max()
    }

    /// Requests a window update as Linux does (net/mptcp/protocol.c, `mptcp_cleanup_rbuf`; net/ipv4/tcp.c,
    /// `__tcp_cleanup_rbuf`). A subflow sends one if the window is at least twice the window that it advertised last.
    #[inline(never)]
    fn advertise_opened_window(&mut self) {
        if self.recv.unread() == 0 && self.recv.early().is_empty() {
            self.subflows.iter_mut().for_each(|subflow| subflow.receiver_mut().on_all_read());
        }
        let (open, buffer) = (self.recv.open(), self.recv.buffer());
        if open == 0 || open < 2 * self.recv.advertised() {
            return;
        }
        for subflow in self.subflows.iter_mut().filter(|subflow| subflow.is_synchronised()) {
            let advertised = subflow.advertised_window();
            if 2 * advertised <= buffer && open >= 2 * advertised {
                subflow.receiver_mut().acknowledge_now();
            }
        }
    }

    #[inline(never)]
    fn acknowledge_on_all_subflows(&mut self) {
        for subflow in self.subflows.iter_mut().filter(|subflow| subflow.is_synchronised()) {
            subflow.receiver_mut().acknowledge_now();
        }
    }

    /// Drops unread data once the connection is closed.
    pub(crate) fn discard(&mut self) {
        if self.lifecycle.closed().is_some() {
            self.recv.discard();
        }
    }

    /// Bytes that can be read now.
    pub(crate) fn readable(&self) -> u64 {
        self.recv.unread()
    }

    /// Whether the handshake has not yet decided between MPTCP and TCP.
    pub(crate) fn is_negotiating(&self) -> bool {
        self.negotiation.is_open()
    }

    pub(crate) fn is_multipath(&self) -> bool {
        self.negotiation.is_multipath()
    }

    pub(crate) fn version(&self) -> Version {
        self.negotiation.version()
    }

    pub(crate) fn token(&self) -> u32 {
        self.negotiation.local().token
    }

    /// Takes the next event for the endpoint.
    pub(crate) fn poll_endpoint_event(&mut self) -> Option<EndpointEvent> {
        self.lifecycle.poll()
    }

    /// Whether the connection is open and has no event for the endpoint.
    #[inline]
    pub(crate) fn is_steady(&self) -> bool {
        self.lifecycle.is_empty_for_endpoint() && self.lifecycle.closed().is_none()
    }

    /// Whether the connection is open and has no event for the endpoint or the application.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_steady() && self.lifecycle.has_no_news()
    }

    pub(crate) fn pending(&mut self) -> &mut PendingEvents {
        self.lifecycle.pending_mut()
    }

    pub(crate) fn closed(&self) -> Option<CloseReason> {
        self.lifecycle.closed()
    }

    /// The configuration, with all later changes of options.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn set_policies(
        &mut self,
        congestion: Option<Box<dyn CongestionControl>>,
        scheduler: Option<Box<dyn Scheduler>>,
    ) {
        if let Some(algorithm) = congestion {
            self.congestion.set_algorithm(algorithm);
            let sampled = self.congestion.needs_samples();
            for slot in 0..self.subflows.len() {
                self.subflows[slot].sender_mut().enable_rate_samples(sampled, slot, &mut self.congestion);
            }
        }
        if let Some(scheduler) = scheduler {
            self.scheduler = SchedulerState::new(scheduler, most_segments(self.config.send_buffer));
            self.data_ack_leads = DataAckLeads::default();
            self.congestion.paths.iter_mut().for_each(|path| path.model.lead = Duration::ZERO);
        }
    }

    /// Whether a read made a window update due.
    pub(crate) fn needs_window_update_segment(&self) -> bool {
        self.subflows.iter().any(|subflow| subflow.receiver().wants_ack())
    }

    fn is_initial(&self, id: usize) -> bool {
        self.subflows[id].handshake().origin == Origin::Initial
    }

    /// The identifier and the interface of the subflow in a slot.
    #[inline]
    pub(crate) fn sent_by(&self, slot: usize) -> (SubflowId, InterfaceId) {
        let subflow = &self.subflows[slot];
        (subflow.record().id, subflow.addresses().interface)
    }

    /// The identifier of the subflow in a slot.
    pub(crate) fn subflow_id(&self, slot: usize) -> SubflowId {
        self.subflows[slot].record().id
    }

    /// Whether data passes through subflow queues, as in Linux. After fallback to TCP, this lasts only until
    /// the queues are empty.
    #[inline]
    pub(crate) fn has_queues(&self) -> bool {
        self.config.linux_stack.subflow_queues && self.fills_queues()
    }

    #[inline(never)]
    fn fills_queues(&self) -> bool {
        self.negotiation.is_multipath() || self.subflows.iter().any(|subflow| !subflow.backlog().is_empty())
    }
}

/// The decision about payload before a subflow acknowledges it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Kept,
    /// The payload is not acknowledged, so the peer treats it as lost.
    Refused,
    /// The subflow acknowledges the payload, and the stream drops it. "A receiver has the freedom to drop segments
    /// after acknowledgment at the subflow level, for example, due to memory constraints" (RFC 8684 section 3.3.2). The
    /// peer retransmits it at the data level, because no DATA_ACK covers it.
    Dropped,
}

impl Connection {
    /// Bytes of received payload in memory: unread, out of order at either level, or waiting for a checksum or the
    /// peer's keys.
    #[inline]
    pub(crate) fn waiting_bytes(&self) -> u64 {
        let of_subflows = self.subflows.iter().map(|subflow| subflow.receiver().queue().bytes());
        self.recv.waiting() + of_subflows.sum::<u64>() + self.bytes_awaiting_checks()
    }

    #[inline]
    fn bytes_awaiting_checks(&self) -> u64 {
        if self.negotiation.is_open() || self.negotiation.checksum() { self.waiting_for_checks() } else { 0 }
    }

    #[inline(never)]
    fn waiting_for_checks(&self) -> u64 {
        let waits = self
            .subflows
            .iter()
            .map(|subflow| subflow.mapper().waiting() + subflow.handshake().early_data.bytes());
        waits.sum()
    }

    /// Decides whether payload at an offset of a subflow is kept. The peer retransmits refused payload after a timeout
    /// of the subflow. It retransmits dropped payload at the data level only, where Linux sends one fragment at a time
    /// (net/mptcp/protocol.c, `__mptcp_retrans`).
    #[cold]
    pub(crate) fn admits(&mut self, now: Instant, id: usize, start: u64, length: u64) -> Admission {
        let waiting = self.waiting_bytes();
        let subflow = &mut self.subflows[id];
        let (next, end) = (subflow.receiver().next(), start + length);
        let first = start.max(next);
        if end <= first {
            return Admission::Kept;
        }
        let stream_offset = |offset| subflow.mapper().stream_offset(offset);
        let (first, last) = (stream_offset(first), stream_offset(end - 1).map(|last| last + 1));
        let is_next = start <= next;
        if self.recv.admits((first, last), length, waiting, is_next) {
            return Admission::Kept;
        }
        // In TCP, the subflow's acknowledgement also acknowledges the stream, so acknowledged payload must be
        // kept.
        let behind = self.negotiation.is_multipath() && first.is_some_and(|first| first > self.recv.next());
        if is_next && behind && self.recv.may_be_stuck() {
            let subflow = &mut self.subflows[id];
            if subflow.receiver_mut().note_refusal(now, self.recv.next()) {
                return Admission::Dropped;
            }
        }
        Admission::Refused
    }

    /// Sets whether the endpoint is short of memory. Returns whether a larger window has to be advertised.
    pub(crate) fn set_memory_pressure(&mut self, short: bool) -> bool {
        let needs_update = self.recv.set_memory_pressure(short);
        if needs_update {
            self.acknowledge_on_all_subflows();
        }
        needs_update
    }

    /// Notes that the connection waits in a listener's accept queue.
    pub(crate) fn await_reader(&mut self) {
        self.recv.await_reader();
    }

    /// Notes that an application has accepted the connection. Returns whether a larger window has to be advertised.
    pub(crate) fn reader_came(&mut self) -> bool {
        let needs_update = self.recv.reader_came();
        if needs_update {
            self.acknowledge_on_all_subflows();
        }
        needs_update
    }
}
