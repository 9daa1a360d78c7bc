//! Options that wait to be sent, each on an acknowledgement of its own.
//!
//! Owns their order and the bound on them: a peer makes us answer what it announces. Never decides what is
//! signalled.

use std::collections::VecDeque;

use mptcp_wire::MptcpOption;

use crate::ids::SubflowId;

/// Signals that wait, at most; more than that are not sent. What has to arrive is repeated by timers.
const MAX_PENDING_OPTIONS: usize = 64;
/// Echoes among them, at most: the peer announces again what was not echoed.
const MAX_ECHOES: usize = 16;

/// Each for one subflow, or for any.
#[derive(Debug, Default)]
pub(crate) struct PendingOptions {
    queue: VecDeque<(Option<SubflowId>, MptcpOption)>,
}

impl PendingOptions {
    /// Sends `option` on the subflow `on`, or on any; once, if the same waits already.
    pub(crate) fn push(&mut self, on: Option<SubflowId>, option: MptcpOption) {
        let echo = |option: &MptcpOption| matches!(option, MptcpOption::AddAddress(add) if add.echo);
        let echoes = || self.queue.iter().filter(|(_, other)| echo(other)).count();
        let full = self.queue.len() >= MAX_PENDING_OPTIONS || (echo(&option) && echoes() >= MAX_ECHOES);
        if !full && !self.queue.iter().any(|(other, same)| *other == on && *same == option) {
            self.queue.push_back((on, option));
        }
    }

    /// The first one that can go, where `usable` says which subflows carry signals (None asks for any).
    pub(crate) fn take(
        &mut self,
        usable: impl Fn(Option<SubflowId>) -> bool,
    ) -> Option<(Option<SubflowId>, MptcpOption)> {
        let at = self.queue.iter().position(|(on, _)| usable(*on))?;
        self.queue.remove(at)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether an announcement or the echo of one is next.
    pub(crate) fn address_first(&self) -> bool {
        matches!(self.queue.front(), Some((_, MptcpOption::AddAddress(_))))
    }

    /// A subflow carries nothing any more.
    pub(crate) fn forget(&mut self, subflow: SubflowId) {
        self.queue.retain(|(on, _)| *on != Some(subflow));
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
    }
}
