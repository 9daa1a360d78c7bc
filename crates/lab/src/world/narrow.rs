//! Paths with a smaller MTU than both ends assume, and the ICMP errors of routers (RFC 1191).
//!
//! Endpoints need these errors for path MTU discovery. Owns the ICMP errors in flight, which `notices`
//! delivers. The network drops the packets, and the protocol handles the errors.

mod notices;

use std::collections::BTreeMap;

use mptcp::{IcmpError, IcmpMessage};
use mptcp_clock::Instant;
use mptcp_wire::Segment;
use netsim::{DirectionId, Lost};

use crate::scenario::Scenario;

/// A dropped segment that was too long.
#[derive(Debug)]
struct Refused {
    at: Instant,
    direction: DirectionId,
    message: IcmpMessage,
}

#[derive(Debug, Default)]
pub(super) struct Narrow {
    exists: bool,
    /// By link: whether routers send ICMP errors, forward and backward.
    tells: Vec<[bool; 2]>,
    refused: Vec<Refused>,
    /// ICMP errors in flight to a host.
    notices: BTreeMap<usize, (usize, IcmpMessage)>,
    sent: usize,
}

impl Narrow {
    pub(super) fn of(scenario: &Scenario) -> Self {
        let lines = || scenario.links.iter().map(|link| [&link.forward, &link.backward]);
        let exists = lines().flatten().any(|line| line.path_mtu.is_some())
            || scenario.events.iter().any(|event| event.set.path_mtu.is_some());
        Self { exists, tells: lines().map(|lines| lines.map(|line| line.icmp)).collect(), ..Self::default() }
    }

    /// Whether a path of the scenario has a smaller MTU at any time.
    #[inline]
    pub(super) fn exists(&self) -> bool {
        self.exists
    }

    /// A segment was too long for a direction.
    pub(super) fn refused(&mut self, lost: &Lost<u32>, segment: &Segment) {
        let (local, remote, sequence) = (segment.source, segment.destination, segment.sequence);
        let backward = lost.direction != lost.direction.link().forward();
        let tells = self.tells.get(lost.direction.link().index());
        if tells.is_some_and(|tells| tells[usize::from(backward)]) {
            // The MTU of the direction is filled in when the error is sent.
            let message = IcmpMessage { local, remote, sequence, error: IcmpError::TooBig { mtu: 0 } };
            self.refused.push(Refused { at: lost.at, direction: lost.direction, message });
        }
    }
}
