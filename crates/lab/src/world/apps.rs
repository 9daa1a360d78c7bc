//! The applications at both ends of a flow: they write, read and verify its data.
//!
//! Owns the state of a flow during a run. The world, the running simulation, reports each event of the flow's
//! connection here. Results take received bytes, delays of blocks and the longest interval without data from
//! this state.

use std::net::SocketAddr;

use mptcp::observe::PathReasons;
use mptcp::{
    CloseReason, Config, Connection, ConnectionId, ConnectionInfo, EventKind, FallbackReason, InterfaceId,
    SubflowId,
};
use mptcp_clock::{Duration, Instant};
use mptcp_wire::Segment;
use netsim::Frame;

use super::datagram_delays::DatagramDelays;
use super::datagrams::Datagrams;
use super::host::{self, Host};
use crate::application::{Application, Outlet, blocks::Blocks, bulk::Bulk, file::File};
use crate::classes::class_of;
use crate::measurements::Block;
use crate::pattern;
use crate::scenario::Traffic;
use crate::scenario::names::DataDirection;

/// A flow at run time.
#[derive(Debug)]
pub(super) struct App {
    pub flow: usize,
    pub name: String,
    /// Hosts that open and accept the connection.
    pub from: usize,
    pub to: usize,
    pub interface: InterfaceId,
    pub remote: SocketAddr,
    pub config: Config,
    /// The connection at the opening and the accepting host.
    pub connections: (Option<ConnectionId>, Option<ConnectionId>),
    upload: bool,
    /// The writing application; `None` for UDP flows.
    application: Option<Box<dyn Application>>,
    pub written: u64,
    stopped: bool,
    /// Whether the application has written everything.
    pub ended: bool,
    pub blocks: Vec<Block>,
    pub received: u64,
    pub intact: bool,
    pub connected_at: Option<Instant>,
    pub first_byte_at: Option<Instant>,
    pub last_byte_at: Option<Instant>,
    /// The longest interval without new data for a waiting application, and its start.
    pub silence: (Duration, Instant),
    pub finished_at: Option<Instant>,
    pub closed: Option<CloseReason>,
    /// Whether the stream has ended: at the opener, and at the acceptor.
    pub heard_all: [bool; 2],
    /// Time and reason of the fallback, at the opening and the accepting host.
    pub fell_back: [Option<(Instant, FallbackReason)>; 2],
    /// Datagrams of a UDP flow.
    pub datagrams: Option<Datagrams>,
    /// Time at which data could first be written.
    pub started_at: Option<Instant>,
    /// State of the receiver when it had read everything. Later arrivals are useless duplicates.
    complete: Option<ConnectionInfo>,
    /// Final state of the connection at the sending and at the receiving host.
    last_words: (Option<ConnectionInfo>, Option<ConnectionInfo>),
    /// Final limits of the subflows of the sending host, and the time at which the connection ended.
    last_reasons: Option<(Vec<PathReasons>, Instant)>,
}

impl App {
    pub(super) fn new(
        flow: usize,
        spec: &crate::scenario::Flow,
        hosts: (usize, usize),
        interface: InterfaceId,
        remote: SocketAddr,
        config: Config,
        counts_from: Instant,
    ) -> Self {
        Self {
            flow,
            name: spec.name.clone(),
            from: hosts.0,
            to: hosts.1,
            interface,
            remote,
            config,
            connections: (None, None),
            upload: spec.direction == DataDirection::Upload,
            application: application(&spec.traffic),
            written: 0,
            stopped: false,
            ended: false,
            blocks: Vec::new(),
            received: 0,
            intact: true,
            connected_at: None,
            first_byte_at: None,
            last_byte_at: None,
            silence: (Duration::ZERO, Instant::ZERO),
            finished_at: None,
            closed: None,
            heard_all: [false; 2],
            fell_back: [None; 2],
            datagrams: match spec.traffic {
                Traffic::Datagrams { bytes, rate, .. } => {
                    let delays = DatagramDelays::new(spec.deadline, counts_from);
                    Some(Datagrams::new(bytes, rate, spec.tcp.sndbuf, delays))
                }
                _ => None,
            },
            started_at: None,
            complete: None,
            last_words: (None, None),
            last_reasons: None,
        }
    }

    pub(super) fn sending_host(&self) -> usize {
        if self.upload { self.from } else { self.to }
    }

    pub(super) fn receiving_host(&self) -> usize {
        if self.upload { self.to } else { self.from }
    }

    pub(super) fn sending_connection(&self) -> Option<ConnectionId> {
        if self.upload { self.connections.0 } else { self.connections.1 }
    }

    pub(super) fn receiving_connection(&self) -> Option<ConnectionId> {
        if self.upload { self.connections.1 } else { self.connections.0 }
    }

