//! Paths that carry less than both ends believe: what a router says of packets that are too long (RFC 1191).
//!
//! Owns the notices under way, `notices` their way. That packets are lost there is the network's affair, what a host makes of a notice the protocol's.

mod notices;

use std::collections::BTreeMap;

use mptcp::{IcmpError, IcmpMessage};
use mptcp_clock::Instant;
use mptcp_wire::Segment;
use netsim::{DirectionId, Lost};

use crate::scenario::Scenario;

/// A segment that was refused.
#[derive(Debug)]
struct Refused {
    at: Instant,
    direction: DirectionId,
    message: IcmpMessage,
}

#[derive(Debug, Default)]
pub(super) struct Narrow {
    exists: bool,
    /// By link, whether routers tell, forward and backward.
    tells: Vec<[bool; 2]>,
    refused: Vec<Refused>,
    /// On their way to a host.
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

    /// Whether there is such a path, now or at another time.
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
            // The MTU is that of the direction at the moment when it is told.
            let message = IcmpMessage { local, remote, sequence, error: IcmpError::TooBig { mtu: 0 } };
            self.refused.push(Refused { at: lost.at, direction: lost.direction, message });
        }
    }
}
