//! Updates the accounts of the subflows' time, by limiting cause, after a step of a host.
//!
//! Owns the order: full buffers first, then the events of links since then.

use mptcp_clock::Instant;

use super::World;
use super::attribution::Full;

impl World {
    /// Updates the accounts after a step of host `at`: its events, and its flows with full buffers.
    #[cold]
    #[inline(never)]
    pub(super) fn settle_accounts(&mut self, now: Instant, at: usize) {
        let Some(attribution) = &mut self.attribution else { return };
        let waiting = attribution.waiting();
        for app in waiting.into_iter().filter_map(|flow| self.apps.get(usize::from(flow))) {
            if app.sending_host() != at {
                continue;
            }
            if let Some(connection) = app.connection_of_sender(&self.hosts) {
                attribution.note_full(now, app.flow as u16, Full::of(&connection.info(now)));
            }
        }
        attribution.settle(now, &mut self.network);
    }
}
