//! A Multipath TCP connection (RFC 8684): one byte stream each way over one or more subflows.
//!
//! Owns the stream, its keys, its window, its policies and its subflows. Plain TCP is the same code
//! with one subflow, no options and an infinite mapping. Knows nothing of other connections: finding
//! the connection for a segment, ports and tokens are the endpoint's affair.

mod addresses;
mod close;
mod data;
mod failures;
mod fallback;
mod fast_open;
mod finish;
mod handshake;
mod incoming;
mod info;
mod input;
mod joins;
mod key;
pub mod limits;
mod offers;
mod outgoing;
mod output;
mod past;
mod reinject;
mod signals;
mod timers;
mod transmit;

use std::net::SocketAddr;

use bytes::Bytes;
use mptcp_clock::{Duration, Instant, Stream};
use mptcp_wire::Cookie;
use mptcp_wire::crypto::Version;

use crate::InterfaceId;
use crate::config::Config;
use crate::congestion::{Congestion, CongestionControl, Departure};
use crate::event::{Closed, Happenings};
use crate::path_manager::{LocalAddress, Pair, PathManager, RemoteAddress};
use crate::scheduler::{Candidate, Scheduler};
use crate::subflow::{Origin, Subflow};
use incoming::Incoming;
pub use info::{ConnectionInfo, SubflowInfo};
pub(crate) use joins::JoinRefusal;
pub(crate) use key::Key;
use limits::LimitClock;
pub(crate) use offers::{capable as capable_option, join as join_option, window_scale_for};
use outgoing::Outgoing;
use timers::Timers;

/// Unsent bytes below which a waiting writer is woken for any room at all.
const LITTLE_LEFT: u64 = 16_384;

/// What the connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// MP_CAPABLE was offered or answered, and is not settled.
    Negotiating,
    /// Multipath TCP.
    Multipath,
    /// TCP, from the start or by fallback.
    Plain,
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    client: bool,
    mode: Mode,
    /// What is spoken; the peer's offer may lower it.
    version: Version,
    local_key: Key,
    remote_key: Option<Key>,
    checksum: bool,
    /// The peer has shown by a DSS that it speaks MPTCP: MP_CAPABLE need not be repeated.
    confirmed: bool,
    subflows: Vec<Subflow>,
    past: past::Past,
    congestion: Congestion,
    scheduler: Box<dyn Scheduler>,
    path_manager: Box<dyn PathManager>,
    outgoing: Outgoing,
    incoming: Incoming,
    write_closed: bool,
    data_fin_sent: bool,
    /// Subflows that are yet to carry it, the last one first.
    data_fin_due: Vec<usize>,
    /// The peer's last mapping had an 8-byte number.
    wide_numbers: bool,
    data_fin_acknowledged: bool,
    finish_reported: bool,
    accept_reported: bool,
    /// A failed checksum that the peer does not know of.
    failure: Option<fallback::Failure>,
    /// Subflow offset of the segment that carries the infinite mapping after an MP_FAIL.
    infinite_from: Option<u64>,
    /// The address id given out last.
    last_address_id: u8,
    blocked_writer: bool,
    /// Small segments wait for more: Linux's TCP_CORK.
    corked: bool,
    /// What waits goes all the same, once.
    pushing: bool,
    /// Scratch for the scheduler's view, so that looking costs no allocation.
    candidates: Vec<Candidate>,
    signals: signals::Signals,
    local_addresses: Vec<LocalAddress>,
    remote_addresses: Vec<RemoteAddress>,
    announced: Vec<addresses::Announcement>,
    /// Subflows that the endpoint should open.
    wanted: Vec<Pair>,
    failures: failures::Failures,
    /// The peer wants no subflow to the address of its first one (RFC 8684 section 3.1, flag C).
    no_join_to_first: bool,
    /// Four-tuples of subflows whose places others have got, which the endpoint may still know.
    retired: Vec<(usize, SocketAddr, SocketAddr)>,
    /// The endpoint has to look at the list of subflows.
    registry_changed: bool,
    timers: Timers,
    limits: LimitClock,
    happenings: Happenings,
    closed: Option<Closed>,
    /// A cookie that the peer gave us, until the endpoint takes it.
    cookie: Option<Cookie>,
    random: Stream,
    reinjected_bytes: u64,
    opportunistic_bytes: u64,
    penalties: u64,
}

