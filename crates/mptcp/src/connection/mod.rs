//! A Multipath TCP connection (RFC 8684): one byte stream each way over one or more subflows.
//!
//! Brings its owners together: the streams, the negotiation, the subflows, the addresses, the policies. Plain TCP is the same
//! code with one subflow, no options and an infinite mapping. Knows nothing of other connections: finding
//! the connection for a segment, ports and tokens are the endpoint's affair.
//!
//! What happens to a connection is spread over files in one order, none of which needs one above it: this one; `room`, `observing`; `writes`, `again`, `reinject`,
//! `on_window_blocked`, `pacing`, `addresses`, `arm`, `segments`; `put`, `permit`; `close`, `candidates`; `reasons`; `progress`, `begin`; `fallback`, `admission`; `data`, `joins`; `handshake`,
//! `signalled`; `input`, `transmit`, `finish`; `ahead`, `queues`; `output`, `timeouts`.
//!
//! Which payload is kept, before a subflow acknowledges it; and how much a connection holds.
//!
//! Owns the sums over the subflows. What follows from them is decided by the stream that the peer sends (`recv/keeping.rs`).

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

/// One connection.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    negotiation: Negotiation,
    subflows: SubflowSet,
    addresses: AddressManager,
    congestion: Congestion,
    scheduler: SchedulerState,
    data_ack_leads: DataAckLeads,
    /// Why nothing was sent, and for how long.
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
    /// With a key drawn from `random` unless one is given.
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
        let congestion = congestion.with_gentle_marks(config.abe);
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

    /// The next bytes of the stream, in order; None when there are none now.
    pub(crate) fn read(&mut self, now: Instant) -> Option<Bytes> {
        let data = self.recv.read()?;
        if self.config.mechanisms.autotuning {
            self.tune_window(now);
        }
        if self.config.linux_stack.buffer_memory {
            self.advertise_opened_window();
        } else if self.recv.needs_window_update() {
            self.acknowledge_everywhere();
        }
        Some(data)
    }

    #[inline(never)]
    fn tune_window(&mut self, now: Instant) {
        let rtt = self.longest_rtt();
        // A pure receiver measures no round trips; the handshake's is what it has.
        self.recv.tune(now, rtt.unwrap_or(Duration::from_millis(100)));
    }

    /// The longest round trip of all subflows that carry data, or did.
    fn longest_rtt(&self) -> Option<Duration> {
        let all = self.subflows.iter().zip(&self.congestion.paths);
        all.filter(|(subflow, _)| subflow.handshake().was_open).filter_map(|(_, path)| path.srtt).max()
    }

    /// As Linux does it: only when the window has become twice what was said last, on each subflow by itself (net/mptcp/protocol.c,
    /// `mptcp_cleanup_rbuf`; net/ipv4/tcp.c, `__tcp_cleanup_rbuf`).
    #[inline(never)]
    fn advertise_opened_window(&mut self) {
        if self.recv.unread() == 0 && self.recv.early().is_empty() {
            self.subflows.iter_mut().for_each(|subflow| subflow.receiver_mut().on_all_read());
        }
        let (open, whole) = (self.recv.open(), self.recv.buffer());
        if open == 0 || open < 2 * self.recv.advertised() {
            return;
        }
        for subflow in self.subflows.iter_mut().filter(|subflow| subflow.is_synchronised()) {
            let advertised = subflow.advertised_window();
            if 2 * advertised <= whole && open >= 2 * advertised {
                subflow.receiver_mut().acknowledge_now();
            }
        }
    }

    #[inline(never)]
    fn acknowledge_everywhere(&mut self) {
        for subflow in self.subflows.iter_mut().filter(|subflow| subflow.is_synchronised()) {
            subflow.receiver_mut().acknowledge_now();
        }
    }

    /// Lets go of what is unread, once nothing more can come.
    pub(crate) fn discard(&mut self) {
        if self.lifecycle.closed().is_some() {
            self.recv.discard();
        }
    }

    /// Bytes that can be read now.
    pub(crate) fn readable(&self) -> u64 {
        self.recv.unread()
    }

    /// Whether it is not settled yet what is spoken.
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

    /// The next thing that the endpoint is to do for the connection.
    pub(crate) fn poll_endpoint_event(&mut self) -> Option<EndpointEvent> {
        self.lifecycle.poll()
    }

    /// Whether the endpoint has nothing to do for it, and it is not over.
    #[inline]
    pub(crate) fn is_steady(&self) -> bool {
        self.lifecycle.is_empty_for_endpoint() && self.lifecycle.closed().is_none()
    }

    /// Whether nobody has anything to hear of: the application neither.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_steady() && self.lifecycle.has_no_news()
    }

    pub(crate) fn pending(&mut self) -> &mut PendingEvents {
        self.lifecycle.pending_mut()
    }

    pub(crate) fn closed(&self) -> Option<CloseReason> {
        self.lifecycle.closed()
    }

    /// What it was told.
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
                self.subflows[slot].sender_mut().begin_samples(sampled, slot, &mut self.congestion);
            }
        }
        if let Some(scheduler) = scheduler {
            self.scheduler = SchedulerState::new(scheduler, most_segments(self.config.send_buffer));
            self.data_ack_leads = DataAckLeads::default();
            self.congestion.paths.iter_mut().for_each(|path| path.model.lead = Duration::ZERO);
        }
    }

    /// Whether reading has left something to be sent: a window update.
    pub(crate) fn needs_window_update_segment(&self) -> bool {
        self.subflows.iter().any(|subflow| subflow.receiver().wants_ack())
    }

    fn is_initial(&self, id: usize) -> bool {
        self.subflows[id].handshake().origin == Origin::Initial
    }

    /// What the subflow in a place is known by, and where it leaves.
    #[inline]
    pub(crate) fn sent_by(&self, slot: usize) -> (SubflowId, InterfaceId) {
        let subflow = &self.subflows[slot];
        (subflow.record().id, subflow.addresses().interface)
    }

    /// The subflow in a place.
    pub(crate) fn subflow_id(&self, slot: usize) -> SubflowId {
        self.subflows[slot].record().id
    }

    /// Whether data goes by way of queues: not in TCP, which has but one, unless something is left in it from before.
    #[inline]
    pub(crate) fn has_queues(&self) -> bool {
        self.config.linux_stack.subflow_queues && self.fills_queues()
    }

    #[inline(never)]
    fn fills_queues(&self) -> bool {
        self.negotiation.is_multipath() || self.subflows.iter().any(|subflow| !subflow.backlog().is_empty())
    }
}

