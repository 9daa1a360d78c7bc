//! The applications at both ends of a flow: who writes, who reads, and whether it was right.

use std::collections::VecDeque;
use std::net::SocketAddr;

use mptcp::{Closed, Config, ConnectionId, ConnectionInfo, EventKind, FallbackReason, InterfaceId};
use mptcp_clock::{Duration, Instant};
use mptcp_wire::Segment;
use netsim::Frame;

use super::datagrams::Datagrams;
use super::host::{self, Host};
use super::pattern;
use crate::measurements::Block;
use crate::scenario::Traffic;
use crate::scenario::names::DataDirection;

/// Classes of one flow lie this far apart; a flow has fewer interfaces.
const INTERFACES: u32 = 256;

/// One flow at run time.
#[derive(Debug)]
pub(super) struct App {
    pub flow: usize,
    pub name: String,
    /// Hosts that open and accept.
    pub from: usize,
    pub to: usize,
    pub interface: InterfaceId,
    pub remote: SocketAddr,
    pub config: Config,
    /// The connection at the opening and the accepting host.
    pub connections: (Option<ConnectionId>, Option<ConnectionId>),
    upload: bool,
    traffic: Traffic,
    written: u64,
    stopped: bool,
    /// Blocks written and not yet read whole: index is the place in order.
    open_blocks: VecDeque<Instant>,
    block_due: Option<Instant>,
    pub blocks: Vec<Block>,
    pub received: u64,
    pub intact: bool,
    pub connected_at: Option<Instant>,
    pub first_byte_at: Option<Instant>,
    pub last_byte_at: Option<Instant>,
    pub finished_at: Option<Instant>,
    pub closed: Option<Closed>,
    /// When and why it fell back, at the opening and the accepting host.
    pub fell_back: [Option<(Instant, FallbackReason)>; 2],
    /// What it sends, if it is a flow of datagrams.
    pub datagrams: Option<Datagrams>,
    /// When the first data could be written.
    pub started_at: Option<Instant>,
    /// What the connection knew at its end, at the sending and at the receiving host.
    last_words: (Option<ConnectionInfo>, Option<ConnectionInfo>),
}

