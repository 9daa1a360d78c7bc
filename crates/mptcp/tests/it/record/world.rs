//! Two endpoints, the paths between them and their applications, in virtual time.

use std::collections::BTreeMap;
use std::sync::Arc;

use mptcp::congestion::Departure;
use mptcp::observe::{Kinds, Wanted};
use mptcp::{
    Config, ConnectionId, Endpoint, EventKind, IcmpError, IcmpMessage, InterfaceChange, InterfaceId,
    SubflowId,
};
use mptcp_clock::{Instant, Rng};
use mptcp_wire::{Codepoint, Packet, Segment};

use super::app::App;
use super::event_counter::{EventCounter, Hash};
use super::hosts::{client_address, path_of, server_address, server_interface};
use super::link::{Link, Way};
use crate::pair::frames;

pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;
pub const PORT: u16 = 5001;

/// Changes a segment in flight and may add others. Returns whether the segment is forwarded.
pub type Middlebox = Box<dyn FnMut(&mut Passing<'_>) -> bool>;

/// A segment in a middlebox.
pub struct Passing<'a> {
    pub to_server: bool,
    pub path: usize,
    /// Number of earlier segments in this direction on this path.
    pub number: u64,
    pub segment: &'a mut Segment,
    /// Additional segments, sent after it.
    pub others: Vec<Segment>,
}

/// A change of the simulated world at a given time.
pub type Act = Box<dyn FnOnce(&mut World)>;

enum Thing {
    Arrival(usize, usize, Box<Segment>),
    Departure(ConnectionId, SubflowId, Departure),
    Notice(usize, IcmpMessage),
    Act(Act),
}

/// A connection and its two applications.
#[derive(Clone, Debug)]
pub struct Flow {
    pub ids: [Option<ConnectionId>; 2],
    pub apps: [App; 2],
}

pub struct World {
    pub now: Instant,
    pub ends: [Endpoint; 2],
    pub counters: [Arc<EventCounter>; 2],
    pub links: Vec<Link>,
    pub ways: Vec<[Way; 2]>,
    pub middlebox: Option<Middlebox>,
    pub flows: Vec<Flow>,
    /// Events with their time and flow; `usize::MAX` for an unknown flow.
    pub events: [Vec<(Instant, usize, EventKind)>; 2],
    pub accepts: bool,
    pub segments: u64,
    pub hash: Hash,
    pub last_segment: Instant,
    things: BTreeMap<(Instant, u64), Thing>,
    sequence: u64,
    draws: Rng,
    scratch: Vec<u8>,
}

impl World {
    /// `servers` are the addresses of the server: `true` for IPv6.
    pub fn new(seed: u64, links: Vec<Link>, servers: &[bool], observed: bool) -> Self {
        let mut ends = [Endpoint::new(Rng::new(seed, "client")), Endpoint::new(Rng::new(seed, "server"))];
        let counters = [Arc::new(EventCounter::default()), Arc::new(EventCounter::default())];
        if observed {
            for (end, counter) in ends.iter_mut().zip(&counters) {
                end.set_observer(Arc::clone(counter) as _, Wanted::always(Kinds::ALL));
            }
        }
        for (path, link) in links.iter().enumerate() {
            let id = ends[CLIENT].add_interface(client_address(path, link.v6), link.backup);
            ends[CLIENT].set_gso_max(id, link.gso);
            if link.departures {
                ends[CLIENT].expect_departures(id);
            }
        }
        for (number, &v6) in servers.iter().enumerate() {
            let id = ends[SERVER].add_interface(server_address(number, v6), false);
            ends[SERVER].set_gso_max(id, links.iter().map(|link| link.gso).max().unwrap_or(0));
        }
        Self {
            now: Instant::ZERO,
            ends,
            counters,
            ways: links.iter().map(|_| [Way::default(), Way::default()]).collect(),
            links,
            middlebox: None,
            flows: Vec::new(),
            events: [Vec::new(), Vec::new()],
            accepts: true,
            segments: 0,
            hash: Hash::default(),
            last_segment: Instant::ZERO,
            things: BTreeMap::new(),
            sequence: 0,
            draws: Rng::new(seed, "paths"),
            scratch: Vec::new(),
        }
    }

    pub fn at(&mut self, when: Instant, act: Act) {
        self.put(when, Thing::Act(act));
    }

    fn put(&mut self, when: Instant, thing: Thing) {
        self.sequence += 1;
        self.things.insert((when, self.sequence), thing);
    }

