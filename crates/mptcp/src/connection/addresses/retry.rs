//! Address pairs whose subflows failed, and the time of the next attempt.
//!
//! A failed path may work again later, because NAT state was renewed or a network returned. Owns the backoff
//! of these attempts, and limits the number of stored pairs. Never opens a subflow.

use std::net::SocketAddr;

use mptcp_clock::{Duration, Instant};
use mptcp_wire::ResetReason;

use crate::event::SubflowCloseReason;
use crate::ids::InterfaceId;
use crate::path_manager::Pair;

/// The delay before the first new attempt. Each failure doubles it.
const FIRST_RETRY_DELAY: Duration = Duration::from_secs(1);
/// The maximum number of doublings, after which the delay is 64 s.
const MAX_DOUBLINGS: u32 = 6;
/// The maximum of attempts on a path that has worked, and on a path that has not.
const MAX_TRIES: (u32, u32) = (16, 4);
/// The lifetime after which a subflow has proved its path: the next failure counts as the first.
const PROVEN_LIFETIME: Duration = Duration::from_secs(60);
/// The maximum of stored pairs. The oldest is evicted.
const MAX_FAILURES: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Failure {
    local_id: u8,
    interface: InterfaceId,
    remote: SocketAddr,
    tries: u32,
    failed_at: Instant,
    /// The earliest time of a new attempt; [`Instant::FAR_FUTURE`] if only a new announcement of the address
    /// permits one.
    again_at: Instant,
}

/// A failed subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailedSubflow {
    pub(crate) pair: Pair,
    pub(crate) why: Option<SubflowCloseReason>,
    /// The time that the subflow was open. `None` if it never was.
    pub(crate) lived: Option<Duration>,
}

#[derive(Debug, Default)]
pub(crate) struct Failures {
    /// Sorted by time of the latest failure.
    list: Vec<Failure>,
}

impl Failures {
    /// Notes a failed subflow.
    pub(crate) fn note(&mut self, now: Instant, failed: FailedSubflow) {
        let FailedSubflow { pair, why, lived } = failed;
        let known = self.list.iter().position(|failure| failure.is(&pair));
        let earlier = known.map(|at| self.list.remove(at));
        let proven = lived.is_some_and(|lived| lived >= PROVEN_LIFETIME);
        let tries = earlier.filter(|_| !proven).map_or(0, |earlier| earlier.tries) + 1;
        let max_tries = if lived.is_some() { MAX_TRIES.0 } else { MAX_TRIES.1 };
        let retries = may_come_back(why) && tries <= max_tries;
        let wait = FIRST_RETRY_DELAY * (1 << (tries - 1).min(MAX_DOUBLINGS));
        if self.list.len() >= MAX_FAILURES {
            self.list.remove(0);
        }
        self.list.push(Failure {
            local_id: pair.local.id,
            interface: pair.local.interface,
            remote: pair.remote.address,
            tries,
            failed_at: now,
            again_at: if retries { now + wait } else { Instant::FAR_FUTURE },
        });
    }

    /// Whether a pair must not be tried now.
    pub(crate) fn is_held_back(&self, now: Instant, pair: &Pair) -> bool {
        self.list.iter().any(|failure| failure.is(pair) && failure.again_at > now)
    }

    /// Forgets failures on an interface with a new local address, because the network may be another.
    pub(crate) fn forget_interface(&mut self, interface: InterfaceId) {
        self.list.retain(|failure| failure.interface != interface);
    }

    /// Permits an attempt on an address that the peer announced again, after the first delay.
    pub(crate) fn announced(&mut self, remote: SocketAddr) {
        for failure in self.list.iter_mut().filter(|failure| failure.remote == remote) {
            failure.again_at = failure.again_at.min(failure.failed_at + FIRST_RETRY_DELAY);
        }
    }

    /// The time at which the next pair may be tried.
    pub(crate) fn next(&self, now: Instant) -> Instant {
        let waiting = self.list.iter().map(|failure| failure.again_at).filter(|&at| at > now);
        waiting.min().unwrap_or(Instant::FAR_FUTURE)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

impl Failure {
    /// Compares addresses, because the peer may use another address ID than in its announcement.
    fn is(&self, pair: &Pair) -> bool {
        self.local_id == pair.local.id && self.remote == pair.remote.address
    }
}

/// Whether a path may work again after its subflow closed for this reason. Deliberate ends are final.
fn may_come_back(why: Option<SubflowCloseReason>) -> bool {
    match why {
        Some(SubflowCloseReason::TimedOut | SubflowCloseReason::Unreachable) => true,
        // RFC 8684 section 3.6: these reasons concern the connection or a policy, not the path.
        Some(SubflowCloseReason::ResetByPeer(reason)) => {
            !matches!(reason, Some(ResetReason::MPTCP | ResetReason::PROHIBITED | ResetReason::MIDDLEBOX))
        }
        _ => false,
    }
}