impl Connection {
    /// With a key drawn from `random` unless one is given.
    pub(crate) fn new(
        now: Instant,
        config: Config,
        client: bool,
        mut random: Stream,
        local: Vec<LocalAddress>,
        key: Option<u64>,
    ) -> Self {
        let drawn = random.next_u64();
        let local_key = Key::new(config.version, key.unwrap_or(drawn));
        let last_address_id = local.iter().map(|address| address.id).max().unwrap_or(0);
        let incoming = Incoming::new(
            config.receive_buffer,
            config.mechanisms.autotuning,
            config.mss,
            config.receive_block,
        );
        Self {
            client,
            mode: if config.multipath { Mode::Negotiating } else { Mode::Plain },
            version: config.version,
            local_key,
            remote_key: None,
            checksum: false,
            confirmed: false,
            subflows: Vec::new(),
            past: past::Past::default(),
            congestion: Congestion::new(&config),
            scheduler: config.scheduler.build(),
            path_manager: config.path_manager.build(),
            outgoing: Outgoing::default(),
            incoming,
            write_closed: false,
            data_fin_sent: false,
            data_fin_due: Vec::new(),
            wide_numbers: false,
            data_fin_acknowledged: false,
            finish_reported: false,
            accept_reported: false,
            failure: None,
            infinite_from: None,
            last_address_id,
            blocked_writer: false,
            corked: false,
            pushing: false,
            candidates: Vec::new(),
            signals: signals::Signals::default(),
            local_addresses: local,
            remote_addresses: Vec::new(),
            announced: Vec::new(),
            wanted: Vec::new(),
            failures: failures::Failures::default(),
            no_join_to_first: false,
            retired: Vec::new(),
            registry_changed: false,
            timers: Timers::default(),
            limits: LimitClock::new(now),
            happenings: Happenings::default(),
            closed: None,
            cookie: None,
            random,
            reinjected_bytes: 0,
            opportunistic_bytes: 0,
            penalties: 0,
            config,
        }
    }

    /// Writes as much of `data` as the send buffer has room for, without copying; returns how many
    /// bytes that was. After 0, [`crate::EventKind::Writable`] says when to try again.
    pub(crate) fn write(&mut self, data: &Bytes) -> usize {
        if self.write_closed || self.closed.is_some() {
            return 0;
        }
        let room = self.send_buffer().saturating_sub(self.outgoing.held());
        let taken = (data.len() as u64).min(room) as usize;
        self.blocked_writer = taken < data.len();
        if taken > 0 {
            self.outgoing.write(data, taken);
        }
        taken
    }

    /// Somebody waits for room in the send buffer.
    pub(crate) fn await_room(&mut self) {
        self.blocked_writer = true;
    }

    /// Tells a writer that waits of the room there is: when little is left to send, or when a third
    /// of the buffer is free, as in Linux.
    fn wake_writer(&mut self) {
        if !self.blocked_writer {
            return;
        }
        let room = self.writable();
        if room > 0 && (self.outgoing.unsent() < LITTLE_LEFT || room >= self.send_buffer() / 3) {
            self.blocked_writer = false;
            self.happenings.writable = true;
        }
    }

    /// Room in the send buffer, bytes.
    pub(crate) fn writable(&self) -> u64 {
        self.send_buffer().saturating_sub(self.outgoing.held())
    }

    /// The send buffer's size now. With M3 it follows twice what all paths can hold, in the formula
    /// of RFC 8684 section 3.3.4: the sum of rates times the longest round-trip time.
    fn send_buffer(&self) -> u64 {
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
        wanted.max(65_536).min(self.config.send_buffer)
    }

    /// The next bytes of the stream, in order; None when there are none now.
    pub(crate) fn read(&mut self, now: Instant) -> Option<Bytes> {
        let data = self.incoming.read()?;
        if self.config.mechanisms.autotuning {
            let rtt = self.congestion.paths.iter().filter_map(|path| path.srtt).max();
            // A pure receiver measures no round trips; the handshake's is what it has.
            self.incoming.tune(now, rtt.unwrap_or(Duration::from_millis(100)));
        }
        if self.incoming.wants_update() {
            self.acknowledge_everywhere();
        }
        Some(data)
    }

    fn acknowledge_everywhere(&mut self) {
        for subflow in self.subflows.iter_mut().filter(|subflow| subflow.is_synchronised()) {
            subflow.receiver.acknowledge_now();
        }
    }

    /// Lets go of what is unread, once nothing more can come.
    pub(crate) fn discard(&mut self) {
        if self.closed.is_some() {
            self.incoming.discard();
        }
    }

    /// Bytes that can be read now.
    pub(crate) fn readable(&self) -> u64 {
        self.incoming.unread()
    }

    /// Whether it is not settled yet what is spoken.
    pub(crate) fn is_negotiating(&self) -> bool {
        self.mode == Mode::Negotiating
    }

