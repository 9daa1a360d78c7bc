//! One step of a host: applications write and read, the endpoint sends segments, and its timer is set.
//!
//! Owns the transfer of segments from an endpoint to a link. Each frame gets a label, a number that
//! identifies its flow and subflow.

use mptcp::congestion::Departure;
use mptcp::{ConnectionId, Endpoint, EventKind, InterfaceId, SubflowId};
use mptcp_clock::{Duration, Instant};
use netsim::{AddressId, Codepoint, DirectionId, Frame};

use super::ports::{FIRST_PORT, flow_of_ports, label_of};
use super::{ETHERNET, ScheduledAction, World, host};

impl World {
    pub(super) fn schedule(&mut self, at: Instant, what: ScheduledAction) {
        self.scheduled.insert((at, what));
        let first = self.scheduled.first().map(|(at, _)| *at);
        self.network.set_timer(self.scheduled_timer, first);
    }

    /// Runs everything that a host can do now.
    pub(super) fn service(&mut self, now: Instant, at: usize) {
        loop {
            if self.hosts[at].endpoint.has_events() {
                self.serve_events(now, at);
            }
            let mut sent = false;
            while self.send(now, at) {
                sent = true;
            }
            if !sent || !self.hosts[at].endpoint.has_application_events() {
                break;
            }
        }
        if self.attribution.is_some() {
            self.settle_accounts(now, at);
        }
        let host = &mut self.hosts[at];
        let due = host.endpoint.poll_timeout();
        if due != host.armed {
            host.armed = due;
            self.network.set_timer(host.timer, due);
        }
    }

    fn serve_events(&mut self, now: Instant, at: usize) {
        while let Some(event) = self.hosts[at].endpoint.poll_event() {
            if event.kind == EventKind::Accepted {
                self.adopt(now, at, event.connection);
            }
            let Some(flow) = self.hosts[at].flow_of(event.connection) else { continue };
            let next = self.apps[flow].on_event(now, at, event.kind, &mut self.hosts);
            if let Some(next) = next {
                self.schedule(next, ScheduledAction::Write(flow));
            }
            if let Some(attribution) = &mut self.attribution
                && at == self.apps[flow].receiving_host()
                && (event.kind == EventKind::Finished || self.apps[flow].has_all())
                && attribution.counts(flow as u16)
            {
                let reasons = self.apps[flow].reasons(now, &self.hosts).0;
                attribution.stop(now, flow as u16, reasons, &mut self.network);
            }
            if matches!(event.kind, EventKind::Finished | EventKind::Closed(_)) && self.scenario.until_done {
                self.end_if_done(now);
            }
        }
    }

    /// Ends the run at `now` if all files have arrived and their senders have the acknowledgements.
    #[cold]
    fn end_if_done(&mut self, now: Instant) {
        let flows = self.scenario.flows.iter().zip(&self.apps);
        if flows.filter(|(flow, _)| flow.has_a_file()).all(|(_, app)| app.heard_all == [true; 2]) {
            self.end = now;
        }
    }

    /// Assigns an accepted connection to the flow with its port.
    #[cold]
    fn adopt(&mut self, now: Instant, at: usize, connection: ConnectionId) {
        let endpoint: &Endpoint = &self.hosts[at].endpoint;
        let Some(port) = endpoint.connection(connection).and_then(mptcp::Connection::local_port) else {
            return;
        };
        let flow = usize::from(port.wrapping_sub(FIRST_PORT));
        if let Some(app) = self.apps.get_mut(flow).filter(|app| app.to == at) {
            app.connections.1 = Some(connection);
            self.hosts[at].own(connection, flow);
            self.catch_up_policies(now, at, flow, connection);
        }
    }

    /// Sends the next segment of a host. Returns false if there is none.
    fn send(&mut self, now: Instant, at: usize) -> bool {
        let mut host = &mut self.hosts[at];
        if !host.endpoint.wants_transmit() {
            return false;
        }
        let (payload, mut segment) = self.pool.next();
        let Some((interface, subflow)) = host.endpoint.poll_transmit_into(now, segment) else { return false };
        if self.captures.is_some() {
            self.record(now, at, interface, payload, subflow);
            (host, segment) = (&mut self.hosts[at], self.pool.get(payload));
        }
        if self.segments.is_some() {
            self.keep_segment(now, at, interface, payload, true);
            (host, segment) = (&mut self.hosts[at], self.pool.get(payload));
        }
        let Some(destination) = host::lookup(&self.addresses, segment.destination.ip()) else { return true };
        let bytes = (segment.packet_length() + ETHERNET) as u32;
        let carried = segment.payload.len();
        let ecn = Codepoint::from_bits(segment.ecn.bits());
        let (direction, label) = if self.spreads {
            let Some(chosen) = self.spread(at, interface, subflow, payload, destination) else { return true };
            chosen
        } else {
            let Some(direction) = host.way_out(&mut self.network, interface, destination) else {
                return true;
            };
            let label = match subflow {
                Some((connection, subflow)) if self.has_labels => {
                    // Before a connection is accepted, its port identifies its flow.
                    let flow = host.flow_of(connection).map(|flow| &self.apps[flow]);
                    let app = flow.or_else(|| flow_of_ports(&self.apps, segment));
                    app.map_or(0, |app| app.label(segment, Some(subflow)))
                }
                _ => 0,
            };
            (direction, label)
        };
        if let Some(attribution) = &mut self.attribution {
            let again = self.recorder.as_ref().is_some_and(|recorder| recorder.take_again());
            self.pool.stamp(payload, now, again);
            if carried > 0 {
                attribution.offered(label, bytes, carried);
            }
        }
        self.pool.lend();
        // Dropped frames return through `Network::lost`.
        let fate = self.network.send(now, direction, Frame { bytes, destination, label, ecn, payload });
        let gone = match fate {
            netsim::SendOutcome::Lost(_) => true,
            netsim::SendOutcome::Held => self.middleboxes.before(direction),
            netsim::SendOutcome::Queued => false,
        };
        if gone && self.own_queues.get(direction.index()).is_some_and(Option::is_some) {
            // A frame that was dropped, or that a middlebox took, departs from the local queue at once.
            let nothing = Duration::ZERO;
            let bytes = u64::from(bytes) - ETHERNET as u64;
            if let Some((connection, subflow)) = subflow {
                let gone = Departure { bytes, service: nothing, alone: nothing };
                self.hosts[at].endpoint.handle_departed(now, connection, subflow, gone);
            }
        }
        true
    }

    /// Direction and label of a segment if nodes select paths by label.
    #[inline(never)]
    fn spread(
        &mut self,
        at: usize,
        interface: InterfaceId,
        subflow: Option<(ConnectionId, SubflowId)>,
        payload: u32,
        destination: AddressId,
    ) -> Option<(DirectionId, u32)> {
        let segment = self.pool.get(payload);
        let host = &mut self.hosts[at];
        let label = match subflow {
            Some((connection, subflow)) => {
                // Before a connection is accepted, its port identifies its flow.
                let flow = host.flow_of(connection).map(|flow| &self.apps[flow]);
                let app = flow.or_else(|| flow_of_ports(&self.apps, segment));
                app.map_or(0, |app| app.label(segment, Some(subflow)))
            }
            None => label_of(&self.apps, segment, true),
        };
        Some((host.choose_way(&mut self.network, interface, destination, label)?, label))
    }
}