/// What becomes of payload before a subflow acknowledges it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Kept,
    /// It is not acknowledged, and counts as lost.
    Refused,
    /// The subflow acknowledges it, and the stream does not keep it: "a receiver has the freedom to drop segments after acknowledgment
    /// at the subflow level, for example, due to memory constraints" (RFC 8684 section 3.3.2). The peer keeps it until a DATA_ACK
    /// covers it, and retransmits it at the data level.
    Dropped,
}

impl Connection {
    /// Bytes of received payload that wait: unread, out of order at either level, for a checksum or for the peer's keys.
    #[inline]
    pub(crate) fn waiting_bytes(&self) -> u64 {
        let of_subflows = self.subflows.iter().map(|subflow| subflow.receiver().queue().bytes());
        self.recv.waiting() + of_subflows.sum::<u64>() + self.rarely_waiting()
    }

    /// What waits for a checksum or for the peer's keys.
    #[inline]
    fn rarely_waiting(&self) -> u64 {
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

    /// Whether payload at an offset of a subflow is kept. What is not is not acknowledged: for the peer it is lost, and is
    /// retransmitted after a timeout of the subflow. What a subflow acknowledges and the stream drops is retransmitted by the
    /// data level alone, which Linux does one fragment at a time (net/mptcp/protocol.c, `__mptcp_retrans`).
    #[cold]
    pub(crate) fn admits(&mut self, now: Instant, id: usize, start: u64, length: u64) -> Admission {
        let held = self.waiting_bytes();
        let subflow = &mut self.subflows[id];
        let (next, end) = (subflow.receiver().next(), start + length);
        let first = start.max(next);
        if end <= first {
            return Admission::Kept;
        }
        let known = |offset| subflow.mapper().stream_offset(offset);
        let (first, last) = (known(first), known(end - 1).map(|last| last + 1));
        let is_next = start <= next;
        if self.recv.admits((first, last), length, held, is_next) {
            return Admission::Kept;
        }
        // In TCP the acknowledgement of the subflow is the stream's, and what it covers is kept.
        let behind = self.negotiation.is_multipath() && first.is_some_and(|first| first > self.recv.next());
        if is_next && behind && self.recv.may_be_stuck() {
            let subflow = &mut self.subflows[id];
            if subflow.receiver_mut().note_refusal(now, self.recv.next()) {
                return Admission::Dropped;
            }
        }
        Admission::Refused
    }

    /// The endpoint has too little memory for all its connections, or enough again. Returns whether the peer is to hear of a larger
    /// window.
    pub(crate) fn set_memory_pressure(&mut self, short: bool) -> bool {
        let news = self.recv.set_memory_pressure(short);
        if news {
            self.acknowledge_everywhere();
        }
        news
    }

    /// It waits at a listener.
    pub(crate) fn await_reader(&mut self) {
        self.recv.await_reader();
    }

    /// An application has accepted it. Returns whether the peer is to hear of a larger window.
    pub(crate) fn reader_came(&mut self) -> bool {
        let news = self.recv.reader_came();
        if news {
            self.acknowledge_everywhere();
        }
        news
    }
}