    /// The label of a frame. Its class, which filters match, identifies the flow and the interface of the
    /// opening host. Its detail is the number of the subflow.
    pub(super) fn label(&self, segment: &Segment, subflow: Option<SubflowId>) -> u32 {
        let of_opener = |address| host::place(address).filter(|(host, _)| *host == self.from);
        let place = of_opener(segment.source.ip()).or_else(|| of_opener(segment.destination.ip()));
        let class = class_of(self.flow, place.map_or(0, |(_, interface)| interface));
        Frame::label_of(class, subflow.map_or(0, SubflowId::number) as u8)
    }

    /// The interface of the sending host for datagrams.
    pub(super) fn datagram_interface(&self) -> InterfaceId {
        if self.upload { self.interface } else { InterfaceId(0) }
    }

    /// The label of a datagram.
    pub(super) fn datagram_label(&self) -> u32 {
        Frame::label_of(class_of(self.flow, self.interface.0 as usize), 0)
    }

    /// Handles an event of the connection at host `at`. Returns the time at which the application wants to
    /// write next.
    pub(super) fn on_event(
        &mut self,
        now: Instant,
        at: usize,
        kind: EventKind,
        hosts: &mut [Host],
    ) -> Option<Instant> {
        let opener = at == self.from;
        match kind {
            EventKind::Connected | EventKind::Accepted => {
                if opener {
                    self.connected_at = Some(now);
                }
                if at == self.sending_host() {
                    self.started_at.get_or_insert(now);
                    return self.write(now, hosts);
                }
            }
            EventKind::Writable if at == self.sending_host() => return self.write(now, hosts),
            EventKind::Readable if at == self.receiving_host() => self.read(now, hosts),
            EventKind::FellBack(reason) => self.fell_back[usize::from(!opener)] = Some((now, reason)),
            EventKind::Finished => {
                self.heard_all[usize::from(!opener)] = true;
                if at == self.receiving_host() {
                    self.finished_at = Some(now);
                    // The other direction carries no data, and ends too.
                    if let Some(connection) = self.receiving_connection() {
                        self.complete = hosts[at].endpoint.info(now, connection);
                        hosts[at].endpoint.close(now, connection);
                    }
                }
            }
            EventKind::Closed(how) => {
                self.remember(now, at, hosts);
                self.heard_all[usize::from(!opener)] = true;
                if opener || self.closed.is_none() {
                    self.closed = Some(how);
                }
            }
            EventKind::Writable | EventKind::Readable | EventKind::Subflows => {}
        }
        None
    }

    /// Keeps the state of a connection before its endpoint removes it.
    #[cold]
    fn remember(&mut self, now: Instant, at: usize, hosts: &[Host]) {
        if at == self.sending_host() {
            self.last_words.0 = self.sending_connection().and_then(|id| hosts[at].endpoint.info(now, id));
            self.last_reasons = self.connection_of_sender(hosts).map(|sender| (sender.reasons(now), now));
        } else {
            self.last_words.1 = self.receiving_connection().and_then(|id| hosts[at].endpoint.info(now, id));
        }
    }