impl App {
    pub(super) fn new(
        flow: usize,
        spec: &crate::scenario::Flow,
        hosts: (usize, usize),
        interface: InterfaceId,
        remote: SocketAddr,
        config: Config,
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
            traffic: spec.traffic,
            written: 0,
            stopped: false,
            open_blocks: VecDeque::new(),
            block_due: None,
            blocks: Vec::new(),
            received: 0,
            intact: true,
            connected_at: None,
            first_byte_at: None,
            last_byte_at: None,
            finished_at: None,
            closed: None,
            fell_back: [None; 2],
            datagrams: match spec.traffic {
                Traffic::Datagrams { bytes, rate } => Some(Datagrams::new(bytes, rate, spec.tcp.sndbuf)),
                _ => None,
            },
            started_at: None,
            last_words: (None, None),
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

    /// The label of a frame. Its class says the flow and the interface at the host that opened it,
    /// which is what filters know; its detail says the subflow.
    pub(super) fn label(&self, segment: &Segment, subflow: usize) -> u32 {
        let of_opener = |address| host::place(address).filter(|(host, _)| *host == self.from);
        let place = of_opener(segment.source.ip()).or_else(|| of_opener(segment.destination.ip()));
        let class = class_of(self.flow, place.map_or(0, |(_, interface)| interface));
        Frame::label_of(class, subflow as u8)
    }

    /// The label of a datagram.
    pub(super) fn datagram_label(&self) -> u32 {
        Frame::label_of(class_of(self.flow, self.interface.0 as usize), 0)
    }

    /// Something happened at `at`; returns when the application wants to write next.
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
                if at == self.receiving_host() {
                    self.finished_at = Some(now);
                    // The other direction carries nothing: it ends too.
                    if let Some(connection) = self.receiving_connection() {
                        hosts[at].endpoint.close(now, connection);
                    }
                }
            }
            EventKind::Closed(how) => {
                self.remember(now, at, hosts);
                if opener || self.closed.is_none() {
                    self.closed = Some(how);
                }
            }
            EventKind::Writable | EventKind::Readable | EventKind::Subflows => {}
        }
        None
    }

    /// A connection is about to be forgotten by its endpoint.
    fn remember(&mut self, now: Instant, at: usize, hosts: &[Host]) {
        if at == self.sending_host() {
            self.last_words.0 = self.sending_connection().and_then(|id| hosts[at].endpoint.info(now, id));
        } else {
            self.last_words.1 = self.receiving_connection().and_then(|id| hosts[at].endpoint.info(now, id));
        }
    }

    /// The connection as the sending host knows it, or knew it last.
    pub(super) fn sender_info(&self, now: Instant, hosts: &[Host]) -> Option<ConnectionInfo> {
        let live = self.sending_connection().and_then(|id| hosts[self.sending_host()].endpoint.info(now, id));
        live.or_else(|| self.last_words.0.clone())
    }

    /// The connection as the receiving host knows it, or knew it last.
    pub(super) fn receiver_info(&self, now: Instant, hosts: &[Host]) -> Option<ConnectionInfo> {
        let live =
            self.receiving_connection().and_then(|id| hosts[self.receiving_host()].endpoint.info(now, id));
        live.or_else(|| self.last_words.1.clone())
    }

    /// Writes what the traffic asks for and the send buffer takes.
    pub(super) fn write(&mut self, now: Instant, hosts: &mut [Host]) -> Option<Instant> {
        let connection = self.sending_connection().filter(|_| !self.stopped)?;
        let endpoint = &mut hosts[self.sending_host()].endpoint;
        match self.traffic {
            Traffic::Bulk => {
                self.fill(now, endpoint, connection, u64::MAX);
                None
            }
            Traffic::File { bytes } => {
                self.fill(now, endpoint, connection, bytes);
                if self.written == bytes {
                    self.stopped = true;
                    endpoint.close(now, connection);
                }
                None
            }
            Traffic::Blocks { bytes, rate } => self.write_blocks(now, endpoint, connection, bytes, rate),
            Traffic::Datagrams { .. } => None,
        }
    }

    fn fill(&mut self, now: Instant, endpoint: &mut mptcp::Endpoint, connection: ConnectionId, goal: u64) {
        while self.written < goal {
            let data = pattern::bytes_at(self.written, goal - self.written);
            let offered = data.len();
            let taken = endpoint.write(now, connection, data);
            self.written += taken as u64;
            if taken < offered {
                return;
            }
        }
    }

    /// Blocks that were begun are finished first; a new one begins when its time has come and the
    /// send buffer has room for some of it.
    fn write_blocks(
        &mut self,
        now: Instant,
        endpoint: &mut mptcp::Endpoint,
        connection: ConnectionId,
        size: u64,
        rate: Option<u64>,
    ) -> Option<Instant> {
        let interval = rate.map(|rate| Duration::from_secs_f64(size as f64 * 8.0 / rate as f64));
        loop {
            let begun = self.written.next_multiple_of(size);
            if self.written < begun {
                self.fill(now, endpoint, connection, begun);
                if self.written < begun {
                    return None;
                }
            }
            if let Some(interval) = interval {
                let due = *self.block_due.get_or_insert(now);
                if due > now {
                    return Some(due);
                }
                self.block_due = Some(due + interval);
                self.open_blocks.push_back(due);
            } else {
                if endpoint.writable(connection) == 0 {
                    // Writing nothing makes the endpoint tell when there is room.
                    endpoint.write(now, connection, pattern::bytes_at(self.written, 1));
                    return None;
                }
                self.open_blocks.push_back(now);
            }
            let end = self.written + size;
            self.fill(now, endpoint, connection, end);
            if self.written < end {
                return None;
            }
        }
    }

    /// The scenario says that the application writes no more.
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
    pub(super) fn take_datagram(&mut self, now: Instant) {
        self.received += self.datagrams.as_ref().map_or(0, Datagrams::payload);
        self.first_byte_at.get_or_insert(now);
        self.last_byte_at = Some(now);
    }

    fn read(&mut self, now: Instant, hosts: &mut [Host]) {
        let Some(connection) = self.receiving_connection() else { return };
        let endpoint = &mut hosts[self.receiving_host()].endpoint;
        while let Some(data) = endpoint.read(now, connection) {
            self.intact &= pattern::matches(self.received, &data);
            self.received += data.len() as u64;
            self.first_byte_at.get_or_insert(now);
            self.last_byte_at = Some(now);
        }
        if let Traffic::Blocks { bytes, .. } = self.traffic {
            while (self.blocks.len() as u64 + 1) * bytes <= self.received {
                let Some(written_at) = self.open_blocks.pop_front() else { break };
                self.blocks.push(Block { written_at, latency: now.since(written_at) });
            }
        }
    }
}

/// The class of a flow's frames over an interface of the host that opened it.
pub(super) fn class_of(flow: usize, interface: usize) -> u32 {
    1 + flow as u32 * INTERFACES + interface as u32
}

/// The flow that a label stands for, and its detail.
pub(super) fn flow_and_subflow(label: u32) -> Option<(usize, usize)> {
    let class = (label >> 8).checked_sub(1)?;
    Some(((class / INTERFACES) as usize, (label & 0xff) as usize))
}
