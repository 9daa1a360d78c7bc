//! Cells, and what hosts are told of their own queues.

use mptcp::InterfaceId;
use netsim::{LinkId, TopologyError};

use super::Builder;
use crate::scenario::names::SendQueueRule;
use crate::scenario::{Link, Traffic};

impl Builder<'_> {
    /// Cells, before their stations.
    pub(super) fn add_cells(&mut self) -> Result<(), TopologyError> {
        self.network.set_interference(self.scenario.interference.parameters());
        for cell in &self.scenario.cells {
            let Some(node) = self.node(&cell.access_point) else { continue };
            let id = self.network.add_cell(&cell.name, node, cell.parameters())?;
            self.cells.push(id);
        }
        for coupling in &self.scenario.coupling {
            if let [Some(a), Some(b)] = [0, 1].map(|at| self.cell(&coupling.cells[at])) {
                self.network.couple(a, b, coupling.parameters())?;
            }
        }
        for background in &self.scenario.background {
            let Some(at) = self.scenario.cells.iter().position(|cell| cell.name == background.cell) else {
                continue;
            };
            let best = self.scenario.cells[at].parameters().rates().into_iter().max().unwrap_or_default();
            self.network.add_background(&background.name, self.cells[at], background.parameters(best))?;
        }
        Ok(())
    }

    /// Asks for the departures from the queues of hosts with a wireless interface, and of those where
    /// somebody listens to them.
    pub(super) fn watch_queues(&mut self) {
        for at in 0..self.hosts.len() {
            let name = self.hosts[at].name.clone();
            let listens = self.scenario.flows.iter().any(|flow| {
                let greedy = matches!(flow.traffic, Traffic::Datagrams { rate: None, .. });
                let rules = flow.tcp.small_queues.is_some() || flow.send_queue_rule != SendQueueRule::Off;
                (flow.from == name || flow.to == name) && (greedy || rules)
            });
            let own =
                || self.scenario.links.iter().zip(&self.links).filter(|(link, _)| link.ends.contains(&name));
            if !listens && !own().any(|(link, _)| link.station.is_some()) {
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
            }
            self.hosts[at].hears_departures = true;
            for interface in 0..self.hosts[at].interfaces.len() {
                self.hosts[at].endpoint.expect_departures(InterfaceId(interface as u32));
            }
        }
    }
}
