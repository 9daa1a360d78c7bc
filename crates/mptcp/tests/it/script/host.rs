//! The endpoint under a script, in virtual time.
//!
//! Owns the clock, the sent segments that the script has not compared yet, and the events. Every segment is written to bytes
//! and parsed in both directions, as on a wire.

use std::collections::VecDeque;
use std::net::IpAddr;

use mptcp::{ConnectionId, ConnectionInfo, Endpoint, InterfaceId, SubflowInfo};
use mptcp_clock::{Duration, Instant, Rng};
use mptcp_wire::{Packet, Segment};

use super::peer::{Flow, HOST};

/// The start time of scripts.
const BEGIN: Instant = Instant::from_nanos(1_000_000_000);
/// Maximum number of pending segments.
const MOST: usize = 10_000;

pub struct Host {
    pub endpoint: Endpoint,
    pub interfaces: Vec<(IpAddr, InterfaceId)>,
    now: Instant,
    /// The sent segments with their times.
    pub sent: VecDeque<(Duration, Segment)>,
    pub events: Vec<String>,
    /// The connection of the calls.
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

    /// The time of the endpoint.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The time since the start of the script.
    pub fn elapsed(&self) -> Duration {
        self.now.since(BEGIN)
    }

    /// Passes a segment of the peer to the endpoint.
    pub fn receive(&mut self, segment: Segment) -> Result<(), String> {
        let mut bytes = Vec::new();
        Packet::new(segment)
            .emit(&mut bytes)
            .map_err(|error| format!("the segment cannot be written: {error}"))?;
        let packet =
            Packet::parse(&bytes.into()).map_err(|error| format!("the segment cannot be parsed: {error}"))?;
        let interface = self.interface(packet.segment.destination.ip())?;
        self.endpoint.handle_segment(self.now, interface, packet.segment);
        self.collect()
    }

    /// Collects the segments and events of the endpoint.
    pub fn collect(&mut self) -> Result<(), String> {
        while let Some(transmit) = self.endpoint.poll_transmit(self.now) {
            let mut bytes = Vec::new();
            Packet::new(transmit.segment)
                .emit(&mut bytes)
                .map_err(|error| format!("the host sent a segment that cannot be written: {error}"))?;
            let packet = Packet::parse(&bytes.into())
                .map_err(|error| format!("the host sent a segment that cannot be parsed: {error}"))?;
            self.sent.push_back((self.elapsed(), packet.segment));
            if self.sent.len() > MOST {
                return Err(format!("the host sent more than {MOST} segments"));
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

    /// Advances the time, and runs the timers that are due.
    pub fn pass_until(&mut self, time: Duration) -> Result<(), String> {
        let end = BEGIN + time;
        let mut timers = 0;
        while let Some(at) = self.endpoint.poll_timeout().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.endpoint.handle_timeout(self.now);
            self.collect()?;
            timers += 1;
            if timers > 10 * MOST {
                return Err("the timers of the host never stop".into());
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

    /// The subflow between the ends of a flow, the youngest of several.
    pub fn subflow(&self, flow: &Flow) -> Option<SubflowInfo> {
        let of_flow = |subflow: &SubflowInfo| subflow.local == flow.host && subflow.remote == flow.peer;
        let infos = self.endpoint.connections().filter_map(|id| self.endpoint.info(self.now, id));
        let subflows = infos.flat_map(|info| info.past.into_iter().chain(info.subflows));
        subflows.filter(of_flow).max_by_key(|subflow| subflow.opened_at)
    }
}
