//! Pairs of addresses whose subflows failed, and when they are tried again.
//!
//! Owns the backoff: a path that was lost may come back, by a NAT that forgot and learnt anew or a network that
//! was away. Owns the bound on what is remembered. Never opens a subflow.

use std::net::SocketAddr;

use mptcp_clock::{Duration, Instant};
use mptcp_wire::ResetReason;

use crate::event::SubflowCloseReason;
use crate::ids::InterfaceId;
use crate::path_manager::Pair;

/// The first wait before a further try; each one doubles it.
const FIRST_RETRY_DELAY: Duration = Duration::from_secs(1);
/// Doublings of the wait, at most: 64 s.
const MAX_DOUBLINGS: u32 = 6;
/// Tries on a path that worked once, and on one that never did.
const MAX_TRIES: (u32, u32) = (16, 4);
/// A subflow that lived so long has shown that its path works: the next failure is a first one.
const PROVEN_LIFETIME: Duration = Duration::from_secs(60);
/// Pairs remembered; the one that failed first is forgotten.
const MAX_FAILURES: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Failure {
    local_id: u8,
    interface: InterfaceId,
    remote: SocketAddr,
    tries: u32,
    failed_at: Instant,
    /// Not before; [`Instant::FAR_FUTURE`] until its address comes anew.
    again_at: Instant,
}

/// How a subflow failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailedSubflow {
    pub(crate) pair: Pair,
    pub(crate) why: Option<SubflowCloseReason>,
    /// How long it was open, if it was.
    pub(crate) lived: Option<Duration>,
}

#[derive(Debug, Default)]
pub(crate) struct Failures {
    /// In the order of their first failure.
    list: Vec<Failure>,
}

impl Failures {
    /// A subflow has failed.
    pub(crate) fn note(&mut self, now: Instant, failed: FailedSubflow) {
        let FailedSubflow { pair, why, lived } = failed;
        let known = self.list.iter().position(|failure| failure.is(&pair));
        let before = known.map(|at| self.list.remove(at));
        let proven = lived.is_some_and(|lived| lived >= PROVEN_LIFETIME);
        let tries = before.filter(|_| !proven).map_or(0, |before| before.tries) + 1;
        let most = if lived.is_some() { MAX_TRIES.0 } else { MAX_TRIES.1 };
        let again = may_come_back(why) && tries <= most;
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
            again_at: if again { now + wait } else { Instant::FAR_FUTURE },
        });
    }

    /// Whether a pair should not be tried now.
    pub(crate) fn hold_back(&self, now: Instant, pair: &Pair) -> bool {
        self.list.iter().any(|failure| failure.is(pair) && failure.again_at > now)
    }

    /// An address of ours came anew: what failed from there was another network.
    pub(crate) fn forget_interface(&mut self, interface: InterfaceId) {
        self.list.retain(|failure| failure.interface != interface);
    }

    /// The peer announced an address anew: it may be tried at once, but not more often than once in the first wait.
    pub(crate) fn announced(&mut self, remote: SocketAddr) {
        for failure in self.list.iter_mut().filter(|failure| failure.remote == remote) {
            failure.again_at = failure.again_at.min(failure.failed_at + FIRST_RETRY_DELAY);
        }
    }

    /// When the next pair may be tried that must wait now.
    pub(crate) fn next(&self, now: Instant) -> Instant {
        let waiting = self.list.iter().map(|failure| failure.again_at).filter(|&at| at > now);
        waiting.min().unwrap_or(Instant::FAR_FUTURE)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

impl Failure {
    /// The peer may name its address by another id than it was announced with.
    fn is(&self, pair: &Pair) -> bool {
        self.local_id == pair.local.id && self.remote == pair.remote.address
    }
}

/// Whether a path may work again after such an end. What either side ended on purpose stays away.
fn may_come_back(why: Option<SubflowCloseReason>) -> bool {
    match why {
        Some(SubflowCloseReason::TimedOut | SubflowCloseReason::Unreachable) => true,
        // RFC 8684 section 3.6: these speak of the connection or of a policy, not of the path.
        Some(SubflowCloseReason::ResetByPeer(reason)) => {
            !matches!(reason, Some(ResetReason::MPTCP | ResetReason::PROHIBITED | ResetReason::MIDDLEBOX))
        }
        _ => false,
    }
}