    /// The client opens a connection over a path to a port of the server.
    pub fn connect(&mut self, path: usize, config: Config, port: u16, apps: [App; 2]) {
        let to = server_address(0, self.links[path].v6);
        let id = self.ends[CLIENT].connect(self.now, InterfaceId(path as u32), (to, port).into(), config);
        self.flows.push(Flow { ids: [id.ok(), None], apps });
    }

    /// Id of the first connection at one end.
    pub fn id(&self, side: usize) -> ConnectionId {
        self.flows[0].ids[side].expect("the connection is there at this time")
    }

    pub fn interface(&mut self, side: usize, number: usize, change: InterfaceChange) {
        self.ends[side].handle_interface(self.now, InterfaceId(number as u32), change);
    }

    /// Delivers an ICMP error about a segment of the client.
    pub fn notice(&mut self, subflow: usize, sequence: mptcp_wire::Seq, error: IcmpError) {
        let Some(info) = self.ends[CLIENT].info(self.now, self.id(CLIENT)) else { return };
        let found = &info.subflows[subflow];
        let message = IcmpMessage { local: found.local, remote: found.remote, sequence, error };
        self.ends[CLIENT].handle_icmp(self.now, message);
    }

    fn note(&mut self, side: usize, segment: &Segment, path: usize) {
        let bare = Segment { payload: bytes::Bytes::new(), ..segment.clone() };
        self.scratch.clear();
        let packet = Packet::new(bare);
        packet.emit(&mut self.scratch).expect("the segment can be encoded");
        self.hash.number(self.now.as_nanos());
        self.hash.number((side << 8 | path) as u64);
        self.hash.bytes(&self.scratch);
        self.hash.number(segment.payload.len() as u64);
        self.segments += 1;
        self.last_segment = self.now;
    }

    fn post(&mut self, side: usize, sent: mptcp::Transmit) {
        let near = if side == CLIENT { sent.segment.source } else { sent.segment.destination };
        let path = path_of(near.ip());
        self.note(side, &sent.segment, path);
        let length = sent.segment.packet_length() as u64;
        let size = sent.subflow.and_then(|(id, subflow)| self.ends[side].gso_size(id, subflow));
        let cut = size.filter(|&size| size > 0 && sent.segment.payload.len() as u64 > size);
        let pieces = match cut {
            Some(size) if self.links[path].gso > 0 => frames(&sent.segment, size as usize),
            _ => vec![sent.segment],
        };
        let mut leaves = self.now;
        for mut segment in pieces {
            let mut others = Vec::new();
            if let Some(mut middlebox) = self.middlebox.take() {
                let number = self.ways[path][side].segments;
                let mut passing =
                    Passing { to_server: side == CLIENT, path, number, segment: &mut segment, others };
                let goes = middlebox(&mut passing);
                others = passing.others;
                self.middlebox = Some(middlebox);
                if !goes {
                    self.ways[path][side].segments += 1;
                    self.ways[path][side].lost += 1;
                    continue;
                }
            }
            leaves = self.carry(side, path, segment);
            for other in others {
                self.carry(side, path, other);
            }
        }
        if side == CLIENT && self.links[path].departures {
            self.depart(path, sent.subflow, length, leaves);
        }
    }

    /// Sends a segment on a path; returns the time at which it leaves the queue.
    fn carry(&mut self, side: usize, path: usize, mut segment: Segment) -> Instant {
        let length = segment.packet_length() as u64;
        let link = &self.links[path];
        let longer = link.mtu.filter(|(mtu, _)| length > u64::from(*mtu));
        let long = longer.map(|(mtu, told)| told.then_some(IcmpError::TooBig { mtu }));
        if let Some(error) = link.refuses.map(Some).or(long) {
            self.ways[path][side].segments += 1;
            self.ways[path][side].lost += 1;
            if let Some(error) = error {
                let (local, remote, sequence) = (segment.source, segment.destination, segment.sequence);
                let message = IcmpMessage { local, remote, sequence, error };
                self.put(self.now + self.links[path].delay, Thing::Notice(side, message));
            }
            return self.now;
        }
        let payload = segment.payload.len() as u64;
        let markable = segment.ecn.is_capable();
        let (link, way) = (&self.links[path], &mut self.ways[path][side]);
        let fate = way.take(link, &mut self.draws, self.now, length, payload, markable);
        if fate.marked {
            segment.ecn = Codepoint::Ce;
        }
        for at in fate.arrives {
            self.put(at, Thing::Arrival(1 - side, path, Box::new(segment.clone())));
        }
        fate.leaves
    }

