//! Socket options of a running connection, and the counters and limits of the endpoint.
//!
//! Drivers implement socket options such as `TCP_NODELAY` by these calls. Owns nothing: connections interpret
//! the options.

use mptcp_clock::{Duration, Instant};

use crate::bounds::{EndpointBounds, EndpointUse};
use crate::config::Keepalive;
use crate::congestion::CongestionControl;
use crate::endpoint::Endpoint;
use crate::endpoint::counters::Counters;
use crate::ids::ConnectionId;
use crate::scheduler::Scheduler;

impl Endpoint {
    /// Counters over all connections.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Sets the limits on memory and on stateless replies.
    pub fn set_bounds(&mut self, bounds: EndpointBounds) {
        self.reset_limit = bounds.reset_limiter();
        self.bounds = bounds;
        self.recount_memory();
    }

    /// The limits in force.
    #[must_use]
    pub fn bounds(&self) -> EndpointBounds {
        self.bounds
    }

    /// Current use of the limited resources.
    #[must_use]
    pub fn usage(&self) -> EndpointUse {
        let (half_open, waiting) = self.demux.queue_lengths();
        EndpointUse {
            connections: self.slots.used(),
            receive_bytes: self.received_memory(),
            half_open,
            to_accept: waiting - half_open,
            stray_answers: self.stateless_replies.len(),
            join_requests: self.joins.len(),
            deadlines: self.deadlines.entries(),
            cookies: self.cookies.len(),
        }
    }

    /// Replaces the congestion control or the scheduler of a connection. `None` keeps the present one.
    pub fn set_policies(
        &mut self,
        id: ConnectionId,
        congestion: Option<Box<dyn CongestionControl>>,
        scheduler: Option<Box<dyn Scheduler>>,
    ) {
        let slot = self.slots.slot(id);
        if let Some(connection) = slot.and_then(|slot| self.slots.connection_at(slot)) {
            connection.set_policies(congestion, scheduler);
        }
    }

    /// Disables or enables Nagle's algorithm (RFC 9293 section 3.7.4): Linux's `TCP_NODELAY`.
    pub fn set_nodelay(&mut self, now: Instant, id: ConnectionId, nodelay: bool) {
        self.with(now, id, |connection| connection.set_nodelay(nodelay));
    }

    /// Enables keepalive probes on an idle connection; `None` disables them: Linux's `SO_KEEPALIVE`.
    pub fn set_keepalive(&mut self, now: Instant, id: ConnectionId, keepalive: Option<Keepalive>) {
        self.with(now, id, |connection| connection.set_keepalive(now, keepalive));
    }

    /// Limits how long data may stay unacknowledged; `None` for no limit: Linux's `TCP_USER_TIMEOUT`. See
    /// [`crate::Config::user_timeout`].
    pub fn set_user_timeout(&mut self, now: Instant, id: ConnectionId, timeout: Option<Duration>) {
        self.with(now, id, |connection| connection.set_user_timeout(timeout));
    }

    /// Limits the unsent data in the send buffer, bytes; `None` for no limit: Linux's `TCP_NOTSENT_LOWAT`.
    /// See [`crate::Config::notsent_lowat`].
    pub fn set_notsent_lowat(&mut self, now: Instant, id: ConnectionId, limit: Option<u64>) {
        self.with(now, id, |connection| connection.set_notsent_lowat(limit));
    }

    /// Sets the maximum number of SYN retransmissions: Linux's `TCP_SYNCNT`.
    pub fn set_syn_retries(&mut self, now: Instant, id: ConnectionId, count: u32) {
        self.with(now, id, |connection| connection.set_syn_retries(count));
    }

    /// Holds partial segments until more data is written or a timeout expires: Linux's `TCP_CORK`.
    pub fn set_cork(&mut self, now: Instant, id: ConnectionId, corked: bool) {
        self.with(now, id, |connection| connection.set_cork(corked));
    }
}
