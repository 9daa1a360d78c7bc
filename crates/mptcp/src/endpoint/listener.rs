//! One listening port: its settings, its backlog and its pending handshakes.
//!
//! Owns the counts that bound half-open and unaccepted connections of the port. Never looks up a connection.

use std::collections::VecDeque;

use mptcp_clock::Instant;

use crate::config::Config;
use crate::ids::{ConnectionId, InterfaceId};

/// Maximum number of half-open handshakes per listener, whatever its backlog: Linux's default `somaxconn`.
const MAX_HALF_OPEN: usize = 4096;

#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) config: Config,
    /// Interfaces on which first subflows are accepted; `None` for all.
    interfaces: Option<Vec<InterfaceId>>,
    /// Maximum number of connections in the SYN queue and the accept queue together; `None` for no limit.
    backlog: Option<usize>,
    /// Connections in the SYN queue or the accept queue.
    pub(crate) waiting: usize,
    /// Connections in the SYN queue.
    pub(crate) opening: usize,
    /// Handshakes in the order in which they started. Entries may refer to finished handshakes.
    pub(crate) begun: VecDeque<(Instant, ConnectionId)>,
    /// Latest time at which an answer to a SYN cookie is accepted.
    pub(crate) cookies_until: Instant,
}

impl Listener {
    /// Returns a listener with empty queues.
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

    /// Whether a first subflow may arrive on `interface`.
    pub(crate) fn accepts_on(&self, interface: InterfaceId) -> bool {
        self.interfaces.as_ref().is_none_or(|some| some.contains(&interface))
    }

    /// Whether connections stay in the accept queue until [`crate::endpoint::Endpoint::accept`].
    pub(crate) fn has_backlog(&self) -> bool {
        self.backlog.is_some()
    }

    /// Whether no further half-open handshake may be stored.
    pub(crate) fn is_full(&self) -> bool {
        self.opening >= MAX_HALF_OPEN || self.backlog.is_some_and(|limit| self.waiting >= limit)
    }

    /// Lengths of the SYN queue, and of the SYN queue and the accept queue together.
    pub(crate) fn queue_lengths(&self) -> (usize, usize) {
        (self.opening, self.waiting)
    }

    /// Whether the established connections alone fill the backlog.
    pub(crate) fn accept_queue_is_full(&self) -> bool {
        self.backlog.is_some_and(|limit| self.waiting - self.opening >= limit)
    }
}
