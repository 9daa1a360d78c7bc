//! MPTCP options that wait to be sent, each on a separate acknowledgement: ADD_ADDR, REMOVE_ADDR, MP_PRIO,
//! MP_FAIL.
//!
//! Owns the order of the options and bounds their number, because a peer's announcements cause echoes. Never
//! decides which options to send.

use std::collections::VecDeque;

use mptcp_wire::MptcpOption;

use crate::ids::SubflowId;

/// The maximum of waiting options. Further ones are dropped; timers repeat the important ones.
const MAX_PENDING_OPTIONS: usize = 64;
/// The maximum of waiting echoes. The peer repeats an announcement without echo.
const MAX_ECHOES: usize = 16;

/// The queue. Each option is for one subflow, or for any (`None`).
#[derive(Debug, Default)]
pub(crate) struct PendingOptions {
    queue: VecDeque<(Option<SubflowId>, MptcpOption)>,
}

impl PendingOptions {
    /// Queues `option` for the subflow `on`, or for any, unless it waits already.
    pub(crate) fn push(&mut self, on: Option<SubflowId>, option: MptcpOption) {
        let echo = |option: &MptcpOption| matches!(option, MptcpOption::AddAddress(add) if add.echo);
        let echoes = || self.queue.iter().filter(|(_, other)| echo(other)).count();
        let full = self.queue.len() >= MAX_PENDING_OPTIONS || (echo(&option) && echoes() >= MAX_ECHOES);
        if !full && !self.queue.iter().any(|(other, same)| *other == on && *same == option) {
            self.queue.push_back((on, option));
        }
    }

    /// Takes the first option whose subflow is `usable`.
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

    /// Whether the first option is an ADD_ADDR (announcement or echo).
    pub(crate) fn address_first(&self) -> bool {
        matches!(self.queue.front(), Some((_, MptcpOption::AddAddress(_))))
    }

    /// Drops the options of a closed subflow.
    pub(crate) fn forget(&mut self, subflow: SubflowId) {
        self.queue.retain(|(on, _)| *on != Some(subflow));
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
    }
}
