//! A port that accepts connections: where, how many at a time, who waits.

use std::collections::VecDeque;

use mptcp_clock::Instant;

use crate::config::Config;
use crate::ids::{ConnectionId, InterfaceId};

/// Handshakes at a listener that are remembered, at most, whatever its backlog: Linux's `somaxconn`.
const MAX_HALF_OPEN: usize = 4096;

#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) config: Config,
    /// Where first subflows may come in; None is anywhere.
    interfaces: Option<Vec<InterfaceId>>,
    /// Most connections that wait; None for no limit.
    backlog: Option<usize>,
    /// Connections that are opening or wait to be accepted.
    pub(crate) waiting: usize,
    /// Those of them that are opening.
    pub(crate) opening: usize,
    /// Handshakes in the order in which they began; some are over.
    pub(crate) begun: VecDeque<(Instant, ConnectionId)>,
    /// Until when cookies that were sent may be answered.
    pub(crate) cookies_until: Instant,
}

impl Listener {
    /// Of a port where nobody waits.
    pub(crate) fn new(config: Config, interfaces: Option<Vec<InterfaceId>>, backlog: Option<usize>) -> Self {
        Self {
            config,
            interfaces,
            backlog,
            waiting: 0,
            opening: 0,
            begun: VecDeque::new(),
            cookies_until: Instant::ZERO,
        }
    }

    pub(crate) fn accepts_announcement(&self, interface: InterfaceId) -> bool {
        self.interfaces.as_ref().is_none_or(|some| some.contains(&interface))
    }

    /// Whether connections wait for [`crate::endpoint::Endpoint::accept`], and are counted until then.
    pub(crate) fn has_backlog(&self) -> bool {
        self.backlog.is_some()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.opening >= MAX_HALF_OPEN || self.backlog.is_some_and(|most| self.waiting >= most)
    }

    /// Connections that are opening, and these with those that wait to be accepted.
    pub(crate) fn waits(&self) -> (usize, usize) {
        (self.opening, self.waiting)
    }

    /// Whether so many are open and not accepted that no further one may open.
    pub(crate) fn accept_queue_is_full(&self) -> bool {
        self.backlog.is_some_and(|most| self.waiting - self.opening >= most)
    }
}
