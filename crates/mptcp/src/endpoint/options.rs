//! What may be changed about a connection while it runs, and what is counted over all of them.
//!
//! Never decides anything: the connection does.

use mptcp_clock::{Duration, Instant};

use crate::bounds::{EndpointBounds, EndpointUse};
use crate::config::Keepalive;
use crate::congestion::CongestionControl;
use crate::endpoint::Endpoint;
use crate::endpoint::counters::Counters;
use crate::ids::ConnectionId;
use crate::scheduler::Scheduler;

impl Endpoint {
    /// Counts over all connections.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Sets what strangers may make this endpoint hold and do.
    pub fn set_bounds(&mut self, bounds: EndpointBounds) {
        self.refusals = bounds.refusals();
        self.bounds = bounds;
        self.reconsider_memory();
    }

    /// The bounds that are in force.
    #[must_use]
    pub fn bounds(&self) -> EndpointBounds {
        self.bounds
    }

    /// What is held now.
    #[must_use]
    pub fn usage(&self) -> EndpointUse {
        let (half_open, waiting) = self.demux.waiting();
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

    /// Replaces the congestion control or the scheduler of a connection by one's own.
    pub fn set_policies(
        &mut self,
        id: ConnectionId,
        congestion: Option<Box<dyn CongestionControl>>,
        scheduler: Option<Box<dyn Scheduler>>,
    ) {
        let place = self.slots.place(id);
        if let Some(connection) = place.and_then(|place| self.slots.connection_at(place)) {
            connection.set_policies(congestion, scheduler);
        }
    }

    /// Turns Nagle's algorithm off or on (RFC 9293 section 3.7.4), as Linux's `TCP_NODELAY`.
    pub fn set_nodelay(&mut self, now: Instant, id: ConnectionId, nodelay: bool) {
        self.with(now, id, |connection| connection.set_nodelay(nodelay));
    }

    /// Asks the peer of a connection whether it is there when it says nothing, or no more: Linux's SO_KEEPALIVE.
    pub fn set_keepalive(&mut self, now: Instant, id: ConnectionId, keepalive: Option<Keepalive>) {
        self.with(now, id, |connection| connection.set_keepalive(now, keepalive));
    }

    /// Limits how long data of a connection may stay unacknowledged: Linux's TCP_USER_TIMEOUT; see
    /// [`crate::Config::user_timeout`].
    pub fn set_user_timeout(&mut self, now: Instant, id: ConnectionId, timeout: Option<Duration>) {
        self.with(now, id, |connection| connection.set_user_timeout(timeout));
    }

    /// Limits how much of a connection may wait unsent, bytes: Linux's TCP_NOTSENT_LOWAT; see
    /// [`crate::Config::notsent_lowat`].
    pub fn set_notsent_lowat(&mut self, now: Instant, id: ConnectionId, most: Option<u64>) {
        self.with(now, id, |connection| connection.set_notsent_lowat(most));
    }

    /// Sets how often the SYN of a connection may go again: Linux's TCP_SYNCNT.
    pub fn set_syn_retries(&mut self, now: Instant, id: ConnectionId, count: u32) {
        self.with(now, id, |connection| connection.set_syn_retries(count));
    }

    /// Holds small segments back for more to come, as TCP_CORK does: for a timeout at most.
    pub fn set_cork(&mut self, now: Instant, id: ConnectionId, corked: bool) {
        self.with(now, id, |connection| connection.set_cork(corked));
    }
}
