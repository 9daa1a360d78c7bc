//! The world: a running scenario with hosts on links, flows on hosts, and one virtual clock.
//!
//! Owns the run. The only module in which `mptcp` meets `netsim`: it moves segments between endpoints and
//! links, and advances the time of both. Implements neither.

mod amend;
mod apps;
mod attribution;
mod build;
mod capture;
mod datagram_delays;
mod datagrams;
mod departures;
mod end;
mod error;
mod fallback;
mod host;
mod impaired;
mod link_summaries;
mod middleboxes;
mod narrow;
mod policy_changes;
mod pool;
mod ports;
mod progress;
mod recorder;
mod recording;
mod sampler;
mod segments;
mod service;
mod settling;
mod tracing;
mod view;

use std::collections::BTreeSet;
use std::sync::Arc;

use mptcp::congestion::Departure;
use mptcp::{ConnectionId, InterfaceChange, InterfaceId};
use mptcp_clock::{Duration, Instant};
use mptcp_wire::Codepoint;
use netsim::{AddressId, Arrival, Budget, Event, Frame, Network, TimerId};

use crate::classes::flow_and_subflow;
use crate::measurements::Measurements;
use crate::scenario::Scenario;
use crate::wiring::{ETHERNET, Wiring};
use apps::App;
use attribution::Attribution;
pub use capture::CaptureError;
use capture::Captures;
use datagrams::is_datagram;
pub use end::MAX_LOST;
pub use error::RunError;
use host::Host;
use middleboxes::Middleboxes;
use narrow::Narrow;
use pool::Pool;
pub use progress::{FlowProgress, SubflowProgress};
use recorder::Recorder;
use sampler::Sampler;
pub use segments::SeenSegment;
use segments::SegmentLog;
pub use view::{DirectionView, PacketKind, PacketView};

/// The purpose of a network timer.
#[derive(Clone, Copy, Debug)]
enum Alarm {
    /// Timer of an endpoint.
    Endpoint(usize),
    Sample,
    /// Scheduled actions are due.
    Scheduled,
    /// Timer of the middleboxes.
    Middleboxes,
}

/// An action of a flow or a host at a known time. There are few, so they share one timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ScheduledAction {
    /// A flow opens its connection.
    Start(usize),
    /// The application of a flow stops writing.
    Stop(usize),
    /// The application of a flow writes.
    Write(usize),
    /// A host is notified of an interface.
    Interface(usize, InterfaceId, bool),
    /// A host receives an ICMP error, by index.
    Notice(usize),
    /// A middlebox is switched, by index.
    Switch(usize),
    /// The policies of a flow change, by index.
    Policy(usize),
    /// A link changes: the time up to now is attributed to causes first (`attribution`).
    Settle,
    /// The warm-up ends: accounts of causes restart.
    WarmedUp,
    /// The warm-up ends between two samples: summaries start.
    EndWarmUp,
}

/// A running scenario.
#[derive(Debug)]
pub struct World {
    scenario: Scenario,
    seed: u64,
    wiring: Wiring,
    network: Network<u32>,
    pool: Pool,
    hosts: Vec<Host>,
    /// Host of each node; routers have none.
    host_of_node: Vec<Option<usize>>,
    /// Network addresses by host and interface, the second and third byte of the IP address.
    addresses: Vec<Vec<AddressId>>,
    apps: Vec<App>,
    alarms: Vec<Alarm>,
    scheduled: BTreeSet<(Instant, ScheduledAction)>,
    scheduled_timer: TimerId,
    middleboxes: Middleboxes,
    narrow: Narrow,
    /// Timer of the middleboxes; `None` without middleboxes.
    middleboxes_timer: Option<TimerId>,
    sampler: Sampler,
    captures: Option<Captures>,
    /// The first segments; only if the driver asked for them.
    segments: Option<Box<SegmentLog>>,
    recorder: Option<Arc<Recorder>>,
    /// Causes that limit each path, from the state of its links; only in runs with an observer.
    attribution: Option<Box<Attribution>>,
    /// Whether frames have labels, which filters and departures need.
    has_labels: bool,
    /// Whether nodes select paths by label.
    spreads: bool,
    /// Whether links corrupt frames.
    impairs: bool,
    /// By direction: the host whose local queue it is, if departures are watched.
    own_queues: Vec<Option<usize>>,
    end: Instant,
    budget: Budget,
    /// An error during the latest step.
    failure: Option<RunError>,
    data_packets: u64,
    /// Scratch buffer: the connections of a host that were polled.
    polled: Vec<ConnectionId>,
}

