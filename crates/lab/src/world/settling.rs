//! What the accounts of paths are told when a host has had its turn.
//!
//! Owns the order: full buffers first, then what the links have done since.

use mptcp_clock::Instant;

use super::World;
use super::attribution::Full;

impl World {
    /// A host has done what it could: accounts for what was heard, and for the buffers of its flows that are full.
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
