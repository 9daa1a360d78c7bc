//! Notices of packets that were too long, from the network to the hosts.

use mptcp::IcmpError;
use mptcp_clock::Instant;

use super::Refused;
use crate::world::{ETHERNET, ScheduledAction, World, host};

impl World {
    /// Routers answer what was refused. The narrow place lies at the far end: a notice takes a round trip of the link.
    pub(in crate::world) fn send_notices(&mut self) {
        for refused in std::mem::take(&mut self.narrow.refused) {
            let Refused { at, direction, mut message } = refused;
            let forth = self.network.parameters(direction);
            let (delay, longest) = (forth.delay, forth.longest);
            let back = self.network.parameters(direction.reverse()).delay;
            let Some(mtu) = longest.map(|longest| longest - ETHERNET as u32) else { continue };
            message.error = IcmpError::TooBig { mtu };
            let Some(to) =
                host::place(message.local.ip()).map(|(to, _)| to).filter(|&to| to < self.hosts.len())
            else {
                continue;
            };
            self.narrow.sent += 1;
            self.narrow.notices.insert(self.narrow.sent, (to, message));
            self.schedule(at + delay + back, ScheduledAction::Notice(self.narrow.sent));
        }
    }

    /// A notice arrives.
    #[cold]
    pub(in crate::world) fn tell_too_long(&mut self, now: Instant, number: usize) {
        if let Some((to, message)) = self.narrow.notices.remove(&number) {
            self.hosts[to].endpoint.handle_icmp(now, message);
            self.service(now, to);
        }
    }
}
