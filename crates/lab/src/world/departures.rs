//! Departures of frames from the local queues of hosts, and the datagrams that hosts then send.
//!
//! Endpoints need departures to limit their data in local queues (TCP small queues). UDP flows without a rate
//! send the next datagram when one departs. The label of a frame is a number that identifies its flow and
//! subflow, because the network sees only the length and the label of a frame.

use mptcp::congestion::Departure;
use mptcp_clock::{Duration, Instant};
use netsim::{DirectionId, Frame, SendOutcome};

use super::apps::App;
use super::datagrams::Datagrams;
use super::{ETHERNET, ScheduledAction, World};
use crate::classes::flow_and_subflow;
use crate::scenario::names::Routing;

impl World {
    /// A frame left the queue of a host.
    #[inline(never)]
    pub(super) fn on_departure(&mut self, now: Instant, by: DirectionId, label: u32, departure: Departure) {
        let Some(at) = self.own_queues.get(by.index()).copied().flatten() else { return };
        let Some((flow, detail)) = flow_and_subflow(label) else { return };
        let Some(app) = self.apps.get_mut(flow) else { return };
        let sender = app.sending_host();
        if let Some(datagrams) = &mut app.datagrams {
            if at != sender {
                // A relay forwarded a packet of another host.
                return;
            }
            datagrams.departed();
            if departure.service.is_zero() {
                // The frame was dropped. Sending the next datagram at once could loop forever.
                return self.pump_later(now, by, flow);
            }
            return self.pump(now, flow);
        }
        if self.middleboxes.before(by) {
            // The frame left this host when the middlebox received it.
            return;
        }
        let connection = match at {
            _ if at == app.from => app.connections.0,
            _ if at == app.to => app.connections.1,
            _ => None,
        };
        let Some(connection) = connection else { return };
        let endpoint = &mut self.hosts[at].endpoint;
        let Some(known) = endpoint.connection(connection) else { return };
        // A label has only eight bits for the subflow number.
        let Some(subflow) = known.subflow_ids().find(|id| id.number() as u8 == detail as u8) else { return };
        if endpoint.handle_departed(now, connection, subflow, departure) {
            self.service(now, at);
        }
    }

    /// Sends all datagrams of a flow that are due.
    #[inline(never)]
    pub(super) fn pump(&mut self, now: Instant, flow: usize) {
        loop {
            let app = &mut self.apps[flow];
            let label = app.datagram_label();
            let Some(datagrams) = app.datagrams.as_mut() else { return };
            if !datagrams.take(now) {
                break;
            }
            let bytes = datagrams.packet() + ETHERNET as u32;
            // The path can differ for each frame.
            let Some((direction, destination)) = self.way_of_datagrams(flow) else { return };
            let Some(datagrams) = self.apps[flow].datagrams.as_mut() else { return };
            let payload = datagrams.next_payload(now);
            match self.network.send(
                now,
                direction,
                Frame { bytes, destination, label, ecn: netsim::Codepoint::NotEct, payload },
            ) {
                SendOutcome::Queued | SendOutcome::Held => datagrams.queued(),
                // The link is down, or other flows filled the queue: see `rouse_datagrams`.
                SendOutcome::Lost(_) if datagrams.is_greedy() => {
                    // A discipline can drop a packet although its queue is empty. Then no departure follows.
                    if self.network.parameters(direction).discipline.is_some() {
                        self.pump_later(now, direction, flow);
                    }
                    break;
                }
                SendOutcome::Lost(_) => {}
            }
        }
        if let Some(next) = self.apps[flow].datagrams.as_ref().and_then(Datagrams::next) {
            self.schedule(next, ScheduledAction::Write(flow));
        }
    }

    /// Continues to send datagrams at the next possible departure.
    fn pump_later(&mut self, now: Instant, by: DirectionId, flow: usize) {
        let Some(bytes) = self.apps[flow].datagrams.as_ref().map(|d| d.packet() + ETHERNET as u32) else {
            return;
        };
        let rate = self.network.parameters(by).rate;
        let pause = rate.map_or(Duration::from_millis(1), |rate| rate.serialisation(bytes));
        self.schedule(now + pause.max(Duration::from_nanos(1)), ScheduledAction::Write(flow));
    }

    /// Resumes flows whose queue became empty without a departure, because a link was down or a filter dropped
    /// the frames.
    pub(super) fn rouse_datagrams(&mut self, now: Instant) {
        for flow in 0..self.apps.len() {
            if !self.apps[flow].datagrams.as_ref().is_some_and(|d| d.running && d.is_greedy()) {
                continue;
            }
            if self.has_left(flow) {
                if let Some(datagrams) = &mut self.apps[flow].datagrams {
                    datagrams.forget_queue();
                }
                self.pump(now, flow);
            }
        }
    }

    /// Whether no datagram of a flow is in a local queue. Uses no randomness, so it does not affect the run.
    fn has_left(&mut self, flow: usize) -> bool {
        let host = &self.hosts[self.apps[flow].sending_host()];
        if self.scenario.routing != Routing::Spray || host.leaves_by(self.apps[flow].datagram_interface()) {
            let way = self.way_of_datagrams(flow);
            return way.is_some_and(|(direction, _)| self.network.counters(direction).backlog_frames == 0);
        }
        // Any queue of the host may hold them.
        let network = &mut self.network;
        host.own_queues.iter().all(|&by| network.counters(by).backlog_frames == 0)
    }

    #[inline(never)]
    pub(super) fn take_datagram(&mut self, now: Instant, label: u32, payload: u32) {
        let flow = flow_and_subflow(label).map(|(flow, _)| flow);
        if let Some(app) = flow.and_then(|flow| self.apps.get_mut(flow)) {
            app.take_datagram(now, payload);
            self.data_packets += 1;
        }
    }

    fn way_of_datagrams(&mut self, flow: usize) -> Option<(DirectionId, netsim::AddressId)> {
        let App { from, to, interface, .. } = self.apps[flow];
        let sender = self.apps[flow].sending_host();
        let there = if sender == from { (to, 0) } else { (from, interface.0 as usize) };
        let destination = *self.addresses.get(there.0)?.get(there.1)?;
        let by = self.apps[flow].datagram_interface();
        let direction = if self.spreads {
            let label = self.apps[flow].datagram_label();
            self.hosts[sender].choose_way(&mut self.network, by, destination, label)?
        } else {
            self.hosts[sender].way_out(&mut self.network, by, destination)?
        };
        Some((direction, destination))
    }
}
