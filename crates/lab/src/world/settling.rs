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
