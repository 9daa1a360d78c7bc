//! Changes of the policies of flows during a run.

use mptcp::ConnectionId;
use mptcp_clock::Instant;

use super::World;
use crate::scenario::PolicyChange;
use crate::scenario::names::is_called;

impl World {
    /// Applies a change of policies to the open connections of a flow, and to those that it opens later. Returns the
    /// hosts of these connections, which may be able to send now.
    #[cold]
    pub(super) fn change_policy(&mut self, number: usize) -> Vec<usize> {
        let mut changed = Vec::new();
        let Some(change) = self.scenario.policy_changes.get(number).cloned() else { return changed };
        for flow in 0..self.apps.len() {
            let app = &mut self.apps[flow];
            if !is_called(&app.name, &change.flow) {
                continue;
            }
            if let Some(scheduler) = &change.scheduler {
                app.config.scheduler = scheduler.make().clone();
            }
            if let Some(congestion) = &change.congestion {
                app.config.congestion = congestion.make().clone();
            }
            for (host, connection) in [(app.from, app.connections.0), (app.to, app.connections.1)] {
                if let Some(connection) = connection {
                    self.set_policies(host, connection, &change);
                    changed.push(host);
                }
            }
        }
        changed
    }

    /// Applies the past changes of a flow's policies to a connection that its host has just accepted.
    #[cold]
    pub(super) fn catch_up_policies(
        &mut self,
        now: Instant,
        host: usize,
        flow: usize,
        connection: ConnectionId,
    ) {
        let name = &self.apps[flow].name;
        let is_past =
            |change: &&PolicyChange| Instant::ZERO + change.at <= now && is_called(name, &change.flow);
        let past: Vec<PolicyChange> = self.scenario.policy_changes.iter().filter(is_past).cloned().collect();
        past.iter().for_each(|change| self.set_policies(host, connection, change));
    }

    fn set_policies(&mut self, host: usize, connection: ConnectionId, change: &PolicyChange) {
        let congestion = change.congestion.as_ref().map(|one| one.make().build());
        let scheduler = change.scheduler.as_ref().map(|one| one.make().build());
        self.hosts[host].endpoint.set_policies(connection, congestion, scheduler);
    }
}