impl World {
    /// Runs the scenario to its end and returns the results.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn run(mut self) -> Result<Measurements, RunError> {
        self.advance(self.end)?;
        Ok(self.finish())
    }

    /// Runs until `until` or the end of the scenario.
    ///
    /// # Errors
    /// If the simulation makes no progress, a limit of the scenario is reached, or a capture cannot be
    /// written.
    #[inline(never)]
    pub fn advance(&mut self, until: Instant) -> Result<(), RunError> {
        // A step can end the run before its duration.
        while let Some((now, turn)) = self.network.next_turn(until.min(self.end)) {
            match self.network.arrival(now, turn) {
                Arrival::Here { node, frame, .. } => self.on_arrival(now, node, &frame),
                Arrival::PassedOn => continue,
                Arrival::Otherwise => match self.network.otherwise(now, turn) {
                    Some(event) => self.on_event(now, event),
                    None => continue,
                },
            }
            if self.failure.is_some() {
                return self.failure.take().map_or(Ok(()), Err);
            }
            self.tidy();
        }
        self.exhausted()
    }

    #[inline(never)]
    fn on_event(&mut self, now: Instant, event: Event<u32>) {
        match event {
            Event::Arrived { node, frame, .. } => self.on_arrival_rarely(now, node, &frame),
            Event::Timer(timer) => self.on_alarm(now, timer),
            Event::Tapped { direction, frame } => self.on_tapped(now, direction, frame),
            Event::Departed { direction, label, bytes, service, alone } => {
                let bytes = u64::from(bytes) - ETHERNET as u64;
                self.on_departure(now, direction, label, Departure { bytes, service, alone });
            }
            Event::Impaired { direction, frame, duplicated, corrupted } => {
                let events = self.impaired(now, direction, frame, (duplicated, corrupted));
                events.into_iter().flatten().for_each(|event| self.on_impaired(now, event));
            }
        }
    }

    /// Handles the event of a frame that continues after duplication or corruption.
    #[cold]
    fn on_impaired(&mut self, now: Instant, event: Event<u32>) {
        match event {
            Event::Arrived { node, frame, .. } => self.on_arrival_rarely(now, node, &frame),
            Event::Tapped { direction, frame } => self.on_tapped(now, direction, frame),
            Event::Timer(_) | Event::Departed { .. } | Event::Impaired { .. } => {}
        }
    }

    /// Number of data segments and datagrams that arrived at hosts.
    #[must_use]
    pub fn data_packets(&self) -> u64 {
        self.data_packets
    }

    /// Number of dropped frames that wait for the pool; after [`World::advance`] at most [`MAX_LOST`].
    #[must_use]
    pub fn lost_frames(&self) -> usize {
        self.network.lost_count()
    }

    /// The results. With captures, call [`World::finish_captures`] first.
    #[must_use]
    #[inline(never)]
    pub fn finish(mut self) -> Measurements {
        let end = self.end;
        let mut measured =
            self.sampler.finish(end, &self.scenario, &self.hosts, &self.apps, &mut self.network);
        measured.data_packets = self.data_packets;
        if self.recorder.is_some() {
            self.add_limits(end, &mut measured.flows);
            measured.events = self.events();
        }
        measured
    }

    #[inline(never)]
    fn on_arrival_rarely(&mut self, now: Instant, node: netsim::NodeId, frame: &Frame<u32>) {
        self.on_arrival(now, node, frame);
    }

    #[inline(always)]
    fn on_arrival(&mut self, now: Instant, node: netsim::NodeId, frame: &Frame<u32>) {
        let Some(at) = self.host_of_node.get(node.index()).copied().flatten() else { return };
        if self.impairs && self.refuses(frame.payload) {
            return;
        }
        if is_datagram(frame.payload) {
            return self.take_datagram(now, frame.label, frame.payload);
        }
        let mut segment = self.pool.get(frame.payload);
        if frame.ecn == netsim::Codepoint::Ce {
            segment.ecn = Codepoint::Ce;
        }
        let interface = host::interface_of(segment.destination.ip());
        let has_data = !segment.payload.is_empty();
        self.data_packets += u64::from(has_data);
        if self.attribution.is_some() {
            self.note_arrival(now, at, frame, has_data);
            segment = self.pool.get(frame.payload);
        }
        if self.captures.is_some() {
            self.record(now, at, interface, frame.payload, None);
            segment = self.pool.get(frame.payload);
        }
        if self.segments.is_some() {
            self.keep_segment(now, at, interface, frame.payload, false);
            segment = self.pool.get(frame.payload);
        }
        self.hosts[at].endpoint.handle_segment_in_place(now, interface, segment);
        self.pool.give_back(frame.payload);
        self.service(now, at);
    }

    /// Reports the arrival of a segment to the attribution. A segment without data that arrives at the sender
    /// of its flow is an acknowledgement.
    #[cold]
    #[inline(never)]
    fn note_arrival(&mut self, now: Instant, at: usize, frame: &Frame<u32>, has_data: bool) {
        let flow = flow_and_subflow(frame.label).and_then(|(flow, _)| self.apps.get(flow));
        if let (Some(attribution), Some(sent)) = (&mut self.attribution, self.pool.sent_at(frame.payload))
            && let Some(flow) = flow
        {
            match (has_data, flow.sending_host() == at) {
                (false, true) => {
                    attribution.acknowledged((sent, now), frame.label, frame.bytes, &mut self.network);
                }
                (true, false) => {
                    attribution.delivered((sent, now), frame.label, frame.bytes, &mut self.network)
                }
                _ => {}
            }
        }
    }

    #[inline]
    fn on_alarm(&mut self, now: Instant, timer: TimerId) {
        let Some(&alarm) = self.alarms.get(timer.index()) else { return };
        match alarm {
            Alarm::Endpoint(at) => {
                self.hosts[at].armed = None;
                self.hosts[at].endpoint.handle_timeout(now);
                self.service(now, at);
            }
            Alarm::Middleboxes => self.wake_middleboxes(now),
            Alarm::Sample => {
                self.take_back();
                self.rouse_datagrams(now);
                self.sampler.sample(now, &self.hosts, &self.apps, &mut self.network);
                self.watch_silences(now);
                self.failure = self.check_limits().err().or(self.failure.take());
                self.network.set_timer(timer, Some(now + self.scenario.sample));
            }
            Alarm::Scheduled => {
                while self.scheduled.first().is_some_and(|(at, _)| *at <= now) {
                    if let Some((_, action)) = self.scheduled.pop_first() {
                        self.run_scheduled(now, action);
                    }
                }
                let next = self.scheduled.first().map(|(at, _)| *at);
                self.network.set_timer(timer, next);
            }
        }
    }

    #[cold]
    fn run_scheduled(&mut self, now: Instant, action: ScheduledAction) {
        match action {
            ScheduledAction::Start(flow) => self.start(now, flow),
            ScheduledAction::Stop(flow) => {
                self.apps[flow].stop(now, &mut self.hosts);
                let at = self.apps[flow].sending_host();
                self.service(now, at);
            }
            ScheduledAction::Write(flow) if self.apps[flow].datagrams.is_some() => self.pump(now, flow),
            ScheduledAction::Write(flow) => {
                if let Some(next) = self.apps[flow].write(now, &mut self.hosts) {
                    self.schedule(next, ScheduledAction::Write(flow));
                }
                let at = self.apps[flow].sending_host();
                self.service(now, at);
            }
            ScheduledAction::Interface(at, interface, up) => {
                let change = if up { InterfaceChange::Up } else { InterfaceChange::Down };
                self.hosts[at].endpoint.handle_interface(now, interface, change);
                self.service(now, at);
            }
            ScheduledAction::Notice(number) => self.tell_too_long(now, number),
            ScheduledAction::Switch(number) => self.switch_middlebox(number),
            ScheduledAction::Policy(number) => {
                for host in self.change_policy(number) {
                    self.service(now, host);
                }
            }
            ScheduledAction::EndWarmUp => {
                self.take_back();
                self.rouse_datagrams(now);
                self.sampler.end_warm_up(now, &self.hosts, &self.apps);
            }
            ScheduledAction::Settle | ScheduledAction::WarmedUp => {
                if let Some(attribution) = &mut self.attribution {
                    match action {
                        ScheduledAction::WarmedUp => attribution.count_anew(now, &mut self.network),
                        _ => attribution.settle_all(now, &mut self.network),
                    }
                }
                if matches!(action, ScheduledAction::WarmedUp) {
                    self.count_reasons_anew(now);
                }
            }
        }
    }

    #[cold]
    fn start(&mut self, now: Instant, flow: usize) {
        if let Some(attribution) = &mut self.attribution {
            attribution.start(now, flow as u16, &mut self.network);
        }
        let app = &mut self.apps[flow];
        if let Some(datagrams) = &mut app.datagrams {
            datagrams.start(now);
            app.started_at = Some(now);
            return self.pump(now, flow);
        }
        let at = app.from;
        let opened = self.hosts[at].endpoint.connect(now, app.interface, app.remote, app.config.clone());
        match opened {
            Ok(connection) => {
                app.connections.0 = Some(connection);
                self.hosts[at].own(connection, flow);
            }
            // The interface is down: retries later, as a user would.
            Err(_) => {
                self.schedule(now + Duration::from_secs(1), ScheduledAction::Start(flow));
            }
        }
        self.service(now, at);
    }
}
