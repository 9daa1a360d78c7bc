//! Passes segments between the attacked host (the victim) and its peers, and events to the host's
//! application.
//!
//! Part of a random case: a simulated attack on an endpoint, which tests and the fuzzer run. `Arena` holds
//! the state of the case. The host has two peers: the attacker, and the friend, an honest neighbour whose
//! connection no attack may disturb.
//!
//! Owns two checks after each packet: the host sends a bounded number of segments, and memory is within the budget.

use mptcp::{Event, EventKind, InterfaceId, Transmit};
use mptcp_wire::{ChecksumMode, Packet, Segment};

use super::application::OpenConnection;
use super::{Arena, friend};
use crate::meter;

/// Maximum number of segments that the host may send after one packet or timer.
const MOST_SAID: u64 = 300_000;

impl Arena<'_> {
    /// Prints a line of the trace, if `HOSTILE_TRACE` is set.
    pub(super) fn tell(&self, words: impl FnOnce() -> String) {
        if self.told {
            eprintln!("{} {}", self.now, words());
        }
    }

    /// Delivers a peer's segment to the host. Segments without a valid encoding are dropped.
    pub(super) fn deliver(&mut self, segment: Segment) {
        let at = self.addresses.iter().position(|&address| address == segment.destination.ip());
        self.bytes.clear();
        let packet = Packet::new(segment);
        if packet.emit_headers(&mut self.bytes, ChecksumMode::Offloaded).is_err() {
            return;
        }
        let segment = packet.segment;
        self.tell(|| format!("> {}", words(&segment)));
        self.report.packets += 1;
        self.victim.handle_segment(self.now, InterfaceId(at.unwrap_or(0) as u32), segment);
        self.listen_to_victim();
        self.check_memory();
    }

    /// Takes the host's segments and events. Returns whether there were any.
    pub(super) fn listen_to_victim(&mut self) -> bool {
        let mut said = 0;
        let mut told = false;
        loop {
            while let Some(transmit) = self.victim.poll_transmit(self.now) {
                said += 1;
                assert!(said < MOST_SAID, "the host sends endlessly at {}", self.now);
                self.route(transmit);
            }
            let Some(event) = self.victim.poll_event() else { break };
            told = true;
            self.tell(|| format!("event {event:?}"));
            self.take_event(event);
        }
        self.report.answers += said;
        said > 0 || told
    }

    /// Passes a segment of the host to the friend or to the attacker. Notes if the attacker owes an answer.
    pub(super) fn route(&mut self, transmit: Transmit) {
        let Transmit { subflow, segment, interface } = transmit;
        self.tell(|| format!("< {}", words(&segment)));
        let options = segment.options.length();
        assert!(options <= mptcp_wire::Options::SPACE, "{options} bytes of options: {segment:?}");
        if let Some((id, subflow)) =
            subflow.filter(|_| self.departures && interface.0 < self.addresses.len() as u32)
        {
            self.queued.push_back((id, subflow, segment.packet_length() as u64));
            if self.queued.len() > 2_000 {
                self.queued.pop_front();
            }
        }
        if let Some(friend) =
            self.friend.as_mut().filter(|friend| friend.address.ip() == segment.destination.ip())
        {
            friend.endpoint.handle_segment(self.now, InterfaceId(0), segment);
            return;
        }
        if let Some(id) = self.peer.take(&segment)
            && !self.owed.contains(&id)
            && self.owed.len() < 64
        {
            self.owed.push_back(id);
        }
    }

    pub(super) fn take_event(&mut self, event: Event) {
        let now = self.now;
        let connection = self.victim.connection(event.connection);
        let port = connection.and_then(mptcp::Connection::local_port);
        let friendly = port == Some(friend::PORT);
        match event.kind {
            EventKind::Accepted if friendly => {
                self.victim.accept(event.connection);
                self.friend.iter_mut().for_each(|friend| friend.accepted = Some(event.connection));
            }
            EventKind::Accepted | EventKind::Connected => {
                if self.application.accepts {
                    self.victim.accept(event.connection);
                }
                if !self.application.connections.iter().any(|one| one.id == event.connection) {
                    self.application
                        .connections
                        .push(OpenConnection { id: event.connection, reads: self.application.reads });
                }
            }
            EventKind::Readable
                if !friendly
                    && self
                        .application
                        .connections
                        .iter()
                        .any(|one| one.id == event.connection && one.reads) =>
            {
                while self.victim.read(now, event.connection).is_some() {}
            }
            EventKind::Finished if !friendly && self.application.closes => {
                self.victim.close(now, event.connection);
            }
            _ => {}
        }
    }

    /// Panics if the heap exceeds the budget.
    pub(super) fn check_memory(&mut self) {
        let held = meter::live() - self.base;
        self.report.peak = self.report.peak.max(held);
        // The peer's own state is on the same heap.
        let own = self.peer.flows.len() as i64 * 600 + (1 << 20);
        if !self.budget.memory || held <= self.budget.endpoint + own {
            return;
        }
        let connections = self.victim.connections().filter_map(|id| self.victim.connection(id));
        let allowed: i64 = connections.map(|connection| self.budget.of(connection.config())).sum();
        let friend = 3 * 400_000 + (1 << 20);
        let limit = self.budget.endpoint + own + friend + allowed;
        assert!(
            held <= limit,
            "memory over the budget: {held} bytes live, {limit} allowed, {:?}",
            self.report
        );
    }
}

/// A segment as one line of text.
fn words(segment: &Segment) -> String {
    let Segment { source, destination, flags, sequence, acknowledgment, window, options, payload, .. } =
        segment;
    format!(
        "{flags:?} {source} -> {destination} seq {} ack {} win {window} len {} dss {:?} mptcp {:?} ts {:?} sack {:?} mss {:?} ws {:?} tfo {:?}",
        sequence.value(),
        acknowledgment.value(),
        payload.len(),
        options.dss,
        options.mptcp,
        options.timestamps,
        options.sack,
        options.mss,
        options.window_scale,
        options.fast_open,
    )
}
