//! A Multipath TCP connection (RFC 8684): one byte stream each way over one or more subflows.
//!
//! Brings its owners together: the streams, the negotiation, the subflows, the addresses, the policies. Plain TCP is the same
//! code with one subflow, no options and an infinite mapping. Knows nothing of other connections: finding
//! the connection for a segment, ports and tokens are the endpoint's affair.
//!
//! What happens to a connection is spread over files in one order, none of which needs one above it: this one; `observing`; `writes`, `reinject`,
//! `unblock`, `pacing`, `addresses`, `arm`, `segments`; `close`, `candidates`; `reasons`; `progress`, `begin`; `fallback`; `data`, `joins`; `handshake`,
//! `signalled`; `input`, `transmit`, `finish`; `output`, `timeouts`.

mod address_manager;
mod addresses;
mod arm;
mod begin;
mod candidates;
mod chunk;
mod close;
mod data;
mod endpoint_events;
mod failures;
mod fallback;
mod fast_open;
mod finish;
mod handshake;
mod idle;
mod info;
mod input;
mod joins;
mod key;
mod lead;
pub mod limits;
mod nagle;
mod negotiation;
mod observing;
mod offers;
mod output;
mod pacing;
mod path_mtu;
mod progress;
mod reasons;
mod recv;
mod reinject;
mod report;
mod segments;
mod send;
mod send_buffer;
mod set;
mod signalled;
mod signals;
mod subflow_error;
mod timeouts;
mod timers;
mod transmit;
mod unblock;
mod watch;
mod write_ends;
mod writes;

use bytes::Bytes;
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::crypto::Version;

use crate::config::{Config, Ecn};
use crate::congestion::{Congestion, CongestionControl};
use crate::event::{CloseReason, EventKind, PendingEvents};
use crate::path_manager::LocalAddress;
use crate::scheduler::{Candidate, Scheduler};
use crate::subflow::Origin;
use address_manager::AddressManager;
use endpoint_events::Fate;
pub(crate) use endpoint_events::{EndpointEvent, Whereabouts};
pub(crate) use joins::JoinRefusal;
use lead::Leads;
use limits::LimitClock;
pub use negotiation::Mode;
use negotiation::Negotiation;
pub(crate) use offers::{capable as capable_option, join as join_option, window_scale_for};
use recv::RecvStream;
pub use report::{ConnectionInfo, SubflowInfo};
use send::SendStream;
use set::SubflowSet;
use signals::Signals;
use timers::Timers;
use watch::Watch;
pub use writes::WriteFlags;

/// The scheduler, and scratch for its view, so that looking costs no allocation.
#[derive(Debug)]
struct Choice {
    scheduler: Box<dyn Scheduler>,
    /// It gives each subflow all data.
    duplicates: bool,
    candidates: Vec<Candidate>,
    /// When the candidates were seen, if all that has happened since is that new data went on one of them.
    seen: Option<Instant>,
    /// The slot of that one; none where new data went that was not the scheduler's to give.
    sent: usize,
    /// How much sooner than on their own paths data is acknowledged.
    leads: Leads,
    /// Segments and bytes that subflows hold which were not acknowledged there, as long as `seen` holds.
    held: (usize, u64),
}