    pub(super) fn connection_of_sender<'a>(&self, hosts: &'a [Host]) -> Option<&'a Connection> {
        self.sending_connection().and_then(|id| hosts[self.sending_host()].endpoint.connection(id))
    }

    /// Limits of the subflows of the sending host, and the time at which the connection ended, if it did.
    /// Without an observer, there are no limits.
    pub(super) fn reasons(&self, now: Instant, hosts: &[Host]) -> (Vec<PathReasons>, Option<Instant>) {
        if let Some((reasons, ended)) = &self.last_reasons {
            return (reasons.clone(), Some(*ended));
        }
        let living = self.connection_of_sender(hosts);
        (living.map_or_else(Vec::new, |connection| connection.reasons(now)), None)
    }

    /// Current or final state of the connection at the sending host.
    pub(super) fn sender_info(&self, now: Instant, hosts: &[Host]) -> Option<ConnectionInfo> {
        let live = self.sending_connection().and_then(|id| hosts[self.sending_host()].endpoint.info(now, id));
        live.or_else(|| self.last_words.0.clone())
    }

    /// Bytes out of order at the receiving host, current or final.
    pub(super) fn out_of_order(&self, hosts: &[Host]) -> Option<u64> {
        let endpoint = &hosts[self.receiving_host()].endpoint;
        let living = self.receiving_connection().and_then(|id| endpoint.connection(id));
        living
            .map(Connection::out_of_order)
            .or_else(|| self.last_words.1.as_ref().map(|info| info.out_of_order))
    }

    /// Current or final state of the connection at the receiving host.
    pub(super) fn receiver_info(&self, now: Instant, hosts: &[Host]) -> Option<ConnectionInfo> {
        let live =
            self.receiving_connection().and_then(|id| hosts[self.receiving_host()].endpoint.info(now, id));
        live.or_else(|| self.last_words.1.clone())
    }

    /// State of the receiving host when it had read everything, or its current state.
    pub(super) fn arrivals(&self, now: Instant, hosts: &[Host]) -> Option<ConnectionInfo> {
        self.complete.clone().or_else(|| self.receiver_info(now, hosts))
    }

    /// Lets the application write. Returns the time at which it wants to write next.
    #[inline(never)]
    pub(super) fn write(&mut self, now: Instant, hosts: &mut [Host]) -> Option<Instant> {
        let connection = self.sending_connection().filter(|_| !self.stopped)?;
        let endpoint = &mut hosts[self.sending_host()].endpoint;
        let mut outlet = Outlet::new(now, endpoint, connection, &mut self.written);
        self.application.as_mut()?.write(now, &mut outlet);
        let (closed, wake) = outlet.done();
        self.stopped = closed;
        self.ended = closed;
        wake
    }

    /// Stops the application, at the time that the scenario sets.
    pub(super) fn stop(&mut self, now: Instant, hosts: &mut [Host]) {
        if let Some(datagrams) = &mut self.datagrams {
            datagrams.running = false;
        }
        if !self.stopped {
            self.stopped = true;
            if let Some(connection) = self.sending_connection() {
                hosts[self.sending_host()].endpoint.close(now, connection);
            }
        }
    }

    /// A datagram of this flow arrived.
    pub(super) fn take_datagram(&mut self, now: Instant, payload: u32) {
        let Some(datagrams) = &mut self.datagrams else { return };
        datagrams.arrive(now, payload);
        self.received += datagrams.payload();
        self.first_byte_at.get_or_insert(now);
        self.last_byte_at = Some(now);
    }

    /// The longest interval until `end` without new data for a waiting application, and its start.
    pub(super) fn silence_until(&self, end: Instant) -> (Duration, Instant) {
        let last = self.silent_since().map(|since| (end.since(since), since));
        last.map_or(self.silence, |last| last.max(self.silence))
    }

    /// Start of the current interval without new data; `None` if the application does not wait.
    pub(super) fn silent_since(&self) -> Option<Instant> {
        let ends = self.finished_at.is_some() || self.has_all();
        let waits = self.application.as_ref().and_then(|application| application.waits_since());
        let heard = self.last_byte_at.or(self.connected_at);
        waits.zip(heard).map(|(since, last)| since.max(last)).filter(|_| !ends)
    }

    /// Updates the longest interval without new data. An interval starts at the last byte, or later when the
    /// application wrote the missing data.
    pub(super) fn note_silence(&mut self, now: Instant) {
        if self.last_byte_at.is_some_and(|last| now.since(last) > self.silence.0) {
            self.measure_silence(now);
        }
    }

    #[cold]
    fn measure_silence(&mut self, now: Instant) {
        let (Some(last), Some(application)) = (self.last_byte_at, &self.application) else { return };
        let since = application.waits_since().map(|since| since.max(last));
        if let Some(since) = since.filter(|&since| now.since(since) > self.silence.0) {
            self.silence = (now.since(since), since);
        }
    }

    /// Whether all data of the application arrived, regardless of the end of the stream.
    pub(super) fn has_all(&self) -> bool {
        self.stopped && self.received == self.written
    }

    /// Whether no data written before the stop can still arrive: everything has arrived, or the connection is
    /// closed. Datagrams in flight at the end of a run count as lost.
    pub(super) fn is_drained(&self) -> bool {
        self.has_all() || self.closed.is_some() || self.datagrams.is_some()
    }

    /// Number of blocks written before `since` that have not arrived.
    pub(super) fn overdue(&self, since: Instant) -> u64 {
        self.application.as_ref().map_or(0, |application| application.overdue(since))
    }

    fn read(&mut self, now: Instant, hosts: &mut [Host]) {
        let Some(connection) = self.receiving_connection() else { return };
        self.note_silence(now);
        let endpoint = &mut hosts[self.receiving_host()].endpoint;
        endpoint.read_all(now, connection, |data| {
            self.intact &= pattern::matches(self.received, &data);
            self.received += data.len() as u64;
            self.first_byte_at.get_or_insert(now);
            self.last_byte_at = Some(now);
        });
        if let Some(application) = &mut self.application {
            application.read(now, self.received, &mut self.blocks);
        }
    }
}

/// The application of a flow.
fn application(traffic: &Traffic) -> Option<Box<dyn Application>> {
    Some(match traffic {
        Traffic::Bulk => Box::new(Bulk),
        Traffic::File { bytes } => Box::new(File::new(*bytes)),
        Traffic::Blocks { bytes, rate } => Box::new(Blocks::new(*bytes, *rate)),
        Traffic::Custom(chosen) => (chosen.make())(),
        Traffic::Datagrams { .. } => return None,
    })
}
