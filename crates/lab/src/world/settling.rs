//! Updates the accounts of the attribution after a step of a host. Attribution divides the capacity of a path
//! among the causes that used it or left it unused; an account has the time of one subflow by cause.
//!
//! Owns the order: full buffers come first, because they change the limits that senders have reported. Then
//! the attribution handles these reports.

use mptcp_clock::Instant;

use super::World;
use super::attribution::Full;

impl World {
    /// Updates the accounts after a step of host `at`.
    #[cold]
    #[inline(never)]
    pub(super) fn settle_accounts(&mut self, now: Instant, at: usize) {
        let Some(attribution) = &mut self.attribution else { return };
        // The buffers of connections that were not polled are as full as before.
        let mut polled = std::mem::take(&mut self.polled);
        self.hosts[at].endpoint.take_polled(&mut polled);
        // In the order of flows, so that their reports stay in this order.
        polled.sort_unstable_by_key(|connection| self.hosts[at].flow_of(*connection));
        for connection in polled.drain(..) {
            let flow = self.hosts[at].flow_of(connection);
            let Some(app) = flow.and_then(|flow| self.apps.get(flow)) else { continue };
            if app.sending_host() != at || !attribution.is_waiting(app.flow as u16) {
                continue;
            }
            if let Some(connection) = app.connection_of_sender(&self.hosts) {
                attribution.note_full(now, app.flow as u16, Full::of(&connection.info(now)));
            }
        }
        self.polled = polled;
        attribution.settle(now, &mut self.network);
    }
}