    fn depart(&mut self, path: usize, whose: Option<(ConnectionId, SubflowId)>, length: u64, at: Instant) {
        let Some((id, subflow)) = whose else { return };
        let alone = Way::time_of(&self.links[path], length);
        let departure = Departure { bytes: length, service: alone, alone };
        self.put(at, Thing::Departure(id, subflow, departure));
    }

    /// Lets both ends and all applications act until nothing more happens at this time.
    pub fn settle(&mut self) {
        loop {
            let mut quiet = true;
            for side in [CLIENT, SERVER] {
                let (sends, tells) = (self.ends[side].wants_transmit(), self.ends[side].has_events());
                assert_eq!(self.ends[side].has_application_events(), sends || tells);
                while let Some(sent) = self.ends[side].poll_transmit(self.now) {
                    assert!(sends, "a driver would not have polled for segments");
                    quiet = false;
                    self.post(side, sent);
                }
                while self.ends[side].has_events() {
                    let Some(event) = self.ends[side].poll_event() else { break };
                    quiet = false;
                    self.hear(side, event.connection, event.kind);
                }
                assert!(!self.ends[side].wants_transmit(), "woken without a segment to send");
                assert!(self.ends[side].poll_event().is_none(), "a driver would not have polled for events");
            }
            for flow in &mut self.flows {
                for side in [CLIENT, SERVER] {
                    let goal = flow.apps[1 - side].goal;
                    if let Some(id) = flow.ids[side] {
                        quiet &= !flow.apps[side].work(self.now, &mut self.ends[side], id, goal);
                    }
                }
            }
            if quiet {
                return;
            }
        }
    }

    fn hear(&mut self, side: usize, id: ConnectionId, kind: EventKind) {
        if side == SERVER && !self.flows.iter().any(|flow| flow.ids[SERVER] == Some(id)) {
            self.introduce(id);
        }
        if side == SERVER && kind == EventKind::Accepted && self.accepts {
            self.ends[SERVER].accept(id);
        }
        let place = self.flows.iter().position(|flow| flow.ids[side] == Some(id));
        if let Some(flow) = place.and_then(|place| self.flows.get_mut(place)) {
            match kind {
                EventKind::Writable => flow.apps[side].note_writable(),
                EventKind::Readable => flow.apps[side].note_readable(),
                _ => {}
            }
        }
        self.events[side].push((self.now, place.unwrap_or(usize::MAX), kind));
    }

    /// Assigns a new connection of the server to its flow.
    fn introduce(&mut self, id: ConnectionId) {
        let Some(info) = self.ends[SERVER].info(self.now, id) else { return };
        let Some(port) = info.subflows.first().map(|subflow| subflow.remote.port()) else { return };
        let ends = &self.ends;
        let is_it = |flow: &&mut Flow| {
            let near = flow.ids[CLIENT].and_then(|near| ends[CLIENT].connection(near));
            flow.ids[SERVER].is_none() && near.and_then(|near| near.local_port()) == Some(port)
        };
        if let Some(flow) = self.flows.iter_mut().find(is_it) {
            flow.ids[SERVER] = Some(id);
        }
    }

    /// Time of the next event; `None` if there is none.
    pub fn next(&self) -> Option<Instant> {
        let thing = self.things.keys().next().map(|(at, _)| *at);
        let apps = self.flows.iter().flat_map(|flow| {
            [CLIENT, SERVER].map(|side| flow.ids[side].and_then(|_| flow.apps[side].wakes()))
        });
        let timers = self.ends.iter().map(Endpoint::poll_timeout);
        let all = timers.chain(apps).flatten().chain(thing).min();
        all.filter(|&at| at < Instant::FAR_FUTURE).map(|at| at.max(self.now))
    }

    /// Advances to `to` and handles what is due.
    pub fn go(&mut self, to: Instant) {
        self.now = self.now.max(to);
        for end in &mut self.ends {
            if end.poll_timeout().is_some_and(|at| at <= self.now) {
                end.handle_timeout(self.now);
            }
        }
        while let Some(entry) = self.things.first_entry().filter(|entry| entry.key().0 <= self.now) {
            match entry.remove() {
                Thing::Arrival(side, path, segment) => {
                    let interface =
                        if side == CLIENT { path } else { server_interface(segment.destination.ip()) };
                    self.ends[side].handle_segment(self.now, InterfaceId(interface as u32), *segment);
                }
                Thing::Departure(id, subflow, departure) => {
                    self.ends[CLIENT].handle_departed(self.now, id, subflow, departure);
                }
                Thing::Notice(side, message) => {
                    self.ends[side].handle_icmp(self.now, message);
                }
                Thing::Act(act) => act(self),
            }
        }
        self.settle();
    }
}