impl Choice {
    fn new(scheduler: Box<dyn Scheduler>) -> Self {
        let duplicates = scheduler.duplicates();
        Self {
            scheduler,
            duplicates,
            candidates: Vec::new(),
            seen: None,
            sent: 0,
            leads: Leads::default(),
            held: (0, 0),
        }
    }
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    negotiation: Negotiation,
    subflows: SubflowSet,
    addresses: AddressManager,
    congestion: Congestion,
    choice: Choice,
    send: SendStream,
    recv: RecvStream,
    signals: Signals,
    timers: Timers,
    limits: LimitClock,
    fate: Fate,
    /// Somebody is told of what happens.
    watch: Option<Box<Watch>>,
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
            choice: Choice::new(config.scheduler.build()),
            send: SendStream::default(),
            recv,
            signals: Signals::default(),
            timers: Timers::default(),
            limits: LimitClock::new(now),
            fate: Fate::default(),
            watch: None,
            config,
        }
    }

    /// Somebody waits for room in the send buffer.
    pub(crate) fn await_room(&mut self) {
        self.send.writer.set_waiting(true);
    }

    /// Tells a writer that waits of the room there is.
    #[inline(always)]
    fn wake_writer(&mut self) {
        if self.send.writer.waits() {
            let buffer = self.send_buffer();
            self.send.tuned = buffer;
            let (room, unsent) = (self.room(buffer), self.send.buffer.unsent());
            // As Linux: where little may wait, half of it has to be gone.
            let early = self.config.notsent_lowat.is_some_and(|most| unsent * 2 >= most);
            if !early && self.send.writer.wake(unsent, room, buffer) {
                self.fate.pending.note(EventKind::Writable);
            }
        }
    }

    /// Room in the send buffer, bytes.
    pub(crate) fn writable(&self) -> u64 {
        self.room(self.send_buffer())
    }

    fn room(&self, buffer: u64) -> u64 {
        let room = buffer.saturating_sub(self.send.buffer.held());
        let waiting = self.send.buffer.unsent();
        self.config.notsent_lowat.map_or(room, |most| room.min(most.saturating_sub(waiting)))
    }

    /// The send buffer's size now. With M3 it follows twice what all paths can hold, in the formula
    /// of RFC 8684 section 3.3.4: the sum of rates times the longest round-trip time.
    pub(super) fn send_buffer(&self) -> u64 {
        if !self.config.mechanisms.autotuning {
            return self.config.send_buffer;
        }
        let active = self.congestion.paths.iter().filter(|path| path.active);
        let (mut rate, mut longest) = (0.0_f64, Duration::ZERO);
        for path in active {
            if let Some(rtt) = path.srtt {
                rate += path.cwnd as f64 / rtt.as_secs_f64().max(1e-6);
                longest = longest.max(rtt);
            }
        }
        let wanted = (2.0 * rate * longest.as_secs_f64()) as u64;
        let kept = if self.config.mechanisms.send_buffer_shrinks { 0 } else { self.send.tuned };
        wanted.max(65_536).max(kept).min(self.config.send_buffer)
    }

    /// The next bytes of the stream, in order; None when there are none now.
    pub(crate) fn read(&mut self, now: Instant) -> Option<Bytes> {
        let data = self.recv.read()?;
        if self.config.mechanisms.autotuning {
            let rtt = self.longest_rtt();
            // A pure receiver measures no round trips; the handshake's is what it has.
            self.recv.tune(now, rtt.unwrap_or(Duration::from_millis(100)));
        }
        if self.recv.wants_update() {
            self.acknowledge_everywhere();
        }
        Some(data)
    }

    /// The longest round trip of all subflows that carry data, or did.
    fn longest_rtt(&self) -> Option<Duration> {
        let all = self.subflows.iter().zip(&self.congestion.paths);
        all.filter(|(subflow, _)| subflow.opening().was_open).filter_map(|(_, path)| path.srtt).max()
    }

    fn acknowledge_everywhere(&mut self) {
        for subflow in self.subflows.iter_mut().filter(|subflow| subflow.is_synchronised()) {
            subflow.receiver_mut().acknowledge_now();
        }
    }

    /// Lets go of what is unread, once nothing more can come.
    pub(crate) fn discard(&mut self) {
        if self.fate.closed().is_some() {
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
        self.fate.poll()
    }

    /// Whether the endpoint has nothing to do for it, and it is not over.
    #[inline]
    pub(crate) fn is_steady(&self) -> bool {
        self.fate.is_told() && self.fate.closed().is_none()
    }

    /// Whether nobody has anything to hear of: the application neither.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_steady() && self.fate.pending.is_empty()
    }

    pub(crate) fn pending(&mut self) -> &mut PendingEvents {
        &mut self.fate.pending
    }

    pub(crate) fn closed(&self) -> Option<CloseReason> {
        self.fate.closed()
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
            self.choice = Choice::new(scheduler);
        }
    }

    /// Whether reading has left something to be sent: a window update.
    pub(crate) fn wants_attention(&self) -> bool {
        self.subflows.iter().any(|subflow| subflow.receiver().wants_ack())
    }

    fn is_initial(&self, id: usize) -> bool {
        self.subflows[id].opening().origin == Origin::Initial
    }
}
