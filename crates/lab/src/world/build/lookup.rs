//! Finds nodes, hosts and interfaces by their names in the scenario, because its flows, events and routes
//! refer to names.

use mptcp::InterfaceId;

use super::Builder;

impl Builder<'_> {
    pub(super) fn node(&self, name: &str) -> Option<netsim::NodeId> {
        self.nodes.iter().find(|(known, _)| known == name).map(|(_, id)| *id)
    }

    /// The index of a host. A resolved scenario names only known hosts.
    pub(super) fn host(&self, name: &str) -> usize {
        self.hosts.iter().position(|host| host.name == name).unwrap_or(0)
    }

    /// The interface of a host on a link; `None` if the host has no address of its own there.
    pub(super) fn interface_named(&self, host: usize, link: &str) -> Option<InterfaceId> {
        let at = self.hosts[host].interface_names.iter().position(|name| name == link)?;
        Some(InterfaceId(at as u32))
    }
}