    pub(crate) fn is_multipath(&self) -> bool {
        self.mode == Mode::Multipath
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    pub(crate) fn token(&self) -> u32 {
        self.local_key.token
    }

    pub(crate) fn take_registry_change(&mut self) -> bool {
        std::mem::take(&mut self.registry_changed)
    }

    pub(crate) fn take_wanted(&mut self) -> Vec<Pair> {
        std::mem::take(&mut self.wanted)
    }

    pub(crate) fn has_wanted(&self) -> bool {
        !self.wanted.is_empty()
    }

    pub(crate) fn happenings(&mut self) -> &mut Happenings {
        &mut self.happenings
    }

    pub(crate) fn closed(&self) -> Option<Closed> {
        self.closed
    }

    /// The four-tuples in use, with the subflow's index; None for a closed one.
    pub(crate) fn tuples(&self) -> impl Iterator<Item = (usize, SocketAddr, SocketAddr, bool)> + '_ {
        self.subflows.iter().enumerate().map(|(id, s)| (id, s.local, s.remote, s.is_closed()))
    }

    /// Four-tuples that came into use (true) or went out of it since this was asked last, with the subflow's index.
    pub(crate) fn tuple_changes(
        &mut self,
    ) -> impl Iterator<Item = (usize, SocketAddr, SocketAddr, bool)> + '_ {
        self.subflows.iter_mut().enumerate().filter_map(|(id, subflow)| {
            let open = !subflow.is_closed();
            let changed = std::mem::replace(&mut subflow.registered, open) != open;
            changed.then_some((id, subflow.local, subflow.remote, open))
        })
    }

    /// Four-tuples that are in use no more, with the index that their subflow had.
    pub(crate) fn take_retired(&mut self) -> Vec<(usize, SocketAddr, SocketAddr)> {
        std::mem::take(&mut self.retired)
    }

    /// A synchronised subflow begins to carry data.
    fn activate(&mut self, now: Instant, id: usize) {
        let multipath = self.mode != Mode::Plain;
        let subflow = &self.subflows[id];
        let mss = subflow.payload_size(&self.config, multipath);
        let keepalive = self.config.keepalive;
        let subflow = &mut self.subflows[id];
        subflow.was_open = true;
        subflow.keep_alive(now, keepalive);
        let path = &mut self.congestion.paths[id];
        path.cwnd = mss * u64::from(self.config.initial_window);
        path.mss = mss;
        path.ssthresh = self.config.initial_ssthresh.map_or(u64::MAX, |ssthresh| ssthresh.max(2 * mss));
        path.srtt = subflow.sender.rtt.srtt();
        path.rttvar = subflow.sender.rtt.rttvar();
        path.min_rtt = subflow.sender.rtt.min();
        self.congestion.set_active(id, true);
        self.happenings.subflows = true;
        self.tell_opened(now, id);
        self.timers.adopted();
        self.relieve_stalled();
    }

    /// Places that subflows have or had: their indices are below it.
    #[must_use]
    pub fn subflow_count(&self) -> usize {
        self.subflows.len()
    }

    /// Payload of a full frame of a subflow, bytes.
    pub(crate) fn frame_payload(&self, id: usize) -> Option<u64> {
        self.congestion.paths.get(id).map(|path| path.mss)
    }

    /// A packet of a subflow waits in its interface.
    pub(crate) fn note_queued(&mut self, id: usize, bytes: u64) {
        self.congestion.paths[id].local.enter(bytes);
    }

    /// It waits no more; returns whether something may be sent now that could not before.
    pub(crate) fn handle_departed(&mut self, now: Instant, id: usize, departure: Departure) -> bool {
        if id >= self.subflows.len() {
            return false;
        }
        let full = self.is_queue_full(id);
        self.congestion.on_departed(id, now, departure);
        full && !self.is_queue_full(id)
    }

    /// What it was told.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The port of our side: that of the first subflow.
    #[must_use]
    pub fn local_port(&self) -> Option<u16> {
        self.subflows.first().map(|subflow| subflow.local.port())
    }

    pub(crate) fn interface_of(&self, id: usize) -> InterfaceId {
        self.subflows.get(id).map_or(InterfaceId(0), |subflow| subflow.interface)
    }

    pub(crate) fn set_policies(
        &mut self,
        congestion: Option<Box<dyn CongestionControl>>,
        scheduler: Option<Box<dyn Scheduler>>,
    ) {
        if let Some(algorithm) = congestion {
            self.congestion.set_algorithm(algorithm);
        }
        if let Some(scheduler) = scheduler {
            self.scheduler = scheduler;
        }
    }

    /// Whether reading has left something to be sent: a window update.
    pub(crate) fn wants_attention(&self) -> bool {
        self.subflows.iter().any(|subflow| subflow.receiver.wants_ack())
    }

    fn is_initial(&self, id: usize) -> bool {
        self.subflows[id].origin == Origin::Initial
    }
}
