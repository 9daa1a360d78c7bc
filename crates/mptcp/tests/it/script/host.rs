//! The endpoint under a script, in virtual time.
//!
//! Owns the clock, what the endpoint has sent and the script has not looked at yet, and its events. Every segment goes
//! through bytes in both directions, so that nothing passes here that a wire would not carry.

use std::collections::VecDeque;
use std::net::IpAddr;

use mptcp::{ConnectionId, ConnectionInfo, Endpoint, InterfaceId, SubflowInfo};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::{Packet, Segment};

use super::peer::{Flow, HOST};

/// When scripts begin.
const BEGIN: Instant = Instant::from_nanos(1_000_000_000);
/// More segments than any script expects at once.
const MOST: usize = 10_000;

pub struct Host {
    pub endpoint: Endpoint,
    pub interfaces: Vec<(IpAddr, InterfaceId)>,
    now: Instant,
    /// What was sent, and when.
    pub sent: VecDeque<(Duration, Segment)>,
    pub events: Vec<String>,
    /// The connection that calls are about.
    pub connection: Option<ConnectionId>,
}

impl Host {
    pub fn new() -> Self {
        let mut host = Self {
            endpoint: Endpoint::new(Rng::new(11, "script")),
            interfaces: Vec::new(),
            now: BEGIN,
            sent: VecDeque::new(),
            events: Vec::new(),
            connection: None,
        };
        host.add_interface(HOST, false);
        host
    }

    pub fn add_interface(&mut self, address: IpAddr, backup: bool) {
        let interface = self.endpoint.add_interface(address, backup);
        self.interfaces.push((address, interface));
    }

    pub fn interface(&self, address: IpAddr) -> Result<InterfaceId, String> {
        let found = self.interfaces.iter().find(|(known, _)| *known == address);
        found.map(|(_, interface)| *interface).ok_or_else(|| format!("the host has no interface {address}"))
    }

    /// The time on the endpoint's clock.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Time since the script began.
    pub fn elapsed(&self) -> Duration {
        self.now.since(BEGIN)
    }

    /// Hands a segment of the peer's over.
    pub fn receive(&mut self, segment: Segment) -> Result<(), String> {
        let mut bytes = Vec::new();
        Packet::new(segment).emit(&mut bytes).map_err(|error| format!("no wire carries this: {error}"))?;
        let packet =
            Packet::parse(&bytes.into()).map_err(|error| format!("nobody can read this: {error}"))?;
        let interface = self.interface(packet.segment.destination.ip())?;
        self.endpoint.handle_segment(self.now, interface, packet.segment);
        self.collect()
    }

    /// Takes what the endpoint has to say.
    pub fn collect(&mut self) -> Result<(), String> {
        while let Some(transmit) = self.endpoint.poll_transmit(self.now) {
            let mut bytes = Vec::new();
            Packet::new(transmit.segment)
                .emit(&mut bytes)
                .map_err(|error| format!("the host sent what no wire carries: {error}"))?;
            let packet = Packet::parse(&bytes.into())
                .map_err(|error| format!("the host sent what nobody can read: {error}"))?;
            self.sent.push_back((self.elapsed(), packet.segment));
            if self.sent.len() > MOST {
                return Err(format!("the host sends without end: {MOST} segments, and more to come"));
            }
        }
        while let Some(event) = self.endpoint.poll_event() {
            self.events.push(format!("{:?}", event.kind));
        }
        if self.connection.is_none() {
            self.connection = self.endpoint.connections().last();
        }
        Ok(())
    }

    /// Lets time pass, timers at the end of it included.
    pub fn pass_until(&mut self, time: Duration) -> Result<(), String> {
        let end = BEGIN + time;
        let mut timers = 0;
        while let Some(at) = self.endpoint.poll_timeout().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.endpoint.handle_timeout(self.now);
            self.collect()?;
            timers += 1;
            if timers > 10 * MOST {
                return Err("the host wants to be called without end".into());
            }
        }
        self.now = self.now.max(end);
        Ok(())
    }

    pub fn id(&self) -> Result<ConnectionId, String> {
        self.connection.ok_or_else(|| "there is no connection yet".into())
    }

    pub fn info(&self) -> Option<ConnectionInfo> {
        self.endpoint.info(self.now, self.connection?)
    }

    /// The subflow between the ends of a flow, the youngest where there were several.
    pub fn subflow(&self, flow: &Flow) -> Option<SubflowInfo> {
        let of_flow = |subflow: &SubflowInfo| subflow.local == flow.host && subflow.remote == flow.peer;
        let infos = self.endpoint.connections().filter_map(|id| self.endpoint.info(self.now, id));
        let subflows = infos.flat_map(|info| info.past.into_iter().chain(info.subflows));
        subflows.filter(of_flow).max_by_key(|subflow| subflow.opened_at)
    }
}
