//! Selects the hosts that are notified of departures from their local queues, the queues of their interfaces.
//! TCP small queues, for example, need these notifications. Other hosts do without them, because each costs
//! an event.

use mptcp::InterfaceId;
use netsim::LinkId;

use super::Builder;
use crate::scenario::names::SendQueueRule;
use crate::scenario::{Link, Traffic};

impl Builder<'_> {
    /// Enables departure events for hosts that send over a wireless interface, or whose flows need these
    /// events.
    pub(super) fn watch_queues(&mut self) {
        for at in 0..self.hosts.len() {
            let name = self.hosts[at].name.clone();
            // Receivers have no data in their queues.
            let sent = || self.scenario.flows.iter().filter(|flow| flow.sender() == name);
            let listens = sent().any(|flow| {
                let greedy = matches!(flow.traffic, Traffic::Datagrams { rate: None, .. });
                greedy || flow.tcp.small_queues.is_some() || flow.send_queue_rule != SendQueueRule::Off
            });
            let own = || {
                self.scenario
                    .links
                    .iter()
                    .zip(self.wiring.links())
                    .filter(|(link, _)| link.ends.contains(&name))
            };
            let is_wireless = sent().next().is_some() && own().any(|(link, _)| link.station.is_some());
            if !listens && !is_wireless {
                continue;
            }
            let outward = |(link, id): (&Link, &LinkId)| {
                if link.ends[0] == name { id.forward() } else { id.backward() }
            };
            for direction in own().map(outward).collect::<Vec<_>>() {
                self.network.watch_departures(direction, true);
                if self.own_queues.len() <= direction.index() {
                    self.own_queues.resize(direction.index() + 1, None);
                }
                self.own_queues[direction.index()] = Some(at);
                self.hosts[at].own_queues.push(direction);
            }
            self.hosts[at].hears_departures = true;
            for interface in 0..self.hosts[at].interfaces.len() {
                self.hosts[at].endpoint.expect_departures(InterfaceId(interface as u32));
            }
        }
    }
}
